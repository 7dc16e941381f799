#include "denied.h"

#include "lines.h"
#include "tell.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool denying;

void denied_begin(void)
{
    denying = true;
}

static void deny(const void *frame)
{
    static atomic_bool told;
    if (!atomic_exchange(&told, true))
        tell_signal("denied", "count", 1, lines_of_call(lines_site(frame)));
    errno = EPERM;
}

#define FRAME __builtin_frame_address(0)

/* libc's own function of this name and type. */
#define REAL(type, name, parameters)                                                               \
    type(*real) parameters;                                                                        \
    *(void **)(&real) = dlsym(RTLD_NEXT, #name)

pid_t fork(void)
{
    if (denying) {
        deny(FRAME);
        return -1;
    }
    REAL(pid_t, fork, (void));
    return real();
}

int system(const char *command)
{
    if (denying) {
        deny(FRAME);
        return -1;
    }
    REAL(int, system, (const char *));
    return real(command);
}

FILE *popen(const char *command, const char *type)
{
    if (denying) {
        deny(FRAME);
        return NULL;
    }
    REAL(FILE *, popen, (const char *, const char *));
    return real(command, type);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    if (denying) {
        deny(FRAME);
        return EPERM;
    }
    REAL(int, posix_spawn,
         (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
          char *const[], char *const[]));
    return real(pid, path, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    if (denying) {
        deny(FRAME);
        return EPERM;
    }
    REAL(int, posix_spawnp,
         (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
          char *const[], char *const[]));
    return real(pid, file, actions, attributes, argv, environment);
}
