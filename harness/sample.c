#include "sample.h"

#include "compare.h"

#include <assert.h>
#include <math.h>

/* Compares one element and takes it into the outcome. */
static void compare_one(struct check_outcome *out, const struct check_buffer *buffer, float *want,
                        size_t index)
{
    const struct lab *lab = buffer->lab;
    want[index] = (float)lab->element(buffer->shape, buffer->host, buffer->buffer, index);
    out->checked++;
    double error = fabs((double)((const float *)buffer->got)[index] - (double)want[index]);
    if (!(error <= out->max_error))
        out->max_error = isnan(out->max_error) ? out->max_error : error;
    if (compare_right(buffer, lab->tolerance(buffer->shape, buffer->buffer), index))
        return;
    out->unwritten += compare_unwritten(buffer, index);
    if (!out->wrong++ || index < out->first)
        out->first = index;
}

/* The first NaN, poison being one; count when there is none. */
static size_t first_nan(const float *values, size_t count)
{
    enum { STRIP = 256 };
    for (size_t from = 0; from < count; from += STRIP) {
        size_t to = from + STRIP < count ? from + STRIP : count;
        if (compare_largest_bits(values, from, to) <= COMPARE_INFINITY_BITS)
            continue;
        while (!isnan(values[from]))
            from++;
        return from;
    }
    return count;
}

bool sample_compare(struct check_outcome *out, const struct check_buffer *buffer, float *want,
                    uint64_t seed)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    size_t count = about->count, nan = first_nan(buffer->got, count);
    assert(about->type == LAB_F32 && buffer->want == want);
    *out = (struct check_outcome){.sampled = true};
    if (nan < count)
        compare_one(out, buffer, want, nan);
    size_t runs = count / SAMPLE_RUN < SAMPLE_RUNS ? count / SAMPLE_RUN : SAMPLE_RUNS;
    for (size_t run = 0; run < runs; run++) { /* one somewhere in each equal part of the buffer */
        size_t part = count / runs;
        size_t first = run * part + (size_t)(lab_mix(seed, run) % (part - SAMPLE_RUN + 1));
        for (size_t i = first; i < first + SAMPLE_RUN; i++)
            compare_one(out, buffer, want, i);
    }
    return out->wrong == 0;
}
