/* Keys as numbers, and their names.
 *
 * A key is a Unicode character, or one of the names below (above all characters). Names are what
 * help, command tables and script files use: "e", "Ctrl-L", "PgDn", "S-Tab".
 *
 * Where keys come from is not known here. */
#ifndef STRIDE_TUI_KEY_H
#define STRIDE_TUI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KEY_NOTHING = 0,
    KEY_CODE_TAB = 9,
    KEY_CODE_ENTER = 13,
    KEY_CODE_ESC = 27,
    KEY_CODE_SPACE = 32,
    KEY_CODE_BACKSPACE = 127,
    KEY_CODE_FIRST = 0x110000,
    KEY_CODE_UP = KEY_CODE_FIRST,
    KEY_CODE_DOWN,
    KEY_CODE_LEFT,
    KEY_CODE_RIGHT,
    KEY_CODE_PAGE_UP,
    KEY_CODE_PAGE_DOWN,
    KEY_CODE_HOME,
    KEY_CODE_END,
    KEY_CODE_BACK_TAB,
    KEY_CODE_DELETE,
    KEY_CODE_UNKNOWN, /* a key that has no name here */
};

/* Ctrl-A is 1 and so on, as on the wire. */
#define KEY_CTRL(letter) ((letter)&0x1f)

/* The key of that name; false when there is none. A single character is its own name. */
bool key_parse(int32_t *out, const char *name, size_t len);

/* Writes the key's name, at most 16 bytes with its NUL. */
void key_write_name(char out[16], int32_t key);

#endif
