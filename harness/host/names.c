#include "names.h"

#include "harness/base/file.h"

#include <ctype.h>
#include <string.h>

enum { SOURCE_MOST = 1 << 20, CALL_LINES = 4, NAME_MOST = 40 };

static struct buf text;

bool names_load(const char *source, struct err *err)
{
    buf_clear(&text);
    return file_read(&text, source, SOURCE_MOST, err);
}

static const char *line_start(int line)
{
    const char *at = buf_str(&text);
    for (int i = 1; at && i < line; i++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return line > 0 ? at : NULL;
}

/* The first argument of an allocating call in [at, end). */
static const char *find_argument(const char *at, const char *end)
{
    static const char *const calls[] = {"cudaMalloc", "cudaHostAlloc", "cudaHostRegister"};
    for (; at < end; at++) {
        if (*at != 'c')
            continue;
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            size_t len = strlen(calls[i]);
            if ((size_t)(end - at) <= len || strncmp(at, calls[i], len) != 0)
                continue;
            while (at < end && (isalnum((unsigned char)*at) || *at == ' '))
                at++;
            return at < end && *at == '(' ? at + 1 : NULL;
        }
    }
    return NULL;
}

/* Behind blanks, casts and the address-of. */
static const char *skip_casts(const char *at, const char *end)
{
    for (;;) {
        while (at < end && (isspace((unsigned char)*at) || *at == '&'))
            at++;
        if (end - at > 16 && !strncmp(at, "reinterpret_cast", 16)) {
            while (at < end && *at != '(')
                at++;
            at += at < end;
        } else if (at < end && *at == '(') {
            while (at < end && *at != ')')
                at++;
            at += at < end;
        } else {
            return at;
        }
    }
}

static bool belongs(const char *at)
{
    return isalnum((unsigned char)*at) || strchr("_.[]:+*", *at) ||
           (at[0] == '-' && at[1] == '>') || (at[0] == '>' && at[-1] == '-');
}

bool names_find(int line, char *out, size_t size)
{
    const char *at = line_start(line);
    if (!at || !text.len)
        return false;
    const char *end = at;
    for (int i = 0; i < CALL_LINES && *end; i++) {
        end += strcspn(end, "\n");
        end += *end != '\0';
    }
    at = find_argument(at, end);
    if (!at)
        return false;
    at = skip_casts(at, end);
    if (at >= end || !(isalpha((unsigned char)*at) || *at == '_'))
        return false;
    size_t len = 0;
    while (at + len < end && belongs(at + len))
        len++;
    const char *behind = at + len;
    while (behind < end && isspace((unsigned char)*behind))
        behind++;
    if (behind >= end || !strchr(",)", *behind) || len > NAME_MOST || len >= size)
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}
