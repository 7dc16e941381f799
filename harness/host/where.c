#include "where.h"

#include "calls.h"
#include "lines.h"
#include "tell.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum { WORDS = 512, BLOCKS = 256, FRAMES = 128, ALTERNATE_BYTES = 1 << 17 };

struct registers {
    const void *instruction;
    uintptr_t stack, frame;
};

static int ends[2] = {-1, -1};

/* Memory that may not be there: the kernel copies it through a pipe, and refuses what is not
 * mapped. Returns how many words came. */
static size_t read_words(uintptr_t from, uintptr_t *out, size_t count)
{
    ssize_t put = write(ends[1], (const void *)from, count * sizeof *out);
    if (put <= 0)
        return 0;
    ssize_t got = read(ends[0], out, (size_t)put);
    return got > 0 ? (size_t)got / sizeof *out : 0;
}

static int line_of_word(uintptr_t word)
{
    const void *address = (const void *)word;
    return lines_inside(address) ? lines_of_call(address) : 0;
}

/* The student's object keeps frame pointers; what it calls may not, and then the chain breaks. */
static int line_by_frames(uintptr_t frame)
{
    uintptr_t pair[2];
    for (int i = 0; i < FRAMES && frame && frame % sizeof frame == 0; i++) {
        if (read_words(frame, pair, 2) != 2)
            return 0;
        int line = line_of_word(pair[1]);
        if (line)
            return line;
        if (pair[0] <= frame)
            return 0;
        frame = pair[0];
    }
    return 0;
}

/* The innermost return address into the object that stands on the stack. */
static int line_by_stack(uintptr_t stack)
{
    uintptr_t words[WORDS];
    stack &= ~(sizeof stack - 1);
    for (int block = 0; block < BLOCKS; block++) {
        size_t count = read_words(stack, words, WORDS);
        for (size_t i = 0; i < count; i++) {
            int line = line_of_word(words[i]);
            if (line)
                return line;
        }
        if (count < WORDS)
            break;
        stack += sizeof words;
    }
    return 0;
}

static int find_line(const struct registers *at)
{
    if (lines_inside(at->instruction) && lines_at(at->instruction))
        return lines_at(at->instruction);
    const void *site = calls_site();
    int line = site ? lines_of_call(site) : 0;
    if (!line)
        line = line_by_frames(at->frame);
    return line ? line : line_by_stack(at->stack);
}

static struct registers registers_of(const void *context)
{
    const ucontext_t *c = context;
#if defined(__x86_64__)
    return (struct registers){(const void *)c->uc_mcontext.gregs[REG_RIP],
                              (uintptr_t)c->uc_mcontext.gregs[REG_RSP],
                              (uintptr_t)c->uc_mcontext.gregs[REG_RBP]};
#elif defined(__aarch64__)
    return (struct registers){(const void *)c->uc_mcontext.pc, (uintptr_t)c->uc_mcontext.sp,
                              (uintptr_t)c->uc_mcontext.regs[29]};
#else
    (void)c;
    return (struct registers){0};
#endif
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
    struct registers at = registers_of(context);
    tell_signal("crash", "signal", signal_number, find_line(&at));
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_question(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
    struct registers at = registers_of(context);
    tell_signal("stuck", "signal", signal_number, find_line(&at));
}

static void on_end(int status, void *nothing)
{
    (void)nothing;
    struct registers at = {.stack = (uintptr_t)__builtin_frame_address(0)};
    tell_signal("exit", "status", status, find_line(&at));
}

void where_watch(void)
{
    static char alternate[ALTERNATE_BYTES]; /* a stack that overflowed has no room for a handler */
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    action.sa_sigaction = on_question;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGQUIT, &action, NULL);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0)
        for (int i = 0; i < 2; i++) {
            int high = fcntl(ends[i], F_DUPFD_CLOEXEC, 210);
            close(ends[i]);
            ends[i] = high;
        }
    on_exit(on_end, NULL);
}
