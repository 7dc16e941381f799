#include "harness/ptx/hazard.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From findings to sentences. A sentence is a template, so that each language can put its words in
 * its own order: {thread} {other} {where} {block} {n0}..{n3} {missing}. The line numbers stand next
 * to it in the report and are left out here. */

struct sentence {
    enum ptx_hazard_kind kind;
    enum hazard_reason reason; /* REASON_ANY: every reason that has no row of its own */
    const char *text;
};

enum { REASON_ANY = 1000 };

static const struct sentence sentences[] = {
#define S(kind, reason, text) {PTX_HAZARD_##kind, (enum hazard_reason)REASON_##reason, text},
#include "harness/ptx/sentences.def"
#undef S
};

static const char *template_of(const struct hazard_finding *f)
{
    const char *any = "";
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        if (sentences[i].kind != f->kind)
            continue;
        if (sentences[i].reason == f->reason)
            return _(sentences[i].text);
        if ((int)sentences[i].reason == REASON_ANY)
            any = sentences[i].text;
    }
    return *any ? _(any) : "";
}

/* ---- names */

static void block_coordinates(const struct run *run, uint64_t block, uint32_t out[3])
{
    const uint32_t *grid = run->launch->grid;
    out[0] = (uint32_t)(block % grid[0]);
    out[1] = (uint32_t)(block / grid[0] % grid[1]);
    out[2] = (uint32_t)(block / grid[0] / grid[1]);
}

static struct ptx_thread thread_of(const struct run *run, uint64_t block, uint32_t thread)
{
    const uint32_t *size = run->launch->block;
    struct ptx_thread out = {
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}};
    block_coordinates(run, block, out.block);
    return out;
}

static void add_coordinates(struct buf *buf, const uint32_t at[3], const uint32_t size[3])
{
    if (size[1] == 1 && size[2] == 1)
        buf_printf(buf, "%u", at[0]);
    else if (size[2] == 1)
        buf_printf(buf, "(%u,%u)", at[0], at[1]);
    else
        buf_printf(buf, "(%u,%u,%u)", at[0], at[1], at[2]);
}

static void add_thread(struct buf *buf, const struct run *run, uint32_t thread)
{
    if (thread == NOBODY) {
        buf_add_str(buf, _("another thread"));
        return;
    }
    struct ptx_thread t = thread_of(run, 0, thread);
    buf_add_str(buf, _("thread "));
    add_coordinates(buf, t.thread, run->launch->block);
}

static void add_block(struct buf *buf, const struct run *run, uint64_t block)
{
    if (block == UINT64_MAX) {
        buf_add_str(buf, _("other blocks"));
        return;
    }
    uint32_t at[3];
    block_coordinates(run, block, at);
    buf_add_str(buf, _("block "));
    add_coordinates(buf, at, run->launch->grid);
}

/* "As" of _ZZ11sgemm_asyncPKfE2As; the name itself when it is not of that shape. */
static void add_plain_name(struct buf *buf, const char *name)
{
    const char *at = NULL;
    if (!strncmp(name, "_ZZ", 3) || !strncmp(name, "_ZN", 3))
        for (const char *p = name; *p; p++) {
            /* the last <length><name> that reaches the end, a discriminator "_0" aside */
            if (*p < '1' || *p > '9' || (p > name && p[-1] >= '0' && p[-1] <= '9'))
                continue;
            char *rest;
            unsigned long len = strtoul(p, &rest, 10);
            if (len > strlen(rest))
                continue;
            const char *behind = rest + len;
            if (!*behind || *behind == '_' || (*behind == 'E' && !behind[1]))
                at = p;
        }
    if (!at) {
        buf_add_str(buf, name);
        return;
    }
    char *rest;
    unsigned long len = strtoul(at, &rest, 10);
    buf_add(buf, rest, len);
}

/* name[index] of [va, va + bytes), in elements of `element` bytes where that fits. */
static void add_place(struct buf *buf, const char *name, uint64_t offset, uint64_t size,
                      uint32_t element)
{
    struct buf plain = {0};
    add_plain_name(&plain, name);
    buf_add_str(buf, buf_str(&plain));
    buf_free(&plain);
    if (!element || element > 16)
        element = 4;
    if (size > element || !size)
        buf_printf(buf, "[%llu]", (unsigned long long)(offset / element));
}

static void add_where(struct buf *buf, const struct run *run, const struct hazard_finding *f)
{
    if (f->space == PTX_SPACE_SHARED) {
        const struct func *func = run->func;
        const struct ptx_symbol *found = NULL;
        for (size_t i = 0; i < func->shared_count; i++)
            if (func->shared[i].offset <= f->address &&
                (!func->shared[i].bytes ||
                 f->address < func->shared[i].offset + func->shared[i].bytes))
                found = &func->shared[i];
        if (found)
            add_place(buf, found->name, f->address - found->offset, found->bytes, f->element);
        else
            buf_printf(buf, _("shared memory at byte %llu"), (unsigned long long)f->address);
    } else if (f->space == PTX_SPACE_GLOBAL) {
        for (size_t i = 0; i < run->map.count; i++) {
            const struct ptx_memory *m = &run->map.items[i];
            if (f->address >= m->va && f->address < m->va + m->bytes && m->name) {
                add_place(buf, m->name, f->address - m->va, m->bytes,
                          m->element_bytes ? m->element_bytes : f->element);
                return;
            }
        }
        buf_printf(buf, _("global memory at 0x%llx"), (unsigned long long)f->address);
    } else if (f->space == PTX_SPACE_LOCAL) {
        buf_printf(buf, _("local memory at byte %llu"), (unsigned long long)f->address);
    }
}

/* ---- the sentence */

static bool add_word(struct buf *buf, const struct run *run, const struct hazard_finding *f,
                     const char *word, size_t len)
{
    if (len == 6 && !strncmp(word, "thread", 6))
        add_thread(buf, run, f->thread);
    else if (len == 5 && !strncmp(word, "other", 5))
        add_thread(buf, run, f->other);
    else if (len == 5 && !strncmp(word, "where", 5))
        add_where(buf, run, f);
    else if (len == 5 && !strncmp(word, "block", 5))
        add_block(buf, run, f->block);
    else if (len == 10 && !strncmp(word, "otherblock", 10))
        add_block(buf, run, f->other_block);
    else if (len == 2 && word[0] == 'n' && word[1] >= '0' && word[1] <= '3')
        buf_printf(buf, "%u", f->note[word[1] - '0']);
    else if (len == 2 && word[0] == 'x' && word[1] >= '0' && word[1] <= '3')
        buf_printf(buf, "0x%08x", f->note[word[1] - '0']);
    else
        return false;
    return true;
}

struct call { /* of a helper, in the student's lines; both 0 where there is none */
    unsigned line, from;
};

/* Where a helper is to blame for what its caller does with it: the call as well. */
static struct call find_call(const struct ptx_module *module, uint32_t id)
{
    struct call none = {0, 0};
    if (!id)
        return none;
    const struct ptx_line *frame = &module->lines[hazard_student_frame(module, id)];
    if (!frame->inlined_at)
        return none;
    const struct ptx_line *call = &module->lines[hazard_student_frame(module, frame->inlined_at)];
    if (!call->line || call->line == frame->line)
        return none;
    return (struct call){frame->line, call->line};
}

/* Both accesses may stand in one helper, called from one place or from two: said once. */
static void add_calls(struct buf *buf, const struct ptx_module *module,
                      const struct hazard_finding *f)
{
    struct call a = find_call(module, f->line), b = find_call(module, f->other_line);
    if (a.line && a.line == b.line && a.from != b.from) {
        buf_printf(buf, _(" (line %u was called from lines %u and %u)"), a.line, a.from, b.from);
        return;
    }
    if (a.line)
        buf_printf(buf, _(" (line %u was called from line %u)"), a.line, a.from);
    if (b.line && b.line != a.line)
        buf_printf(buf, _(" (line %u was called from line %u)"), b.line, b.from);
}

static void explain(struct buf *buf, const struct run *run, const struct hazard_finding *f)
{
    for (const char *p = template_of(f); *p; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (end && add_word(buf, run, f, p + 1, (size_t)(end - p - 1)))
            p = end;
        else
            buf_add_char(buf, *p);
    }
    add_calls(buf, run->func->module, f);
    if (buf->len) {
        msg_close_blanks(buf->data);
        buf->len = strlen(buf->data);
    }
}

/* Cut at a character's border. */
static void copy_text(char *to, size_t size, struct buf *buf)
{
    size_t len = buf->len < size - 1 ? buf->len : size - 1;
    const char *text = buf_str(buf);
    while (len < buf->len && len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    memcpy(to, text, len);
    to[len] = '\0';
    buf_free(buf);
}

static void fill_hazard(struct ptx_hazard *out, const struct run *run,
                        const struct hazard_finding *f)
{
    *out = (struct ptx_hazard){.kind = f->kind,
                               .line = f->line,
                               .other_line = f->other_line,
                               .space = f->space,
                               .address = f->address,
                               .bytes = f->bytes,
                               .count = f->count,
                               .if_used = f->reason == REASON_UNNAMED};
    out->thread = thread_of(run, f->block, f->thread == NOBODY ? 0 : f->thread);
    uint64_t other_block = f->kind == PTX_HAZARD_GLOBAL_RACE ? f->other_block : f->block;
    out->has_other = f->other != NOBODY && other_block != UINT64_MAX;
    if (out->has_other)
        out->other = thread_of(run, other_block, f->other);
    struct buf where = {0}, text = {0};
    add_where(&where, run, f);
    copy_text(out->where, sizeof out->where, &where);
    explain(&text, run, f);
    copy_text(out->text, sizeof out->text, &text);
}

/* ---- merging */

/* One line in the report: the same line of the student's file, whoever called it. */
static bool same_line(const struct run *run, uint32_t a, uint32_t b)
{
    if (a == b || !a || !b)
        return a == b;
    const struct ptx_module *module = run->func->module;
    const struct ptx_line *x = &module->lines[hazard_student_frame(module, a)];
    const struct ptx_line *y = &module->lines[hazard_student_frame(module, b)];
    return x->line == y->line && !strcmp(x->file, y->file);
}

static bool same_group(const struct run *run, const struct hazard_finding *a,
                       const struct hazard_finding *b)
{
    return a->kind == b->kind && same_line(run, a->line, b->line) &&
           same_line(run, a->other_line, b->other_line) &&
           (a->reason == REASON_UNNAMED) == (b->reason == REASON_UNNAMED);
}

static bool is_race(enum ptx_hazard_kind kind)
{
    return kind == PTX_HAZARD_RACE_READ_AFTER_WRITE || kind == PTX_HAZARD_RACE_WRITE_AFTER_READ ||
           kind == PTX_HAZARD_RACE_WRITE_AFTER_WRITE || kind == PTX_HAZARD_REFILL ||
           kind == PTX_HAZARD_NOT_PUBLISHED;
}

/* Are these one bug, and does the first say more about it? A race between warps against the same
 * two lines inside a warp; one between blocks, which no barrier helps against, against the same one
 * inside a block; one against reading what, in this order, nobody had written yet; a copy that was
 * waited for and not published against the same copy seen before its owner got to the wait. */
static bool says_more(const struct run *run, const struct hazard_finding *more,
                      const struct hazard_finding *less)
{
    bool same = same_line(run, more->line, less->line) &&
                same_line(run, more->other_line, less->other_line);
    bool turned = same_line(run, more->line, less->other_line) &&
                  same_line(run, more->other_line, less->line);
    if (more->kind == PTX_HAZARD_NOT_PUBLISHED && less->kind == PTX_HAZARD_IN_FLIGHT)
        return less->reason != REASON_BULK && same;
    if (less->kind == PTX_HAZARD_UNINITIALISED)
        return less->space == PTX_SPACE_GLOBAL && more->space == PTX_SPACE_GLOBAL &&
               (is_race(more->kind) || more->kind == PTX_HAZARD_LOCKSTEP) &&
               (same_line(run, more->line, less->line) ||
                same_line(run, more->other_line, less->line));
    if (more->kind == PTX_HAZARD_GLOBAL_RACE)
        return (same || turned) && less->space == PTX_SPACE_GLOBAL &&
               (is_race(less->kind) || less->kind == PTX_HAZARD_LOCKSTEP ||
                less->kind == PTX_HAZARD_READ_ONLY_PATH);
    return is_race(more->kind) && less->kind == PTX_HAZARD_LOCKSTEP && (same || turned);
}

struct merged {
    struct hazard_finding finding;
    bool folded; /* into one that says more */
};

/* What explains most comes first: a missing wait makes copies pile up and results go stale, and not
 * the other way round. */
static int rank(enum ptx_hazard_kind kind)
{
    static const enum ptx_hazard_kind order[] = {
        PTX_HAZARD_DIVERGENT_BARRIER,
        PTX_HAZARD_BARRIER_MISMATCH,
        PTX_HAZARD_MBARRIER,
        PTX_HAZARD_ABSENT_LANE,
        PTX_HAZARD_IN_FLIGHT,
        PTX_HAZARD_NOT_PUBLISHED,
        PTX_HAZARD_REFILL,
        PTX_HAZARD_RACE_READ_AFTER_WRITE,
        PTX_HAZARD_RACE_WRITE_AFTER_READ,
        PTX_HAZARD_RACE_WRITE_AFTER_WRITE,
        PTX_HAZARD_PROXY_FENCE,
        PTX_HAZARD_SOURCE_OVERWRITTEN,
        PTX_HAZARD_UNINITIALISED,
        PTX_HAZARD_GLOBAL_RACE,
        PTX_HAZARD_READ_ONLY_PATH,
        PTX_HAZARD_MATRIX,
        PTX_HAZARD_NEVER_WAITED,
        PTX_HAZARD_LOCKSTEP,
    };
    int place = 0;
    while (place < (int)(sizeof order / sizeof *order) && order[place] != kind)
        place++;
    return place;
}

static int by_weight(const void *left, const void *right)
{
    const struct hazard_finding *a = &((const struct merged *)left)->finding;
    const struct hazard_finding *b = &((const struct merged *)right)->finding;
    if (rank(a->kind) != rank(b->kind))
        return rank(a->kind) - rank(b->kind);
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->other_line < b->other_line ? -1 : a->other_line > b->other_line;
}

static size_t merge(struct merged *out, const struct run *run, const struct worker *workers,
                    size_t count)
{
    size_t merged = 0;
    for (size_t w = 0; w < count; w++) {
        const struct hazard_worker *worker = workers[w].hazard;
        for (uint32_t i = 0; worker && i < worker->count; i++) {
            const struct hazard_finding *f = &worker->findings[i];
            if (f->block > run->stop_after)
                continue; /* it may or may not have run */
            size_t at = 0;
            while (at < merged && !same_group(run, &out[at].finding, f))
                at++;
            if (at == merged) {
                out[merged++] = (struct merged){*f, false};
                continue;
            }
            uint64_t total = out[at].finding.count + f->count;
            if (f->block < out[at].finding.block)
                out[at] = (struct merged){*f, false};
            out[at].finding.count = total;
        }
    }
    return merged;
}

static void take_events(struct ptx_result *result, const struct run *run, struct worker *workers,
                        size_t count, const struct merged *merged, size_t merged_count)
{
    for (size_t w = 0; w < count; w++) {
        struct hazard_worker *worker = workers[w].hazard;
        if (!worker || !worker->timeline.count)
            continue;
        result->events = worker->timeline.events;
        result->event_count = worker->timeline.count;
        worker->timeline = (struct timeline){0};
        for (size_t i = 0; i < result->event_count; i++) {
            struct ptx_event *event = &result->events[i];
            if (event->kind != PTX_EVENT_HAZARD)
                continue;
            const struct hazard_finding *f = &worker->findings[event->value];
            for (size_t k = 0; k < merged_count; k++)
                if (same_group(run, &merged[k].finding, f))
                    event->value = (uint32_t)k;
        }
        return;
    }
}

static size_t fold(struct merged *list, size_t count, const struct run *run)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < count && !says_more(run, &list[k].finding, &list[i].finding))
            k++;
        list[i].folded = k < count;
        if (k < count)
            list[k].finding.count += list[i].finding.count;
    }
    for (size_t i = 0; i < count; i++)
        if (!list[i].folded)
            list[kept++] = list[i];
    return kept;
}

void hazard_collect(struct ptx_result *result, const struct run *run, struct worker *workers,
                    size_t count)
{
    struct merged *merged = mem_zero(count * HAZARD_FINDINGS + 1, sizeof *merged);
    size_t found = merge(merged, run, workers, count);
    found = fold(merged, found, run);
    qsort(merged, found, sizeof *merged, by_weight);
    take_events(result, run, workers, count, merged, found);
    result->hazards = mem_zero(found + 1, sizeof *result->hazards);
    result->hazard_count = found;
    for (size_t i = 0; i < found; i++)
        fill_hazard(&result->hazards[i], run, &merged[i].finding);
    for (size_t w = 0; w < count; w++)
        result->hazards_cut |= workers[w].hazard && workers[w].hazard->cut;
    free(merged);
}

const char *ptx_hazard_name(enum ptx_hazard_kind kind)
{
    static const char *const names[PTX_HAZARD_KIND_COUNT] = {
#define HAZARD(symbol, name) [PTX_HAZARD_##symbol] = name,
#define OTHER(name)
#include "harness/base/kind.def"
#undef HAZARD
#undef OTHER
    };
    return kind < PTX_HAZARD_KIND_COUNT ? names[kind] : "unknown";
}
