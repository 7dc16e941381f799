#include "tui/key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistr.h>

static const struct {
    const char *name;
    int32_t key;
} names[] = {
    {"Enter", KEY_CODE_ENTER},    {"Esc", KEY_CODE_ESC},      {"Tab", KEY_CODE_TAB},
    {"S-Tab", KEY_CODE_BACK_TAB}, {"Space", KEY_CODE_SPACE},  {"Backspace", KEY_CODE_BACKSPACE},
    {"Up", KEY_CODE_UP},          {"Down", KEY_CODE_DOWN},    {"Left", KEY_CODE_LEFT},
    {"Right", KEY_CODE_RIGHT},    {"PgUp", KEY_CODE_PAGE_UP}, {"PgDn", KEY_CODE_PAGE_DOWN},
    {"Home", KEY_CODE_HOME},      {"End", KEY_CODE_END},      {"Delete", KEY_CODE_DELETE},
};

bool key_parse(int32_t *out, const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && strncasecmp(names[i].name, name, len) == 0) {
            *out = names[i].key;
            return true;
        }
    if (len == 6 && strncasecmp(name, "Ctrl-", 5) == 0 && name[5] >= '?' && name[5] <= 'z') {
        *out = KEY_CTRL(name[5]);
        return true;
    }
    ucs4_t uc;
    if (len == 0 || u8_mbtoucr(&uc, (const uint8_t *)name, len) != (int)len || uc < 0x20)
        return false;
    *out = (int32_t)uc;
    return true;
}

void key_write_name(char out[16], int32_t key)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == key) {
            snprintf(out, 16, "%s", names[i].name);
            return;
        }
    if (key > 0 && key < 0x20) {
        snprintf(out, 16, "Ctrl-%c", '@' + key);
        return;
    }
    int len = key > 0 && key < KEY_CODE_FIRST ? u8_uctomb((uint8_t *)out, (ucs4_t)key, 15) : 0;
    if (len <= 0)
        len = snprintf(out, 16, "?");
    out[len] = '\0';
}
