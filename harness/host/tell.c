#include "tell.h"

#include "harness/base/buf.h"
#include "harness/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HIGH = 200 }; /* away from descriptors that a program may close or write to by mistake */

static int out = -1;
static char nonce[24]; /* opens each line */

bool tell_open(const char *first)
{
    snprintf(nonce, sizeof nonce, "%s", first ? first : "");
    out = fcntl(TELL_FD, F_DUPFD_CLOEXEC, HIGH);
    close(TELL_FD);
    return out >= 0;
}

static void write_all(const char *text, size_t len)
{
    while (len) {
        ssize_t put = write(out, text, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return; /* nobody listens; the harness ends this process */
        text += put;
        len -= (size_t)put;
    }
}

void tell(json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(line);
    if (!text)
        return;
    struct buf whole = {0};
    buf_printf(&whole, "%s%s\n", nonce, text);
    write_all(buf_str(&whole), whole.len);
    buf_free(&whole);
    free(text);
}

void tell_add(const char *array, json_t *item)
{
    tell(json_pack("{s:{s:o}}", "add", array, item));
}

void tell_phase(const char *phase, uint64_t n, unsigned round)
{
    tell(json_pack("{s:s, s:I, s:i}", "phase", phase, "n", (json_int_t)n, "round", (int)round));
}

void tell_end(enum verdict verdict, const char *summary)
{
    tell(json_pack("{s:{s:s, s:o}}", "end", "verdict", verdict_name(verdict), "summary",
                   json_text(summary)));
}

static char *add_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *add_number(char *at, int value)
{
    char digits[12];
    int count = 0;
    unsigned left = value < 0 ? 0u - (unsigned)value : (unsigned)value;
    do
        digits[count++] = (char)('0' + left % 10);
    while ((left /= 10));
    if (value < 0)
        *at++ = '-';
    while (count)
        *at++ = digits[--count];
    return at;
}

void tell_signal(const char *word, const char *key, int value, int line)
{
    char text[200], *at = text;
    if (strlen(word) + strlen(key) > 60)
        return;
    at = add_text(add_text(add_text(add_text(at, nonce), "{\""), word), "\":{\"");
    at = add_number(add_text(add_text(at, key), "\":"), value);
    at = add_number(add_text(at, ",\"line\":"), line);
    at = add_text(at, "}}\n");
    write_all(text, (size_t)(at - text));
}
