/* How to read this file: sample() walks over the wrong elements and keeps a few thousand of them
 * with their places. describe_where() looks for what the places have in common, describe_what() for
 * what the values have in common; each tries its questions from the most telling to the least and
 * stops at the first that fits. */
#include "pattern.h"
#include "compare.h"

#include "base/buf.h"
#include "base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 4096, MOST_TILES = 64, MOST_SHIFT = 8192 };

struct sample {
    const struct check_buffer *buffer;
    const struct check_outcome *outcome;
    struct lab_tolerance tolerance;
    enum lab_type type;
    size_t count;           /* elements of the buffer */
    size_t index[SAMPLES];  /* of wrong elements, evenly over all of them */
    size_t kept;            /* how many */
    size_t last;            /* the last wrong element of all */
    size_t stride;          /* distance between wrong elements when it is always the same, else 0 */
    uint64_t tiles, stages; /* bit sets over all wrong elements */
    unsigned first_block[3];     /* of the first wrong element */
    bool other_blocks;           /* wrong elements in another block as well */
    int tile_count, stage_count; /* of the lab; 0 when it has none */
    size_t tile_elements;        /* 0 when unknown */
};

static struct lab_place place_of(const struct sample *sample, size_t index)
{
    return sample->buffer->lab->locate(sample->buffer->shape, sample->buffer->buffer, index);
}

static bool same_block(const unsigned a[3], const unsigned b[3])
{
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

static void keep(struct sample *sample, size_t index, size_t nth, size_t previous)
{
    size_t every = (sample->outcome->wrong + SAMPLES - 1) / SAMPLES;
    if (nth % every == 0 && sample->kept < SAMPLES)
        sample->index[sample->kept++] = index;
    if (nth == 1)
        sample->stride = index - previous;
    else if (nth > 1 && index - previous != sample->stride)
        sample->stride = 0;
    sample->last = index;
}

static void note_place(struct sample *sample, size_t index, size_t nth)
{
    struct lab_place place = place_of(sample, index);
    if (place.tile >= 0 && place.tile < MOST_TILES)
        sample->tiles |= (uint64_t)1 << place.tile;
    if (place.stage >= 0 && place.stage < MOST_TILES)
        sample->stages |= (uint64_t)1 << place.stage;
    if (nth == 0)
        memcpy(sample->first_block, place.block, sizeof place.block);
    else if (!same_block(place.block, sample->first_block))
        sample->other_blocks = true;
}

/* Tiles, stages and the length of a tile as the lab's own map of the buffer shows them. */
static void measure_lab(struct sample *sample)
{
    size_t most = sample->count < 65536 ? sample->count : 65536;
    int first_tile = most ? place_of(sample, 0).tile : -1;
    for (size_t i = 0; i < most; i++) {
        struct lab_place place = place_of(sample, i);
        if (place.tile >= sample->tile_count)
            sample->tile_count = place.tile + 1;
        if (place.stage >= sample->stage_count)
            sample->stage_count = place.stage + 1;
        if (place.tile != first_tile && !sample->tile_elements)
            sample->tile_elements = i;
    }
}

static void sample_wrong(struct sample *sample, const struct check_buffer *buffer,
                         const struct check_outcome *outcome)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    *sample = (struct sample){
        .buffer = buffer,
        .outcome = outcome,
        .tolerance = buffer->lab->tolerance(buffer->shape, buffer->buffer),
        .type = about->type,
        .count = about->count,
    };
    bool places = buffer->lab->locate != NULL;
    if (places)
        measure_lab(sample);
    size_t nth = 0, previous = 0;
    for (size_t i = outcome->first; i < about->count && nth < outcome->wrong; i++) {
        if (compare_right(buffer, sample->tolerance, i))
            continue;
        keep(sample, i, nth, previous);
        if (places)
            note_place(sample, i, nth);
        previous = i;
        nth++;
    }
}

static bool one_bit(uint64_t set)
{
    return set && !(set & (set - 1));
}

static int lowest_bit(uint64_t set)
{
    return __builtin_ctzll(set);
}

static bool describe_tiles(struct buf *out, const struct sample *sample)
{
    int count = sample->tile_count;
    if (count < 2 || count > MOST_TILES || !sample->tiles)
        return false;
    uint64_t all = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
    uint64_t last = (uint64_t)1 << (count - 1);
    if (sample->tiles == last)
        buf_add_str(out, _("only the last tile of each block"));
    else if (sample->tiles == 1)
        buf_add_str(out, _("only the first tile of each block"));
    else if (one_bit(sample->tiles))
        buf_printf(out, _("only tile %d of each block"), lowest_bit(sample->tiles));
    else if (sample->tiles == (all & ~(uint64_t)1))
        buf_add_str(out, _("every tile but the first of each block"));
    else if (sample->tiles == (all & ~last))
        buf_add_str(out, _("every tile but the last of each block"));
    else if (sample->stage_count > 1 && one_bit(sample->stages))
        buf_printf(out, _("only stage %d, that is every tile in that buffer"),
                   lowest_bit(sample->stages));
    else
        return false;
    return true;
}

static unsigned long long blocks_of(const struct lab_shape *shape)
{
    return (unsigned long long)shape->grid[0] * shape->grid[1] * shape->grid[2];
}

static void describe_block(struct buf *out, const struct sample *sample)
{
    const unsigned *block = sample->first_block, *grid = sample->buffer->shape->grid;
    if (block[0] == grid[0] - 1 && block[1] == grid[1] - 1 && block[2] == grid[2] - 1)
        buf_add_str(out, _("only the last block"));
    else if (grid[1] == 1 && grid[2] == 1)
        buf_printf(out, _("only block %u"), block[0]);
    else
        buf_printf(out, _("only block (%u, %u, %u)"), block[0], block[1], block[2]);
}

static void describe_where(struct buf *out, const struct sample *sample)
{
    const struct check_outcome *outcome = sample->outcome;
    if (sample->count == 1) {
        return; /* a result of one number: where it is wrong says nothing */
    } else if (outcome->wrong == 1) {
        buf_add_str(out, _("a single element"));
    } else if (outcome->wrong == outcome->checked) {
        buf_add_str(out, _("every element"));
    } else if (sample->stride > 1 && outcome->wrong >= 4) {
        buf_printf(out, _("one element in every %zu, from %zu to %zu"), sample->stride,
                   outcome->first, sample->last);
    } else {
        bool places = sample->buffer->lab->locate != NULL;
        bool block = places && !sample->other_blocks && blocks_of(sample->buffer->shape) > 1;
        if (block)
            describe_block(out, sample);
        struct buf tiles = {0};
        if (describe_tiles(&tiles, sample))
            buf_printf(out, "%s%s", block ? ", " : "", buf_str(&tiles));
        else if (!block && sample->stride == 1)
            buf_printf(out, _("elements %zu to %zu without a gap"), outcome->first, sample->last);
        buf_free(&tiles);
    }
}

static bool close_to(const struct sample *sample, double got, double want)
{
    return fabs(got - want) <= sample->tolerance.absolute + sample->tolerance.relative * fabs(want);
}

static double got_at(const struct sample *sample, size_t nth)
{
    return compare_value(sample->type, sample->buffer->got, sample->index[nth]);
}

static double want_at(const struct sample *sample, size_t index)
{
    return compare_value(sample->type, sample->buffer->want, index);
}

/* Whether a buffer has something else at the same index: an input of the same type and length, or
 * what stood in this very buffer before the launch. */
static bool is_twin(const struct sample *sample, int buffer)
{
    const struct lab_buffer *about = &sample->buffer->shape->buffers[buffer];
    bool before = about->role == LAB_INOUT && buffer == sample->buffer->buffer;
    return (about->role == LAB_IN || before) && about->type == sample->type &&
           about->count == sample->count && sample->buffer->host && sample->buffer->host[buffer];
}

static size_t count_shifted(const struct sample *sample, long shift)
{
    size_t fits = 0;
    for (size_t k = 0; k < sample->kept; k++) {
        size_t to = sample->index[k] + (size_t)shift; /* wraps below zero, and is then too large */
        fits += to < sample->count && close_to(sample, got_at(sample, k), want_at(sample, to));
    }
    return fits;
}

/* The nearest other element whose right answer stands at this wrong one; 0 when there is none. */
static long nearest_shift(const struct sample *sample, size_t nth)
{
    double got = got_at(sample, nth);
    for (long distance = 1; distance <= MOST_SHIFT; distance++)
        for (int sign = -1; sign <= 1; sign += 2) {
            size_t to = sample->index[nth] + (size_t)(sign * distance);
            if (to < sample->count && close_to(sample, got, want_at(sample, to)))
                return sign * distance;
        }
    return 0;
}

static bool describe_shift(struct buf *out, const struct sample *sample)
{
    long best = 0;
    size_t most = 0;
    for (int i = 0; i < 5; i++) {
        long shift = nearest_shift(sample, sample->kept * (size_t)i / 5);
        size_t fits = shift ? count_shifted(sample, shift) : 0;
        if (fits > most) {
            most = fits;
            best = shift;
        }
    }
    if (most * 10 < sample->kept * 6)
        return false;
    long tile = (long)sample->tile_elements;
    bool mostly = most * 100 < sample->kept * 99;
    if (tile && best == -tile)
        buf_add_str(out, mostly ? _("mostly the data of the tile before")
                                : _("there stand the previous stage's data, the tile before"));
    else if (tile && best == tile)
        buf_add_str(out, mostly ? _("mostly the data of the tile after")
                                : _("there stand the data of the tile after"));
    else if (tile && best == -2 * tile)
        buf_add_str(out, _("there stand the data of two tiles before, which were in that buffer"));
    else
        buf_printf(out,
                   labs(best) == 1
                       ? _("there stands what belongs %ld element further (off by one)")
                       : _("there stands what belongs %+ld elements further (off by that many)"),
                   best);
    return true;
}

static bool all_nan(const struct sample *sample)
{
    for (size_t k = 0; k < sample->kept; k++)
        if (!isnan(got_at(sample, k)))
            return false;
    return true;
}

static bool describe_factor(struct buf *out, const struct sample *sample)
{
    double factor = got_at(sample, 0) / want_at(sample, sample->index[0]);
    if (!isfinite(factor) || factor == 0 || sample->kept < 4)
        return false;
    for (size_t k = 1; k < sample->kept; k++) {
        double want = want_at(sample, sample->index[k]);
        if (!(fabs(got_at(sample, k) - factor * want) <= 1e-4 * fabs(factor * want)))
            return false;
    }
    buf_printf(out, _("always %.4g times the right value"), factor);
    return true;
}

static bool describe_constant(struct buf *out, const struct sample *sample)
{
    double value = got_at(sample, 0);
    if (sample->kept < 4 || isnan(value))
        return false;
    for (size_t k = 1; k < sample->kept; k++)
        if (got_at(sample, k) != value)
            return false;
    buf_printf(out, _("always the same value, %g"), value);
    return true;
}

static bool describe_input(struct buf *out, const struct sample *sample)
{
    const struct lab_shape *shape = sample->buffer->shape;
    for (int i = 0; i < shape->buffer_count; i++) {
        size_t fits = 0;
        for (size_t k = 0; is_twin(sample, i) && k < sample->kept; k++)
            fits += got_at(sample, k) ==
                    compare_value(sample->type, sample->buffer->host[i], sample->index[k]);
        if (!fits || fits * 10 < sample->kept * 9)
            continue;
        if (i == sample->buffer->buffer)
            buf_add_str(out, _("unchanged since before the launch"));
        else
            buf_printf(out, _("there stands %s unchanged"), shape->buffers[i].name);
        return true;
    }
    return false;
}

static void describe_what(struct buf *out, const struct sample *sample)
{
    const struct check_outcome *outcome = sample->outcome;
    if (outcome->unwritten == outcome->wrong)
        buf_add_str(out, _("never written"));
    else if (all_nan(sample))
        buf_add_str(out, outcome->unwritten ? _("NaN or never written") : _("NaN"));
    else if (!describe_input(out, sample) && !describe_constant(out, sample) &&
             !describe_shift(out, sample) && !describe_factor(out, sample) && outcome->unwritten)
        buf_printf(out, _("%zu of them never written"), outcome->unwritten);
}

char *pattern_describe(const struct check_buffer *buffer, const struct check_outcome *outcome)
{
    if (outcome->wrong == outcome->checked && outcome->unwritten == outcome->wrong)
        return mem_strdup(_("output never written"));
    struct sample *sample = mem_alloc(sizeof *sample);
    sample_wrong(sample, buffer, outcome);
    struct buf where = {0}, what = {0}, text = {0};
    describe_where(&where, sample);
    describe_what(&what, sample);
    buf_printf(&text, "%s%s%s", buf_str(&where), where.len && what.len ? ": " : "", buf_str(&what));
    buf_free(&where);
    buf_free(&what);
    free(sample);
    return buf_take(&text);
}
