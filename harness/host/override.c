/* What stride-host puts in place of functions of libc, for the student's object and what it calls.
 * Only stride-host links it: anywhere else it would change Stride itself.
 *
 * memcpy, memmove and memset arrive here because the student's object is linked with --wrap; the
 * rest because the program exports these names, which come before libc's. Stride's own calls, and
 * everything while the simulated runtime is not in use, get the real function. */
#include "sim_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

/* libc's own function of this name. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    return host_move(to, from, bytes, __builtin_frame_address(0));
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    return host_move(to, from, bytes, __builtin_frame_address(0));
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    return host_set(to, value, bytes, __builtin_frame_address(0));
}

/* ---- files: the kernel cannot reach pages that are closed, and would say EFAULT */

#define FRAME __builtin_frame_address(0)

/* `call` with the bytes in place of `at`; what came back, when it is a number of bytes, was done.
 */
#define THROUGH(at, bytes, write, call)                                                            \
    do {                                                                                           \
        void *view = host_io_view((uintptr_t)(at), (bytes));                                       \
        ssize_t done = (call);                                                                     \
        if (done > 0)                                                                              \
            host_io_done((at), (size_t)done, (write), FRAME);                                      \
        return done;                                                                               \
    } while (0)

ssize_t read(int file, void *to, size_t bytes)
{
    THROUGH(to, bytes, true, syscall(SYS_read, file, view, bytes));
}

ssize_t write(int file, const void *from, size_t bytes)
{
    THROUGH(from, bytes, false, syscall(SYS_write, file, view, bytes));
}

ssize_t pread(int file, void *to, size_t bytes, off_t offset)
{
    THROUGH(to, bytes, true, syscall(SYS_pread64, file, view, bytes, offset));
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t offset)
{
    THROUGH(from, bytes, false, syscall(SYS_pwrite64, file, view, bytes, offset));
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t offset)
{
    THROUGH(to, bytes, true, syscall(SYS_pread64, file, view, bytes, offset));
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t offset)
{
    THROUGH(from, bytes, false, syscall(SYS_pwrite64, file, view, bytes, offset));
}

/* What std::ofstream calls: some bytes of its own, and the student's. */
ssize_t writev(int file, const struct iovec *parts, int count)
{
    enum { PARTS_MOST = 64 };
    struct iovec views[PARTS_MOST];
    if (count < 0 || count > PARTS_MOST)
        return syscall(SYS_writev, file, parts, count);
    for (int i = 0; i < count; i++)
        views[i] = (struct iovec){host_io_view((uintptr_t)parts[i].iov_base, parts[i].iov_len),
                                  parts[i].iov_len};
    ssize_t done = syscall(SYS_writev, file, views, count);
    size_t left = done > 0 ? (size_t)done : 0;
    for (int i = 0; i < count && left; i++) {
        size_t bytes = parts[i].iov_len < left ? parts[i].iov_len : left;
        host_io_done(parts[i].iov_base, bytes, false, FRAME);
        left -= bytes;
    }
    return done;
}

size_t fread(void *restrict to, size_t size, size_t count, FILE *restrict file)
{
    static size_t (*real)(void *, size_t, size_t, FILE *);
    if (!real)
        *(void **)&real = next("fread");
    size_t done = real(host_io_view((uintptr_t)to, size * count), size, count, file);
    host_io_done(to, size * done, true, FRAME);
    return done;
}

size_t fwrite(const void *restrict from, size_t size, size_t count, FILE *restrict file)
{
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (!real)
        *(void **)&real = next("fwrite");
    size_t done = real(host_io_view((uintptr_t)from, size * count), size, count, file);
    host_io_done(from, size * done, false, FRAME);
    return done;
}

/* ---- clocks */

extern const char __executable_start[], etext[];

/* Does the student's code, or a library on its behalf, call while time is virtual? */
static bool is_virtual(const void *caller)
{
    const char *at = caller;
    return sim_host_is_open() && (at < __executable_start || at >= etext);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    bool monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                     clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
    if ((!real && !monotonic) || !is_virtual(__builtin_return_address(0)))
        return (int)syscall(SYS_clock_gettime, clock, out);
    host_read_clock(out, real);
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    bool is = is_virtual(__builtin_return_address(0));
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    if (is)
        host_read_clock(&now, true);
    else if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0)
        return -1;
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now = {0};
    if (is_virtual(__builtin_return_address(0)))
        host_read_clock(&now, true);
    else
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* ---- sleeping: real threads really sleep, and their virtual time goes on too */

static void pass(const void *caller, const struct timespec *length)
{
    if (is_virtual(caller))
        host_pass((double)length->tv_sec * 1e6 + (double)length->tv_nsec / 1e3);
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
    int result = (int)syscall(SYS_nanosleep, length, left);
    if (result == 0)
        pass(__builtin_return_address(0), length);
    return result;
}

int usleep(useconds_t us)
{
    struct timespec length = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    int result = (int)syscall(SYS_nanosleep, &length, NULL);
    if (result == 0)
        pass(__builtin_return_address(0), &length);
    return result;
}

/* ---- threads */

int pthread_create(pthread_t *restrict out, const pthread_attr_t *restrict attributes,
                   void *(*function)(void *), void *restrict argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = next("pthread_create");
    if (!create)
        return EAGAIN;
    if (!is_virtual(__builtin_return_address(0)))
        return create(out, attributes, function, argument);
    struct host_thread *thread = host_thread_new(function, argument);
    int failed = create(out, attributes, host_thread_run, thread);
    if (failed)
        host_thread_forget(thread);
    else
        host_thread_started(thread, *out);
    return failed;
}

int pthread_join(pthread_t thread, void **result)
{
    int (*join)(pthread_t, void **);
    *(void **)&join = next("pthread_join");
    int failed = join ? join(thread, result) : EINVAL;
    if (!failed && sim_host_is_open())
        host_thread_joined(thread);
    return failed;
}

/* libc's newest; dlsym alone may find the one of another layout. */
static void *next_condition(const char *name)
{
    static const char *const versions[] = {"GLIBC_2.3.2", "GLIBC_2.17", "GLIBC_2.30", "GLIBC_2.34"};
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++)
        found = dlvsym(RTLD_NEXT, name, versions[i]);
    return found ? found : next(name);
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    *(void **)&wait = next_condition("pthread_cond_wait");
    int failed = wait(condition, mutex);
    if (!failed && is_virtual(__builtin_return_address(0)))
        host_woken(condition);
    return failed;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    int (*tell)(pthread_cond_t *);
    *(void **)&tell = next_condition("pthread_cond_signal");
    if (is_virtual(__builtin_return_address(0)))
        host_signalled(condition);
    return tell(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    int (*tell)(pthread_cond_t *);
    *(void **)&tell = next_condition("pthread_cond_broadcast");
    if (is_virtual(__builtin_return_address(0)))
        host_signalled(condition);
    return tell(condition);
}
