#include "harness/ptx/host_call.h"

#include "harness/base/msg.h"

#include "harness/ptx/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum host_function host_find(const char *name)
{
    if (!strcmp(name, "vprintf"))
        return HOST_VPRINTF;
    if (!strcmp(name, "__assertfail"))
        return HOST_ASSERTFAIL;
    return HOST_NONE;
}

static uint64_t argument(const struct warp *w, const struct host_site *site, unsigned index,
                         unsigned lane, uint32_t bytes)
{
    uint64_t value = 0;
    if (index < site->argument_count)
        words_read(w->frame->params, site->arguments[index], lane, &value, bytes);
    return value;
}

enum { TEXT_MOST = 4096 };

/* A C string of the kernel; what can't be read ends it. */
static void read_text(const struct warp *w, unsigned lane, uint64_t address, char out[TEXT_MOST])
{
    size_t len = 0;
    while (len < TEXT_MOST - 1 && generic_read(w, lane, address + len, out + len, 1) && out[len])
        len++;
    out[len] = '\0';
}

/* The argument buffer of one printf: naturally aligned values, one after the other. */
struct arguments {
    const struct warp *w;
    unsigned lane;
    uint64_t at;
    int count;
};

static uint64_t take(struct arguments *args, uint32_t bytes)
{
    uint64_t value = 0;
    args->at = (args->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    generic_read(args->w, args->lane, args->at, &value, bytes);
    args->at += bytes;
    args->count++;
    return value;
}

struct spec {
    char text[48]; /* %-08.3l... rebuilt, without the conversion */
    size_t len;
    bool wide;
};

static void spec_add(struct spec *spec, char c)
{
    if (spec->len < sizeof spec->text - 4)
        spec->text[spec->len++] = c;
}

/* Digits or *, at most 1024, so that no format can ask for a gigabyte of blanks. */
static const char *spec_number(struct spec *spec, const char *at, struct arguments *args)
{
    long value = 0;
    if (*at == '*') {
        value = (int32_t)take(args, 4);
        at++;
    } else {
        while (*at >= '0' && *at <= '9') {
            value = value < 100000 ? value * 10 + (*at - '0') : value;
            at++;
        }
    }
    value = value > 1024 ? 1024 : value < -1024 ? -1024 : value;
    char digits[16];
    snprintf(digits, sizeof digits, "%ld", value);
    for (const char *d = digits; *d; d++)
        spec_add(spec, *d);
    return at;
}

static const char *parse_spec(struct spec *spec, const char *at, struct arguments *args)
{
    *spec = (struct spec){.text = "%", .len = 1};
    while (*at && strchr("-+ #0", *at))
        spec_add(spec, *at++);
    if (*at == '*' || (*at >= '1' && *at <= '9'))
        at = spec_number(spec, at, args);
    if (*at == '.') {
        spec_add(spec, *at++);
        at = spec_number(spec, at, args);
    }
    while (*at && strchr("hlLqjzt", *at)) {
        spec->wide |= *at != 'h';
        at++;
    }
    return at;
}

static void print_value(struct buf *out, struct spec *spec, char conversion, struct arguments *args)
{
    char text[TEXT_MOST], line[TEXT_MOST + 1100];
    uint64_t value;
    double number;
    switch (conversion) {
    case 'd':
    case 'i':
        value = take(args, spec->wide ? 8 : 4);
        memcpy(spec->text + spec->len, "lld", 4);
        snprintf(line, sizeof line, spec->text,
                 spec->wide ? (long long)value : (long long)(int32_t)value);
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        value = take(args, spec->wide ? 8 : 4);
        memcpy(spec->text + spec->len, (char[]){'l', 'l', conversion, '\0'}, 4);
        snprintf(line, sizeof line, spec->text, (unsigned long long)value);
        break;
    case 'c':
        value = take(args, 4);
        memcpy(spec->text + spec->len, "c", 2);
        snprintf(line, sizeof line, spec->text, (int)(unsigned char)value);
        break;
    case 's':
        read_text(args->w, args->lane, take(args, 8), text);
        memcpy(spec->text + spec->len, "s", 2);
        snprintf(line, sizeof line, spec->text, text);
        break;
    case 'p':
        snprintf(line, sizeof line, "0x%llx", (unsigned long long)take(args, 8));
        break;
    default: /* e f g a and their capitals */
        value = take(args, 8);
        memcpy(&number, &value, sizeof number);
        memcpy(spec->text + spec->len, (char[]){conversion, '\0'}, 2);
        snprintf(line, sizeof line, spec->text, number);
        break;
    }
    buf_add_str(out, line);
}

static int print_lane(struct warp *w, const struct host_site *site, unsigned lane, struct buf *out)
{
    char format[TEXT_MOST];
    read_text(w, lane, argument(w, site, 0, lane, 8), format);
    struct arguments args = {.w = w, .lane = lane, .at = argument(w, site, 1, lane, 8)};
    const char *at = format;
    while (*at) {
        if (*at != '%') {
            size_t plain = strcspn(at, "%");
            buf_add(out, at, plain);
            at += plain;
            continue;
        }
        struct spec spec;
        at = parse_spec(&spec, at + 1, &args);
        if (*at == '%')
            buf_add_char(out, '%');
        else if (*at && strchr("diuxXocspeEfFgGaA", *at))
            print_value(out, &spec, *at, &args);
        if (*at)
            at++;
    }
    return args.count;
}

static void mark_output(struct worker *worker, uint64_t block, size_t start)
{
    if (worker->mark_count && worker->marks[worker->mark_count - 1].block == block)
        return;
    if (worker->mark_count == worker->mark_capacity) {
        worker->mark_capacity = worker->mark_capacity ? worker->mark_capacity * 2 : 16;
        worker->marks = mem_grow(worker->marks, worker->mark_capacity, sizeof *worker->marks);
    }
    worker->marks[worker->mark_count++] = (struct output_mark){.block = block, .start = start};
}

static const struct op *fail_assertion(struct warp *w, const struct op *op,
                                       const struct host_site *site, unsigned lane)
{
    char what[TEXT_MOST]; /* the report adds the line */
    read_text(w, lane, argument(w, site, 0, lane, 8), what);
    return stop_block(w, op, PTX_FAULT, lane, _("assertion failed: %.300s"), what);
}

const struct op *host_call(struct warp *w, const struct op *op)
{
    const struct host_site *site = op->extra;
    if (site->function == HOST_ASSERTFAIL)
        return fail_assertion(w, op, site, (unsigned)__builtin_ctz(w->mask));
    struct buf *out = &w->worker->output;
    mark_output(w->worker, w->block->index, out->len);
    for (uint32_t left = w->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        int count = print_lane(w, site, lane, out);
        if (site->has_result)
            words_write(w->frame->params, site->result, lane, &count, 4);
    }
    return op + 1;
}
