/* How to read this file: scan goes through one file, directive by directive; look takes one name
 * that is included, finds its file and scans it in turn. The lexer (skip_*) knows of comments,
 * strings and continued lines just as much as it takes not to believe what stands in them. */
#include "includes.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { HEADER_MIB = 16, HEADER_MOST = HEADER_MIB << 20, FILES_MOST = 200, DEPTH_MOST = 20 };

struct search {
    struct build *build;
    const char *folder; /* the source's */
    struct {
        dev_t device;
        ino_t file;
    } seen[FILES_MOST];
    size_t seen_count;
    unsigned depth;
};

struct reader {
    const char *at;
    unsigned line;
    const char *name, *folder; /* of this file */
};

static bool scan(struct search *search, struct reader *reader);

/* ---- the lexer */

static bool skip_continuation(struct reader *r)
{
    size_t len = r->at[0] != '\\'                       ? 0
                 : r->at[1] == '\n'                     ? 2
                 : r->at[1] == '\r' && r->at[2] == '\n' ? 3
                                                        : 0;
    r->at += len;
    r->line += len > 0;
    return len > 0;
}

static bool skip_comment(struct reader *r)
{
    if (r->at[0] != '/' || r->at[1] != '*')
        return false;
    for (r->at += 2; *r->at && !(r->at[0] == '*' && r->at[1] == '/'); r->at++)
        r->line += *r->at == '\n';
    r->at += *r->at ? 2 : 0;
    return true;
}

static void skip_blanks(struct reader *r)
{
    for (;;) {
        while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\f' ||
               *r->at == '\v')
            r->at++;
        if (!skip_continuation(r) && !skip_comment(r))
            return;
    }
}

static void skip_string(struct reader *r)
{
    for (r->at++; *r->at && *r->at != '\n' && *r->at != '"';) {
        if (!skip_continuation(r))
            r->at += r->at[0] == '\\' && r->at[1] ? 2 : 1;
    }
    r->at += *r->at == '"';
}

/* To the next line; past its comments. */
static void skip_line(struct reader *r)
{
    while (*r->at && *r->at != '\n') {
        if (r->at[0] == '/' && r->at[1] == '/') {
            while (*r->at && *r->at != '\n')
                if (!skip_continuation(r))
                    r->at++;
        } else if (*r->at == '"') {
            skip_string(r);
        } else if (!skip_continuation(r) && !skip_comment(r)) {
            bool quotes = r->at[0] == '\'' && r->at[1] == '"' && r->at[2] == '\'';
            r->at += quotes ? 3 : 1;
        }
    }
    if (*r->at) {
        r->at++;
        r->line++;
    }
}

/* "name" or <name>; free() it. NULL when none stands here. */
static char *take_name(struct reader *r)
{
    char close = *r->at == '"' ? '"' : *r->at == '<' ? '>' : '\0';
    size_t len = 0;
    if (!close)
        return NULL;
    while (r->at[1 + len] && r->at[1 + len] != close && r->at[1 + len] != '\n')
        len++;
    if (r->at[1 + len] != close)
        return NULL;
    char *name = mem_printf("%.*s", (int)len, r->at + 1);
    r->at += len + 2;
    return name;
}

/* The directive that begins here, "" when none does. */
static void take_directive(struct reader *r, char out[16])
{
    size_t len = 0;
    out[0] = '\0';
    skip_blanks(r);
    if (*r->at != '#' && strncmp(r->at, "%:", 2) != 0)
        return;
    r->at += *r->at == '#' ? 1 : 2;
    for (skip_blanks(r); len < 15 && (isalpha((unsigned char)*r->at) || *r->at == '_'); r->at++)
        out[len++] = *r->at;
    out[len] = '\0';
    skip_blanks(r);
}

static bool includes(const char *directive)
{
    return strcmp(directive, "include") == 0 || strcmp(directive, "include_next") == 0 ||
           strcmp(directive, "import") == 0;
}

/* ---- files */

static bool complain(const struct search *search, const struct reader *r, const char *name,
                     const char *why)
{
    char *text = mem_printf(_("%.200s cannot be included: %s"), name, why);
    diagnostics_add(&search->build->diagnostics, SEVERITY_ERROR, r->name, r->line, text);
    free(text);
    return false;
}

/* /proc and its like: files that are made as they are read, some without an end. */
static bool is_made_up(const char *path)
{
    struct statfs info;
    return statfs(path, &info) == 0 &&
           (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC ||
            info.f_type == DEBUGFS_MAGIC || info.f_type == TRACEFS_MAGIC);
}

/* NULL for a file that may be read. */
static const char *not_ordinary(const char *path, const struct stat *info)
{
    if (S_ISCHR(info->st_mode) || S_ISBLK(info->st_mode))
        return _("it is a device and no ordinary file");
    if (S_ISFIFO(info->st_mode))
        return _("it is a pipe and no ordinary file");
    if (S_ISDIR(info->st_mode))
        return _("it is a folder and no ordinary file");
    if (!S_ISREG(info->st_mode))
        return _("it is no ordinary file");
    return is_made_up(path) ? _("the system makes it up as it is read, so it is no ordinary file")
                            : NULL;
}

static bool is_new(struct search *search, const struct stat *info)
{
    for (size_t i = 0; i < search->seen_count; i++)
        if (search->seen[i].device == info->st_dev && search->seen[i].file == info->st_ino)
            return false;
    if (search->seen_count == FILES_MOST)
        return false;
    search->seen[search->seen_count].device = info->st_dev;
    search->seen[search->seen_count++].file = info->st_ino;
    return true;
}

static bool scan_file(struct search *search, const char *path)
{
    struct buf text = {0};
    bool ok = true;
    if (search->depth < DEPTH_MOST && file_read(&text, path, HEADER_MOST, NULL)) {
        const char *slash = strrchr(path, '/');
        char *folder = mem_printf("%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
        search->depth++;
        ok = scan(search, &(struct reader){buf_str(&text), 1, path, folder});
        search->depth--;
        free(folder);
    }
    buf_free(&text);
    return ok;
}

/* Where the compiler would look first, too; a folder it passes by. */
static char *find(const struct search *search, const struct reader *r, const char *name,
                  struct stat *info)
{
    const char *const folders[] = {*name == '/' ? "" : r->folder, search->folder};
    char *found = NULL;
    for (size_t i = 0; i < (*name == '/' ? 1 : 2); i++) {
        struct stat here;
        char *path = *folders[i] || *name != '/' ? path_join(folders[i], name) : mem_strdup(name);
        bool there = stat(path, &here) == 0 && !(found && S_ISDIR(here.st_mode));
        if (there) {
            free(found);
            found = path;
            *info = here;
            if (!S_ISDIR(here.st_mode))
                break;
        } else {
            free(path);
        }
    }
    return found;
}

/* <vector> is not the folder of that name which lies beside the kernel. */
static bool look(struct search *search, const struct reader *r, const char *name, bool quoted)
{
    struct stat info = {0};
    char *path = *name && strcmp(name, "lab.h") != 0 ? find(search, r, name, &info) : NULL;
    bool ok = true;
    if (path && !(S_ISDIR(info.st_mode) && !quoted && *name != '/')) {
        const char *why = not_ordinary(path, &info);
        if (!why && info.st_size > HEADER_MOST) {
            char *size = mem_printf(_("it has %lld MiB, and a header may have %d"),
                                    (long long)info.st_size >> 20, HEADER_MIB);
            ok = complain(search, r, name, size);
            free(size);
        } else if (why) {
            ok = complain(search, r, name, why);
        } else if (is_new(search, &info)) {
            ok = scan_file(search, path);
        }
    }
    free(path);
    return ok;
}

/* ---- directives */

static bool look_here(struct search *search, struct reader *r)
{
    bool quoted = *r->at == '"';
    char *name = take_name(r);
    bool ok = !name || look(search, r, name, quoted);
    free(name);
    return ok;
}

/* What macros stand for, where one of them is included: any that a #define names may be meant. */
static bool scan_macros(struct search *search, struct reader *r)
{
    char directive[16];
    bool ok = true;
    while (ok && *r->at) {
        take_directive(r, directive);
        bool defines = strcmp(directive, "define") == 0;
        while (ok && defines && *r->at && *r->at != '\n') {
            if (*r->at == '"' || *r->at == '<') {
                const char *before = r->at;
                ok = look_here(search, r);
                r->at += r->at == before;
            } else if (!skip_comment(r) && !skip_continuation(r)) {
                r->at++;
            }
        }
        if (ok)
            skip_line(r);
    }
    return ok;
}

static bool scan(struct search *search, struct reader *r)
{
    struct reader again = *r;
    bool computed = false;
    while (*r->at) {
        char directive[16];
        take_directive(r, directive);
        if (includes(directive) && !look_here(search, r))
            return false;
        computed |= includes(directive) && (isalpha((unsigned char)*r->at) || *r->at == '_');
        skip_line(r);
    }
    return !computed || scan_macros(search, &again);
}

bool includes_check(struct build *build, const char *folder)
{
    struct search search = {.build = build, .folder = folder};
    return scan(&search, &(struct reader){buf_str(&build->source), 1, build->name, folder});
}
