/* Stride: the full screen, a script of it, or a plain command.
 *
 * Everything that waits, waits in `run` below, in one ppoll: keys, the harness's pipes, the
 * kernel's folder, signals, time. Signals are blocked except there, so that nothing is ever missed
 * or torn. */
#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "tui/charset.h"
#include "tui/cli.h"
#include "tui/key.h"
#include "tui/script.h"
#include "tui/session.h"
#include "tui/term.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_LIMIT_MS = 120000, BACKGROUND_MS = 300 };

struct screen {
    struct session session;
    struct script *script; /* NULL: a terminal */
    const char *folder;    /* where the script's screens go */
    struct cells cells;
    bool background; /* stopped and continued without the terminal */
    bool quit;
    int status;
    int64_t wait_since_ns; /* of the script's step; 0 when it is new */
};

static volatile sig_atomic_t got_resize, got_end, got_stop, got_continue;

static void take_signal(int number)
{
    if (number == SIGWINCH)
        got_resize = 1;
    else if (number == SIGTSTP)
        got_stop = 1;
    else if (number == SIGCONT)
        got_continue = 1;
    else if (number != SIGCHLD)
        got_end = number;
}

static const int signals[] = {SIGWINCH, SIGCHLD, SIGTERM, SIGHUP,
                              SIGINT,   SIGQUIT, SIGTSTP, SIGCONT};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* Before curses, which then leaves them alone. What the parent ignores (nohup) stays ignored. */
static void catch_signals(sigset_t *waiting)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction old, action = {.sa_handler = take_signal};
        sigaction(signals[i], NULL, &old);
        if (old.sa_handler != SIG_IGN || signals[i] == SIGCHLD)
            sigaction(signals[i], &action, NULL);
        sigaddset(&blocked, signals[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, waiting);
    for (int i = 0; i < SIGNALS; i++)
        sigdelset(waiting, signals[i]);
}

static void set_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

static void unblock(int how, int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(how, &set, NULL);
}

/* ---- the terminal goes and comes */

static bool has_terminal(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void come_to_front(struct screen *screen)
{
    screen->background = false;
    if (screen->session.editing)
        return;
    term_return();
    got_resize = 1;
}

/* The whole group stops, as the terminal itself would do it: a `make run` above us stops too. */
static void suspend(struct screen *screen)
{
    if (screen->script)
        return;
    term_leave();
    set_signal(SIGTSTP, SIG_DFL);
    unblock(SIG_UNBLOCK, SIGTSTP);
    kill(0, SIGTSTP);
    unblock(SIG_BLOCK, SIGTSTP);
    set_signal(SIGTSTP, take_signal);
    got_stop = got_continue = 0;
    if (has_terminal())
        come_to_front(screen);
    else
        screen->background = true;
}

/* The editor is in our process group, as under a shell: Ctrl-C and Ctrl-Z are the terminal's
 * signals to it. We ignore the first and stop with it on the second. */
static void start_editor(struct screen *screen)
{
    if (!screen->script)
        term_leave();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        editor_exec(&screen->session.editor);
    set_signal(SIGINT, SIG_IGN);
    set_signal(SIGQUIT, SIG_IGN);
    set_signal(SIGTSTP, SIG_DFL);
    unblock(SIG_UNBLOCK, SIGTSTP);
    screen->session.editor_pid = pid;
    if (pid < 0) {
        app_say(&screen->session.app, STYLE_FAIL, _("the editor could not be started: %s"),
                strerror(errno));
        screen->session.editing = false;
    }
}

static void end_editor(struct screen *screen)
{
    unblock(SIG_BLOCK, SIGTSTP);
    set_signal(SIGTSTP, take_signal);
    set_signal(SIGINT, take_signal);
    set_signal(SIGQUIT, take_signal);
    got_stop = 0;
    if (screen->script)
        return;
    if (has_terminal())
        come_to_front(screen);
    else
        screen->background = true;
}

static void set_theme(struct screen *screen)
{
    struct theme theme;
    struct err err = {0};
    if (!theme_load(&theme, screen->session.library.root, screen->session.theme, &err)) {
        app_say(&screen->session.app, STYLE_WARN, "%s", err.text);
        theme_mono(&theme);
    }
    if (!screen->script)
        term_set_theme(&theme);
}

/* ---- events */

static void give(struct screen *screen, struct event event)
{
    event.now_ns = job_clock_ns();
    struct request request = app_event(&screen->session.app, &event);
    switch (session_perform(&screen->session, &request, event.now_ns)) {
    case SESSION_DONE:
        break;
    case SESSION_LEAVE:
        start_editor(screen);
        if (!screen->session.editing)
            end_editor(screen);
        break;
    case SESSION_THEME:
        set_theme(screen);
        break;
    case SESSION_REPAINT:
        if (!screen->script)
            term_repaint();
        break;
    case SESSION_SUSPEND:
        suspend(screen);
        break;
    case SESSION_QUIT:
        screen->quit = true;
        break;
    }
}

static void give_size(struct screen *screen)
{
    struct event event = {.kind = EVENT_SIZE};
    term_resize();
    term_size(&event.rows, &event.cols);
    give(screen, event);
}

static bool owns_terminal(const struct screen *screen)
{
    return !screen->script && !screen->session.editing && !screen->background;
}

static void take_keys(struct screen *screen)
{
    for (int i = 0; i < 64 && !screen->quit && owns_terminal(screen); i++) {
        bool ended;
        bool pasted;
        int32_t key = term_key(&ended, &pasted);
        if (ended) {
            screen->quit = true;
            screen->status = 128 + SIGHUP;
        }
        if (key == KEY_NOTHING)
            return;
        give(screen, (struct event){.kind = EVENT_KEY, .key = key, .pasted = pasted});
    }
}

static void take_signals(struct screen *screen)
{
    if (got_end) {
        screen->quit = true;
        screen->status = 128 + (int)got_end;
    }
    if (got_stop && !screen->session.editing)
        suspend(screen);
    got_stop = 0;
    if (screen->background && has_terminal())
        come_to_front(screen);
    got_continue = 0;
    if (got_resize && owns_terminal(screen)) {
        got_resize = 0;
        give_size(screen);
    }
}

static void show(struct screen *screen)
{
    app_draw(&screen->session.app, &screen->cells);
    if (!screen->script)
        term_show(&screen->cells);
    else if (!charset_utf8())
        cells_to_ascii(&screen->cells);
}

/* ---- scripts */

static bool fail_step(struct screen *screen, const struct script_step *step, const char *what)
{
    fprintf(stderr, "%s:%d: %s%s%s\n", screen->script->path, step->line, what,
            step->text ? ": " : "", step->text ? step->text : "");
    struct buf text = {0};
    cells_text(&screen->cells, &text);
    fputs(buf_str(&text), stderr);
    buf_free(&text);
    screen->quit = true;
    screen->status = 1;
    return true;
}

static bool shows(struct screen *screen, const char *wanted)
{
    struct buf text = {0};
    show(screen);
    cells_text(&screen->cells, &text);
    bool found = strstr(buf_str(&text), wanted) != NULL;
    buf_free(&text);
    return found;
}

static void save(struct screen *screen, const struct script_step *step)
{
    struct buf text = {0}, styles = {0};
    struct err err = {0};
    show(screen);
    cells_text(&screen->cells, &text);
    cells_styles(&screen->cells, &styles);
    char *path = mem_printf("%s/%s.txt", screen->folder, step->text);
    char *other = mem_printf("%s/%s.style", screen->folder, step->text);
    if (!file_write(path, buf_str(&text), text.len, false, &err) ||
        !file_write(other, buf_str(&styles), styles.len, false, &err))
        fail_step(screen, step, err.text);
    free(path);
    free(other);
    buf_free(&text);
    buf_free(&styles);
}

/* Whether the wait of this step is over. */
static bool is_over(struct screen *screen, const struct script_step *step, int64_t waited_ms)
{
    const struct session *session = &screen->session;
    switch (step->kind) {
    case SCRIPT_WAIT_RUN:
        return !session_is_running(session) && !session->editing;
    case SCRIPT_WAIT_IDLE:
        return session_is_idle(session);
    case SCRIPT_WAIT_MS:
        return waited_ms >= step->number;
    default:
        return shows(screen, step->text);
    }
}

/* Performs one step; false when it has to be tried again later. */
static bool perform_step(struct screen *screen, const struct script_step *step)
{
    switch (step->kind) {
    case SCRIPT_KEY:
        give(screen, (struct event){.kind = EVENT_KEY, .key = step->key});
        return true;
    case SCRIPT_SIZE:
        give(screen, (struct event){.kind = EVENT_SIZE, .cols = step->number, .rows = step->rows});
        return true;
    case SCRIPT_SAVE:
        save(screen, step);
        return true;
    case SCRIPT_EXPECT:
        return shows(screen, step->text) || fail_step(screen, step, "not on the screen");
    default:
        break;
    }
    int64_t now = job_clock_ns();
    if (screen->wait_since_ns == 0)
        screen->wait_since_ns = now;
    int64_t waited_ms = (now - screen->wait_since_ns) / 1000000;
    if (!is_over(screen, step, waited_ms))
        return waited_ms > SCRIPT_LIMIT_MS && fail_step(screen, step, "waited for too long");
    screen->wait_since_ns = 0;
    return true;
}

static void take_steps(struct screen *screen)
{
    struct script *script = screen->script;
    while (!screen->quit && script->next < script->count && !screen->session.editing &&
           perform_step(screen, &script->steps[script->next]))
        script->next++;
    if (script->next == script->count)
        screen->quit = true;
}

/* ---- the loop */

static int timeout_ms(const struct screen *screen)
{
    int wait = session_timeout_ms(&screen->session, job_clock_ns());
    if (screen->background && (wait < 0 || wait > BACKGROUND_MS))
        wait = BACKGROUND_MS;
    if (screen->script && (wait < 0 || wait > 20))
        wait = 20;
    return wait;
}

static void run(struct screen *screen, const sigset_t *waiting)
{
    bool started = false;
    while (!screen->quit) {
        struct pollfd fds[SESSION_FDS + 1];
        int count = session_poll_fds(&screen->session, fds);
        if (owns_terminal(screen))
            show(screen);
        if (!started) {
            session_start(&screen->session, job_clock_ns());
            started = true;
            continue;
        }
        if (owns_terminal(screen))
            fds[count++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        int wait = timeout_ms(screen);
        struct timespec time = {wait / 1000, wait % 1000 * 1000000L};
        int ready = ppoll(fds, (nfds_t)count, wait < 0 ? NULL : &time, waiting);
        take_signals(screen);
        if (session_reap_editor(&screen->session, job_clock_ns()))
            end_editor(screen);
        if (ready > 0 && owns_terminal(screen) && fds[count - 1].fd == STDIN_FILENO &&
            fds[count - 1].revents)
            take_keys(screen);
        session_pump(&screen->session, job_clock_ns());
        give(screen, (struct event){.kind = EVENT_TICK});
        if (screen->script)
            take_steps(screen);
    }
}

/* ---- starting */

struct options {
    struct session_options session;
    const char *script, *save;
    int cols, rows;
};

static int usage(const char *why)
{
    fprintf(stderr, "stride: %s\n%s\n", why,
            _("usage: stride [--lang en|zh] [--theme dark|light|mono] [--backend auto|gpu|sim]\n"
              "       stride --script FILE --size COLSxROWS --save DIR\n"
              "       stride --help lists the plain commands"));
    return CLI_USAGE;
}

static int parse(struct options *options, int argc, char **argv)
{
    static const struct option known[] = {{"script", required_argument, NULL, 's'},
                                          {"size", required_argument, NULL, 'z'},
                                          {"save", required_argument, NULL, 'd'},
                                          {"lang", required_argument, NULL, 'l'},
                                          {"theme", required_argument, NULL, 't'},
                                          {"backend", required_argument, NULL, 'b'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){.save = ".", .cols = 80, .rows = 24};
    opterr = 0;
    for (int found; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (found == 's')
            options->script = optarg;
        else if (found == 'z' && !script_parse_size(optarg, &options->cols, &options->rows))
            return usage(_("--size takes COLSxROWS"));
        else if (found == 'd')
            options->save = optarg;
        else if (found == 'l')
            options->session.language = optarg;
        else if (found == 't')
            options->session.theme = optarg;
        else if (found == 'b')
            options->session.backend = optarg;
        else if (found == '?')
            return usage(_("an option is unknown or lacks its value"));
    }
    if (optind < argc)
        options->session.lab = argv[optind++];
    return optind < argc ? usage(_("too many arguments")) : CLI_OK;
}

static int fail(const struct err *err, int status)
{
    fprintf(stderr, "stride: %s\n", err->text);
    return status;
}

static int play(struct screen *screen, const struct options *options, const sigset_t *waiting)
{
    struct err err = {0};
    struct script script;
    if (!script_load(&script, options->script, &err) || !file_make_dirs(options->save, &err))
        return fail(&err, CLI_USAGE);
    screen->script = &script;
    screen->folder = options->save;
    give(screen, (struct event){.kind = EVENT_SIZE, .cols = options->cols, .rows = options->rows});
    run(screen, waiting);
    script_free(&script);
    return screen->status;
}

static int sit(struct screen *screen, const sigset_t *waiting)
{
    struct err err = {0};
    struct theme theme;
    if (!theme_load(&theme, screen->session.library.root, screen->session.theme, NULL))
        theme_mono(&theme);
    if (!term_open(&theme, &err))
        return fail(&err, CLI_USAGE);
    give_size(screen);
    run(screen, waiting);
    term_close();
    if (screen->status)
        fprintf(stderr, "stride: %s\n", _("the terminal is gone, or a signal asked to end"));
    return screen->status;
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* JSON and records have points in their numbers */
    signal(SIGXFSZ, SIG_IGN);   /* a file size limit is an error like a full disk */
    if (cli_wants(argc, argv))
        return cli_main(argc, argv);
    struct options options;
    struct err err = {0};
    sigset_t waiting;
    static struct screen screen;
    int status = parse(&options, argc, argv);
    if (status != CLI_OK)
        return status;
    if (!options.script && !term_check(&err))
        return fail(&err, CLI_USAGE);
    catch_signals(&waiting);
    if (!session_open(&screen.session, &options.session, &err))
        return fail(&err, CLI_BROKEN_LAB);
    status = options.script ? play(&screen, &options, &waiting) : sit(&screen, &waiting);
    session_close(&screen.session);
    cells_free(&screen.cells);
    return status;
}
