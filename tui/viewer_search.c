#include "viewer.h"

#include "viewer_core.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <stdlib.h>
#include <string.h>

#include <unicase.h>

static uint32_t fold_char(uint32_t code)
{
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return uc_tolower(code);
}

/* Bytes of the match at the start of text; 0 when the needle is not there. */
static size_t match_folded(const struct viewer *viewer, const char *text, size_t len)
{
    size_t at = 0, in = 0;
    while (in < viewer->needle_len) {
        uint32_t want, have;
        if (at == len)
            return 0;
        in += utf8_decode(&want, viewer->needle + in, viewer->needle_len - in);
        at += utf8_decode(&have, text + at, len - at);
        if (want != have && want != fold_char(have))
            return 0;
    }
    return at;
}

size_t viewer_find(const struct viewer *viewer, const char *text, size_t len, size_t from,
                   size_t *match_len)
{
    if (!viewer->needle || from >= len)
        return SIZE_MAX;
    if (!viewer->fold) {
        const char *found = memmem(text + from, len - from, viewer->needle, viewer->needle_len);
        *match_len = viewer->needle_len;
        return found ? (size_t)(found - text) : SIZE_MAX;
    }
    unsigned char first = (unsigned char)viewer->needle[0];
    unsigned char other = first >= 'a' && first <= 'z' ? (unsigned char)(first - 32) : first;
    for (size_t at = from; at < len; at++) {
        unsigned char byte = (unsigned char)text[at];
        if (byte != first && byte != other && (byte < 0xC2 || first < 0x80))
            continue;
        *match_len = match_folded(viewer, text + at, len - at);
        if (*match_len)
            return at;
    }
    return SIZE_MAX;
}

static const char *text_of(const struct viewer *viewer, uint32_t line, size_t *len)
{
    return doc_line_text(&viewer->doc->lines[line], len);
}

static size_t count_in(const struct viewer *viewer, uint32_t line, size_t up_to)
{
    size_t len, match_len, count = 0;
    const char *text = text_of(viewer, line, &len);
    for (size_t at = 0; (at = viewer_find(viewer, text, len, at, &match_len)) != SIZE_MAX; at++) {
        if (at > up_to)
            break;
        count++;
    }
    return count;
}

void viewer_collect(struct viewer *viewer)
{
    viewer->hit_count = viewer->match_count = 0;
    if (!viewer->needle || !viewer->doc)
        return;
    size_t capacity = 0;
    free(viewer->hits);
    viewer->hits = NULL;
    for (uint32_t line = 0; line < viewer->doc->line_count; line++) {
        size_t count = count_in(viewer, line, SIZE_MAX);
        if (!count)
            continue;
        if (viewer->hit_count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            viewer->hits = mem_grow(viewer->hits, capacity, sizeof *viewer->hits);
        }
        viewer->hits[viewer->hit_count++] =
            (struct viewer_hit){.line = line, .before = (uint32_t)viewer->match_count};
        viewer->match_count += count;
    }
}

/* Index of the first hit at or below the line; hit_count when there is none. */
static size_t hit_from(const struct viewer *viewer, uint32_t line)
{
    size_t low = 0, high = viewer->hit_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (viewer->hits[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Scrolls sideways so that a match in a kept line is visible. */
static void reveal_columns(struct viewer *viewer, const char *text, size_t len, size_t match_len)
{
    const struct doc_line *line = &viewer->doc->lines[viewer->match_line];
    if (!viewer_keeps(viewer, line) || viewer->columns <= 0)
        return;
    size_t end = viewer->match_from + match_len;
    uint32_t from = (uint32_t)text_columns(text, viewer->match_from);
    uint32_t to = (uint32_t)text_columns(text, end < len ? end : len);
    uint32_t window = (uint32_t)viewer->columns;
    if (from >= viewer->left && to <= viewer->left + window)
        return;
    viewer->left = from > window / 3 ? from - window / 3 : 0;
    if (to <= window)
        viewer->left = 0;
}

static void go_to_match(struct viewer *viewer, uint32_t line, size_t from)
{
    size_t len, match_len = 0;
    const char *text = text_of(viewer, line, &len);
    viewer_find(viewer, text, len, from, &match_len);
    viewer->at_match = true;
    viewer->match_line = line;
    viewer->match_from = (uint32_t)from;
    viewer->cursor = line;
    reveal_columns(viewer, text, len, match_len);
    viewer_reveal(viewer, line, viewer_row_of(viewer, line, (uint32_t)from));
    viewer_settle(viewer);
}

/* The first match at or behind a place; false when there is none before the end. */
static bool match_behind(const struct viewer *viewer, uint32_t line, size_t from, uint32_t *at_line,
                         size_t *at)
{
    for (size_t i = hit_from(viewer, line); i < viewer->hit_count; i++, from = 0) {
        size_t len, match_len;
        if (viewer->hits[i].line != line)
            from = 0;
        *at_line = viewer->hits[i].line;
        const char *text = text_of(viewer, *at_line, &len);
        *at = viewer_find(viewer, text, len, from, &match_len);
        if (*at != SIZE_MAX)
            return true;
    }
    return false;
}

/* The last match before byte `limit` of the line; false when there is none. */
static bool last_in(const struct viewer *viewer, uint32_t line, size_t limit, size_t *at)
{
    size_t len, match_len, found = SIZE_MAX;
    const char *text = text_of(viewer, line, &len);
    for (size_t i = 0; (i = viewer_find(viewer, text, len, i, &match_len)) < limit; i++)
        found = i;
    *at = found;
    return found != SIZE_MAX;
}

static bool match_ahead(const struct viewer *viewer, uint32_t line, size_t limit, uint32_t *at_line,
                        size_t *at)
{
    size_t i = hit_from(viewer, line);
    if (i < viewer->hit_count && viewer->hits[i].line == line && last_in(viewer, line, limit, at)) {
        *at_line = line;
        return true;
    }
    if (i == 0)
        return false;
    *at_line = viewer->hits[i - 1].line;
    return last_in(viewer, *at_line, SIZE_MAX, at);
}

size_t viewer_search(struct viewer *viewer, const char *needle)
{
    uint32_t line = viewer->has_cursor ? viewer->cursor : viewer->top_line;
    size_t from = 0;
    if (viewer->at_match) {
        line = viewer->match_line;
        from = viewer->match_from;
    }
    free(viewer->needle);
    viewer->needle = needle && *needle ? mem_strdup(needle) : NULL;
    viewer->needle_len = viewer->needle ? strlen(viewer->needle) : 0;
    viewer->at_match = false;
    viewer->fold = true;
    for (size_t at = 0; at < viewer->needle_len;) {
        uint32_t code;
        at += utf8_decode(&code, viewer->needle + at, viewer->needle_len - at);
        if (fold_char(code) != code)
            viewer->fold = false;
    }
    viewer_collect(viewer);
    uint32_t at_line;
    size_t at;
    if (viewer->match_count && (match_behind(viewer, line, from, &at_line, &at) ||
                                match_behind(viewer, 0, 0, &at_line, &at)))
        go_to_match(viewer, at_line, at);
    return viewer->match_count;
}

bool viewer_search_next(struct viewer *viewer, int by, bool *wrapped)
{
    bool around = false;
    if (wrapped)
        *wrapped = false;
    if (!viewer->match_count)
        return false;
    uint32_t line = viewer->at_match     ? viewer->match_line
                    : viewer->has_cursor ? viewer->cursor
                                         : viewer->top_line;
    size_t from = viewer->at_match ? viewer->match_from : 0, at = 0;
    if (by > 0) {
        if (!match_behind(viewer, line, from + (viewer->at_match ? 1 : 0), &line, &at))
            around = match_behind(viewer, 0, 0, &line, &at);
    } else if (!match_ahead(viewer, line, from, &line, &at)) {
        around = match_ahead(viewer, UINT32_MAX, SIZE_MAX, &line, &at);
    }
    if (wrapped)
        *wrapped = around;
    go_to_match(viewer, line, at);
    return true;
}

size_t viewer_match_number(const struct viewer *viewer)
{
    if (!viewer->at_match)
        return 0;
    size_t i = hit_from(viewer, viewer->match_line);
    if (i == viewer->hit_count)
        return 0;
    return viewer->hits[i].before + count_in(viewer, viewer->match_line, viewer->match_from);
}
