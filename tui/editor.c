#include "editor.h"

#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How an editor is told the line. "%l" and "%f" stand for line and file; an editor that is not
 * listed gets the file alone. */
static const struct {
    const char *name, *first, *second;
    const char *wait; /* flag that makes a graphical one stay; NULL for those of the terminal */
} known[] = {
    {"vi", "+%l", "%f", NULL},           {"vim", "+%l", "%f", NULL},
    {"nvim", "+%l", "%f", NULL},         {"view", "+%l", "%f", NULL},
    {"vim.basic", "+%l", "%f", NULL},    {"vim.tiny", "+%l", "%f", NULL},
    {"nano", "+%l", "%f", NULL},         {"pico", "+%l", "%f", NULL},
    {"emacs", "+%l", "%f", NULL},        {"emacsclient", "+%l", "%f", NULL},
    {"micro", "+%l", "%f", NULL},        {"joe", "+%l", "%f", NULL},
    {"jed", "+%l", "%f", NULL},          {"mg", "+%l", "%f", NULL},
    {"ne", "+%l", "%f", NULL},           {"mcedit", "+%l", "%f", NULL},
    {"kak", "+%l", "%f", NULL},          {"vis", "+%l", "%f", NULL},
    {"gvim", "+%l", "%f", "-f"},         {"gedit", "+%l", "%f", "--wait"},
    {"kate", "-l%l", "%f", "--block"},   {"hx", "%f:%l", NULL, NULL},
    {"helix", "%f:%l", NULL, NULL},      {"subl", "%f:%l", NULL, "--wait"},
    {"zed", "%f:%l", NULL, "--wait"},    {"code", "-g", "%f:%l", "--wait"},
    {"codium", "-g", "%f:%l", "--wait"},
};

enum { WORDS_MOST = 64 };

bool editor_split(const char *command, char ***words, int *count, struct err *err)
{
    char **list = mem_zero(WORDS_MOST + 1, sizeof *list);
    struct buf word = {0};
    bool open = false, ok = true;
    char quote = '\0';
    *count = 0;
    for (const char *at = command; ok && *at; at++) {
        bool blank = *at == ' ' || *at == '\t' || *at == '\n';
        if (!quote && blank) {
            if (open && *count == WORDS_MOST)
                ok = err_set(err, _("the editor's command has more than %d words"), WORDS_MOST);
            else if (open)
                list[(*count)++] = buf_take(&word);
            open = false;
        } else if (quote != '\'' && *at == '\\' && at[1] &&
                   (!quote || at[1] == '"' || at[1] == '\\' || at[1] == '$' || at[1] == '`')) {
            buf_add_char(&word, *++at);
            open = true;
        } else if (!quote && (*at == '\'' || *at == '"')) {
            quote = *at;
            open = true;
        } else if (quote && *at == quote) {
            quote = '\0';
        } else {
            buf_add_char(&word, *at);
            open = true;
        }
    }
    if (ok && quote)
        ok = err_set(err, _("a quote (%c) is not closed"), quote);
    if (ok && open && *count == WORDS_MOST)
        ok = err_set(err, _("the editor's command has more than %d words"), WORDS_MOST);
    else if (ok && open)
        list[(*count)++] = buf_take(&word);
    buf_free(&word);
    if (!ok) {
        for (int i = 0; i < *count; i++)
            free(list[i]);
        free(list);
        *count = 0;
        return false;
    }
    *words = list;
    return true;
}

/* The program of that name as execvp would find it; NULL with errno. A file that is there but may
 * not be run wins over "missing". */
static char *find_program(const char *name)
{
    int reason = ENOENT;
    if (strchr(name, '/')) {
        char *path = realpath(name, NULL); /* the caller may change folder before it execs */
        if (path && !file_is_dir(path) && access(path, X_OK) == 0) {
            free(path);
            if (*name == '/')
                return mem_strdup(name);
            char here[PATH_MAX];
            return getcwd(here, sizeof here) ? path_join(here, name) : mem_strdup(name);
        }
        reason = !path ? errno : file_is_dir(path) ? EISDIR : EACCES;
        free(path);
        errno = reason;
        return NULL;
    }
    const char *path = getenv("PATH");
    for (const char *at = path && *path ? path : "/usr/bin:/bin"; *name && at;) {
        size_t len = strcspn(at, ":");
        /* Only absolute folders: "." first in PATH must not let a work folder choose the editor. */
        char *full = len && *at == '/' ? mem_printf("%.*s/%s", (int)len, at, name) : NULL;
        if (full && !file_is_dir(full) && access(full, X_OK) == 0)
            return full;
        if (full && file_exists(full) && !file_is_dir(full))
            reason = EACCES;
        free(full);
        at = at[len] ? at + len + 1 : NULL;
    }
    errno = reason;
    return NULL;
}

/* A script whose #! names a program that is not there fails with the same "no such file" as a
 * missing script; find out which before it is started. */
static bool interpreter_is_there(const char *program, char missing[256])
{
    char head[256] = "";
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (got < 3 || head[0] != '#' || head[1] != '!')
        return true;
    char *name = head + 2 + strspn(head + 2, " \t");
    name[strcspn(name, " \t\r\n")] = '\0';
    snprintf(missing, 256, "%s", name);
    return access(name, X_OK) == 0;
}

static bool resolve(struct editor *editor, const char *program_name, struct err *err)
{
    char missing[256] = "";
    char *program = find_program(program_name);
    int reason = errno;
    const char *variable = *editor->variable ? editor->variable : "editor";
    if (!program)
        return err_set(err,
                       reason == EACCES ? _("%s=%s: no permission to run %s")
                       : reason == EISDIR
                           ? _("%s=%s: %s is a folder")
                           : _("%s=%s: there is no program %s; set VISUAL or EDITOR to one "
                               "that is installed"),
                       variable, editor->command, program_name);
    if (!interpreter_is_there(program, missing)) {
        err_set(err, _("%s=%s: the script %s needs %s, which is not there"), variable,
                editor->command, program, missing);
        free(program);
        return false;
    }
    free(editor->argv[0]);
    editor->argv[0] = program;
    return true;
}

static bool is_blank(const char *text)
{
    return !text || text[strspn(text, " \t\n")] == '\0';
}

static bool choose_command(struct editor *editor, struct err *err)
{
    static const char *const variables[] = {"VISUAL", "EDITOR"};
    static const char *const defaults[] = {"nano", "vim", "vi"};
    for (int i = 0; i < 2; i++)
        if (!is_blank(getenv(variables[i]))) {
            editor->variable = variables[i];
            editor->command = mem_strdup(getenv(variables[i]));
            return true;
        }
    editor->variable = "";
    for (int i = 0; i < 3; i++) {
        char *program = find_program(defaults[i]);
        if (program) {
            free(program);
            editor->command = mem_strdup(defaults[i]);
            return true;
        }
    }
    return err_set(
        err, "%s",
        _("no editor is set, and neither nano, vim nor vi is installed: set the variable "
          "VISUAL or EDITOR to your editor"));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *fill_pattern(const char *pattern, const char *path, int line)
{
    struct buf text = {0};
    for (; *pattern; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'l')
            buf_printf(&text, "%d", line);
        else if (pattern[0] == '%' && pattern[1] == 'f')
            buf_add_str(&text, path);
        else
            buf_add_char(&text, *pattern);
        pattern += pattern[0] == '%' && (pattern[1] == 'l' || pattern[1] == 'f');
    }
    return buf_take(&text);
}

/* An absolute path starts with a slash, so that no editor can take it for an option. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    if (*path == '/' || !getcwd(here, sizeof here))
        return mem_strdup(path);
    return path_join(here, path);
}

bool editor_choose(struct editor *out, const char *path, int line, struct err *err)
{
    *out = (struct editor){.variable = ""};
    char **words = NULL;
    int count = 0;
    struct err trouble = {0};
    if (!choose_command(out, err))
        return false;
    if (!editor_split(out->command, &words, &count, &trouble) || count == 0 || !*words[0]) {
        err_set(err, "%s=%s: %s", out->variable, out->command,
                *trouble.text ? trouble.text : _("the command is empty"));
        for (int i = 0; i < count; i++)
            free(words[i]);
        free(words);
        editor_free(out);
        return false;
    }
    out->argv = mem_grow(words, (size_t)count + 3, sizeof *words);
    out->argv[count] = NULL;
    const char *name = base_name(out->argv[0]);
    char *full = absolute(path);
    for (size_t i = 0; line > 0 && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            out->argv[count++] = fill_pattern(known[i].first, full, line);
            if (known[i].second)
                out->argv[count++] = fill_pattern(known[i].second, full, line);
            free(full);
            full = NULL;
            break;
        }
    if (full)
        out->argv[count++] = full;
    out->argv[count] = NULL;
    char *program = mem_strdup(out->argv[0]);
    bool ok = resolve(out, program, err);
    free(program);
    if (!ok)
        editor_free(out);
    return ok;
}

void editor_free(struct editor *editor)
{
    for (char **word = editor->argv; word && *word; word++)
        free(*word);
    free(editor->argv);
    free(editor->command);
    *editor = (struct editor){.variable = ""};
}

_Noreturn void editor_exec(const struct editor *editor)
{
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(editor->argv[0], editor->argv);
    _exit(errno == ENOENT ? 127 : 126);
}

bool editor_explain(const struct editor *editor, int status, double seconds, bool changed,
                    struct err *out)
{
    const char *name = editor->command ? editor->command : "";
    if (WIFSIGNALED(status)) {
        err_set(out, _("the editor %s was ended by signal %d"), name, WTERMSIG(status));
        return true;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (code == 126 || code == 127) {
        err_set(out,
                _("the editor %s could not be started (status %d): set VISUAL or EDITOR to another "
                  "one"),
                name, code);
        return true;
    }
    if (code != 0) {
        err_set(out, _("the editor %s ended with status %d"), name, code);
        return true;
    }
    if (changed || seconds >= 1)
        return false;
    const char *wait = NULL;
    for (size_t i = 0; editor->argv && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, base_name(editor->argv[0])) == 0)
            wait = known[i].wait;
    err_set(out,
            _("the editor came back at once and nothing changed. If it opened a window, give it "
              "the flag "
              "that waits (%s=\"%s %s\"); saving is noticed all the same"),
            *editor->variable ? editor->variable : "EDITOR", name, wait ? wait : "--wait");
    return true;
}
