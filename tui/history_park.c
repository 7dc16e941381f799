/* Attempts that could not be recorded when they happened: one folder each, with the four files and
 * attempt.json. A folder is written under a name with a dot and then renamed, so that a full disk
 * leaves no half of one. */
#include "history_core.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[HISTORY_FILES] = {
    [HISTORY_KERNEL] = "kernel.cu",
    [HISTORY_RECORD] = "record.json",
    [HISTORY_PTX] = "kernel.ptx",
    [HISTORY_SASS] = "kernel.sass",
};

const char *history_file_name(enum history_file file)
{
    return names[file];
}

static void remove_folder(const char *folder)
{
    for (int i = -1; i < HISTORY_FILES; i++) {
        char *path = path_join(folder, i < 0 ? "attempt.json" : names[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
}

static bool write_in(const char *folder, const char *name, const char *bytes, size_t len,
                     struct err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, bytes, len, true, err);
    free(path);
    return ok;
}

bool history_park(const char *parked, const struct history_attempt *attempt, struct err *err)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char *temp = mem_printf("%s/.new-%ld", parked, (long)getpid());
    char *final =
        mem_printf("%s/%012lld%09ld-%s", parked, (long long)now.tv_sec, now.tv_nsec, attempt->lab);
    json_t *meta =
        json_pack("{s:s, s:s, s:s, s:I}", "lab", attempt->lab, "subject", attempt->subject, "body",
                  attempt->body ? attempt->body : "", "time", (json_int_t)now.tv_sec);
    char *text = meta ? json_dumps(meta, JSON_INDENT(2)) : NULL;
    const struct buf *files[HISTORY_FILES] = {attempt->kernel, attempt->record, attempt->ptx,
                                              attempt->sass};
    remove_folder(temp);
    bool ok = text ? file_make_dirs(temp, err) : err_set(err, "%s", _("the message is not UTF-8"));
    for (int i = 0; ok && i < HISTORY_FILES; i++)
        if (files[i])
            ok = write_in(temp, names[i], buf_str(files[i]), files[i]->len, err);
    ok = ok && write_in(temp, "attempt.json", text, strlen(text), err);
    if (ok && rename(temp, final) != 0)
        ok = err_set(err, _("cannot create the folder %s: %s"), final, strerror(errno));
    if (!ok)
        remove_folder(temp);
    json_decref(meta);
    free(text);
    free(temp);
    free(final);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int history_parked_list(const char *parked, char ***out)
{
    DIR *dir = opendir(parked);
    char **found = NULL;
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        found = mem_grow(found, (size_t)count + 1, sizeof *found);
        found[count++] = mem_strdup(entry->d_name);
    }
    if (dir)
        closedir(dir);
    if (count)
        qsort(found, (size_t)count, sizeof *found, by_name);
    *out = found;
    return count;
}

static char *text_at(const json_t *meta, const char *key)
{
    const char *text = json_string_value(json_object_get(meta, key));
    return mem_strdup(text ? text : "");
}

bool history_parked_load(struct history_parked *out, const char *parked, const char *name,
                         struct err *err)
{
    *out = (struct history_parked){.folder = path_join(parked, name)};
    struct buf text = {0};
    char *path = path_join(out->folder, "attempt.json");
    bool ok = file_read(&text, path, 1 << 20, err);
    json_t *meta = ok ? json_loadb(text.data, text.len, 0, NULL) : NULL;
    if (ok && !json_is_object(meta))
        ok = err_set(err, _("%s is damaged"), path);
    for (int i = 0; ok && i < HISTORY_FILES; i++) {
        char *file = path_join(out->folder, names[i]);
        out->has[i] = file_exists(file);
        if (out->has[i])
            ok = file_read(&out->files[i], file, HISTORY_FILE_MOST, err);
        free(file);
    }
    if (ok) {
        out->lab = text_at(meta, "lab");
        out->subject = text_at(meta, "subject");
        out->body = text_at(meta, "body");
        out->time_s = json_integer_value(json_object_get(meta, "time"));
        if (!*out->lab || strchr(out->lab, '/') || !out->has[HISTORY_KERNEL])
            ok = err_set(err, _("%s is damaged"), path);
    }
    json_decref(meta);
    buf_free(&text);
    free(path);
    return ok;
}

void history_parked_free(struct history_parked *parked)
{
    for (int i = 0; i < HISTORY_FILES; i++)
        buf_free(&parked->files[i]);
    free(parked->folder);
    free(parked->lab);
    free(parked->subject);
    free(parked->body);
    *parked = (struct history_parked){0};
}

void history_parked_remove(const struct history_parked *parked)
{
    remove_folder(parked->folder);
}
