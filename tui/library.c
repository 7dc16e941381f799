#include "library.h"

#include "done.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MOST = 4 << 20, KERNEL_MOST = 1 << 20, STATE_MOST = 4 << 20 };

/* Whether files can be made in the folder: asked by making one, since access() knows nothing of
 * quotas and read-only mounts seen through layers. */
static bool can_write(const char *folder, struct err *err)
{
    char *path = mem_printf("%s/.try-%ld", folder, (long)getpid());
    bool ok = file_write(path, "", 0, false, err);
    if (ok)
        unlink(path);
    free(path);
    return ok;
}

bool library_open(struct library *library, struct err *notice, struct err *err)
{
    *library = (struct library){0};
    struct err trouble = {0};
    if (!path_find_root(&library->root, err) ||
        !labfile_load_all(&library->labs, &library->lab_count, library->root, err)) {
        library_close(library);
        return false;
    }
    if (path_find_home(&library->home, &trouble)) {
        library->work = path_join(library->home, "work");
        library->writable =
            file_make_dirs(library->work, &trouble) && can_write(library->home, &trouble);
    } else {
        /* No place at all: paths still have to be paths. */
        library->home = mem_strdup("/nonexistent/stride");
        library->work = mem_strdup("/nonexistent/stride/work");
    }
    if (!library->writable && notice)
        err_set(notice,
                _("your work can't be kept: %s. Lessons can be read; set STRIDE_HOME to a folder "
                  "that can be written"),
                trouble.text);
    return true;
}

void library_close(struct library *library)
{
    labfile_free_all(library->labs, library->lab_count);
    free(library->root);
    free(library->home);
    free(library->work);
    *library = (struct library){0};
}

const struct labfile *library_find(const struct library *library, const char *slug)
{
    for (unsigned i = 0; i < library->lab_count; i++)
        if (strcmp(library->labs[i]->slug, slug) == 0)
            return library->labs[i];
    return NULL;
}

/* Damerau's distance over short words: insert, delete, change, swap neighbours. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 40 };
    int rows[MOST + 1][MOST + 1];
    int m = (int)strlen(a), n = (int)strlen(b);
    if (m > MOST || n > MOST)
        return 1000;
    for (int i = 0; i <= m; i++) {
        for (int j = 0; j <= n; j++) {
            if (!i || !j) {
                rows[i][j] = i + j;
                continue;
            }
            int best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = rows[i - 1][j] + 1 < best ? rows[i - 1][j] + 1 : best;
            best = rows[i][j - 1] + 1 < best ? rows[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[m][n];
}

const char *library_suggest(const struct library *library, const char *slug)
{
    const char *nearest = NULL;
    int least = 1 + (int)strlen(slug) / 3;
    for (unsigned i = 0; i < library->lab_count; i++) {
        const char *name = library->labs[i]->slug;
        int far = *slug && strncmp(name, slug, strlen(slug)) == 0 ? 0 : distance(slug, name);
        if (far < least || (far == least && !nearest)) {
            least = far;
            nearest = name;
        }
    }
    return nearest;
}

/* ---- texts and kernels */

bool library_read_text(const struct library *library, const struct labfile *lab,
                       enum library_text which, struct buf *out, const char **language,
                       struct err *err)
{
    const char *base = which == LIBRARY_QUIZ ? "quiz" : "lesson";
    const char *wanted = msg_language();
    char *own = mem_printf("%s/lessons/%s/%s.%s.md", library->root, lab->lesson, base, wanted);
    char *english = mem_printf("%s/lessons/%s/%s.md", library->root, lab->lesson, base);
    bool other = strcmp(wanted, "en") != 0 && file_exists(own);
    bool ok = file_read(out, other ? own : english, TEXT_MOST, err);
    if (language)
        *language = other ? wanted : "en";
    free(english);
    free(own);
    return ok;
}

char *library_lab_path(const struct library *library, const char *slug, const char *name)
{
    return mem_printf("%s/kernels/%s/%s", library->root, slug, name);
}

char *library_work_path(const struct library *library, const char *slug, const char *name)
{
    return mem_printf("%s/%s/%s", library->work, slug, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int library_list_kernels(const struct library *library, const char *slug, const char *folder,
                         char ***out)
{
    char *path = library_lab_path(library, slug, folder);
    DIR *dir = opendir(path);
    char **names = NULL;
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len < 4 || strcmp(entry->d_name + len - 3, ".cu") != 0)
            continue;
        names = mem_grow(names, (size_t)count + 1, sizeof *names);
        names[count++] = mem_printf("%s/%s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    free(path);
    if (count)
        qsort(names, (size_t)count, sizeof *names, by_name);
    *out = names;
    return count;
}

/* The lab's number among `count`. A home that can't be written draws afresh each time. */
static int draw(const struct library *library, const char *slug, int count, bool again)
{
    json_t *state = library_load_state(library, "draws", NULL);
    json_t *kept = json_object_get(state, slug);
    long long number = json_integer_value(kept);
    if (!json_is_integer(kept) || number < 0 || again) {
        unsigned fresh = 0;
        if (json_is_integer(kept) && number >= 0)
            number = (number + 1) % count;
        else if (getrandom(&fresh, sizeof fresh, 0) == sizeof fresh)
            number = fresh % (unsigned)count;
        struct err ignored = {0};
        json_object_set_new(state, slug, json_integer(number));
        library_save_state(library, "draws", state, &ignored);
    }
    json_decref(state);
    return (int)(number % count);
}

char *library_starter_path(const struct library *library, const char *slug, bool again)
{
    char **names;
    int count = library_list_kernels(library, slug, "variants", &names);
    const char *name = count ? names[draw(library, slug, count, again)] : "starter.cu";
    char *path = library_lab_path(library, slug, name);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return path;
}

/* Writes the copy of a lab's header unless there is one that the student changed: what was laid
 * down last is in the state "headers", and a copy that still is that follows the lab's. */
static void lay_header(const struct library *library, const char *slug, const char *copy,
                       const struct buf *header)
{
    struct buf there = {0};
    struct stat info;
    json_t *state = library_load_state(library, "headers", NULL);
    const char *laid = json_string_value(json_object_get(state, slug));
    bool missing = lstat(copy, &info) != 0;
    bool read = !missing && S_ISREG(info.st_mode) && file_read(&there, copy, KERNEL_MOST, NULL);
    bool same = read && strcmp(buf_str(&there), buf_str(header)) == 0;
    bool untouched = read && laid && strcmp(buf_str(&there), laid) == 0;
    if (!same && (missing || untouched))
        same = file_write(copy, buf_str(header), header->len, false, NULL);
    if (same && (!laid || strcmp(laid, buf_str(header)) != 0)) {
        json_object_set_new(state, slug, json_string(buf_str(header)));
        library_save_state(library, "headers", state, &(struct err){0});
    }
    json_decref(state);
    buf_free(&there);
}

/* For the student and their editor to read: it is never the copy that counts. With it come those of
 * the labs whose headers it includes. */
static void keep_header(const struct library *library, const char *slug)
{
    static const char include[] = "#include \"../";
    char *folder = library_work_path(library, slug, "");
    char *copy = library_work_path(library, slug, "lab.h");
    char *header = library_lab_path(library, slug, "lab.h");
    struct buf text = {0};
    if (file_exists(header) && file_read(&text, header, KERNEL_MOST, NULL) &&
        file_make_dirs(folder, NULL))
        lay_header(library, slug, copy, &text);
    for (const char *at = strstr(buf_str(&text), include); at; at = strstr(at, include)) {
        char other[64];
        at += sizeof include - 1;
        if (sscanf(at, "%63[a-z0-9-]/lab.h", other) == 1 && strcmp(other, slug) != 0)
            keep_header(library, other);
    }
    buf_free(&text);
    free(header);
    free(copy);
    free(folder);
}

bool library_prepare(const struct library *library, const struct labfile *lab, bool *created,
                     struct err *err)
{
    char *kernel = library_work_path(library, lab->slug, "kernel.cu");
    char *folder = library_work_path(library, lab->slug, "");
    char *starter = NULL;
    struct buf text = {0};
    struct stat info;
    /* lstat: a link that leads nowhere is the student's, and is for them to mend. */
    bool missing = lstat(kernel, &info) != 0;
    bool ok = true;
    if (missing)
        starter = library_starter_path(library, lab->slug, false);
    if (missing)
        ok = file_read(&text, starter, KERNEL_MOST, err) && file_make_dirs(folder, err) &&
             file_write(kernel, buf_str(&text), text.len, false, err);
    if (ok)
        keep_header(library, lab->slug);
    if (created)
        *created = ok && missing;
    buf_free(&text);
    free(starter);
    free(folder);
    free(kernel);
    return ok;
}

bool library_read_kernel(const struct library *library, const char *slug, struct buf *out,
                         struct err *err)
{
    char *path = library_work_path(library, slug, "kernel.cu");
    bool ok = file_read(out, path, KERNEL_MOST, err);
    free(path);
    return ok;
}

/* ---- state */

static void keep_aside(const char *path, struct err *notice)
{
    char *aside = mem_printf("%s.damaged-%lld", path, (long long)time(NULL));
    if (rename(path, aside) == 0)
        err_set(notice, _("%s was damaged; it is kept as %s, and a new one begins"), path, aside);
    else
        err_set(notice, _("%s is damaged and can't be moved aside: %s"), path, strerror(errno));
    free(aside);
}

json_t *library_load_state(const struct library *library, const char *name, struct err *notice)
{
    char *path = mem_printf("%s/%s.json", library->home, name);
    struct buf text = {0};
    struct err trouble = {0};
    json_t *state = NULL;
    if (file_exists(path)) {
        if (!file_read(&text, path, STATE_MOST, &trouble)) {
            if (notice) /* not ours to judge: it may only be unreadable now */
                *notice = trouble;
        } else {
            state = json_loadb(buf_str(&text), text.len, 0, NULL);
            if (!json_is_object(state)) {
                keep_aside(path, notice);
                json_decref(state);
                state = NULL;
            }
        }
    }
    buf_free(&text);
    free(path);
    return state ? state : json_object();
}

bool library_save_state(const struct library *library, const char *name, const json_t *state,
                        struct err *err)
{
    char *path = mem_printf("%s/%s.json", library->home, name);
    char *text = json_dumps(state, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    bool ok =
        text != NULL || err_set(err, _("cannot write %s: it holds text that is not UTF-8"), path);
    ok =
        ok && file_make_dirs(library->home, err) && file_write(path, text, strlen(text), true, err);
    free(text);
    free(path);
    return ok;
}

static double number_at(const json_t *object, const char *key, const char *inner)
{
    return json_number_value(json_object_get(json_object_get(object, key), inner));
}

bool library_note_attempt(const struct library *library, const char *slug, const json_t *record,
                          struct err *err)
{
    json_t *state = library_load_state(library, "progress", NULL);
    json_t *lab = json_object_get(state, slug);
    if (!json_is_object(lab)) {
        lab = json_object();
        json_object_set_new(state, slug, lab);
    }
    const char *name = json_string_value(json_object_get(record, "verdict"));
    enum verdict verdict = VERDICT_CANNOT_RUN, best;
    verdict_parse(&verdict, name);
    json_object_set_new(lab, "attempts",
                        json_integer(json_integer_value(json_object_get(lab, "attempts")) + 1));
    json_object_set_new(lab, "verdict", json_string(verdict_name(verdict)));
    /* "cannot-run" says nothing about the kernel, so any other verdict is better. */
    if (!verdict_parse(&best, json_string_value(json_object_get(lab, "best"))) ||
        best == VERDICT_CANNOT_RUN || (verdict != VERDICT_CANNOT_RUN && verdict > best))
        json_object_set_new(lab, "best", json_string(verdict_name(verdict)));
    const json_t *timing = json_object_get(record, "timing");
    double speedup = number_at(timing, "speedup", "median");
    if (verdict == VERDICT_PASS && speedup > json_number_value(json_object_get(lab, "speedup")))
        json_object_set_new(lab, "speedup", json_real(speedup));
    const struct labfile *about = library_find(library, slug);
    if (about)
        done_note(about, lab, record);
    bool ok = library_save_state(library, "progress", state, err);
    json_decref(state);
    return ok;
}
