/* The device-side facts of one lab: what its kernel gets, what must come out, and where an element
 * belongs. Each lab's kernels/SLUG/lab.c fills one struct lab; kernels/labs.def lists them.
 *
 * Labs are constant data and pure functions. Memory is the caller's: fill and reference write into
 * host arrays of the sizes that shape() announced.
 *
 * A lab never launches, times or compares anything; that is check.c's and timing.c's. */
#ifndef STRIDE_HARNESS_LAB_H
#define STRIDE_HARNESS_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAB_BUFFERS = 8, LAB_ARGS = 16 };

enum lab_role {
    LAB_IN,      /* filled; must stay as it is */
    LAB_OUT,     /* poisoned; must become the right answer */
    LAB_INOUT,   /* filled; must become the right answer */
    LAB_SCRATCH, /* filled; what is left in it is nobody's business */
};

static inline bool lab_is_filled(enum lab_role role)
{
    return role != LAB_OUT;
}

static inline bool lab_is_answer(enum lab_role role)
{
    return role == LAB_OUT || role == LAB_INOUT;
}

/* Filled, and changed by a launch: the next one needs it filled again. */
static inline bool lab_is_changed(enum lab_role role)
{
    return role == LAB_INOUT || role == LAB_SCRATCH;
}
enum lab_type { LAB_F32, LAB_F64, LAB_F16, LAB_BF16, LAB_I32, LAB_U32, LAB_U64 };

struct lab_buffer {
    const char *name; /* as the kernel's parameter is called */
    enum lab_role role;
    enum lab_type type;
    size_t count; /* elements */
};

struct lab_arg { /* one kernel parameter, in order */
    int buffer;  /* index into buffers, or -1 for a scalar */
    size_t size; /* of a scalar: 4 or 8 bytes of `value` */
    union {
        int32_t i32;
        uint32_t u32;
        uint64_t u64;
        float f32;
    } value;
};

/* One launch of the lab's kernel for problem size n. */
struct lab_shape {
    uint64_t n;
    unsigned grid[3], block[3];
    unsigned dynamic_shared_bytes;
    struct lab_buffer buffers[LAB_BUFFERS];
    int buffer_count;
    struct lab_arg args[LAB_ARGS];
    int arg_count;
    double bytes_moved; /* least traffic to and from device memory */
    double flops;       /* floating-point operations the result needs */
};

/* Who computes an element. tile and stage are -1 where the lab has none. */
struct lab_place {
    unsigned block[3], thread[3];
    bool any_thread; /* which thread is up to the student: nobody names one */
    int tile, stage;
};

/* An element is right when !(fabs(got - want) > absolute + relative * fabs(want)), NaN being wrong.
 */
struct lab_tolerance {
    double absolute, relative;
};

/* The library that does the same, to be timed beside the kernel (peer.h). */
enum lab_peer { LAB_NO_PEER, LAB_PEER_SGEMM, LAB_PEER_TF32_GEMM, LAB_PEER_CUB };

struct lab {
    const char *slug;
    enum lab_peer peer;
    /* False when the lab has no such size. */
    bool (*shape)(struct lab_shape *out, uint64_t n);
    /* Fills a buffer that is not OUT: position-dependent, distinct, exact where possible. */
    void (*fill)(const struct lab_shape *shape, int buffer, uint64_t seed, void *host);
    /* host[] holds the filled inputs, want[] the OUT and INOUT buffers to compute. */
    void (*reference)(const struct lab_shape *shape, void *const host[], void *const want[]);
    /* The right value of one element, for labs whose whole reference takes too long at the timed
     * size: a sample is checked there instead. Its outputs are floats. NULL where reference is
     * quick enough. */
    double (*element)(const struct lab_shape *shape, void *const host[], int buffer, size_t index);
    struct lab_tolerance (*tolerance)(const struct lab_shape *shape, int buffer);
    struct lab_place (*locate)(const struct lab_shape *shape, int buffer, size_t index);
};

const struct lab *lab_find(const char *slug); /* NULL when there is none */
size_t lab_type_bytes(enum lab_type type);

/* A well mixed 64-bit number from a seed and a position (splitmix64); for fill functions. */
uint64_t lab_mix(uint64_t seed, uint64_t position);

/* The same in 32 bits, for buffers that are large: within LAB_EACH it becomes vector code. */
static inline uint32_t lab_mix32(uint32_t start, uint32_t position)
{
    uint32_t x = position * 0x9e3779b1u + start;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* The statement for each `i` below count. Strips of a constant length are what gcc makes vector
 * code of at -O2. */
#define LAB_EACH(i, count, ...)                                                                    \
    do {                                                                                           \
        enum { LAB_STRIP = 64 };                                                                   \
        const size_t lab_count = (count);                                                          \
        size_t lab_from = 0;                                                                       \
        for (; lab_from + LAB_STRIP <= lab_count; lab_from += LAB_STRIP)                           \
            for (uint32_t lab_k = 0; lab_k < LAB_STRIP; lab_k++) {                                 \
                const size_t i = lab_from + lab_k;                                                 \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        for (size_t i = lab_from; i < lab_count; i++) {                                            \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

#endif
