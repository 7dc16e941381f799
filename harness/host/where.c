#include "where.h"

#include "calls.h"
#include "lines.h"
#include "tell.h"

#include <execinfo.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <ucontext.h>

static bool (*is_device)(uint64_t address);

enum { FRAMES = 96, ALTERNATE_BYTES = 1 << 17 };

/* The innermost of the student's functions that is being run: where it stands itself, or where it
 * called what now runs. Unwinding reads tables and allocates nothing, once it was done before. */
static int find_line(const void *instruction)
{
    void *frames[FRAMES];
    if (lines_inside(instruction) && lines_at(instruction))
        return lines_at(instruction);
    int count = backtrace(frames, FRAMES);
    for (int i = 0; i < count; i++) {
        int line = lines_inside(frames[i]) ? lines_of_call(frames[i]) : 0;
        if (line)
            return line;
    }
    const void *site = calls_site();
    return site ? lines_of_call(site) : 0;
}

static const void *instruction_of(const void *context)
{
    const ucontext_t *c = context;
#if defined(__x86_64__)
    return (const void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)c->uc_mcontext.pc;
#else
    return NULL;
#endif
}

static uintptr_t stack_of(const void *context)
{
    const ucontext_t *c = context;
#if defined(__x86_64__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.sp;
#else
    return 0;
#endif
}

/* Two mistakes that every beginner makes, told by the address: following a device pointer, and
 * using more stack than there is. */
static void tell_touched(uintptr_t address, uintptr_t stack)
{
    enum { NEAR = 1 << 16 };
    if (is_device && is_device(address))
        tell_signal("touched", "device", 1, 0);
    else if (address - stack < NEAR || stack - address < NEAR)
        tell_signal("touched", "stack", 1, 0);
}

/* Told twice: should the stack be in such a state that unwinding fails, the crash itself is known.
 */
static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    signal(signal_number, SIG_DFL);
    if (signal_number == SIGSEGV && info->si_code > 0)
        tell_touched((uintptr_t)info->si_addr, stack_of(context));
    tell_signal("crash", "signal", signal_number, 0);
    tell_signal("crash", "signal", signal_number, find_line(instruction_of(context)));
    raise(signal_number);
}

static void on_question(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
    tell_signal("stuck", "signal", signal_number, find_line(instruction_of(context)));
}

static void on_end(int status, void *nothing)
{
    (void)nothing;
    tell_signal("exit", "status", status, find_line(NULL));
}

void where_watch(bool (*on_device)(uint64_t address))
{
    is_device = on_device;
    static char alternate[ALTERNATE_BYTES]; /* a stack that overflowed has no room for a handler */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
    void *frames[FRAMES];
    backtrace(frames, FRAMES); /* loads what unwinds, while all is well */
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    action.sa_sigaction = on_question;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGQUIT, &action, NULL);
    on_exit(on_end, NULL);
}

void where_left(int line)
{
    signal(SIGABRT, SIG_DFL);
    tell_signal("touched", "function", 1, 0);
    tell_signal("crash", "signal", SIGABRT, line);
    abort();
}
