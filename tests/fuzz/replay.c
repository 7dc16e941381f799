/* Runs a fuzz target over its stored corpus, without libFuzzer: `replay_NAME` reads every file of
 * tests/fuzz/corpus/NAME, or the files given, and prints one `ok` line for each. A crash ends the
 * program, and the last line printed names the file. */
#include "harness/base/buf.h"
#include "harness/base/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool replay(const char *path)
{
    struct err err = {0};
    struct buf bytes = {0};
    if (!file_read(&bytes, path, 16 << 20, &err)) {
        printf("FAIL %s\n", err.text);
        return false;
    }
    printf("# %s\n", path);
    fflush(stdout);
    /* A copy of the exact size, so that reading one byte past the end is seen. */
    uint8_t *copy = malloc(bytes.len ? bytes.len : 1);
    if (!copy)
        abort();
    if (bytes.len)
        memcpy(copy, bytes.data, bytes.len);
    LLVMFuzzerTestOneInput(copy, bytes.len);
    free(copy);
    buf_free(&bytes);
    printf("ok %s\n", path);
    return true;
}

static bool replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        printf("FAIL %s: no corpus\n", folder);
        return false;
    }
    bool good = true;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = path_join(folder, entry->d_name);
        good = replay(path) && good;
        free(path);
        count++;
    }
    closedir(dir);
    if (count == 0)
        printf("FAIL %s: empty corpus\n", folder);
    return good && count > 0;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++)
        good = replay(argv[i]) && good;
    if (argc == 1) {
        const char *slash = strrchr(argv[0], '/');
        const char *name = slash ? slash + 1 : argv[0];
        if (strncmp(name, "replay_", 7) == 0)
            name += 7;
        char *folder = path_join("tests/fuzz/corpus", name);
        good = replay_folder(folder);
        free(folder);
    }
    return good ? 0 : 1;
}
