/* What this machine has. Each line is a fact with a state: ok, a remark, or something that is
 * missing and how to get it. The harness tells about toolkit and GPU, since it is who needs them.
 */
#include "cli_core.h"

#include "editor.h"

#include "harness/base/msg.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef STRIDE_VERSION
#define STRIDE_VERSION "unknown"
#endif

enum { PROBE_MS = 30000 };

struct doctor {
    json_t *checks;       /* [{name, state, text}] */
    json_t *probe;        /* what the harness said; NULL when it could not be asked */
    bool kernels, timing; /* what works here */
};

static void add(struct doctor *doctor, const char *name, const char *state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void add(struct doctor *doctor, const char *name, const char *state, const char *format, ...)
{
    char *raw = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&raw, format, args) < 0)
        raw = NULL;
    va_end(args);
    /* A path that is not UTF-8 can't be a JSON string; what is left of it still says something. */
    json_t *value = raw ? json_string(raw) : NULL;
    json_array_append_new(doctor->checks, json_pack("{s:s, s:s, s:o}", "name", name, "state", state,
                                                    "text", value ? value : json_string("?")));
    free(raw);
}

/* ---- the program's own side */

static void check_paths(struct doctor *doctor, const struct cli *cli)
{
    add(doctor, "course", "ok", _("%u labs in %s"), cli->library.lab_count, cli->library.root);
    add(doctor, "home", cli->library.writable ? "ok" : "bad",
        cli->library.writable ? "%s"
                              : _("%s can't be written: set STRIDE_HOME to a folder that can"),
        cli->library.home);
}

static void check_terminal(struct doctor *doctor)
{
    const char *codeset = nl_langinfo(CODESET), *term = getenv("TERM");
    const char *locale = setlocale(LC_CTYPE, NULL);
    bool utf8 = strcmp(codeset, "UTF-8") == 0;
    add(doctor, "locale", utf8 ? "ok" : "note",
        utf8 ? _("%s, %s") : _("%s, %s: letters beyond ASCII show as ?; LC_ALL=C.UTF-8 shows them"),
        locale ? locale : "?", codeset);
    add(doctor, "language", "ok", "%s", msg_language());
    if (term && *term)
        add(doctor, "terminal", "ok", "TERM=%s%s", term,
            isatty(STDOUT_FILENO) ? "" : _(", not on standard output"));
    else
        add(doctor, "terminal", "note", "%s",
            _("TERM is not set: the full screen needs it, plain commands don't"));
}

static void check_editor(struct doctor *doctor)
{
    struct editor editor;
    struct err err = {0};
    if (editor_choose(&editor, "/kernel.cu", 0, &err)) {
        add(doctor, "editor", "ok", "%s (%s)", editor.argv[0],
            *editor.variable ? editor.variable : _("neither VISUAL nor EDITOR is set"));
        editor_free(&editor);
    } else {
        add(doctor, "editor", "bad", "%s", err.text);
    }
}

static void check_history(struct doctor *doctor, struct cli *cli)
{
    struct err notice = {0}, err = {0};
    char identity[256];
    if (!history_open(&cli->history, cli->library.work, &notice, &err)) {
        add(doctor, "history", "bad", "%s", err.text);
        return;
    }
    add(doctor, "history", *notice.text ? "note" : "ok", "%s%s%s", cli->library.work,
        *notice.text ? ": " : "", notice.text);
    bool own = history_identity(cli->history, identity);
    add(doctor, "git identity", own ? "ok" : "note",
        own ? "%s"
            : _("%s, since git knows no name for you: git config --global user.name \"Your Name\" "
                "and "
                "user.email change that"),
        identity);
}

/* ---- the harness's side */

static void take_probe(void *context, const char *line, size_t len)
{
    struct doctor *doctor = context;
    json_t *event = json_loadb(line, len, 0, NULL);
    json_t *set = json_object_get(event, "set");
    if (json_is_object(set) && !doctor->probe)
        doctor->probe = json_incref(set);
    else if (json_is_object(set))
        json_object_update(doctor->probe, set);
    json_decref(event);
}

static void ask_harness(struct doctor *doctor, const struct cli *cli)
{
    char *harness = NULL;
    struct err err = {0};
    struct job job = {0};
    if (!runner_find_harness(&harness, &err)) {
        add(doctor, "harness", "bad", "%s", err.text);
        return;
    }
    char *argv[] = {harness, "--root", cli->library.root, "--probe", NULL};
    if (!job_start(&job, argv, NULL, &err)) {
        add(doctor, "harness", "bad", "%s", err.text);
        free(harness);
        return;
    }
    int64_t end_ns = job_clock_ns() + PROBE_MS * INT64_C(1000000);
    while (job.state == JOB_RUNNING || job.state == JOB_KILLED) {
        struct pollfd fds[JOB_FDS];
        int64_t now_ns = job_clock_ns();
        poll(fds, (nfds_t)job_poll_fds(&job, fds), job_timeout_ms(&job, now_ns));
        now_ns = job_clock_ns();
        job_pump(&job, now_ns, take_probe, doctor);
        if (now_ns > end_ns)
            job_kill(&job, now_ns);
    }
    if (!doctor->probe)
        add(doctor, "harness", "bad", _("%s did not answer: %.200s"), harness,
            buf_str(&job.text_bytes));
    else
        add(doctor, "harness", "ok", "%s", harness);
    job_free(&job);
    free(harness);
}

static void check_toolkit(struct doctor *doctor)
{
    const json_t *toolkit = json_object_get(doctor->probe, "toolkit");
    const json_t *complaints = json_object_get(toolkit, "complaints");
    const json_t *places = json_object_get(toolkit, "places");
    const json_t *tools = json_object_get(doctor->probe, "tools");
    const char *problem = json_text_at(toolkit, "problem");
    for (size_t i = 0; i < json_array_size(complaints); i++)
        add(doctor, "toolkit", "note", "%s", json_string_value(json_array_get(complaints, i)));
    doctor->kernels = *json_text_at(toolkit, "nvrtc") != '\0';
    if (doctor->kernels)
        add(doctor, "toolkit", "ok", _("CUDA %s, %s"), json_text_at(toolkit, "version"),
            json_text_at(toolkit, "nvrtc"));
    else
        add(doctor, "toolkit", "bad",
            _("no NVRTC was found%s%s: install the CUDA Toolkit, set CUDA_HOME, or run "
              "`make deps`; looked in %s"),
            *problem ? ": " : "", problem, json_text_at(toolkit, "searched"));
    for (size_t i = 1; i < json_array_size(places); i++) {
        const json_t *place = json_array_get(places, i);
        add(doctor, "toolkit", "note", _("another one: %s (%s, found by %s)"),
            json_text_at(place, "folder"),
            *json_text_at(place, "version") ? json_text_at(place, "version") : "?",
            json_text_at(place, "found_by"));
    }
    const char *name;
    json_t *path;
    json_object_foreach((json_t *)tools, name, path)
        add(doctor, name, json_is_string(path) ? "ok" : "note", "%s",
            json_is_string(path) ? json_string_value(path)
                                 : _("not found; only what it does is missing"));
}

static void add_device(struct doctor *doctor, const json_t *device, const char *state)
{
    add(doctor, "GPU", state, _("%s, compute capability %s, driver %s, %s"),
        json_text_at(device, "name"), json_text_at(device, "compute_capability"),
        json_text_at(device, "driver"), json_text_at(device, "uuid"));
}

/* The one in use first, then the others, so that nobody wonders which card a figure belongs to. */
static void check_gpu(struct doctor *doctor)
{
    const json_t *device = json_object_get(doctor->probe, "device");
    const json_t *devices = json_object_get(doctor->probe, "devices");
    const json_t *nvml = json_object_get(doctor->probe, "nvml");
    const char *why = json_text_at(doctor->probe, "no_device");
    doctor->timing = json_is_object(device);
    if (!doctor->timing) {
        add(doctor, "GPU", "note", _("%s; kernels run on the simulator, and nothing is timed"),
            *why ? why : _("no GPU and driver on this machine"));
        return;
    }
    add_device(doctor, device, "ok");
    for (size_t i = 0; i < json_array_size(devices); i++)
        if (!json_equal(json_array_get(devices, i), device))
            add_device(doctor, json_array_get(devices, i), "note");
    if (json_is_false(nvml))
        add(doctor, "NVML", "note", "%s",
            _("not readable: clocks and other users of the GPU are not seen"));
}

static void check_settings(struct doctor *doctor)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(doctor->probe, "settings"), name, value)
        add(doctor, name, "note", "%s", json_string_value(value) ? json_string_value(value) : "?");
}

/* ---- */

static void print_checks(const struct doctor *doctor)
{
    for (size_t i = 0; i < json_array_size(doctor->checks); i++) {
        const json_t *check = json_array_get(doctor->checks, i);
        const char *state = json_text_at(check, "state");
        say("%s ", strcmp(state, "ok") == 0 ? "+" : strcmp(state, "bad") == 0 ? "!" : "-");
        say_padded(json_text_at(check, "name"), 20);
        say("%s\n", json_text_at(check, "text"));
    }
}

int cli_doctor(struct cli *cli)
{
    struct doctor doctor = {.checks = json_array()};
    struct utsname system;
    add(&doctor, "stride", "ok", "%s", STRIDE_VERSION);
    if (uname(&system) == 0)
        add(&doctor, "system", "ok", "%s %s, %s", system.sysname, system.release, system.machine);
    check_paths(&doctor, cli);
    check_terminal(&doctor);
    check_editor(&doctor);
    check_history(&doctor, cli);
    ask_harness(&doctor, cli);
    if (doctor.probe) {
        check_toolkit(&doctor);
        check_gpu(&doctor);
        check_settings(&doctor);
    }
    if (cli->json) {
        json_t *all = json_pack("{s:O, s:b, s:b}", "checks", doctor.checks, "compiles",
                                doctor.kernels, "times", doctor.timing);
        if (doctor.probe)
            json_object_set(all, "probe", doctor.probe);
        say_json(all);
        json_decref(all);
    } else {
        print_checks(&doctor);
    }
    json_decref(doctor.checks);
    json_decref(doctor.probe);
    return doctor.kernels ? CLI_OK : CLI_CANNOT;
}
