/* Messages in the student's language.
 *
 * Source strings are English; assets/messages.zh.json maps them to Chinese. A string without a
 * translation is shown in English. The catalogue is loaded once, by msg_load, and lives until the
 * program ends; returned strings are borrowed from it.
 *
 * This is not gettext: gettext translates nothing in the C.UTF-8 locale, and that is the only UTF-8
 * locale many GPU boxes have. It never looks at LC_MESSAGES after msg_load. */
#ifndef STRIDE_BASE_MSG_H
#define STRIDE_BASE_MSG_H

#include "err.h"

#define _(text)  msg_get(text)
#define N_(text) text /* marks a static string that is passed through _() later */

/* "zh" or "en": `asked` (an option or setting; may be NULL), else $STRIDE_LANG, else LC_ALL,
 * LC_MESSAGES, LANG in the order of POSIX. Static string. */
const char *msg_pick_language(const char *asked);

/* Loads assets/messages.<language>.json below root. English needs no file. */
bool msg_load(const char *root, const char *language, struct err *err);

/* The language loaded: "en" until msg_load says otherwise. */
const char *msg_language(void);

const char *msg_get(const char *english) __attribute__((format_arg(1)));

/* For a sentence that was put together from parts: takes away, in place, each blank that stands
 * between two Chinese characters or beside a mark of full width. Templates have one on both sides
 * of what is filled in, which is right beside a number or a name and wrong beside Chinese. Other
 * text is left as it is. */
void msg_close_blanks(char *text);

#endif
