#include "cache.h"

#include "harness/base/err.h"
#include "harness/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FRESH_S   600   /* somebody may be about to load it */
#define STALE_S   86400 /* a half-made entry whose maker is gone */
#define FILE_MOST (64 << 20)
#define SUMS      "sums"

enum { ENTRIES_MOST = 4096 };

static char *cache_place(void)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    if (cache && *cache == '/')
        return path_join(cache, "stride/host");
    const char *home = getenv("HOME");
    if (!home || *home != '/') {
        struct passwd *entry = getpwuid(getuid());
        home = entry ? entry->pw_dir : NULL;
    }
    return home && *home == '/' ? path_join(home, ".cache/stride/host") : NULL;
}

/* FNV-1a: names an entry, whose key decides, and finds what a crash or a full disk did to files. */
static unsigned long long hash_of(const struct buf *bytes)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes->len; i++)
        hash = (hash ^ (unsigned char)bytes->data[i]) * 0x100000001b3u;
    return hash;
}

static char *entry_folder(const char *place, const struct buf *key)
{
    return mem_printf("%s/%016llx", place, hash_of(key));
}

static bool has_key(const char *folder, const struct buf *key)
{
    struct buf text = {0};
    char *path = path_join(folder, "key");
    bool same = file_exists(path) && file_read(&text, path, FILE_MOST, NULL) &&
                text.len == key->len && memcmp(buf_str(&text), buf_str(key), key->len) == 0;
    buf_free(&text);
    free(path);
    return same;
}

/* "BYTES HASH NAME" of a file in an entry; nothing where it has none of that name. */
static bool add_sum(struct buf *out, const char *folder, const char *name)
{
    struct buf bytes = {0};
    char *path = path_join(folder, name);
    bool ok = !file_exists(path);
    if (!ok && file_read(&bytes, path, FILE_MOST, NULL)) {
        buf_printf(out, "%zu %016llx %s\n", bytes.len, hash_of(&bytes), name);
        ok = true;
    }
    buf_free(&bytes);
    free(path);
    return ok;
}

/* Are the files what they were when they were kept? Their sums stand in a file of their own. */
static bool is_whole(const char *folder)
{
    struct buf was = {0}, now = {0};
    char *path = path_join(folder, SUMS);
    bool ok = file_exists(path) && file_read(&was, path, FILE_MOST, NULL);
    char *text = mem_strdup(ok ? buf_str(&was) : ""), *rest = text, *line;
    while (ok && (line = strsep(&rest, "\n")) && *line) {
        char *name = strrchr(line, ' ');
        ok = name && !strchr(name, '/') && add_sum(&now, folder, name + 1);
    }
    ok = ok && was.len && was.len == now.len && memcmp(buf_str(&was), buf_str(&now), was.len) == 0;
    buf_free(&was);
    buf_free(&now);
    free(text);
    free(path);
    return ok;
}

char *cache_find(const struct buf *key)
{
    char *place = cache_place();
    if (!place)
        return NULL;
    char *folder = entry_folder(place, key);
    free(place);
    if (has_key(folder, key) && is_whole(folder)) {
        utimensat(AT_FDCWD, folder, NULL, 0); /* used just now */
        return folder;
    }
    free(folder);
    return NULL;
}

static unsigned long long folder_bytes(const char *folder)
{
    unsigned long long bytes = 0;
    struct stat info;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode))
            bytes += (unsigned long long)info.st_size;
    if (dir)
        closedir(dir);
    return bytes;
}

struct kept {
    char *folder;
    time_t used;
    unsigned long long bytes;
};

static int newest_first(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return (x->used < y->used) - (x->used > y->used);
}

/* Removes what is beyond the limit, oldest first, and what a killed maker left half-made. */
static void trim_place(const char *place, unsigned long long bytes_most)
{
    struct kept *list = mem_zero(ENTRIES_MOST, sizeof *list);
    size_t count = 0;
    time_t now = time(NULL);
    DIR *dir = opendir(place);
    for (struct dirent *entry; dir && count < ENTRIES_MOST && (entry = readdir(dir));) {
        struct stat info;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISDIR(info.st_mode))
            continue;
        char *folder = path_join(place, entry->d_name);
        bool half_made = strncmp(entry->d_name, "new-", 4) == 0;
        if (half_made && now - info.st_mtime > STALE_S)
            file_remove_folder(folder);
        if (half_made)
            free(folder);
        else
            list[count++] = (struct kept){folder, info.st_mtime, folder_bytes(folder)};
    }
    if (dir)
        closedir(dir);
    qsort(list, count, sizeof *list, newest_first);
    unsigned long long bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += list[i].bytes;
        if (bytes > bytes_most && now - list[i].used > FRESH_S)
            file_remove_folder(list[i].folder);
        free(list[i].folder);
    }
    free(list);
}

static bool copy_file(const char *to_folder, const char *from_folder, const char *name)
{
    struct buf bytes = {0};
    char *from = path_join(from_folder, name), *to = path_join(to_folder, name);
    bool ok = !file_exists(from) || (file_read(&bytes, from, FILE_MOST, NULL) &&
                                     file_write(to, buf_str(&bytes), bytes.len, false, NULL));
    buf_free(&bytes);
    free(from);
    free(to);
    return ok;
}

static bool fill_folder(const char *fresh, const struct buf *key, const char *folder,
                        const char *const names[])
{
    bool ok = true;
    struct buf sums = {0};
    for (size_t i = 0; ok && names[i]; i++)
        ok = copy_file(fresh, folder, names[i]) && add_sum(&sums, folder, names[i]);
    char *path = path_join(fresh, "key"), *sums_path = path_join(fresh, SUMS);
    ok = ok && file_write(path, buf_str(key), key->len, false, NULL) &&
         file_write(sums_path, buf_str(&sums), sums.len, false, NULL);
    buf_free(&sums);
    free(path);
    free(sums_path);
    return ok;
}

char *cache_keep(const struct buf *key, const char *folder, const char *const names[],
                 unsigned long long bytes_most)
{
    char *place = cache_place();
    if (!place)
        return NULL;
    char *kept = entry_folder(place, key), *fresh = mem_printf("%s/new-XXXXXX", place);
    bool ok = file_make_dirs(place, NULL) && mkdtemp(fresh);
    if (ok) {
        ok = fill_folder(fresh, key, folder, names);
        /* Another Stride may have kept the same meanwhile; that one is as good. What is there
         * otherwise is damaged, or of another key. */
        ok = ok && (rename(fresh, kept) == 0 || (has_key(kept, key) && is_whole(kept)) ||
                    (file_remove_folder(kept), rename(fresh, kept) == 0));
        file_remove_folder(fresh);
        trim_place(place, bytes_most);
    }
    free(fresh);
    free(place);
    if (!ok) {
        free(kept);
        return NULL;
    }
    return kept;
}
