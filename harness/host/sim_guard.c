/* How to read this: memory from guard_alloc is mapped twice. The student has one mapping, whose
 * pages are protected while an operation needs bytes of them; Stride uses the other (the view),
 * which never is. Each page counts the operations that will write it and that will read it, and
 * from that follows how it is protected (sim_guard_pages.c). An access that faults comes to
 * on_fault: it is held against the needs, byte by byte, then the page is opened, the processor is
 * told to stop after one instruction, and on_step closes the page again.
 *
 * One spin lock guards everything. Nothing that holds it touches student's memory, so that a fault
 * never meets its own thread's lock. */
#include "sim_guard.h"

#include "lines.h"
#include "sim_guard_pages.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)
enum { CAN_STEP = 1 };
#else
enum { CAN_STEP = 0 };
#endif

enum {
    HITS_MOST = 256,
    FRAMES_MOST = 48,
    OPEN_MOST = 40, /* pages that one instruction may touch: a scatter of 16 lanes, with room */
    /* What was seen often enough needs no more steps, and what only shares a page with bytes in
     * flight must not take seconds: then a page stays open until nothing needs it. */
    COUNT_MOST = 64,      /* of a pair of lines */
    PAGE_STEPS = 1100,    /* as many as a page has words, and some */
    ALL_STEPS = 40000,    /* of the process; then */
    LATE_PAGE_STEPS = 64, /* of a page */
    AGAIN_MOST = 1000,
    VECTOR_BYTES = 64,    /* what a string function may read at once, aligned */
    TRAP_FLAG = 0x100,    /* of x86's flags */
    ALT_STACK = 64 << 10, /* backtrace() takes some */
};

struct hit {
    int line, other_line;
    bool host_writes, other_writes;
    enum span_kind kind;
    uint64_t count;
};

static struct {
    atomic_flag lock;
    struct guard_need *needs;
    size_t need_count, need_capacity;
    atomic_size_t in_flight; /* need_count, to be read without the lock */
    struct hit hits[HITS_MOST];
    size_t hit_count;
    struct sigaction old_fault, old_step;
} guard = {.lock = ATOMIC_FLAG_INIT};

static _Thread_local struct {
    const char *open[OPEN_MOST];
    unsigned count;
    uintptr_t last; /* where the last fault was, and how often in a row */
    unsigned again;
} step;

static bool can_step = CAN_STEP;
static volatile bool stepped;
static unsigned steps;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&guard.lock, memory_order_acquire))
        sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&guard.lock, memory_order_release);
}

/* ---- what was found */

/* How often the pair of lines was seen by now. */
static uint64_t note(const struct guard_need *need, int line, bool write)
{
    for (size_t i = 0; i < guard.hit_count; i++) {
        struct hit *hit = &guard.hits[i];
        if (hit->line == line && hit->other_line == need->line)
            return ++hit->count;
    }
    if (guard.hit_count < HITS_MOST)
        guard.hits[guard.hit_count++] = (struct hit){.line = line,
                                                     .other_line = need->line,
                                                     .host_writes = write,
                                                     .other_writes = need->written,
                                                     .kind = need->kind,
                                                     .count = 1};
    return 1;
}

static bool conflicts(const struct guard_need *need, uintptr_t from, uintptr_t to, bool write)
{
    uintptr_t at = (uintptr_t)need->at;
    return (write || need->written) && from < at + need->bytes && at < to;
}

static const char *name_of(enum span_kind kind)
{
    switch (kind) {
    case SPAN_KERNEL:
        return _("the kernel");
    case SPAN_MEMSET:
        return _("the memset");
    case SPAN_HOST:
        return _("the host function");
    default:
        return _("the copy");
    }
}

static char *sentence(const struct hit *hit)
{
    const char *what = name_of(hit->kind);
    if (hit->host_writes && hit->other_writes)
        return mem_printf(
            _("the host writes pinned memory that %s of line %d may still be writing: "
              "nothing has made the host wait for it"),
            what, hit->other_line);
    if (hit->host_writes)
        return mem_printf(
            _("the host writes pinned memory that %s of line %d may still be reading: "
              "nothing has made the host wait for it"),
            what, hit->other_line);
    return mem_printf(_("the host reads pinned memory that %s of line %d may still be writing: "
                        "nothing has made the host wait for it"),
                      what, hit->other_line);
}

void guard_take(json_t *hazards)
{
    static struct hit hits[HITS_MOST];
    lock();
    size_t count = guard.hit_count;
    memcpy(hits, guard.hits, count * sizeof *hits);
    guard.hit_count = 0;
    unlock();
    for (size_t i = 0; i < count; i++) {
        char *text = sentence(&hits[i]);
        json_array_append_new(hazards,
                              json_pack("{s:s, s:i, s:i, s:I, s:s}", "kind", "unordered", "line",
                                        hits[i].line, "other_line", hits[i].other_line, "count",
                                        (json_int_t)hits[i].count, "text", text));
        free(text);
    }
}

/* ---- faults */

extern const char __executable_start[], etext[];

/* Whom an instruction works for. */
struct access {
    bool direct; /* it is the student's own */
    bool ours;   /* Stride's, on behalf of whomever */
    int line;    /* the student's, 0 when it isn't known or not the student's doing */
};

static struct access find_access(const void *instruction)
{
    struct access access = {.direct = lines_inside(instruction), .line = lines_at(instruction)};
    void *frames[FRAMES_MOST];
    int count = access.line ? 0 : backtrace(frames, FRAMES_MOST), at = 0;
    while (at < count && frames[at] != instruction)
        at++;
    for (; at < count && !access.line && !access.ours; at++) {
        const char *frame = frames[at];
        access.ours = frame >= __executable_start && frame < etext;
        access.line = access.ours ? 0 : lines_of_call(frame);
    }
    return access;
}

/* Where the processor does not say, a page that only bars writing tells; on others nothing is
 * reported that holds for a write only. */
static bool is_write(const ucontext_t *context, const struct guard_page *page)
{
#ifdef __x86_64__
    (void)page;
    return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return page && !page->writers;
#endif
}

static const void *instruction_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* Holds one access against what is in flight; true when it need not be seen again. A string
 * function of libc may read more than it was asked to, but never past the aligned vector that holds
 * a byte it was asked for. */
static bool judge(uintptr_t address, const ucontext_t *context)
{
    uintptr_t from = address, to = address + 1;
    bool found = false;
    lock();
    bool write = is_write(context, guard_page_of((const void *)address));
    for (size_t i = 0; i < guard.need_count; i++)
        found |= conflicts(&guard.needs[i], from, to, write);
    unlock();
    struct access access = {.line = 0};
    if (found)
        access = find_access(instruction_of(context));
    if (!access.line) /* memory that has no view is opened for Stride, once */
        return access.ours;
    bool enough = false;
    if (!access.direct && !write) {
        from = address & ~(uintptr_t)(VECTOR_BYTES - 1);
        to = from + VECTOR_BYTES;
    }
    lock();
    for (size_t i = 0; i < guard.need_count; i++) {
        const struct guard_need *need = &guard.needs[i];
        uintptr_t at = (uintptr_t)need->at;
        if (conflicts(need, address, address + 1, write) && at <= from && to <= at + need->bytes)
            enough |= note(need, access.line, write) >= COUNT_MOST;
    }
    unlock();
    return enough;
}

/* Opens the page for one instruction of this thread, or for good. */
static void open_page(struct guard_page *page, ucontext_t *context, bool for_good)
{
    int most = ++steps > ALL_STEPS ? LATE_PAGE_STEPS : PAGE_STEPS;
    for_good |= !can_step || step.count == OPEN_MOST || ++page->steps > most;
    if (for_good) {
        guard_page_give_up(page);
        return;
    }
    guard_page_open(page);
    step.open[step.count++] = page->at;
#ifdef __x86_64__
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
#else
    (void)context;
#endif
}

static void hand_on(int signal, const struct sigaction *old, siginfo_t *info)
{
    /* What faulted is run again and meets the old handler; a trap, or a signal that no instruction
     * made, has to be sent again. */

    sigaction(signal, old, NULL);
    if (info->si_code <= 0 || signal == SIGTRAP)
        raise(signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    lock();
    struct guard_page *page =
        info->si_code == SEGV_ACCERR ? guard_page_of((const void *)address) : NULL;
    bool fetch = (uintptr_t)instruction_of(context) == address;
    bool closed = page && !fetch && guard_page_closed(page);
    unlock();
    /* A page that is open may just have been opened by another thread, but not again and again. */
    step.again = page && !closed && step.last == address ? step.again + 1 : 0;
    step.last = address;
    if (!page || fetch || step.again > AGAIN_MOST) {
        hand_on(signal, &guard.old_fault, info);
        return;
    }
    if (!closed)
        return;
    bool enough = judge(address, context);
    lock();
    page = guard_page_of((const void *)address);
    if (page && guard_page_closed(page))
        open_page(page, context, enough);
    unlock();
}

static void on_step(int signal, siginfo_t *info, void *context)
{
    if (!step.count) {
        hand_on(signal, &guard.old_step, info);
        return;
    }
    lock();
    while (step.count) {
        struct guard_page *page = guard_page_of(step.open[--step.count]);
        if (page && page->open) /* else it was given back meanwhile */
            guard_page_close(page);
    }
    stepped = true;
    unlock();
#ifdef __x86_64__
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
#else
    (void)context;
#endif
}

/* Some machines under the machine don't stop after one instruction: found out, not assumed. */
static void try_to_step(void)
{
    volatile char *at = guard_pages_alloc(1);
    if (!at)
        return;
    guard_pages_count((void *)at, 1, true, 1);
    (void)*at;
    can_step = stepped;
    step.count = 0;
    guard_pages_forget(guard_region_at((void *)at, false));
}

static void install(void)
{
    /* The first call loads libgcc, which a handler should not. */
    void *frames[4];
    backtrace(frames, 4);
    static char alternative[ALT_STACK];
    stack_t stack = {.ss_sp = alternative, .ss_size = ALT_STACK}, old;
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE)
        sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &guard.old_fault);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, &guard.old_step);
    try_to_step();
}

/* ---- memory and needs */

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void *guard_alloc(size_t bytes)
{
    prepare();
    lock();
    void *at = guard_pages_alloc(bytes);
    unlock();
    return at;
}

bool guard_register(void *at, size_t bytes)
{
    prepare();
    lock();
    bool ok = guard_pages_register(at, bytes);
    unlock();
    return ok;
}

static void count_need(const struct guard_need *need, int by)
{
    guard_pages_count(need->at, need->bytes, need->written, by);
}

static void drop_need(size_t i)
{
    count_need(&guard.needs[i], -1);
    guard.needs[i] = guard.needs[--guard.need_count];
    atomic_store(&guard.in_flight, guard.need_count);
}

static bool give_back(void *at, bool registered)
{
    lock();
    const struct guard_region *region = guard_region_at(at, registered);
    for (size_t i = region ? guard.need_count : 0; i-- > 0;) {
        const char *need = guard.needs[i].at;
        if (need >= (const char *)region->at && need < (const char *)region->at + region->bytes)
            drop_need(i);
    }
    if (region)
        guard_pages_forget(region);
    unlock();
    return region;
}

bool guard_free(void *at)
{
    return give_back(at, false);
}

bool guard_unregister(void *at)
{
    return give_back(at, true);
}

void guard_need(const struct guard_need *need)
{
    if (!need->bytes)
        return;
    lock();
    if (guard_region_of(need->at, need->bytes)) {
        if (guard.need_count == guard.need_capacity) {
            guard.need_capacity = guard.need_capacity ? guard.need_capacity * 2 : 64;
            guard.needs = mem_grow(guard.needs, guard.need_capacity, sizeof *guard.needs);
        }
        guard.needs[guard.need_count++] = *need;
        atomic_store(&guard.in_flight, guard.need_count);
        count_need(need, 1);
    }
    unlock();
}

void guard_settle(uint64_t operation)
{
    lock();
    for (size_t i = guard.need_count; i-- > 0;)
        if (guard.needs[i].operation == operation)
            drop_need(i);
    unlock();
}

void guard_settle_all(void)
{
    lock();
    while (guard.need_count)
        drop_need(guard.need_count - 1);
    unlock();
}

bool guard_idle(void)
{
    return atomic_load(&guard.in_flight) == 0;
}

void *guard_view(const void *at, size_t bytes)
{
    lock();
    void *view = guard_pages_view(at, bytes);
    unlock();
    return view;
}

void guard_touch(const void *at, size_t bytes, bool write, int line)
{
    uintptr_t from = (uintptr_t)at;
    if (guard_idle() || !bytes || !line)
        return;
    lock();
    for (size_t i = 0; i < guard.need_count; i++)
        if (conflicts(&guard.needs[i], from, from + bytes, write))
            note(&guard.needs[i], line, write);
    unlock();
}
