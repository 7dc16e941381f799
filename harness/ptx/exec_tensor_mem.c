/* Matrices between memory and registers: wmma.load and wmma.store, ldmatrix, stmatrix, movmatrix,
 * and the rules for their addresses and strides. */
#include "harness/ptx/tensor.h"

#include "harness/ptx/hazard_shared.h"
#include "harness/ptx/mem.h"

static void report(struct warp *w, const struct op *op, enum hazard_reason reason, unsigned lane,
                   unsigned other, enum ptx_space space, u64 address, const u32 notes[3])
{
    if (!w->checks)
        return;
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_MATRIX,
        .reason = reason,
        .line = op->line,
        .thread = w->id * WARP_LANES + lane,
        .other = other < WARP_LANES ? w->id * WARP_LANES + other : NOBODY,
        .other_block = w->block->index,
        .space = space,
        .address = space == PTX_SPACE_SHARED ? (u32)address : address,
        .bytes = op->width,
        .element = op->width,
        .note = {notes[0], notes[1], notes[2], 0},
    };
    hazard_add(w, &finding);
}

/* ---- wmma: loads and stores */

/* Where a matrix lies: `count` runs (rows, or columns) of `bytes` bytes, `step` bytes apart. */
struct place {
    enum ptx_space space;
    u64 base, step;
    u32 count, bytes;
    u32 lane; /* who is named in reports */
};

static u64 lane_address(const struct warp *w, const struct op *op, unsigned lane)
{
    u64 a = op->mode2 == 8 ? reg64(w, op->a)[lane] : reg32(w, op->a)[lane];
    return a + (u64)op->imm;
}

static u32 lowest_bit(u64 x)
{
    return x & 15 ? (u32)(x & -x) & 15 : 16;
}

static void check_place(struct warp *w, const struct op *op, const struct place *p, u32 stride,
                        u32 length, bool stores)
{
    const struct matrix *x = op->extra;
    u32 needed = p->bytes < 32 ? p->bytes : 32;
    if (unlikely(p->base & (needed - 1)))
        report(w, op, REASON_MATRIX_ADDRESS, p->lane, 32, p->space, p->base, (u32[]){needed, 0, 0});
    if (unlikely(p->step & 15))
        report(w, op, REASON_MATRIX_STRIDE, p->lane, 32, p->space, p->base,
               (u32[]){(u32)p->step, stride, 0});
    if (unlikely(stride < length && (stride || stores)))
        report(w, op, REASON_MATRIX_NARROW, p->lane, 32, p->space, p->base,
               (u32[]){0, stride, length});
    EACH(w->mask)
    {
        if (lane_address(w, op, i) != lane_address(w, op, p->lane) ||
            reg32(w, x->stride)[i] != stride) {
            report(w, op, REASON_MATRIX_DIFFERS, p->lane, i, p->space, p->base, (u32[]){0, 0, 0});
            break;
        }
    }
}

static struct place find_place(struct warp *w, const struct op *op, const struct fragment *f,
                               bool stores)
{
    const struct matrix *x = op->extra;
    u32 lane = (u32)__builtin_ctz(w->mask), element = matrix_type_bytes(f->type);
    u32 stride = reg32(w, x->stride)[lane], length = x->by_columns ? f->rows : f->columns;
    struct place p = {
        .space = op->space,
        .base = lane_address(w, op, lane),
        .step = (u64)stride * element,
        .count = x->by_columns ? f->columns : f->rows,
        .bytes = length * element,
        .lane = lane,
    };
    if (p.space == PTX_SPACE_GENERIC)
        p.space = generic_space(p.base);
    if (p.space == PTX_SPACE_SHARED && (op->mode2 == 4 || generic_space(p.base) == p.space))
        p.base = (u32)p.base;
    if (w->checks)
        check_place(w, op, &p, stride, length, stores);
    return p;
}

/* Host address of every run; false after a fault. */
static bool map_runs(struct warp *w, const struct op *op, const struct place *p, uint8_t **runs,
                     bool stores)
{
    const struct memory_map *map = &w->worker->run->map;
    for (u32 i = 0; i < p->count; i++) {
        u64 at = p->base + i * p->step;
        if (p->space == PTX_SPACE_SHARED && at + p->bytes <= w->block->shared_bytes) {
            runs[i] = w->block->shared + at;
            continue;
        }
        uint32_t *hint = &w->worker->site_memory[op->site];
        runs[i] = p->space == PTX_SPACE_GLOBAL ? memory_find(map, at, p->bytes, hint) : NULL;
        if (!runs[i])
            return fault_bounds(w, op, p->space, p->lane, at, p->bytes) != NULL;
        if (stores && map->items[*hint].read_only)
            return fault_read_only(w, op, p->lane, at) != NULL;
    }
    return true;
}

/* Tells the checks what is touched: the runs in pieces of up to 16 bytes, dealt out to the lanes in
 * order, but from lane 1 on: which lane gets what is nobody's business, so a program in which each
 * lane stored just what it would get in a plain order must not look as if nothing were shared. */
static void tell(struct warp *w, const struct op *op, const struct place *p, bool stores)
{
    u32 total = p->count * p->bytes, piece = lowest_bit(p->base | p->step | p->bytes);
    if (!w->checks && !w->counting)
        return;
    while (piece > 1 && total / piece < WARP_LANES)
        piece /= 2;
    for (u32 from = 0; from < total; from += piece * WARP_LANES) {
        ALIGNED u32 shared[WARP_LANES];
        ALIGNED u64 global[WARP_LANES];
        LANES
        {
            u32 at = from + ((u32)i + WARP_LANES - 1) % WARP_LANES * piece;
            global[i] = p->base + at / p->bytes * p->step + at % p->bytes;
            shared[i] = (u32)global[i];
        }
        if (p->space == PTX_SPACE_SHARED && stores)
            hazard_shared_write(w, op, w->mask, shared, piece);
        else if (p->space == PTX_SPACE_SHARED)
            hazard_shared_read(w, op, w->mask, shared, piece);
        else if (stores)
            hazard_global_write(w, op, w->mask, global, piece);
        else
            hazard_global_read(w, op, w->mask, global, piece);
    }
}

/* Between runs in memory and a row-major matrix whose row i, column j is run j's element i. */
static void transpose(uint8_t *flat, uint8_t *const *runs, const struct fragment *f, bool stores)
{
    u32 bytes = matrix_type_bytes(f->type);
    for (u32 j = 0; j < f->columns; j++) {
        for (u32 i = 0; i < f->rows; i++) {
            uint8_t *one = flat + (i * f->columns + j) * bytes, *other = runs[j] + i * bytes;
            memcpy(stores ? other : one, stores ? one : other, bytes);
        }
    }
}

HANDLER(matrix_load)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    const struct fragment *f = &x->d;
    ALIGNED uint8_t flat[MATRIX_BYTES];
    uint8_t *runs[32];
    struct place p = find_place(w, op, f, false);
    if (!map_runs(w, op, &p, runs, false))
        return NULL;
    tell(w, op, &p, false);
    if (x->by_columns)
        transpose(flat, runs, f, false);
    else
        for (u32 i = 0; i < p.count; i++)
            memcpy(flat + i * p.bytes, runs[i], p.bytes);
    for (u32 r = 0; r < f->regs; r++) {
        if (f->type == MATRIX_F64)
            put64(w, f->reg[r], flat + r % f->used * 256);
        else
            put32(w, f->reg[r], flat + r % f->used * 128);
    }
    return collective_end(w, op);
}

HANDLER(matrix_store)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    const struct fragment *f = &x->c;
    ALIGNED uint8_t flat[MATRIX_BYTES];
    uint8_t *runs[32];
    struct place p = find_place(w, op, f, true);
    if (!map_runs(w, op, &p, runs, true))
        return NULL;
    tell(w, op, &p, true);
    gather_flat(w, f, flat);
    if (x->by_columns)
        transpose(flat, runs, f, true);
    else
        for (u32 i = 0; i < p.count; i++)
            memcpy(runs[i], flat + i * p.bytes, p.bytes);
    return collective_end(w, op);
}

/* ---- ldmatrix, stmatrix, movmatrix */

/* Row addresses of `regs` 8x8 matrices, from lanes 0 to 8 * regs - 1; false after a fault. */
static bool find_rows(struct warp *w, const struct op *op, const struct fragment *f,
                      u32 rows[WARP_LANES], bool stores)
{
    u32 mask = f->regs == 4 ? FULL_MASK : (1u << 8 * f->regs) - 1, crooked = 0;
    mask &= w->mask;
    for (u32 i = 0; i < WARP_LANES; i++)
        rows[i] = 0;
    EACH(mask)
    {
        u64 at = lane_address(w, op, i);
        bool inside = !(at >> 32) || generic_space(at) == PTX_SPACE_SHARED;
        if (!inside || (u64)(u32)at + 16 > w->block->shared_bytes)
            return fault_bounds(w, op, inside ? PTX_SPACE_SHARED : generic_space(at), i, at, 16) !=
                   NULL;
        rows[i] = (u32)at;
        crooked |= rows[i] & 15;
        if (unlikely(rows[i] & 15))
            report(w, op, REASON_MATRIX_ROW, i, 32, PTX_SPACE_SHARED, rows[i], (u32[]){0, 0, 0});
    }
    u32 piece = lowest_bit(crooked);
    for (u32 from = 0; from < 16; from += piece) {
        ALIGNED u32 part[WARP_LANES];
        LANES part[i] = rows[i] + from;
        if (stores)
            hazard_shared_write(w, op, mask, part, piece);
        else
            hazard_shared_read(w, op, mask, part, piece);
    }
    return true;
}

/* One 8x8 matrix of halves from its rows to a register, or from a register to a register-like
 * array: lane 4 g + t holds row g, columns 2 t and 2 t + 1; of the transposed one column g. */
static void turn(uint16_t out[64], const uint16_t in[64])
{
    for (u32 i = 0; i < 8; i++)
        for (u32 j = 0; j < 8; j++)
            out[j * 8 + i] = in[i * 8 + j];
}

HANDLER(ldmatrix)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    u32 rows[WARP_LANES];
    if (!find_rows(w, op, &x->d, rows, false))
        return NULL;
    ALIGNED uint16_t values[4][64];
    for (u32 r = 0; r < x->d.regs; r++) {
        ALIGNED uint16_t flat[64];
        for (u32 i = 0; i < 8; i++)
            memcpy(flat + 8 * i, w->block->shared + rows[8 * r + i], 16);
        if (x->transposed)
            turn(values[r], flat);
        else
            memcpy(values[r], flat, sizeof flat);
    }
    for (u32 r = 0; r < x->d.regs; r++)
        put32(w, x->d.reg[r], values[r]);
    return collective_end(w, op);
}

HANDLER(stmatrix)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    u32 rows[WARP_LANES];
    if (!find_rows(w, op, &x->c, rows, true))
        return NULL;
    for (u32 r = 0; r < x->c.regs; r++) {
        ALIGNED uint16_t value[64], turned[64];
        memcpy(value, w->regs + x->c.reg[r], sizeof value);
        turn(turned, value);
        for (u32 i = 0; i < 8; i++)
            memcpy(w->block->shared + rows[8 * r + i], (x->transposed ? turned : value) + 8 * i,
                   16);
    }
    return collective_end(w, op);
}

HANDLER(movmatrix)
{
    WARP_WIDE;
    ALIGNED uint16_t value[64], turned[64];
    memcpy(value, w->regs + op->a, sizeof value);
    turn(turned, value);
    put32(w, op->d[0], turned);
    return collective_end(w, op);
}
