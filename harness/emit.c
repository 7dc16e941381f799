#include "emit.h"

#include "harness/base/buf.h"
#include "harness/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool emit_open(struct emit *emit, struct err *err)
{
    if (fcntl(EMIT_FD, F_GETFD) < 0)
        return err_set(err, "descriptor 3 is not open: stride-harness writes its records there; "
                            "start it through stride, or with 3>&1 to see them");
    fcntl(EMIT_FD, F_SETFD, FD_CLOEXEC);
    *emit = (struct emit){.fd = EMIT_FD};
    return true;
}

void emit_close(struct emit *emit)
{
    free(emit->nonce);
    *emit = (struct emit){.fd = -1};
}

static void write_line(struct emit *emit, const char *line, size_t len)
{
    while (len) {
        ssize_t put = write(emit->fd, line, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            _Exit(5);
        line += put;
        len -= (size_t)put;
    }
}

static void send_event(struct emit *emit, const char *event, json_t *fields)
{
    json_t *line = json_object();
    json_object_set_new(line, "event", json_string(event));
    if (emit->nonce)
        json_object_set_new(line, "nonce", json_text(emit->nonce));
    json_object_update_missing(line, fields);
    json_decref(fields);
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(line);
    if (!text) { /* only out of memory is left: json_text keeps strings valid */
        fputs("stride-harness: out of memory\n", stderr);
        _Exit(5);
    }
    struct buf out = {0};
    buf_printf(&out, "%s\n", text);
    free(text);
    write_line(emit, buf_str(&out), out.len);
    buf_free(&out);
}

static json_t *one(const char *key, json_t *value)
{
    json_t *object = json_object();
    json_object_set_new(object, key, value);
    return object;
}

void emit_ready(struct emit *emit, double ms)
{
    send_event(emit, "ready", one("ms", json_real(round(ms * 10) / 10)));
}

void emit_begin(struct emit *emit, const char *stage)
{
    send_event(emit, "begin", one("stage", json_string(stage)));
}

void emit_done(struct emit *emit, const char *stage, double ms)
{
    json_t *fields = one("stage", json_string(stage));
    json_object_set_new(fields, "ms", json_real(round(ms * 1000) / 1000));
    send_event(emit, "done", fields);
}

void emit_done_within(struct emit *emit, const char *stage, const char *other)
{
    json_t *fields = one("stage", json_string(stage));
    json_object_set_new(fields, "within", json_string(other));
    send_event(emit, "done", fields);
}

void emit_skip(struct emit *emit, const char *stage, const char *why)
{
    json_t *fields = one("stage", json_string(stage));
    json_object_set_new(fields, "why", json_text(why));
    send_event(emit, "skip", fields);
}

void emit_set(struct emit *emit, json_t *members)
{
    send_event(emit, "data", one("set", members));
}

void emit_add(struct emit *emit, const char *array, json_t *item)
{
    send_event(emit, "data", one("add", one(array, item)));
}

void emit_note(struct emit *emit, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    send_event(emit, "note", one("text", json_text(text)));
}

void emit_end(struct emit *emit, enum verdict verdict, const char *summary)
{
    json_t *fields = one("verdict", json_string(verdict_name(verdict)));
    json_object_set_new(fields, "summary", json_text(summary));
    send_event(emit, "end", fields);
}
