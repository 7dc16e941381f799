/* The simulated CUDA runtime inside: what its files (sim_*.c) share. runtime.h is the outside.
 *
 * One machine per process, `sim`, behind one lock: every function of the API takes it on entry
 * (sim_enter) and gives it back on the way out (sim_leave). What a call asks for is a *work*;
 * queued in a stream it becomes an *op*, which runs when something waits for it, together with
 * everything before it. Handles are pointers into tables and are looked up before they are
 * followed; what was destroyed stays known, so that using it again is an error and not a crash.
 *
 * Nothing here looks at a student's host memory except to copy what a copy names, and nothing
 * measures time: sim_clock.c says what time it would be.
 *
 * How an op comes about and goes:
 *
 *     cudaMemcpyAsync ──▶ struct work ──sim_submit──▶ capture takes it, or: struct op in a stream
 *                                                         │ needs: previous op of the stream,
 * events, ... cudaStreamSynchronize ──sim_finish(op)──▶ all it needs, in the order of submission:
 * run it, compare its bytes with those of unordered ops, give it a place in virtual time; then the
 * host knows it */
#ifndef STRIDE_HOST_SIM_H
#define STRIDE_HOST_SIM_H

#include "calls.h"
#include "runtime.h"
#include "sim_clock.h"
#include "span.h"

#include "harness/ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cuda_result {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_PITCH = 12,
    CUDA_INVALID_SYMBOL = 13,
    CUDA_MISSING_CONFIGURATION = 52,
    CUDA_INVALID_DEVICE_FUNCTION = 98,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_HANDLE = 400,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_HOST_REGISTERED = 712,
    CUDA_HOST_NOT_REGISTERED = 713,
    CUDA_MISALIGNED = 716,
    CUDA_LAUNCH_FAILURE = 719,
    CUDA_COOPERATIVE_TOO_LARGE = 720,
    CUDA_NOT_PERMITTED = 800,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_CAPTURE_UNSUPPORTED = 900,
    CUDA_CAPTURE_INVALIDATED = 901,
    CUDA_CAPTURE_MERGE = 902,
    CUDA_CAPTURE_UNMATCHED = 903,
    CUDA_CAPTURE_UNJOINED = 904,
    CUDA_CAPTURE_ISOLATION = 905,
    CUDA_CAPTURE_IMPLICIT = 906,
    CUDA_CAPTURED_EVENT = 907,
    CUDA_CAPTURE_WRONG_THREAD = 908,
    CUDA_GRAPH_UPDATE_FAILURE = 910,
};

/* ---- happens-before (sim_order.c)
 *
 * A chain is a row of ops each of which needs the one before it: a stream, or a branch of a graph.
 * A vector clock says, for each chain, up to which of its ops something comes after. */

struct vector {
    uint32_t *at; /* per chain; beyond count it is 0 */
    uint32_t count;
};

/* Each chain as far as either has it. */
void vector_join(struct vector *into, const struct vector *other);
void vector_raise(struct vector *v, uint32_t chain, uint32_t to);
bool vector_covers(const struct vector *v, uint32_t chain, uint32_t at);
void vector_free(struct vector *v);

/* A chain for a new row of ops that come after `base`: an unused one whose ops all lie before base,
 * or a new one. */
uint32_t chain_take(const struct vector *base);
void chain_give(uint32_t chain);
uint32_t chain_next(uint32_t chain); /* number of the op that is added now */

/* ---- memory (sim_memory.c) */

enum memory_kind {
    MEMORY_DEVICE,
    MEMORY_PINNED,     /* cudaMallocHost, cudaHostAlloc: the host's own pages */
    MEMORY_REGISTERED, /* cudaHostRegister */
};

#define MEMORY_DEVICE_BYTES (4ull << 30) /* what the simulated device has */

/* One allocation. For host memory va is the host's address. */
struct memory {
    enum memory_kind kind;
    uint64_t va, bytes;
    void *host;       /* where Stride reads and writes the bytes: never barred */
    uint8_t *written; /* device: a byte per byte */
    unsigned flags;
    int line; /* the student's line that allocated it */
    int freed_line;
    bool freed;
    bool variable;                /* __device__ or __constant__: the program's own */
    bool of_graph, dormant, held; /* sim_pool.c */
    unsigned works;
    char name[48]; /* in sentences: "work->input", or "the memory of line 12" */
    struct memory *next;
};

/* The allocation that holds this address, freed ones too (the newest first); NULL when none does.
 */
struct memory *memory_at(uint64_t va);
bool memory_holds(const struct memory *memory, uint64_t va, uint64_t bytes);
/* Pinned or registered, alive, and all of [pointer, pointer + bytes). */
bool memory_is_pinned(const void *pointer, size_t bytes);
/* Backing bytes of device memory or the host bytes themselves; NULL when they belong to nobody who
 * could say so: no allocation, or one that was freed. Plain host memory is not known here. */
uint8_t *memory_bytes(uint64_t va, uint64_t bytes);
bool memory_is_host(uint64_t va);           /* in pinned or registered memory that is alive */
bool memory_is_device_address(uint64_t va); /* in the range that device memory comes from */
/* Why [va, va + bytes) can't be used, for sim_why. */
void memory_explain(uint64_t va, uint64_t bytes);
void memory_end(struct memory *memory, int line); /* gives the bytes back, keeps the name */
/* The allocation that begins here; otherwise says what is wrong with the pointer. */
struct memory *memory_find_start(void *pointer, bool device_memory);
void memory_clear(struct memory *memory); /* nothing in it was ever written */
/* Memory of graphs: given back, as long as a graph may allocate it again; is it allocated by what
 * was launched (otherwise says that it isn't); a work names it, or no longer does. */
void memory_rest(struct memory *memory, int line);
bool memory_is_held(const struct memory *memory);
int memory_allocate_device(struct memory **out, size_t bytes); /* a cudaError_t */
struct memory *memory_add(enum memory_kind kind, void *host, size_t bytes);
void memory_add_variable(const char *name, uint64_t va, void *host, size_t bytes);
struct ptx_memory *memory_list(size_t *count); /* everything alive, for a launch; free() */

/* ---- programs: what the student's object registers (sim_program.c) */

struct program {
    void *wrapper;
    void *handle; /* what __cudaRegisterFatBinary returns: &handle */
    struct arena arena;
    struct ptx_module *ptx; /* NULL until it is first used */
    struct ptx_image *image;
    bool tried;
    struct program *next;
};

struct kernel {
    struct program *program;
    const void *host;              /* address of the stub: what cudaLaunchKernel is given */
    char *name;                    /* mangled */
    char label[48];                /* demangled, cut */
    const struct ptx_entry *entry; /* NULL until its module is parsed */
    unsigned dynamic_shared_most;  /* cudaFuncAttributeMaxDynamicSharedMemorySize */
    bool launched;                 /* once at least */
    struct kernel *next;
};

/* By the stub's address or by the struct itself (a cudaKernel_t, cudaFunction_t); NULL: neither. */
struct kernel *kernel_find(const void *function);
int kernel_open(
    struct kernel *kernel); /* reads its program when that has not happened; a cudaError_t */
void kernel_label(char *out, size_t size, const char *mangled); /* "scale" of _Z5scalePf */

/* ---- work */

enum work_kind {
    WORK_EMPTY,
    WORK_COPY,
    WORK_SET,
    WORK_KERNEL,
    WORK_HOST,
    WORK_RECORD,
    WORK_WAIT,
    WORK_ALLOC,
    WORK_FREE
};

enum copy_way { COPY_H2H, COPY_H2D, COPY_D2H, COPY_D2D };

struct copy { /* rows of `width` bytes; a plain copy is one row */
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, rows;
    enum copy_way way;
    bool pageable;   /* the host side is neither pinned nor registered */
    uint8_t *staged; /* source bytes kept at the call (pageable memory): width * rows; owned */
};

struct set {
    uint64_t to;
    size_t pitch, width, rows; /* bytes */
    uint32_t value, element_bytes;
};

struct launch {
    struct kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    uint8_t *params; /* entry->param_bytes; owned */
    uint32_t param_bytes;
};

struct host_call {
    void (*function)(void *user);                           /* cudaLaunchHostFunc, or ... */
    void (*callback)(void *stream, int status, void *user); /* ... cudaStreamAddCallback */
    void *user, *stream;
};

struct work {
    enum work_kind kind;
    int line; /* the student's line that asked for it */
    union {
        struct copy copy;
        struct set set;
        struct launch launch;
        struct host_call host;
        struct event *event;   /* WORK_RECORD, WORK_WAIT */
        struct memory *memory; /* WORK_ALLOC, WORK_FREE */
    };
};

/* One more (`by` 1) or one less (-1) work that allocates or frees its memory. */
void memory_count_work(const struct work *work, int by);
void memory_run(const struct work *work); /* WORK_ALLOC, WORK_FREE */

void work_clone(struct work *out, const struct work *work); /* staged bytes and params too */
void work_free(struct work *work);

/* What launches and copies are made of, checked; also for explicit graph nodes. They return a
 * cudaError_t; a work that was filled belongs to the caller. `params` as cudaLaunchKernel's args.
 */
int work_launch(struct work *out, const void *function, struct dim3 grid, struct dim3 block,
                void **params, size_t shared_bytes);
int work_copy(struct work *out, void *to, size_t to_pitch, const void *from, size_t from_pitch,
              size_t width, size_t rows, int kind);
int work_set(struct work *out, void *to, size_t pitch, uint32_t value, uint32_t element_bytes,
             size_t width, size_t rows);
int work_host(struct work *out, void (*function)(void *user), void *user);
/* The variable behind a host symbol, offset applied: a device address; 0 and an error otherwise. */
int symbol_address(uint64_t *out, const void *symbol, size_t offset, size_t bytes);

/* ---- ops (sim_op.c) */

struct op {
    struct work work;
    struct stream *stream;
    uint64_t number;     /* in the order of submission */
    uint32_t graph;      /* number of the graph launch it belongs to, 0: none */
    uint32_t chain, at;  /* its place in its chain */
    struct vector after; /* what comes before it, itself included */
    struct op **needs;   /* references */
    size_t need_count;
    bool done, marked, guarded, suspended;
    double submitted_us, from_us, to_us; /* virtual time; to_us counts once done */
    struct touch *touches;               /* bytes it reads and writes, known once done ... */
    size_t touch_count;                  /* ... those of copies at once */
    unsigned references;
    struct op *next, *previous; /* pending ops, or those still compared with new ones */
};

/* One more reference, which op_drop gives back. */
struct op *op_keep(struct op *op);
void op_drop(struct op *op);

/* Puts work into a stream (which it then owns), or into the graph that the stream is captured into.
 * Returns a cudaError_t. `out` (may be NULL) gets a reference to the op, NULL when it was captured.
 */
int sim_submit(struct op **out, struct stream *stream, struct work *work);

/* Puts a whole graph into a stream: it starts after what is there, and what comes later waits for
 * all of it. works in topological order, cloned; edge {from, to} are indices into them. */
struct graph_edge {
    uint32_t from, to;
};
int sim_submit_graph(struct stream *stream, const struct work *works, size_t count,
                     const struct graph_edge *edges, size_t edge_count, uint32_t graph, int line);

/* What running does, by kind; each returns how long it takes in virtual time, if it knows. */
double copy_run(struct op *op);
double set_run(struct op *op);
double launch_run(struct op *op);
/* Bytes that copies and memsets touch, known before they run. */
void copy_touches(struct op *op);
void set_touches(struct op *op);
void op_touch(struct op *op, uint64_t from, uint64_t bytes, uint8_t how); /* in ascending order */

/* Runs op (to which the caller has a reference) and everything that it needs. The host does not
 * know about it yet. */
void sim_run(struct op *op);
void sim_run_all(void);

/* The same, and the host waits for it, in the call `what` (NULL: none of the student's): its clock
 * is behind op then, in both senses. */
void sim_finish(struct op *op, const char *what, int line);
void sim_finish_all(const char *what, int line);
void sim_wait_until(double us, const char *what, int line); /* in virtual time alone */

/* The host waits for the host function that was queued first; false: none is queued. */
bool sim_finish_host_function(void);
/* From now on it does so when nobody calls the runtime for a while (sim_idle.c). */
void sim_watch(void);

/* ---- streams and events (sim_stream.c, sim_event.c) */

struct stream {
    unsigned flags; /* cudaStreamNonBlocking: 1 */
    int priority;
    uint64_t id;
    uint32_t number; /* in spans, from the first use on; UINT32_MAX before */
    uint32_t chain;
    bool legacy, per_thread, destroyed;
    int line;
    struct op *last;         /* a reference; NULL while nothing was ever put in */
    unsigned asked;          /* queries that found it busy */
    struct capture *capture; /* sim_graph_capture.c's: not NULL while this stream is captured */
    struct stream *next;
};

struct event {
    unsigned flags; /* cudaEventBlockingSync 1, cudaEventDisableTiming 2, cudaEventInterprocess 4 */
    bool destroyed;
    int line;
    struct op *record; /* a reference to the newest WORK_RECORD; NULL: never recorded */
    unsigned asked;
    struct capture *capture; /* the capture in which it was last recorded ... */
    struct graph_node *node; /* ... and sim_graph_capture.c's place in it */
    struct event *next;
};

void streams_open(void);

/* The stream behind a handle: NULL and 1 are the legacy default stream, 2 is the thread's own. NULL
 * when there is no such stream. */
struct stream *stream_find(void *handle);
struct event *event_find(void *handle);

/* Is op not over in virtual time? Says yes a few times, counted in `asked`, then lets the time
 * pass. */
bool sim_still_busy(const struct op *op, unsigned *asked);

/* Queues a record or wait as the API does, without looking at captures: for graphs' event nodes. */
int event_record(struct event *event, struct stream *stream, int line);
int event_wait(struct event *event, struct stream *stream, int line);

/* ---- the machine */

struct sim {
    struct sim_options options;
    struct memory *memory;
    struct program *programs;
    struct kernel *kernels;
    struct stream *streams, *legacy;
    struct event *events;
    struct op *pending, *pending_last; /* submitted and not run, in order */
    struct op *recent, *recent_last;   /* run, and perhaps not ordered before everything to come */
    size_t recent_count;
    uint64_t next_op, next_stream;
    uint32_t next_graph, next_number;
    struct vector host;      /* what the host knows to be over */
    double now_us;           /* the host's virtual time */
    int sticky;              /* error after which nothing works any more */
    struct sim_found *found; /* sim_report.c: hazards, spans, counters, output */
};
extern struct sim sim;

/* Begins and ends every function of the API. sim_enter returns 0, or the error that every call has
 * now (a sticky one; 800 inside a host function): the function returns sim_leave(that) at once. */
int sim_enter(void);
int sim_leave(int result); /* remembers it for cudaGetLastError, and returns it */
int sim_call_line(void);   /* the student's line of the call in progress, 0 when unknown */

/* Why the call in progress fails, for the report (calls.h: failed_call.detail). */
void sim_why(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs op's host function, under the lock; returns how long it took, in microseconds. Ends the
 * program when the function is left without returning (sim_options.function_left). */
double host_function_run(const struct op *op);
/* Is it a host function that calls? Ends the program when one was left by longjmp. */
bool host_function_calls(void);
void host_function_over(void); /* None can be running in this thread: ends the program likewise. */

/* The lock alone, for functions that are not calls of the API. */
void sim_lock(void);
void sim_unlock(void);
/* How often the lock was taken and given back so far: the same as before, nobody called. */
unsigned sim_entries(void);

/* ---- hazards (sim_order.c, sim_report.c) */

struct touch { /* bytes [from, to), host or device */
    uint64_t from, to;
    uint8_t how; /* enum touch_how */
};
enum touch_how {
    TOUCH_READ = 1,
    TOUCH_WRITE = 2,
    TOUCH_ATOMIC = 4, /* a write too; two of them do not disturb one another */
    TOUCH_PART = 8,   /* some bytes of these words */
};

/* Compares an op that has just run with all that are not ordered before it. */
void order_check(const struct op *op);
/* Drops from sim.recent what lies before everything that may still come. */
void order_forget(void);
/* Tells the guard which pinned memory op needs, and what the host (or a host function) knows to be
 * over. */
void order_guard(struct op *op);
void order_settle(const struct vector *known);
void order_suspend(const struct op *function); /* while this host function runs */
void order_resume(void);
/* An op that works on this memory as far as the host can know; NULL: none. */
const struct op *order_user(const struct memory *memory);

void report_open(void);
void report_launch(const struct op *op, const struct ptx_result *result);
void report_unordered(int line, int other_line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_hazard(const char *kind, int line, int other_line, const char *text);
void report_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The host waited, in this call. */
void report_wait(double from_us, double to_us, const char *what, int line);
void report_span(enum span_kind kind, const struct op *op, double from_us, double to_us,
                 const char *name);

/* ---- captures and graphs (sim_graph*.c)
 *
 * These return -1: nothing to do with captures, go on; else the call's result, and it is over. */

int capture_takes_work(struct stream *stream, struct work *work); /* owns work unless -1 */
/* `external`: the graph itself is to record the event, or to wait for it. */
int capture_takes_record(struct stream *stream, struct event *event, bool external);
int capture_takes_wait(struct stream *stream, struct event *event, bool external);

/* What calls do that are not allowed, or not always, while something is captured. */
enum capture_sin {
    CAPTURE_ALLOCATES,    /* cudaMalloc, cudaFree, ...: unsafe unless all captures are relaxed */
    CAPTURE_WAITS_DEVICE, /* cudaDeviceSynchronize */
    CAPTURE_COPIES,       /* copies in `stream`, and waits for that */
    CAPTURE_ASKS_STREAM,  /* synchronises with or queries `stream` */
    CAPTURE_ASKS_EVENT,   /* synchronises with or queries `event` */
    CAPTURE_READS_TIME,   /* of `event` */
};
int capture_forbids(enum capture_sin sin, struct stream *stream, struct event *event);

/* The stream is destroyed: what was being captured from it on is lost. */
void capture_leave(struct stream *stream);
void capture_abandon(void); /* ends the captures that were left open, without a graph */

void sim_install_graphs(struct runtime *out); /* fills in their functions, without _ptsz twins */
void sim_install_memory(struct runtime *out);
void sim_install_pools(struct runtime *out);
void sim_install_copies(struct runtime *out);
void sim_install_streams(struct runtime *out);
void sim_install_events(struct runtime *out);
void sim_install_launches(struct runtime *out);
void sim_install_programs(struct runtime *out);
void sim_install_device(struct runtime *out);
void sim_install_twins(struct runtime *out); /* _ptds and _ptsz of whatever is filled in */

#endif
