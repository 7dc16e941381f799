#include "tui/term.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "tui/charset.h"
#include "tui/key.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

static struct {
    SCREEN *screen;
    bool repaint, left;
    bool tells_pastes, pasting; /* the terminal frames pasted text; such text is coming */
    attr_t attributes[STYLE_COUNT];
    short pairs[STYLE_COUNT]; /* the style alone */
    short over_pairs[OVER_COUNT]
                    [STYLE_COUNT]; /* the style's foreground on the background of what lies over */
    struct cells ascii;
    struct cells shown; /* what the screen has: only rows that differ are given to curses */
} term;

/* A bundle brings descriptions of the common terminals for machines that lack them. The variable
 * stays set: the editor will need it too. */
static bool know_terminal(const char *name)
{
    int reason = 0;
    if (setupterm(name, STDOUT_FILENO, &reason) == OK)
        return true;
    char *root = NULL;
    if (getenv("TERMINFO") || !path_find_root(&root, NULL))
        return false;
    char *folder = path_join(root, "terminfo");
    bool known = file_is_dir(folder) && setenv("TERMINFO", folder, 1) == 0;
    known = known && setupterm(name, STDOUT_FILENO, &reason) == OK;
    if (!known)
        unsetenv("TERMINFO");
    free(folder);
    free(root);
    return known;
}

bool term_check(struct err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, "%s",
                       _("the full screen needs a terminal on input and output; the plain commands "
                         "(stride list, stride run LAB, ...) work without one"));
    const char *name = getenv("TERM");
    if (!name || !*name)
        return err_set(
            err, "%s",
            _("TERM is not set; set it to your terminal's type (for example TERM=xterm), "
              "or use the plain commands (stride list, stride run LAB, ...)"));
    bool known = know_terminal(name), can = known && cursor_address;
    if (known)
        del_curterm(cur_term); /* newterm looks it up again */
    if (!can)
        return err_set(err,
                       _("TERM=%s is not a terminal that a full screen can be drawn on here; set "
                         "TERM to one that is (for example TERM=xterm), or use the plain commands "
                         "(stride list, stride run LAB, ...)"),
                       name);
    return true;
}

static attr_t to_curses(uint16_t attributes)
{
    attr_t result = A_NORMAL;
    result |= attributes & LOOK_BOLD ? A_BOLD : 0;
    result |= attributes & LOOK_DIM ? A_DIM : 0;
    result |= attributes & LOOK_ITALIC ? A_ITALIC : 0;
    result |= attributes & LOOK_UNDERLINE ? A_UNDERLINE : 0;
    result |= attributes & LOOK_REVERSE ? A_REVERSE : 0;
    return result;
}

/* Pairs are few on old terminals: equal ones share a number. */
static short pair_number(short fg, short bg, short *used)
{
    for (short i = 1; i <= *used; i++) {
        short f, b;
        pair_content(i, &f, &b);
        if (f == fg && b == bg)
            return i;
    }
    if ((fg < 0 && bg < 0) || *used + 1 >= COLOR_PAIRS)
        return 0;
    init_pair(++*used, fg, bg);
    return *used;
}

static short colour(int16_t full, int16_t small)
{
    if (COLORS >= 256)
        return full;
    if (COLORS >= 16 || small < 0)
        return small;
    /* Of eight colours, grey would be black on black */
    return (short)(small == 8 ? -1 : small % 8);
}

/* What lies over a cell gives its background and attributes; the cell keeps its colour of text. */
static const enum style over_styles[OVER_COUNT] = {
    [OVER_SELECTED] = STYLE_SELECTED, [OVER_STATUS] = STYLE_STATUS, [OVER_MATCH] = STYLE_MATCH};

static void set_over(const struct theme *theme, enum cell_over over, short *used)
{
    const struct look *look = &theme->looks[over_styles[over]];
    short over_bg = colour(look->bg, look->bg16);
    for (int i = 0; i < STYLE_COUNT; i++) {
        const struct look *under = &theme->looks[i];
        bool own = over == OVER_MATCH || (under->fg < 0 && look->fg >= 0);
        short fg = own ? colour(look->fg, look->fg16) : colour(under->fg, under->fg16);
        short bg = over_bg < 0 ? colour(under->bg, under->bg16) : over_bg;
        term.over_pairs[over][i] = pair_number(fg >= 0 && fg == bg ? -1 : fg, bg, used);
    }
}

void term_set_theme(const struct theme *theme)
{
    short used = 0;
    /* A NO_COLOR screen must not even say "default colours" */
    bool colours = has_colors() && !theme_no_color();
    memset(term.pairs, 0, sizeof term.pairs);
    memset(term.over_pairs, 0, sizeof term.over_pairs);
    for (int i = 0; i < STYLE_COUNT; i++) {
        const struct look *look = &theme->looks[i];
        term.attributes[i] = to_curses(look->attributes);
        if (colours)
            term.pairs[i] =
                pair_number(colour(look->fg, look->fg16), colour(look->bg, look->bg16), &used);
    }
    for (int over = 1; colours && over < OVER_COUNT; over++)
        set_over(theme, (enum cell_over)over, &used);
    term.repaint = true;
}

/* Keys that the terminal sends around a pasted text. */
enum { PASTE_BEGIN = KEY_MAX + 1, PASTE_END };
enum {
    FRAME_BEGIN = -1,
    FRAME_END = -2
}; /* the same beside characters, which are no such numbers */

/* Straight to the terminal: curses knows no such mode. One that does not know it takes no notice.
 */
static void ask_for_pastes(bool on)
{
    if (!term.tells_pastes)
        return;
    fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
    fflush(stdout);
    term.pasting = false;
}

bool term_open(const struct theme *theme, struct err *err)
{
    if (!term_check(err))
        return false;
    term.left = false;
    if (!getenv("ESCDELAY"))
        set_escdelay(25);
    term.screen = newterm(NULL, stdout, stdin);
    if (!term.screen)
        return err_set(err, _("TERM=%s: curses cannot use this terminal; try TERM=xterm"),
                       getenv("TERM"));
    set_term(term.screen);
    raw();
    noecho();
    nonl();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    meta(stdscr, TRUE);
    term.tells_pastes = strncmp(cursor_address, "\033[", 2) == 0 &&
                        define_key("\033[200~", PASTE_BEGIN) == OK &&
                        define_key("\033[201~", PASTE_END) == OK;
    ask_for_pastes(true);
    if (has_colors() && !theme_no_color()) {
        start_color();
        use_default_colors();
    }
    term_set_theme(theme);
    return true;
}

void term_leave(void)
{
    if (!term.left) {
        ask_for_pastes(false);
        endwin();
    }
    term.left = true;
}

void term_close(void)
{
    if (!term.screen)
        return;
    term_leave();
    delscreen(term.screen);
    term.screen = NULL;
    cells_free(&term.ascii);
    cells_free(&term.shown);
}

void term_size(int *rows, int *cols)
{
    *rows = LINES;
    *cols = COLS;
}

void term_resize(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
    term.repaint = true;
}

void term_repaint(void)
{
    term.repaint = true;
}

/* What the C library thinks of the width decides how curses counts; where it disagrees with ours,
 * one
 * '?' per column keeps the row straight. */
static void to_wide(const struct cell *cell, wchar_t out[8])
{
    mbstate_t state = {0};
    const char *at = cell->text;
    size_t count = mbsnrtowcs(out, &at, strlen(cell->text), 6, &state);
    int width = 0;
    if (count != (size_t)-1) {
        out[count] = L'\0';
        width = wcswidth(out, count);
    }
    if (count == (size_t)-1 || count == 0 || width != cell->width)
        wcscpy(out, cell->width == 2 ? L"??" : L"?");
}

static void show_cell(const struct cell *cell)
{
    attr_t attributes = term.attributes[cell->style];
    short pair = term.pairs[cell->style];
    if (cell->over == OVER_MATCH)
        attributes = 0;
    if (cell->over != OVER_NONE) {
        attributes |= term.attributes[over_styles[cell->over]];
        pair = term.over_pairs[cell->over][cell->style];
    }
    wchar_t wide[8];
    to_wide(cell, wide);
    bool replaced = cell->width == 2 && wide[0] == L'?';
    for (int i = 0; i < (replaced ? 2 : 1); i++) {
        cchar_t out;
        wchar_t one[2] = {L'?', 0};
        setcchar(&out, replaced ? one : wide, attributes, pair, NULL);
        add_wch(&out);
    }
}

static void show_row(const struct cells *cells, int row, int cols)
{
    move(row, 0);
    for (int col = 0; col < cols; col++) {
        const struct cell *cell = cells_at(cells, row, col);
        if (cell->width > 0)
            show_cell(cell);
    }
}

static bool same_row(const struct cells *a, const struct cells *b, int row)
{
    return memcmp(cells_at(a, row, 0), cells_at(b, row, 0),
                  (size_t)a->cols * sizeof(struct cell)) == 0;
}

static void remember(const struct cells *cells)
{
    cells_start(&term.shown, cells->rows, cells->cols);
    memcpy(term.shown.cell, cells->cell,
           (size_t)cells->rows * (size_t)cells->cols * sizeof *cells->cell);
}

void term_show(const struct cells *cells)
{
    if (term.left || !term.screen)
        return;
    if (!charset_utf8()) {
        cells_start(&term.ascii, cells->rows, cells->cols);
        memcpy(term.ascii.cell, cells->cell,
               (size_t)cells->rows * (size_t)cells->cols * sizeof *cells->cell);
        term.ascii.cursor_row = cells->cursor_row;
        term.ascii.cursor_col = cells->cursor_col;
        cells_to_ascii(&term.ascii);
        cells = &term.ascii;
    }
    bool all = term.repaint || term.shown.rows != cells->rows || term.shown.cols != cells->cols;
    if (all)
        erase();
    for (int row = 0; row < cells->rows && row < LINES; row++)
        if (all || !same_row(cells, &term.shown, row))
            show_row(cells, row, cells->cols < COLS ? cells->cols : COLS);
    remember(cells);
    if (term.repaint)
        clearok(stdscr, TRUE);
    term.repaint = false;
    curs_set(cells->cursor_row >= 0);
    move(cells->cursor_row < 0 ? LINES - 1 : cells->cursor_row,
         cells->cursor_row < 0 ? 0 : cells->cursor_col);
    refresh();
}

static int32_t from_curses(wint_t key)
{
    switch (key) {
    case KEY_UP:
        return KEY_CODE_UP;
    case KEY_DOWN:
        return KEY_CODE_DOWN;
    case KEY_LEFT:
        return KEY_CODE_LEFT;
    case KEY_RIGHT:
        return KEY_CODE_RIGHT;
    case KEY_PPAGE:
        return KEY_CODE_PAGE_UP;
    case KEY_NPAGE:
        return KEY_CODE_PAGE_DOWN;
    case KEY_HOME:
    case KEY_FIND:
        return KEY_CODE_HOME;
    case KEY_END:
    case KEY_SELECT:
        return KEY_CODE_END;
    case KEY_BTAB:
        return KEY_CODE_BACK_TAB;
    case KEY_DC:
        return KEY_CODE_DELETE;
    case KEY_BACKSPACE:
        return KEY_CODE_BACKSPACE;
    case KEY_ENTER:
        return KEY_CODE_ENTER;
    default:
        return KEY_CODE_UNKNOWN;
    }
}

/* Readable, and yet nothing to read: the other end is gone. */
static bool input_ended(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&fd, 1, 0) <= 0)
        return false;
    int waiting = 0;
    if (fd.revents & (POLLHUP | POLLERR | POLLNVAL))
        return true;
    return (fd.revents & POLLIN) && (ioctl(STDIN_FILENO, FIONREAD, &waiting) < 0 || waiting == 0);
}

static int32_t next_key(bool *ended)
{
    wint_t key = 0;
    int kind = wget_wch(stdscr, &key);
    if (kind == ERR) {
        *ended = input_ended();
        return KEY_NOTHING;
    }
    if (kind == KEY_CODE_YES && (key == PASTE_BEGIN || key == PASTE_END))
        return key == PASTE_BEGIN ? FRAME_BEGIN : FRAME_END;
    if (kind == KEY_CODE_YES)
        return from_curses(key);
    if (key == '\n')
        return KEY_CODE_ENTER;
    if (key == 8)
        return KEY_CODE_BACKSPACE;
    return (int32_t)key;
}

int32_t term_key(bool *ended, bool *pasted)
{
    int32_t key;
    *ended = false;
    while ((key = next_key(ended)) == FRAME_BEGIN || key == FRAME_END)
        term.pasting = key == FRAME_BEGIN;
    if (key == KEY_CTRL('C')) /* no paste lasts for ever, should its end get lost */
        term.pasting = false;
    *pasted = term.pasting;
    return key;
}

void term_return(void)
{
    term.left = false;
    ask_for_pastes(true);
    term_resize();
    term.repaint = true;
}
