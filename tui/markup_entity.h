/* What &lt; and &#20013; stand for.
 *
 * The text is appended to the caller's buffer.
 *
 * It knows the few names that lessons use, not all of HTML's; others stay as they are written. */
#ifndef STRIDE_TUI_MARKUP_ENTITY_H
#define STRIDE_TUI_MARKUP_ENTITY_H

#include "harness/base/buf.h"

#include <stddef.h>

/* Appends the clean text of an entity, given with its & and ;. */
void markup_add_entity(struct buf *out, const char *text, size_t len);

#endif
