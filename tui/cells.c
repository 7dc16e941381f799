#include "tui/cells.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[STYLE_COUNT] = {
#define X(symbol, name) name,
#include "styles.def"
#undef X
};

const char *style_name(enum style style)
{
    return names[style];
}

void cells_start(struct cells *cells, int rows, int cols)
{
    cells->rows = rows < 0 ? 0 : rows;
    cells->cols = cols < 0 ? 0 : cols;
    size_t count = (size_t)cells->rows * (size_t)cells->cols;
    if (count > cells->capacity) {
        cells->cell = mem_grow(cells->cell, count, sizeof *cells->cell);
        cells->capacity = count;
    }
    const struct cell blank = {.text = " ", .width = 1, .style = STYLE_NORMAL};
    for (size_t i = 0; i < count; i++)
        cells->cell[i] = blank;
    cells->cursor_row = -1;
    cells->cursor_col = 0;
}

void cells_free(struct cells *cells)
{
    free(cells->cell);
    memset(cells, 0, sizeof *cells);
}

struct cell *cells_at(const struct cells *cells, int row, int col)
{
    if (row < 0 || col < 0 || row >= cells->rows || col >= cells->cols)
        return NULL;
    return &cells->cell[(size_t)row * (size_t)cells->cols + (size_t)col];
}

/* Cutting a wide character in two would shift the rest of the row: its other half becomes a blank.
 */
static void free_cell(struct cells *cells, int row, int col)
{
    struct cell *cell = cells_at(cells, row, col);
    struct cell *other = NULL;
    if (cell && cell->width == 0)
        other = cells_at(cells, row, col - 1);
    else if (cell && cell->width == 2)
        other = cells_at(cells, row, col + 1);
    if (other) {
        memcpy(other->text, " ", 2);
        other->width = 1;
    }
}

static void set_cell(struct cells *cells, int row, int col, int width, enum style style,
                     const char *text, size_t len)
{
    struct cell *cell = cells_at(cells, row, col);
    if (!cell)
        return;
    free_cell(cells, row, col);
    if (width == 2)
        free_cell(cells, row, col + 1);
    while (len >= CELL_TEXT) /* too many marks on one letter: the last ones go, whole */
        do
            len--;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80);
    bool control = len > 0 && ((unsigned char)text[0] < 0x20 || text[0] == 0x7f ||
                               ((unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0));
    memcpy(cell->text, control ? "?" : text, control ? 1 : len);
    cell->text[control ? 1 : len] = '\0';
    cell->width = (uint8_t)width;
    cell->style = (uint8_t)style;
    cell->over = OVER_NONE;
    if (width == 2 && (cell = cells_at(cells, row, col + 1)))
        *cell = (struct cell){.text = "", .width = 0, .style = (uint8_t)style};
}

int cells_put(struct cells *cells, int row, int col, int most, int skip, enum style style,
              const char *text, size_t len)
{
    int at = -skip, limit = most < cells->cols - col ? most : cells->cols - col;
    for (size_t i = 0; i < len && at < limit;) {
        int width;
        size_t bytes = text_cluster(text + i, len - i, &width);
        if (width == 0) {
            i += bytes;
            continue;
        }
        bool cut = at < 0 ? at + width > 0 : at + width > limit;
        if (cut)
            for (int half = at < 0 ? 0 : at; half < at + width && half < limit; half++)
                set_cell(cells, row, col + half, 1, style, " ", 1);
        else if (at >= 0)
            set_cell(cells, row, col + at, width, style, text + i, bytes);
        at += width;
        i += bytes;
    }
    return at < 0 ? 0 : at > limit ? (limit < 0 ? 0 : limit) : at;
}

int cells_put_str(struct cells *cells, int row, int col, int most, enum style style,
                  const char *text)
{
    return cells_put(cells, row, col, most, 0, style, text, strlen(text));
}

void cells_fill(struct cells *cells, struct rect rect, enum style style, const char *character)
{
    size_t len = strlen(character);
    for (int row = rect.row; row < rect.row + rect.rows; row++)
        for (int col = rect.col; col < rect.col + rect.cols; col++)
            set_cell(cells, row, col, 1, style, character, len);
}

void cells_lay(struct cells *cells, int row, int col, int columns, enum cell_over over)
{
    for (int i = 0; i < columns; i++) {
        struct cell *cell = cells_at(cells, row, col + i);
        if (cell)
            cell->over = (uint8_t)over;
    }
}

/* Stand-ins of one column each, for the characters that Stride itself draws with. */
static const struct {
    const char *from;
    char to;
} stand_ins[] = {
    {"─", '-'}, {"━", '='}, {"│", '|'},  {"┃", '|'},  {"┌", '+'}, {"┐", '+'}, {"└", '+'},
    {"┘", '+'}, {"├", '+'}, {"┤", '+'},  {"┬", '+'},  {"┴", '+'}, {"┼", '+'}, {"╭", '+'},
    {"╮", '+'}, {"╰", '+'}, {"╯", '+'},  {"╌", '-'},  {"┄", '-'}, {"═", '='}, {"║", '|'},
    {"╞", '+'}, {"╡", '+'}, {"╪", '+'},  {"▌", '|'},  {"▐", '|'}, {"▏", '|'}, {"▎", '|'},
    {"▍", '|'}, {"▋", '#'}, {"▊", '#'},  {"▉", '#'},  {"█", '#'}, {"▓", '#'}, {"▒", '%'},
    {"░", '.'}, {"▸", '>'}, {"▶", '>'},  {"▾", 'v'},  {"▼", 'v'}, {"▲", '^'}, {"◀", '<'},
    {"◂", '<'}, {"→", '>'}, {"←", '<'},  {"↑", '^'},  {"↓", 'v'}, {"·", '.'}, {"•", '*'},
    {"●", '*'}, {"○", 'o'}, {"◆", '*'},  {"◇", 'o'},  {"✓", '+'}, {"✗", 'x'}, {"…", '~'},
    {"–", '-'}, {"—", '-'}, {"‘", '\''}, {"’", '\''}, {"“", '"'}, {"”", '"'}, {"×", 'x'},
    {"≤", '<'}, {"≥", '>'}, {"≈", '~'},  {"−", '-'},  {"µ", 'u'}, {"μ", 'u'}, {"⠋", '|'},
};

static char stand_in(const char *text)
{
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (strcmp(stand_ins[i].from, text) == 0)
            return stand_ins[i].to;
    return '?';
}

void cells_to_ascii(struct cells *cells)
{
    size_t count = (size_t)cells->rows * (size_t)cells->cols;
    for (size_t i = 0; i < count; i++) {
        struct cell *cell = &cells->cell[i];
        if (cell->width == 0)
            memcpy(cell->text, " ", 2);
        else if (cell->text[0] & 0x80)
            cell->text[0] = stand_in(cell->text);
        cell->text[1] = '\0';
        cell->width = 1;
    }
}

void cells_text(const struct cells *cells, struct buf *out)
{
    for (int row = 0; row < cells->rows; row++) {
        size_t keep = out->len;
        for (int col = 0; col < cells->cols; col++) {
            const char *text = cells_at(cells, row, col)->text;
            buf_add_str(out, text);
            if (strcmp(text, " ") != 0)
                keep = out->len;
        }
        if (out->len > keep) {
            out->len = keep;
            out->data[keep] = '\0';
        }
        buf_add_char(out, '\n');
    }
}

static char style_letter(enum style style)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    _Static_assert(STYLE_COUNT < sizeof letters, "one letter per style");
    return style == STYLE_NORMAL ? '.' : letters[style];
}

void cells_styles(const struct cells *cells, struct buf *out)
{
    bool used[STYLE_COUNT] = {false};
    for (int row = 0; row < cells->rows; row++) {
        for (int col = 0; col < cells->cols; col++) {
            const struct cell *cell = cells_at(cells, row, col);
            used[cell->style] = true;
            buf_add_char(out, cell->over == OVER_SELECTED ? '#'
                              : cell->over == OVER_MATCH  ? '?'
                                                          : style_letter(cell->style));
        }
        buf_add_char(out, '\n');
    }
    for (int i = 0; i < STYLE_COUNT; i++)
        if (used[i] && i != STYLE_NORMAL)
            buf_printf(out, "%c %s\n", style_letter((enum style)i), names[i]);
}
