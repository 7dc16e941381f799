/* What to do about the complaints that students meet most: a sentence for each.
 *
 * Texts are static; the diagnostics own what is added to them.
 *
 * It replaces what the compiler said only where that recommends an option of the compiler, since
 * students cannot set one. */
#ifndef STRIDE_HARNESS_ADVICE_H
#define STRIDE_HARNESS_ADVICE_H

#include "diagnostic.h"

/* Adds a line of advice to the complaints that have one, and the student's line to those that name
 * something declared in `source` but no place. */
void advice_add(struct diagnostics *diagnostics, const char *source, const char *name);

#endif
