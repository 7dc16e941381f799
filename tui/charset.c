#include "tui/charset.h"

#include "harness/base/msg.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool borrowed; /* LC_CTYPE is not the environment's */

/* Also as the end of a locale's name, which may go on with a @modifier. */
static bool is_utf8(const char *charset)
{
    size_t len = strcspn(charset, "@");
    return (len == 5 && strncasecmp(charset, "UTF-8", len) == 0) ||
           (len == 4 && strncasecmp(charset, "utf8", len) == 0);
}

static bool is_ascii(const char *charset)
{
    static const char *const names[] = {"ANSI_X3.4-1968", "US-ASCII", "ASCII", "646"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(charset, names[i]) == 0)
            return true;
    return false;
}

bool charset_utf8(void)
{
    return is_utf8(nl_langinfo(CODESET)) && (!borrowed || strcmp(msg_language(), "zh") == 0);
}

/* The character set in the name of the environment's locale, or that of the locale in use. A locale
 * that is not installed leaves ASCII in use, but its name still tells what the terminal takes. */
static const char *charset_of_terminal(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *name = NULL;
    for (size_t i = 0; (!name || !*name) && i < sizeof variables / sizeof *variables; i++)
        name = getenv(variables[i]);
    const char *dot = name ? strchr(name, '.') : NULL;
    return dot ? dot + 1 : nl_langinfo(CODESET);
}

static bool borrow(void)
{
    static const char *const names[] = {"C.UTF-8", "C.utf8", "en_US.UTF-8", "en_US.utf8",
                                        "zh_CN.UTF-8"};
    for (size_t i = 0; !borrowed && i < sizeof names / sizeof *names; i++)
        borrowed = setlocale(LC_CTYPE, names[i]) && is_utf8(nl_langinfo(CODESET));
    return borrowed;
}

static bool can_show_chinese(struct err *why)
{
    if (is_utf8(nl_langinfo(CODESET)))
        return true;
    const char *charset = charset_of_terminal();
    if ((is_utf8(charset) || is_ascii(charset)) && borrow())
        return true;
    return err_set(why,
                   _("Chinese needs a UTF-8 locale, and this one is %s: set LC_ALL=C.UTF-8, or "
                     "another one that `locale -a` lists, and start again"),
                   charset);
}

const char *charset_language(const char *asked, struct err *why)
{
    const char *language = msg_pick_language(asked);
    return strcmp(language, "zh") == 0 && !can_show_chinese(why) ? "en" : language;
}
