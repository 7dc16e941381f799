#include "landmark.h"

#include <ctype.h>
#include <string.h>

struct span {
    const char *at, *end;
};

static void skip_blanks(struct span *span)
{
    while (span->at < span->end && isspace((unsigned char)*span->at))
        span->at++;
}

static bool skip_comment(struct span *span)
{
    if (span->end - span->at < 2 || span->at[0] != '/' ||
        (span->at[1] != '*' && span->at[1] != '/'))
        return false;
    const char *close = span->at[1] == '*'
                            ? memmem(span->at + 2, (size_t)(span->end - span->at - 2), "*/", 2)
                            : NULL;
    span->at = close ? close + 2 : span->end;
    return true;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* "$L__BB0_2:" or ".L_x_0:" */
static bool skip_label(struct span *span)
{
    const char *at = span->at;
    while (at < span->end && is_word(*at))
        at++;
    /* Two colons are part of an opcode: shared::cluster. */
    if (at == span->at || at >= span->end || *at != ':' || (at + 1 < span->end && at[1] == ':'))
        return false;
    span->at = at + 1;
    return true;
}

/* "@%p1 ", "@!P0 ", "@!UPT " */
static bool skip_guard(struct span *span)
{
    if (*span->at != '@')
        return false;
    while (span->at < span->end && !isspace((unsigned char)*span->at))
        span->at++;
    return true;
}

/* Whether the instruction of one statement starts with match. */
static bool matches(struct span span, const char *match, size_t len)
{
    for (;;) {
        skip_blanks(&span);
        if (span.at >= span.end)
            return false;
        if (*span.at == '{' || *span.at == '}')
            span.at++;
        else if (!skip_comment(&span) && !skip_guard(&span) && !skip_label(&span))
            break;
    }
    return (size_t)(span.end - span.at) >= len && memcmp(span.at, match, len) == 0;
}

unsigned landmark_count(const char *listing, size_t len, const char *match)
{
    unsigned count = 0;
    size_t match_len = strlen(match);
    const char *end = listing + len;
    for (const char *line = listing; match_len && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        for (const char *at = line; at < stop;) { /* inline asm may put several on one line */
            const char *semicolon = memchr(at, ';', (size_t)(stop - at));
            struct span statement = {at, semicolon ? semicolon : stop};
            count += matches(statement, match, match_len);
            at = semicolon ? semicolon + 1 : stop;
        }
        line = stop + 1;
    }
    return count;
}

bool landmark_applies(const struct lab_landmark *landmark, unsigned capability)
{
    return !landmark->since || capability >= capability_parse(landmark->since);
}

json_t *landmark_json(const struct lab_landmark *landmark, unsigned found)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:b}", "name", landmark->name, "listing",
                     landmark->listing == LISTING_PTX ? "ptx" : "sass", "want",
                     (int)landmark->at_least, "found", (int)found, "ok",
                     found >= landmark->at_least);
}
