/* The PTX interpreter: reads the PTX that NVRTC or nvcc wrote and runs it, warp by warp, on the
 * CPU. It is how Stride checks a kernel on a machine without a GPU, and how it finds the bugs that
 * a GPU hides. Everything is reentrant: no globals, any number of modules and launches side by
 * side.
 *
 * A module lives in the caller's arena; strings and tables reached from it are borrowed from there.
 * A launch borrows module, image, parameters and memory; a result is owned by the caller
 * (ptx_result_free). Device addresses are the caller's choice, each allocation with host memory
 * behind it; the interpreter reads and writes that host memory in place.
 *
 * It never guesses: a form that is not in ops.def ends the launch with PTX_UNSUPPORTED and a
 * sentence naming it. It never touches host memory outside the allocations named in the launch,
 * never starts a process, and never measures time: counters are counts. */
#ifndef STRIDE_PTX_PTX_H
#define STRIDE_PTX_PTX_H

#include "harness/base/arena.h"
#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- module */

/* One source position, from `.loc`. Line ids index ptx_module.lines; id 0 is "unknown". */
struct ptx_line {
    const char *file;     /* as in `.file`; "" when unknown */
    const char *function; /* inlined function's (mangled) name; NULL outside inlined code */
    uint32_t line, column;
    uint32_t ptx_line;   /* line of the PTX text where this position first applies */
    uint32_t inlined_at; /* line id of the call site; 0 when not inlined */
};

struct ptx_param {
    const char *name;
    uint32_t offset, bytes, align; /* in the parameter block */
};

/* A variable: module scope .global/.const, or .shared of one function. */
struct ptx_symbol {
    const char *name;
    uint64_t bytes;  /* 0 for an unsized extern array (dynamic shared memory) */
    uint32_t offset; /* in its space: shared window, const bank, or the image's global bytes */
    uint32_t align;
    uint32_t element_bytes;
};

struct ptx_entry {
    const char *name;
    const struct ptx_param *params;
    size_t param_count;
    uint32_t param_bytes;
    uint32_t static_shared_bytes;    /* dynamic shared memory starts behind these */
    const struct ptx_symbol *shared; /* sorted by offset; the dynamic array, if any, comes last */
    size_t shared_count;
    uint32_t local_bytes;       /* stack of the entry itself, without callees */
    uint32_t max_threads;       /* .maxntid/.reqntid product; 0 when absent */
    uint32_t instruction_count; /* static */
    bool uses_async;            /* has cp.async, bulk copies or mbarriers */
    const struct func *func;    /* decoded form; internal (exec.h) */
};

struct ptx_module {
    const char *target;  /* "sm_80" */
    uint32_t version;    /* 90 for .version 9.0 */
    uint32_t capability; /* 80 for sm_80, sm_80a, compute_80 */
    const struct ptx_entry *entries;
    size_t entry_count;
    const struct ptx_line *lines; /* lines[0] is the unknown line */
    size_t line_count;
    const struct ptx_symbol *globals, *constants;
    size_t global_count, constant_count;
    uint64_t global_bytes; /* of all module-scope .global variables, with alignment */
    uint32_t constant_bytes;
    const struct module *internal; /* module.h */
};

/* Parses and decodes. Fails only where the text is not PTX as the toolkit writes it; the sentence
 * carries the PTX line and, where known, the student's line. Instructions outside ops.def are not a
 * failure here: running into one is. `text` need not be NUL-terminated and may be freed afterwards.
 */
bool ptx_parse(struct ptx_module **out, struct arena *arena, const char *text, size_t len,
               struct err *err);

const struct ptx_entry *ptx_find_entry(const struct ptx_module *module, const char *name);

/* The frame of line `id` that lies in `file` (compared by the part behind the last slash),
 * following call sites outwards; the outermost frame when none does. Returns a line id. */
uint32_t ptx_line_in_file(const struct ptx_module *module, uint32_t id, const char *file);

/* ---- memory */

enum { PTX_ALIGN_VA = 256 }; /* what cudaMalloc gives; use it, and leave gaps between allocations */

/* One device allocation. */
struct ptx_memory {
    uint64_t va;
    uint64_t bytes;
    void *host;             /* `bytes` long, aligned to 64 */
    const char *name;       /* as the student knows it: "input" */
    uint32_t element_bytes; /* for "input[17]" in reports; 0 when unknown */
    bool read_only;         /* a store is a fault (constant or input that must not change) */
    uint8_t
        *written; /* a byte per byte, nonzero once written; NULL: all of it counts as written.
                   * The caller's; stores of the kernel set it, so it lives from launch to launch */
};

/* A module that is loaded: its .global and .const variables with their contents, which survive from
 * launch to launch as they do on a device. */
struct ptx_image;
struct ptx_image *ptx_image_open(const struct ptx_module *module);
void ptx_image_close(struct ptx_image *image);

/* Host bytes and device address of a module variable, to copy to or from; false when absent. */
bool ptx_image_symbol(struct ptx_image *image, const char *name, void **host, uint64_t *va,
                      uint64_t *bytes);

/* ---- launch */

enum ptx_order { PTX_FORWARD, PTX_REVERSE, PTX_RANDOM }; /* in which warps of a block take turns */

enum ptx_isa { PTX_ISA_BEST, PTX_ISA_BASE, PTX_ISA_AVX2, PTX_ISA_AVX512 };

struct ptx_options {
    bool checks;        /* shadow memory: races, uninitialised reads, data in flight */
    bool counters;      /* sectors, bank conflicts, per line */
    unsigned threads;   /* 0 and 1: one. Kernels whose blocks talk to each other get one anyway */
    uint64_t steps;     /* warp instructions one block may execute; 0 is 1 << 28 */
    double deadline_ms; /* of the whole launch by the clock, 0: none. A net below `steps`, which
                         * alone gives the same result every time */
    enum ptx_order order;
    uint64_t seed;        /* for PTX_RANDOM */
    enum ptx_isa isa;     /* PTX_ISA_BEST: what this CPU has */
    size_t output_cap;    /* bytes of printf text kept; 0 is 64 KiB */
    bool footprint;       /* say which bytes of global memory were touched; needs checks */
    bool trace;           /* record events of one block ... */
    uint64_t trace_block; /* ... this one */
};

struct ptx_launch {
    const struct ptx_module *module;
    struct ptx_image *image; /* may be NULL when the module has no variables */
    const char *entry;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    const void *params; /* entry->param_bytes, laid out by entry->params */
    size_t param_bytes;
    const struct ptx_memory *memory;
    size_t memory_count;
    struct ptx_options options;
};

enum ptx_status {
    PTX_DONE,
    PTX_UNSUPPORTED, /* the simulator does not know something */
    PTX_FAULT,       /* out of bounds, misaligned, trap, stack overflow */
    PTX_TIMED_OUT,   /* step budget spent */
    PTX_DEADLOCK,    /* every thread left waits for something that can't come */
};

enum ptx_fault {
    PTX_FAULT_NONE,
    PTX_FAULT_BOUNDS,
    PTX_FAULT_NULL, /* out of bounds by way of a null pointer */
    PTX_FAULT_MISALIGNED,
    PTX_FAULT_READ_ONLY,
    PTX_FAULT_OTHER, /* trap, assertion, stack overflow, ... */
};

enum ptx_hazard_kind {
    PTX_HAZARD_RACE_READ_AFTER_WRITE,
    PTX_HAZARD_RACE_WRITE_AFTER_READ,
    PTX_HAZARD_RACE_WRITE_AFTER_WRITE,
    PTX_HAZARD_IN_FLIGHT,          /* read of bytes a copy has not delivered: no wait */
    PTX_HAZARD_REFILL,             /* a copy issued into bytes that others may still read */
    PTX_HAZARD_NOT_PUBLISHED,      /* waited for by its owner, but no barrier before others read */
    PTX_HAZARD_NEVER_WAITED,       /* the thread ended with copies in flight */
    PTX_HAZARD_SOURCE_OVERWRITTEN, /* the source changed while the copy was in flight */
    PTX_HAZARD_DIVERGENT_BARRIER,
    PTX_HAZARD_BARRIER_MISMATCH,
    PTX_HAZARD_UNINITIALISED,
    PTX_HAZARD_GLOBAL_RACE,    /* plain accesses of two blocks */
    PTX_HAZARD_PROXY_FENCE,    /* fence.proxy.async missing */
    PTX_HAZARD_ABSENT_LANE,    /* shuffle or vote names lanes that are not there */
    PTX_HAZARD_LOCKSTEP,       /* relies on lanes running in lockstep: no __syncwarp */
    PTX_HAZARD_MATRIX,         /* wmma/ldmatrix pointer or stride rule */
    PTX_HAZARD_MBARRIER,       /* misuse of an mbarrier or bulk copy */
    PTX_HAZARD_READ_ONLY_PATH, /* __ldg of what the same kernel writes */
    PTX_HAZARD_KIND_COUNT
};

enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM,
    PTX_SPACE_NONE,
};

/* One thread, named as the student knows it. */
struct ptx_thread {
    uint32_t block[3], thread[3];
};

/* One finding, grouped over everything with the same kind and line pair. */
struct ptx_hazard {
    enum ptx_hazard_kind kind;
    uint32_t line, other_line;       /* line ids; other_line 0 when there is no other side */
    struct ptx_thread thread, other; /* the first case found, in block order */
    bool has_other;
    enum ptx_space space;
    uint64_t address; /* in that space, as the kernel used it */
    uint32_t bytes;
    char where[96]; /* "tile[1][12]" or "input[17]"; "" when unknown */
    uint64_t count; /* cases in this group */
    bool if_used;   /* an undefined value was handed out; no fault where the results are right */
    char text[512]; /* one sentence: what, the rule, what hardware does */
};

/* Instruction kinds, as the profilers group them. */
enum ptx_kind {
    PTX_KIND_INTEGER,
    PTX_KIND_FP32,
    PTX_KIND_FP64,
    PTX_KIND_HALF,
    PTX_KIND_TENSOR,
    PTX_KIND_CONVERT,
    PTX_KIND_MOVE,
    PTX_KIND_LOAD,
    PTX_KIND_STORE,
    PTX_KIND_ATOMIC,
    PTX_KIND_ASYNC,
    PTX_KIND_SYNC,
    PTX_KIND_WARP, /* shuffle, vote, match, redux */
    PTX_KIND_CONTROL,
    PTX_KIND_OTHER,
    PTX_KIND_COUNT
};

struct ptx_line_counters {
    uint32_t line; /* line id */
    uint64_t warp_instructions, thread_instructions;
    uint64_t global_load_requests, global_load_sectors;
    uint64_t global_store_requests, global_store_sectors;
    uint64_t shared_requests, shared_wavefronts; /* conflicts = wavefronts - ideal */
    uint64_t shared_ideal_wavefronts;
    uint64_t branches, divergent_branches;
    uint64_t waits;                     /* wait_group executed per warp, with at ... */
    uint32_t groups_most, groups_least; /* ... most and at least so many groups still in flight */
};

struct ptx_counters {
    uint64_t warp_instructions, thread_instructions;
    uint64_t by_kind[PTX_KIND_COUNT]; /* thread instructions */
    uint64_t flops;                   /* an fma counts 2; tensor operations included */
    uint64_t global_load_requests, global_load_sectors, global_load_bytes;
    uint64_t global_store_requests, global_store_sectors, global_store_bytes;
    uint64_t shared_requests, shared_wavefronts, shared_ideal_wavefronts;
    uint64_t local_requests;
    uint64_t async_bytes; /* not in global_load_bytes, though requests and sectors are there */
    uint64_t branches, divergent_branches;
    uint64_t barriers;
    uint64_t waits;               /* wait_group executed per warp ... */
    uint64_t groups_in_flight[9]; /* ... with 0..7, 8 and more groups still flying afterwards */
    uint64_t blocks, warps;
};

/* Progress of the traced block, for the pipeline's step view. `step` counts the warp instructions
 * the block has executed so far. */
enum ptx_event_kind {
    PTX_EVENT_ISSUE, /* copy issued: warp, line, group, address, bytes */
    PTX_EVENT_COMMIT,
    PTX_EVENT_WAIT,    /* value: groups allowed to stay in flight */
    PTX_EVENT_LAND,    /* copy landed: as issue; other_step is when it was issued */
    PTX_EVENT_ARRIVE,  /* at a barrier */
    PTX_EVENT_RELEASE, /* barrier complete */
    PTX_EVENT_READ,    /* first read of a shared tile after its landing */
    PTX_EVENT_HAZARD,  /* value: index into hazards */
    PTX_EVENT_EXIT,
};

struct ptx_event {
    enum ptx_event_kind kind;
    uint32_t warp, line, group, value;
    uint32_t address, bytes;
    uint64_t step, other_step;
};

/* Bytes of global memory that a launch read or wrote, as far as it got. */
enum ptx_touch_how {
    PTX_TOUCH_READ = 1,
    PTX_TOUCH_WRITE = 2,
    PTX_TOUCH_ATOMIC = 4, /* written by atomic operations */
    PTX_TOUCH_PART = 8,   /* some bytes of each of these 4-byte words are written, not all */
};

struct ptx_touch {
    uint64_t va, bytes;
    uint8_t how; /* enum ptx_touch_how, or'ed */
};

struct ptx_result {
    enum ptx_status status;
    char message[512]; /* a sentence for everything but PTX_DONE */
    uint32_t line;     /* line id of what stopped it */
    bool has_thread;
    struct ptx_thread thread; /* who */
    enum ptx_fault fault;
    enum ptx_space fault_space; /* PTX_SPACE_NONE unless an address was at fault */
    uint64_t fault_address;
    struct ptx_hazard *hazards;
    size_t hazard_count;
    bool hazards_cut; /* there were more groups than are kept */
    struct ptx_counters counters;
    struct ptx_line_counters *lines;
    size_t line_count;
    struct ptx_event *events;
    size_t event_count;
    struct ptx_touch *touches; /* by address; with options.footprint */
    size_t touch_count;
    struct buf output; /* what the kernel printed */
    enum ptx_isa isa;  /* which build of the interpreter ran */
    unsigned threads;  /* how many threads it ran on */
};

/* Runs a launch to its end. False only when the launch itself is impossible (no such entry, wrong
 * parameter size, block too large); what the kernel does wrong is in the result. */
bool ptx_run(struct ptx_result *out, const struct ptx_launch *launch, struct err *err);
void ptx_result_free(struct ptx_result *result);

/* Name for records, "race-read-after-write"; static. */
const char *ptx_hazard_name(enum ptx_hazard_kind kind);
const char *ptx_kind_name(enum ptx_kind kind);

#endif
