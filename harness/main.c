/* stride-harness: the child that compiles and runs what the student wrote, and says on descriptor 3
 * what became of it. docs/record.md describes both ends. */
#include "emit.h"
#include "probe.h"
#include "stages.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef STRIDE_VERSION
#define STRIDE_VERSION "unknown"
#endif

enum { STATUS_USAGE = 2, STATUS_BROKEN_LAB = 3, STATUS_FAILED = 5 };
enum { JOB_MOST = 1 << 20, IDLE_MS = 5 * 60 * 1000 };

static const char usage[] =
    "usage: stride-harness [--root FOLDER] --lab LAB [--lang en|zh]   do one job from stdin\n"
    "       stride-harness [--root FOLDER] --probe                   say what this machine has\n"
    "Records go to descriptor 3, one JSON object a line (docs/record.md).\n";

static int complain(int status, const char *text)
{
    fprintf(stderr, "stride-harness: %s\n", text);
    return status;
}

struct options {
    char *root;
    const char *lab, *language;
    bool probe;
};

/* Returns -1 to go on, else the exit status. */
static int parse_options(struct options *out, int argc, char *argv[])
{
    static const struct option known[] = {
        {"root", required_argument, NULL, 'r'},
        {"lab", required_argument, NULL, 'l'},
        {"lang", required_argument, NULL, 'g'},
        {"probe", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'r') {
            free(out->root);
            out->root = realpath(optarg, NULL);
            if (!out->root) {
                fprintf(stderr, "stride-harness: --root %s: %s\n", optarg, strerror(errno));
                return STATUS_USAGE;
            }
        } else if (c == 'l') {
            out->lab = optarg;
        } else if (c == 'g') {
            out->language = optarg;
        } else if (c == 'p') {
            out->probe = true;
        } else if (c == 'v') {
            puts("stride-harness " STRIDE_VERSION);
            return 0;
        } else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : STATUS_USAGE;
        }
    }
    if (optind < argc || !out->probe == !out->lab ||
        (out->lab && (!*out->lab || strchr(out->lab, '/') || out->lab[0] == '.'))) {
        fputs(usage, stderr);
        return STATUS_USAGE;
    }
    return -1;
}

/* Waits for the job's line. The first moments are used to make things ready; after some idle
 * minutes what others could use is given back. */
static bool read_job(struct buf *line, struct warm *warm)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    bool relaxed = false, busy = true;
    while (line->len < JOB_MOST && !memchr(buf_str(line), '\n', line->len)) {
        int ready = poll(&in, 1, busy ? 0 : relaxed ? -1 : IDLE_MS);
        if (ready == 0 && busy) {
            busy = warm_step(warm);
        } else if (ready == 0) {
            warm_relax(warm);
            relaxed = true;
        }
        if (ready <= 0)
            continue;
        char block[4096];
        ssize_t got = read(STDIN_FILENO, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        buf_add(line, block, (size_t)got);
    }
    return line->len > 0;
}

static int work_once(struct warm *warm, struct emit *emit, const char *here)
{
    struct buf line = {0};
    struct work work;
    struct err err = {0};
    if (!read_job(&line, warm)) {
        buf_free(&line);
        return 0;
    }
    bool parsed = work_parse(&work, buf_str(&line), line.len, here, &err);
    buf_free(&line);
    if (!parsed)
        return complain(STATUS_USAGE, err.text);
    warm_take_gpu(warm);
    if (!stages_run(warm, &work, emit)) {
        fflush(NULL);
        _exit(0); /* a kernel still holds the GPU: whatever closes it would wait for ever */
    }
    work_free(&work);
    return 0;
}

/* Absolute, since the child leaves its folder. */
static bool find_root(char **out, struct err *err)
{
    char *found;
    if (!path_find_root(&found, err))
        return false;
    *out = realpath(found, NULL);
    if (!*out)
        err_set(err, "%s: %s", found, strerror(errno));
    free(found);
    return *out != NULL;
}

/* A template that eats all memory should cost this attempt and not the student's editor. */
static void prefer_to_die(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "500", 3) < 0)
        errno = 0; /* then the system decides alone */
    if (fd >= 0)
        close(fd);
}

int main(int argc, char *argv[])
{
    double start = clock_ms();
    struct options options = {0};
    struct err err = {0};
    struct emit emit;
    struct warm warm;
    int status = parse_options(&options, argc, argv);
    if (status >= 0)
        return status;
    if (!emit_open(&emit, &err))
        return complain(STATUS_USAGE, err.text);
    if (!options.root && !find_root(&options.root, &err))
        return complain(STATUS_FAILED, err.text);
    msg_load(options.root, msg_pick_language(options.language), NULL);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16); /* a kernel may print 200,000 lines in one launch */
    if (options.probe) {
        probe_run(&emit, options.root);
        free(options.root);
        return 0;
    }
    prefer_to_die();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read the records of an orphan */
    /* Line tables hold the folder of the compilation; "/" keeps listings the same for everyone. */
    char *here = getcwd(NULL, 0);
    if (!here || chdir("/") != 0)
        fprintf(stderr,
                "stride-harness: the current folder is gone; paths of the job must be absolute\n");
    bool whole = warm_open(&warm, options.root, options.lab, &err);
    if (whole) {
        emit_ready(&emit, clock_ms() - start);
        status = work_once(&warm, &emit, here ? here : "/");
        warm_close(&warm);
    } else {
        status = complain(STATUS_BROKEN_LAB, err.text);
    }
    emit_close(&emit);
    free(here);
    free(options.root);
    return status;
}
