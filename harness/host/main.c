/* stride-host: the child that loads what the student built and runs it, on the GPU or in the
 * simulated runtime. Commands come on standard input, one JSON object a line; what became of them
 * goes to descriptor 3. docs/host-labs.md describes both. */
#include "calls.h"
#include "denied.h"
#include "lines.h"
#include "names.h"
#include "object.h"
#include "sandbox.h"
#include "sim.h"
#include "sim_host.h"
#include "tell.h"
#include "timed.h"
#include "trial.h"
#include "where.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_USAGE = 2, COMMAND_MOST = 1 << 20, SIZES_MOST = 64, HIGH = 205 };

struct options {
    const char *root, *language, *lab, *cudart, *cupti;
    char nonce[24];
    uint64_t seed;
    int device;
};

static int complain(const char *text)
{
    fprintf(stderr, "stride-host: %s\n", text);
    return STATUS_USAGE;
}

static bool parse_options(struct options *out, int argc, char *argv[])
{
    static const struct option known[] = {
        {"root", required_argument, NULL, 'r'},
        {"lang", required_argument, NULL, 'g'},
        {"lab", required_argument, NULL, 'l'},
        {"cudart", required_argument, NULL, 'c'},
        {"cupti", required_argument, NULL, 'p'},
        {"seed", required_argument, NULL, 's'},
        {"device", required_argument, NULL, 'd'},
        {"nonce", required_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'r':
            out->root = optarg;
            break;
        case 'g':
            out->language = optarg;
            break;
        case 'l':
            out->lab = optarg;
            break;
        case 'c':
            out->cudart = optarg;
            break;
        case 'p':
            out->cupti = optarg;
            break;
        case 's':
            out->seed = strtoull(optarg, NULL, 10);
            break;
        case 'n': /* the student's code must not find it among the arguments */
            snprintf(out->nonce, sizeof out->nonce, "%s", optarg);
            memset(optarg, 'x', strlen(optarg));
            break;
        case 'd':
            out->device = atoi(optarg);
            break;
        default:
            return false;
        }
    }
    return out->lab && out->root && optind == argc;
}

/* On a GPU a reset would take along what the harness and the solution have on the device. */
static int refuse_reset(void)
{
    enum { NOT_PERMITTED = 800 };
    calls_explain(_("a reset would end Stride's own work on this device, too: give back what you "
                    "made piece by piece"));
    return NOT_PERMITTED;
}

/* The real runtime with a context on its device, or the simulated one. */
static bool open_runtime(struct runtime *out, const struct options *options, struct err *err)
{
    if (!options->cudart) {
        struct sim_options simulated = {.seed = options->seed, .function_left = where_left};
        sim_open_runtime(out, &simulated);
        sim_host_open();
        return true;
    }
    if (!forward_open(out, options->cudart, err))
        return false;
    int failed = out->cudaSetDevice(options->device);
    if (!failed)
        failed = out->cudaFree(NULL); /* makes the context */
    if (failed)
        err_set(err, _("the CUDA runtime cannot use this GPU: %s (%s)"), cuda_error_meaning(failed),
                cuda_error_name(failed));
    return !failed;
}

/* ---- commands */

static const char *text_of(const json_t *command, const char *key)
{
    return json_string_value(json_object_get(command, key));
}

static void end_unknown(const char *name, const char *why)
{
    char text[400];
    snprintf(text, sizeof text, "%s", why);
    tell(json_pack("{s:s}", "unknown", name));
    tell_end(VERDICT_CANNOT_RUN, text);
}

/* The source lies beside the table; without it memory is named by its line alone. */
static void load_names(const char *lines)
{
    const char *slash = strrchr(lines, '/');
    char *source = mem_printf("%.*skernel.cu", slash ? (int)(slash + 1 - lines) : 0, lines);
    names_load(source, NULL);
    free(source);
}

/* The solution first: its functions are known to be there, and what it loads the student's needs.
 */
static void load(struct trial *trial, const json_t *command)
{
    struct err err = {0};
    char unknown[160], text[400];
    const char *yours = text_of(command, "yours"), *solution = text_of(command, "solution"),
               *baseline = text_of(command, "baseline"), *lines = text_of(command, "lines");
    if (!yours || !solution) {
        tell_end(VERDICT_CANNOT_RUN, "no object to load");
        return;
    }
    if (trial->simulated && object_needs_unknown(yours, unknown, sizeof unknown)) {
        snprintf(text, sizeof text,
                 _("the simulator does not know %s; on a machine with a GPU it would run"),
                 unknown);
        end_unknown(unknown, text);
        return;
    }
    tell_phase("load-own", 0, 0);
    if (!object_load(&trial->solution, solution, trial->lab, &err) ||
        (baseline && !object_load(&trial->baseline, baseline, trial->lab, &err))) {
        tell_end(VERDICT_CANNOT_RUN, err.text);
        return;
    }
    if (lines && !lines_load(lines, &err))
        fprintf(stderr, "stride-host: %s\n", err.text);
    if (lines)
        load_names(lines);
    sandbox_close(trial->simulated);
    denied_begin();
    tell_phase("load", 0, 0);
    if (!object_load(&trial->yours, yours, trial->lab, &err)) {
        tell_end(VERDICT_NO_BUILD, err.text);
        return;
    }
    lines_attach(*(void **)(&trial->yours.run));
    tell_end(VERDICT_PASS, "");
}

static void check(struct trial *trial, const json_t *command)
{
    uint64_t sizes[SIZES_MOST];
    size_t count = 0;
    const json_t *list = json_object_get(command, "sizes"),
                 *seed = json_object_get(command, "seed");
    while (count < json_array_size(list) && count < SIZES_MOST) {
        sizes[count] = (uint64_t)json_integer_value(json_array_get(list, count));
        count++;
    }
    if (seed)
        trial->seed = (uint64_t)json_integer_value(seed);
    if (!trial->yours.handle || !count)
        tell_end(VERDICT_CANNOT_RUN, "nothing is loaded");
    else
        trial_check(trial, sizes, count);
}

static void time_round(struct timed *timed, const json_t *command)
{
    int order[TIMED_KINDS];
    const json_t *list = json_object_get(command, "order");
    for (size_t i = 0; i < TIMED_KINDS; i++)
        order[i] = (int)json_integer_value(json_array_get(list, i));
    timed_round(timed, order);
}

/* False when it is none of the clock's commands. */
static bool obey_clock(struct timed *timed, const char *what, const json_t *command)
{
    static const struct {
        const char *name;
        void (*act)(struct timed *timed);
    } acts[] = {{"time-check", timed_check},
                {"limit", timed_limit},
                {"trace", timed_trace},
                {"time-close", timed_close}};
    if (strcmp(what, "time-open") == 0)
        timed_open(timed, (uint64_t)json_integer_value(json_object_get(command, "n")));
    else if (strcmp(what, "time-round") == 0)
        time_round(timed, command);
    else {
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
            if (strcmp(what, acts[i].name) == 0) {
                acts[i].act(timed);
                return true;
            }
        return false;
    }
    return true;
}

static void obey(struct timed *timed, const char *line)
{
    struct trial *trial = timed->trial;
    json_t *command = json_loads(line, 0, NULL);
    const char *what = command ? text_of(command, "do") : NULL;
    if (!what)
        tell_end(VERDICT_CANNOT_RUN, "not a command");
    else if (strcmp(what, "load") == 0)
        load(trial, command);
    else if (strcmp(what, "check") == 0)
        check(trial, command);
    else if (trial->simulated || !obey_clock(timed, what, command))
        tell_end(VERDICT_CANNOT_RUN, "unknown command");
    json_decref(command);
}

/* One line; false at the end of the file. Not through stdio, which is the student's. */
static bool read_command(struct buf *line, int fd)
{
    buf_clear(line);
    for (char c; line->len < COMMAND_MOST;) {
        ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        if (c == '\n')
            return true;
        buf_add_char(line, c);
    }
    return false;
}

/* Moves the commands away from descriptor 0, which becomes empty for the student's code. */
static int take_commands(void)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, HIGH), null = open("/dev/null", O_RDONLY);
    if (null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO && null != STDIN_FILENO)
        close(null);
    return fd;
}

int main(int argc, char *argv[])
{
    struct options options = {0};
    struct runtime runtime;
    struct err err = {0};
    if (!parse_options(&options, argc, argv) || !tell_open(options.nonce))
        return complain("is started by stride-harness");
    struct trial trial = {.lab = host_lab_find(options.lab),
                          .runtime = &runtime,
                          .simulated = !options.cudart,
                          .seed = options.seed};
    if (!trial.lab)
        return complain("no such host lab in this build of Stride");
    /* The interpreter takes large blocks for each launch and gives them back: keep them here. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    sandbox_begin();
    int commands = take_commands();
    struct timed timed = {.trial = &trial};
    msg_load(options.root, msg_pick_language(options.language), NULL);
    if (options.cudart) { /* before the first call of the runtime makes a context */
        timed.cupti = options.cupti ? cupti_open(options.cupti, &err) : NULL;
        snprintf(timed.no_cupti, sizeof timed.no_cupti, "%s",
                 options.cupti ? err.text : _("CUPTI is not on this machine"));
    }
    if (open_runtime(&runtime, &options, &err)) {
        runtime.cudaDeviceReset = refuse_reset;
        runtime_use(&runtime);
        where_watch(options.cudart ? NULL : memory_is_device_address);
        tell_end(VERDICT_PASS, "");
    } else {
        tell_end(VERDICT_CANNOT_RUN, err.text);
        return 0;
    }
    struct buf line = {0};
    while (read_command(&line, commands))
        obey(&timed, buf_str(&line));
    _exit(0); /* threads of the student's, CUDA's own exit handlers: nobody needs them */
}
