#include "headers.h"

#include "scratch.h"

#include "harness/base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static const unsigned long long ROOM_BYTES = 1ull << 30;

static bool is_large(const char *source)
{
    static const char *const signs[] = {"#include <cuda/", "#include <cooperative_groups",
                                        "#include <cub/"};
    for (size_t i = 0; source && i < sizeof signs / sizeof *signs; i++)
        for (const char *at = source; (at = strstr(at, signs[i])); at++)
            if (strncmp(at, "#include <cuda/std/", 19) != 0)
                return true;
    return false;
}

void headers_open(struct headers *out, const struct compiler_abilities *nvrtc, const char *source)
{
    *out = (struct headers){0};
    struct statvfs disk;
    bool new_enough = nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 8);
    if (!new_enough || !is_large(source) || statvfs(path_temporary(), &disk) != 0 ||
        (unsigned long long)disk.f_bavail * disk.f_frsize < ROOM_BYTES)
        return;
    out->folder = scratch_make(NULL);
}

void headers_close(struct headers *headers)
{
    file_remove_folder(headers->folder);
    free(headers->folder);
    *headers = (struct headers){0};
}
