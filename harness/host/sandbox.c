#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TEXT_MOST = 1 << 20,   /* of each of stdout and stderr */
    PROCESSES_MOST = 4096, /* of the user, all programs together */
    X32 = 0x40000000
};

static const rlim_t memory_most = 2ull << 30;
static const rlim_t file_most = 1u << 30; /* CUDA's own caches and shared memory are files too */

/* ---- text */

static atomic_size_t written[3];

static ssize_t put_text(void *cookie, const char *text, size_t len)
{
    int fd = (int)(intptr_t)cookie;
    if (atomic_fetch_add(&written[fd], len) < TEXT_MOST)
        for (size_t done = 0; done < len;) {
            ssize_t put = write(fd, text + done, len - done);
            if (put < 0 && errno != EINTR)
                break;
            done += put > 0 ? (size_t)put : 0;
        }
    return (ssize_t)len;
}

/* Unbuffered: what a program printed before it died has to be there. Beyond the limit nothing
 * reaches the system any more, or a gigabyte of short lines would take minutes. */
static FILE *limited(int fd)
{
    FILE *file = fopencookie((void *)(intptr_t)fd, "w", (cookie_io_functions_t){.write = put_text});
    if (file)
        setvbuf(file, NULL, _IONBF, 0);
    return file;
}

void sandbox_begin(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        _exit(0); /* the parent died before it could be watched */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "800", 3) < 0)
        errno = 0; /* then the system decides alone */
    if (fd >= 0)
        close(fd);
    FILE *out = limited(STDOUT_FILENO), *err = limited(STDERR_FILENO);
    stdout = out ? out : stdout;
    stderr = err ? err : stderr;
}

/* ---- processes */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define FIELD(member)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define REFUSE(reason)        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (reason))
#define ALLOW                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Refuses this call altogether. */
#define NEVER(number, reason) EQUAL(number, 0, 1), REFUSE(reason)

static void refuse_processes(void)
{
    struct sock_filter code[] = {
        FIELD(arch),
        EQUAL(ARCHITECTURE, 1, 0),
        REFUSE(EPERM),
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
        REFUSE(EPERM),
#ifdef SYS_fork
        NEVER(SYS_fork, EPERM),
        NEVER(SYS_vfork, EPERM),
#endif
        NEVER(SYS_execve, EPERM),
        NEVER(SYS_execveat, EPERM),
        NEVER(SYS_ptrace, EPERM),
        NEVER(SYS_tkill, EPERM),
        NEVER(SYS_rt_sigqueueinfo, EPERM),
        NEVER(SYS_pidfd_send_signal, EPERM),
        NEVER(SYS_clone3, ENOSYS), /* its flags are out of reach; libc then takes clone */
        EQUAL(SYS_clone, 0, 4),
        FIELD(args[0]), /* flags: the low half, on both architectures */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ALLOW,
        REFUSE(EPERM),
        EQUAL(SYS_kill, 1, 0),
        EQUAL(SYS_tgkill, 0, 3),
        FIELD(args[0]),
        EQUAL((uint32_t)getpid(), 1, 0),
        REFUSE(EPERM),
        ALLOW,
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* For all threads, or for those that are started from here. A kernel that has neither still has
     * the limit on processes. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static void refuse_processes(void)
{
}

#endif

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 }; /* it maps far more than it uses */
#else
enum { SANITIZED = 0 };
#endif

/* Then malloc fails in the student's code, and the system need not choose whom to kill. */
static void limit_memory(void)
{
    rlim_t most = memory_most;
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && (rlim_t)pages * (rlim_t)page < most)
        most = (rlim_t)pages * (rlim_t)page;
    setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
}

void sandbox_close(bool simulated)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){file_most, file_most});
    setrlimit(RLIMIT_NPROC, &(struct rlimit){PROCESSES_MOST, PROCESSES_MOST}); /* threads count */
    if (simulated && !SANITIZED)
        limit_memory();
    refuse_processes();
}
