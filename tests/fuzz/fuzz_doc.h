/* For fuzz targets: what must hold of every doc, whatever it was made of. */
#ifndef STRIDE_TESTS_FUZZ_DOC_H
#define STRIDE_TESTS_FUZZ_DOC_H

#include "tui/viewer.h"

#include "harness/base/clean.h"

#include <stdlib.h>
#include <string.h>

static inline void must(bool holds)
{
    if (!holds)
        abort();
}

/* Every line is clean, and as wide as it says. */
static inline void check_doc(const struct doc *doc)
{
    for (size_t i = 0; i < doc->line_count; i++) {
        const struct doc_line *line = &doc->lines[i];
        size_t len, sum = 0;
        const char *text = doc_line_text(line, &len);
        must(clean_is(text, len) && !memchr(text, '\n', len) && !memchr(text, '\t', len));
        must(line->columns == (uint32_t)text_columns(text, len));
        for (uint32_t span = 0; span < line->span_count; span++) {
            must(line->spans[span].len > 0);
            must(line->spans[span].style < STYLE_COUNT);
            sum += line->spans[span].len;
        }
        must(sum == len);
    }
}

struct check_row {
    int column, columns;
};

static inline void check_piece(void *context, const struct viewer_piece *piece)
{
    struct check_row *row = context;
    must(piece->len > 0 && piece->column >= row->column);
    must(piece->columns == text_columns(piece->text, piece->len));
    must(utf8_whole(piece->text, piece->len) == piece->len);
    row->column = piece->column + piece->columns;
    must(row->column <= row->columns);
}

/* Shows the doc in windows of several sizes, scrolled and searched: pieces fit and are whole. */
static inline void check_shown(const struct doc *doc, const char *needle)
{
    static const int sizes[][2] = {{1, 1}, {2, 3}, {17, 5}, {80, 24}};
    struct viewer viewer = {0};
    viewer_show(&viewer, doc, false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        viewer_resize(&viewer, sizes[i][0], sizes[i][1]);
        viewer_set_cursor(&viewer, i % 2);
        viewer_set_wrap(&viewer, i == 2);
        viewer_search(&viewer, needle);
        for (int move = 0; move < 6; move++) {
            for (int row = 0; row < sizes[i][1]; row++) {
                struct check_row check = {.columns = sizes[i][0]};
                viewer_draw_row(&viewer, row, check_piece, &check);
            }
            must(viewer_match_number(&viewer) <= viewer.match_count);
            must(viewer_percent(&viewer) >= 0 && viewer_percent(&viewer) <= 100);
            if (move % 3 == 0)
                viewer_page(&viewer, 1);
            else if (move % 3 == 1)
                viewer_sideways(&viewer, 3);
            else
                viewer_search_next(&viewer, i % 2 ? 1 : -1, NULL);
        }
        viewer_end(&viewer);
    }
    viewer_free(&viewer);
}

#endif
