/* Opening the history: whose it is, whether libgit2 can read it, and what to say when not. */
#include "history_core.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <poll.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes are stored and checked out exactly, whatever core.autocrlf, filters and encodings say. This
 * file wins over every other source of attributes, and is never committed. */
static const char attributes[] = "# Written by Stride: its files are kept byte for byte.\n"
                                 "kernel.cu -text -filter -ident -working-tree-encoding\n"
                                 "kernel.ptx -text -filter -ident -working-tree-encoding\n"
                                 "kernel.sass -text -filter -ident -working-tree-encoding\n"
                                 "record.json -text -filter -ident -working-tree-encoding\n";

void history_tell(struct err *notice, const char *format, ...)
{
    if (!notice)
        return;
    size_t len = strlen(notice->text);
    if (len && len + 1 < sizeof notice->text) {
        notice->text[len++] = ' ';
        notice->text[len] = '\0';
    }
    va_list args;
    va_start(args, format);
    vsnprintf(notice->text + len, sizeof notice->text - len, format, args);
    va_end(args);
}

bool history_explain(struct err *err, const char *doing)
{
    const git_error *last = git_error_last();
    struct buf clean = {0};
    const char *text = last && last->message ? last->message : _("no reason given");
    clean_line(&clean, text, strlen(text));
    const char *hint = "";
    if (strstr(buf_str(&clean), "No space left") || strstr(buf_str(&clean), "quota"))
        hint = _(" (free some space)");
    else if (strstr(buf_str(&clean), "ead-only file system"))
        hint = _(" (set STRIDE_HOME to a folder that can be written)");
    err_set(err, "%s: %s%s", doing, buf_str(&clean), hint);
    buf_free(&clean);
    return false;
}

bool history_first_time(const struct history *history, const char *mark)
{
    char *path = mem_printf("%s/stride-told-%s", history->git_dir, mark);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    free(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* In single quotes, for a command line that a person pastes. */
static void add_quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_add_str(out, "'\\''");
        else
            buf_add_char(out, *text);
    buf_add_char(out, '\'');
}

static const char *user_name(uid_t uid, char number[16])
{
    const struct passwd *entry = getpwuid(uid);
    snprintf(number, 16, "%u", (unsigned)uid);
    return entry && entry->pw_name ? entry->pw_name : number;
}

/* Who owns the folder or its .git, when it is not us. */
static bool is_foreign(const struct history *history, uid_t *owner)
{
    const char *const paths[] = {history->git_dir, history->work};
    for (int i = 0; i < 2; i++) {
        struct stat info;
        if (stat(paths[i], &info) == 0 && info.st_uid != geteuid()) {
            *owner = info.st_uid;
            return true;
        }
    }
    return false;
}

static bool explain_owner(const struct history *history, uid_t uid, struct err *err)
{
    char number[2][16], owner[64];
    snprintf(owner, sizeof owner, "%s", user_name(uid, number[0]));
    struct buf path = {0};
    add_quoted(&path, history->work);
    err_set(err,
            _("%s belongs to the user %s and you are %s, so git's safety rule forbids to use it (a "
              "safe.directory of * is not enough here). If you trust it, run: git config --global "
              "--add safe.directory %s"),
            history->work, owner, user_name(geteuid(), number[1]), buf_str(&path));
    buf_free(&path);
    return false;
}

/* Adds lines to a file of .git/info unless they are there. */
static void add_info(const struct history *history, const char *name, const char *lines,
                     const char *known_by)
{
    char *folder = path_join(history->git_dir, "info");
    char *path = path_join(folder, name);
    struct buf text = {0};
    if (file_exists(path) && !file_read(&text, path, 1 << 20, NULL))
        goto done; /* not ours to replace */
    if (!strstr(buf_str(&text), known_by)) {
        if (text.len && text.data[text.len - 1] != '\n')
            buf_add_char(&text, '\n');
        buf_add_str(&text, lines);
        /* Without them only what plain git does and says could differ, so failing is no failure. */
        if (file_make_dirs(folder, NULL))
            file_write(path, buf_str(&text), text.len, false, NULL);
    }
done:
    buf_free(&text);
    free(path);
    free(folder);
}

static void add_all_info(const struct history *history)
{
    add_info(history, "attributes", attributes, "kernel.cu -text -filter");
    add_info(history, "exclude", "# The copies that Stride lays beside kernels.\n/*/lab.h\n",
             "/*/lab.h");
}

static bool create(struct history *history, struct err *err)
{
    /* No external template: the student's hooks are for the student's repositories. */
    git_repository_init_options options = {
        .version = GIT_REPOSITORY_INIT_OPTIONS_VERSION,
        .flags = GIT_REPOSITORY_INIT_NO_REINIT,
    };
    uid_t owner;
    if (git_repository_init_ext(&history->repo, history->work, &options) == 0)
        return true;
    return is_foreign(history, &owner) ? explain_owner(history, owner, err)
                                       : history_explain(err, _("cannot create the history"));
}

/* Everything that git can be told to do with a folder and that a history of attempts can't live in.
 */
static bool is_usable(struct history *history, struct err *err)
{
    git_repository *repo = history->repo;
    const char *workdir = git_repository_workdir(repo);
    if (git_repository_is_bare(repo))
        return err_set(
            err,
            _("%s is a bare repository (core.bare=true): run `git config core.bare false` "
              "there"),
            history->git_dir);
    char *real = workdir ? realpath(workdir, NULL) : NULL;
    bool same = real && strcmp(real, history->work) == 0;
    free(real);
    if (!same)
        return err_set(
            err, _("%s says that its files are elsewhere (core.worktree): remove that setting"),
            history->git_dir);
    return true;
}

static bool explain_open(struct history *history, int code, struct err *err)
{
    const git_error *last = git_error_last();
    uid_t owner;
    /* libgit2 1.5 says "not found" instead of EOWNER when safe.directory is not set at all. */
    if ((code == GIT_EOWNER || code == GIT_ENOTFOUND) && is_foreign(history, &owner))
        return explain_owner(history, owner, err);
    if (last && last->message && strstr(last->message, "extension"))
        return err_set(
            err,
            _("the repository %s uses a git extension that Stride's library does not know "
              "(%s)"),
            history->git_dir, last->message);
    return history_explain(err, _("cannot open the history"));
}

/* What makes git call a folder a repository at all. */
static bool is_complete(const struct history *history)
{
    static const char *const parts[] = {"HEAD", "objects", "refs"};
    bool all = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *path = path_join(history->git_dir, parts[i]);
        all = all && (i ? file_is_dir(path) : file_exists(path));
        free(path);
    }
    return all;
}

static bool head_is_readable(git_repository *repo)
{
    git_reference *head = NULL;
    int code = git_reference_lookup(&head, repo, "HEAD");
    git_reference_free(head);
    return code == 0;
}

bool history_open_repository(struct history *history, struct err *notice, struct err *err)
{
    struct stat info;
    if (lstat(history->git_dir, &info) != 0) {
        if (errno != ENOENT)
            return err_set(err, _("cannot look at %s: %s"), history->git_dir, strerror(errno));
        if (!create(history, err))
            return false;
    } else if (!S_ISDIR(info.st_mode)) {
        return err_set(err,
                       _("%s is a link to a repository elsewhere (a worktree or submodule), and "
                         "attempts are only recorded in a repository of their own: move it away"),
                       history->git_dir);
    } else {
        int code = git_repository_open_ext(&history->repo, history->work,
                                           GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
        if (code == GIT_ENOTFOUND && access(history->git_dir, R_OK | X_OK) == 0 &&
            !is_complete(history))
            return history_begin_fresh(history, _("its HEAD or its folders are missing"), notice,
                                       err);
        if (code != 0)
            return explain_open(history, code, err);
        if (!is_usable(history, err))
            return false;
        if (!head_is_readable(history->repo))
            return history_begin_fresh(history, _("its HEAD can't be read"), notice, err);
    }
    add_all_info(history);
    return true;
}

bool history_begin_fresh(struct history *history, const char *why, struct err *notice,
                         struct err *err)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm parts;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &parts));
    char *aside = mem_printf("%s.damaged-%s.git", history->work, stamp);
    for (int i = 2; file_exists(aside); i++) {
        free(aside);
        aside = mem_printf("%s.damaged-%s-%d.git", history->work, stamp, i);
    }
    git_repository_free(history->repo);
    history->repo = NULL;
    bool ok = true;
    if (rename(history->git_dir, aside) != 0)
        ok = err_set(err, _("the history %s is damaged (%s) and can't be moved aside: %s"),
                     history->git_dir, why, strerror(errno));
    else
        history_tell(notice,
                     _("the history was damaged (%s). It is kept as %s, and a new one begins; "
                       "your kernels are untouched."),
                     why, aside);
    free(aside);
    if (ok && (ok = create(history, err)))
        add_all_info(history);
    return ok;
}

char *history_loose_path(const struct history *history, const git_oid *id)
{
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    return mem_printf("%s/objects/%.2s/%s", history->git_dir, hex, hex + 2);
}

bool history_is_damaged(const struct history *history, const git_oid *id, struct err *err)
{
    char *path = history_loose_path(history, id),
         *packs = path_join(history->git_dir, "objects/pack");
    bool damaged = true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
        damaged = err_set(err, _("cannot read the history: %s: %s"), path, strerror(errno));
    else if (fd < 0 && file_exists(packs) && access(packs, R_OK | X_OK) != 0)
        damaged = err_set(err, _("cannot read the history: %s: %s"), packs, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(packs);
    free(path);
    return damaged;
}

/* ---- identity */

static char *config_text(git_config *config, const char *name)
{
    git_buf value = {0};
    char *text = config && git_config_get_string_buf(&value, config, name) == 0 && value.size
                     ? mem_strdup(value.ptr)
                     : NULL;
    git_buf_dispose(&value);
    return text;
}

static char *identity_part(git_config *config, const char *variable, const char *setting)
{
    const char *value = getenv(variable);
    return value && *value ? mem_strdup(value) : config_text(config, setting);
}

/* What git and the environment say; *name and *email may be NULL. */
static void read_identity(struct history *history, char **name, char **email)
{
    git_config *config = NULL;
    if (git_repository_config_snapshot(&config, history->repo) != 0)
        config = NULL; /* a broken configuration costs the name, not the attempt */
    *name = identity_part(config, "GIT_AUTHOR_NAME", "user.name");
    *email = identity_part(config, "GIT_AUTHOR_EMAIL", "user.email");
    git_config_free(config);
}

/* The signature of now; *own says whether it is the student's. */
static int sign_now(struct history *history, git_signature **out, bool *own)
{
    char *name = NULL, *email = NULL;
    read_identity(history, &name, &email);
    *own = name && email && git_signature_now(out, name, email) == 0;
    free(name);
    free(email);
    return *own ? 0 : git_signature_now(out, "Stride student", "student@localhost");
}

bool history_identity(struct history *history, char out[256])
{
    git_signature *now = NULL;
    bool own = false;
    if (sign_now(history, &now, &own) == 0)
        snprintf(out, 256, "%s <%s>", now->name, now->email);
    else
        out[0] = '\0';
    git_signature_free(now);
    return own;
}

bool history_signature(struct history *history, git_signature **out, int64_t time_s,
                       struct err *notice, struct err *err)
{
    git_signature *now = NULL;
    bool own = false;
    if (sign_now(history, &now, &own) != 0)
        return history_explain(err, _("cannot sign the attempt"));
    if (!own && notice && history_first_time(history, "identity"))
        history_tell(notice,
                     _("git knows no name for you, so attempts are signed \"Stride student\". "
                       "To change that: git config --global user.name \"Your Name\" and git "
                       "config --global user.email you@example.org"));
    git_repository_set_ident(history->repo, now->name, now->email);
    if (!time_s) {
        *out = now;
        return true;
    }
    int code = git_signature_new(out, now->name, now->email, time_s, now->when.offset);
    git_signature_free(now);
    return code == 0 || history_explain(err, _("cannot sign the attempt"));
}

/* ---- open and close */

/* Two Strides that start in a new home at once: the second would see half of the repository that
 * the first is making, and call it damaged. Where folders can't be locked, it goes on without. */
static int lock_folder(const char *work)
{
    enum { TRIES = 300 };
    int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        poll(NULL, 0, 10);
    }
    return fd;
}

bool history_open(struct history **out, const char *work, struct err *notice, struct err *err)
{
    if (git_libgit2_init() < 0)
        return history_explain(err, _("cannot start libgit2"));
    struct history *history = mem_zero(1, sizeof *history);
    history->work = realpath(work, NULL);
    bool ok = history->work != NULL;
    if (!ok) {
        err_set(err, _("cannot use the work folder %s: %s"), work, strerror(errno));
    } else {
        history->git_dir = path_join(history->work, ".git");
        history->parked = mem_printf(
            "%.*s/parked", (int)(strrchr(history->work, '/') - history->work), history->work);
        int lock = lock_folder(history->work);
        ok = history_open_repository(history, notice, err);
        if (lock >= 0)
            close(lock);
    }
    if (!ok) {
        history_close(history);
        return false;
    }
    int left = 0;
    struct err why = {0};
    history_retry(history, &left, notice, &why);
    if (left)
        history_tell(notice, _("%d attempts still wait to be recorded (%s)."), left, why.text);
    *out = history;
    return true;
}

void history_close(struct history *history)
{
    if (!history)
        return;
    git_repository_free(history->repo);
    free(history->work);
    free(history->git_dir);
    free(history->parked);
    free(history);
    git_libgit2_shutdown();
}
