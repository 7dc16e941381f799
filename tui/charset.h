/* Which characters the terminal takes: the locale's, or UTF-8 where Chinese is to be shown.
 *
 * There is one locale per process, as the environment names it (setlocale(LC_ALL, "") in main).
 * Where that is plain ASCII, because it is C or POSIX or not installed, and Chinese is asked for, a
 * UTF-8 locale of this machine is borrowed for LC_CTYPE.
 *
 * It never changes the environment, which belongs to the editor too, and never sends UTF-8 to a
 * terminal whose locale names another character set. */
#ifndef STRIDE_TUI_CHARSET_H
#define STRIDE_TUI_CHARSET_H

#include "harness/base/err.h"

#include <stdbool.h>

/* Whether what is shown may be more than ASCII. In English only the environment's own locale
 * decides. */
bool charset_utf8(void);

/* The language to speak, "en" or "zh": the one asked for (NULL: the environment's, msg.h), but
 * English where Chinese cannot be shown; then `why` (may be NULL) says what to do about it. */
const char *charset_language(const char *asked, struct err *why);

#endif
