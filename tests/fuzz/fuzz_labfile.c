/* Any lab.yaml is read or refused with a sentence that names the file. */
#include "harness/base/file.h"
#include "harness/base/labfile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/stride-fuzz-XXXXXX";
static char *path;

static void remove_root(void)
{
    unlink(path);
    for (char *slash; (slash = strrchr(path, '/')) && slash > path + 4;) {
        *slash = '\0';
        if (rmdir(path) != 0)
            break;
    }
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    if (!path) {
        if (!mkdtemp(root))
            abort();
        char *folder = path_join(root, "kernels/fuzzed");
        if (!file_make_dirs(folder, &err))
            abort();
        path = path_join(folder, "lab.yaml");
        free(folder);
        atexit(remove_root);
    }
    if (!file_write(path, data, size, false, &err))
        abort();
    struct labfile *lab = NULL;
    if (labfile_load(&lab, root, "fuzzed", &err)) {
        lab_text_get(&lab->title);
        capability_parse(lab->capability);
        labfile_free(lab);
    } else if (!strstr(err.text, "lab.yaml")) {
        abort();
    }
    return 0;
}
