#include "toolkit.h"

#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How to recognise each part below a place. Folders are tried in order, and of several versions of
 * a library the one whose name sorts last by number. */
struct part_rule {
    const char *name;
    const char *folders[4];
    const char *pattern; /* of the file; a library's ends in '*' and takes any version */
    bool program;
};

#if defined(__aarch64__)
#define TARGET "targets/sbsa-linux"
#define SYSTEM "lib/aarch64-linux-gnu"
#else
#define TARGET "targets/x86_64-linux"
#define SYSTEM "lib/x86_64-linux-gnu"
#endif
#define LIB_FOLDERS                                                                                \
    {                                                                                              \
        "lib64", "lib", TARGET "/lib", SYSTEM                                                      \
    }
#define BIN_FOLDERS                                                                                \
    {                                                                                              \
        "bin", "compute-sanitizer", NULL, NULL                                                     \
    }

static const struct part_rule rules[PART_COUNT] = {
    [PART_NVRTC] = {"NVRTC", LIB_FOLDERS, "libnvrtc.so*", false},
    [PART_BUILTINS] = {"NVRTC's built-ins", LIB_FOLDERS, "libnvrtc-builtins.so*", false},
    [PART_HEADERS] = {"the CUDA headers",
                      {"include", TARGET "/include", NULL, NULL},
                      "cuda_fp16.h",
                      false},
    [PART_NVCC] = {"nvcc", BIN_FOLDERS, "nvcc", true},
    [PART_PTXAS] = {"ptxas", BIN_FOLDERS, "ptxas", true},
    [PART_NVDISASM] = {"nvdisasm", BIN_FOLDERS, "nvdisasm", true},
    [PART_CUOBJDUMP] = {"cuobjdump", BIN_FOLDERS, "cuobjdump", true},
    [PART_SANITIZER] = {"compute-sanitizer", BIN_FOLDERS, "compute-sanitizer", true},
    [PART_CUDART] = {"the CUDA runtime", LIB_FOLDERS, "libcudart.so*", false},
    [PART_CUPTI] = {"CUPTI",
                    {"lib64", "extras/CUPTI/lib64", TARGET "/lib", SYSTEM},
                    "libcupti.so*",
                    false},
    [PART_CUBLAS] = {"cuBLAS", LIB_FOLDERS, "libcublas.so*", false},
};

const char *toolkit_part_name(enum toolkit_part part)
{
    return rules[part].name;
}

/* The version behind ".so": major * 1000 + minor * 10; a bare ".so" counts as the oldest, because
 * it may be a linker stub. */
static unsigned library_version(const char *path)
{
    unsigned major = 0, minor = 0;
    const char *tail = strstr(path, ".so.");
    if (tail)
        sscanf(tail, ".so.%u.%u", &major, &minor);
    return major > 1000 || minor > 99 ? 0 : major * 1000 + minor * 10;
}

/* Escapes what glob would take for a pattern in a folder's name. */
static void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("*?[]\\", *text))
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

static char *find_file(const char *folder, const struct part_rule *rule)
{
    char *best = NULL;
    for (int i = 0; i < 4 && rule->folders[i] && !best; i++) {
        struct buf pattern = {0};
        add_escaped(&pattern, folder);
        buf_printf(&pattern, "/%s/%s", rule->folders[i], rule->pattern);
        glob_t found;
        if (glob(buf_str(&pattern), 0, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc; k++) {
                const char *path = found.gl_pathv[k];
                if (access(path, rule->program ? X_OK : R_OK) != 0 || file_is_dir(path))
                    continue;
                if (!best || library_version(path) > library_version(best)) {
                    free(best);
                    best = mem_strdup(path);
                }
            }
            globfree(&found);
        }
        buf_free(&pattern);
    }
    return best;
}

/* What a place says about its version: its built-ins' name, else cuda.h. */
static unsigned place_version(const struct toolkit_place *place)
{
    unsigned version =
        place->parts[PART_BUILTINS] ? library_version(place->parts[PART_BUILTINS]) : 0;
    if (version || !place->parts[PART_HEADERS])
        return version;
    char *header = path_join(place->parts[PART_HEADERS], "cuda.h");
    struct buf text = {0};
    if (file_read(&text, header, 8 << 20, NULL)) {
        const char *line = strstr(buf_str(&text), "#define CUDA_VERSION ");
        if (line)
            sscanf(line, "#define CUDA_VERSION %u", &version);
    }
    buf_free(&text);
    free(header);
    return version;
}

static bool is_known(const struct toolkit *toolkit, const char *folder)
{
    char real[PATH_MAX], other[PATH_MAX];
    const char *here = realpath(folder, real) ? real : folder;
    for (int i = 0; i < toolkit->count; i++) {
        const char *there = toolkit->places[i].folder;
        if (strcmp(realpath(there, other) ? other : there, here) == 0)
            return true;
    }
    return false;
}

/* Takes the folder in when it has at least one part. False when it has none. */
static bool add_place(struct toolkit *toolkit, const char *folder, const char *origin)
{
    if (is_known(toolkit, folder))
        return true;
    struct toolkit_place place = {0};
    bool any = false;
    for (int part = 0; part < PART_COUNT; part++) {
        place.parts[part] = find_file(folder, &rules[part]);
        if (part == PART_HEADERS && place.parts[part])
            *strrchr(place.parts[part], '/') = '\0';
        any |= place.parts[part] != NULL;
    }
    if (!any || toolkit->count == TOOLKIT_PLACES) {
        for (int part = 0; part < PART_COUNT; part++)
            free(place.parts[part]);
        return any;
    }
    place.folder = mem_strdup(folder);
    place.origin = mem_strdup(origin);
    place.version = place_version(&place);
    toolkit->places[toolkit->count++] = place;
    return true;
}

static void complain(struct toolkit *toolkit, char *sentence)
{
    if (toolkit->complaint_count < (int)(sizeof toolkit->complaints / sizeof *toolkit->complaints))
        toolkit->complaints[toolkit->complaint_count++] = sentence;
    else
        free(sentence);
}

static void add_variable(struct toolkit *toolkit, const char *variable)
{
    const char *value = getenv(variable);
    if (!value || !*value)
        return;
    char *folder = mem_strdup(value);
    for (size_t len = strlen(folder); len > 1 && folder[len - 1] == '/'; len--)
        folder[len - 1] = '\0';
    char origin[32];
    snprintf(origin, sizeof origin, "$%s", variable);
    if (*folder != '/')
        complain(toolkit,
                 mem_printf(_("%s is \"%s\", which is not an absolute path; it was not used"),
                            variable, value));
    else if (!file_is_dir(folder))
        complain(toolkit, mem_printf(_("%s is %s, but there is no such folder; set it to the "
                                       "toolkit's folder or unset it"),
                                     variable, folder));
    else if (!add_place(toolkit, folder, origin))
        complain(toolkit, mem_printf(_("%s is %s, but that folder holds no part of a CUDA Toolkit; "
                                       "set it to the toolkit's folder or unset it"),
                                     variable, folder));
    free(folder);
}

/* The toolkit around a program: PLACE/bin/nvcc, also behind links such as /usr/bin/nvcc. */
static void add_program(struct toolkit *toolkit, const char *program)
{
    char real[PATH_MAX];
    const char *paths[] = {program, realpath(program, real)};
    for (int i = 0; i < 2 && paths[i]; i++) {
        char *folder = mem_strdup(paths[i]);
        for (int up = 0; up < 2 && strrchr(folder, '/'); up++)
            *strrchr(folder, '/') = '\0';
        if (*folder == '/')
            add_place(toolkit, folder, "PATH");
        free(folder);
    }
}

static void add_path(struct toolkit *toolkit)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        /* An empty or relative entry would take a file of the student's folder for the compiler. */
        if (*path == '/') {
            char *program = mem_printf("%.*s/nvcc", (int)len, path);
            if (access(program, X_OK) == 0 && !file_is_dir(program))
                add_program(toolkit, program);
            free(program);
        }
        path += len + (path[len] == ':');
    }
}

static int newest_first(const void *a, const void *b)
{
    return strverscmp(*(char *const *)b, *(char *const *)a);
}

static void add_versions(struct toolkit *toolkit, const char *system_root)
{
    struct buf pattern = {0};
    add_escaped(&pattern, system_root);
    buf_add_str(&pattern, "/usr/local/cuda-*");
    glob_t found;
    if (glob(buf_str(&pattern), GLOB_ONLYDIR, NULL, &found) == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, newest_first);
        for (size_t i = 0; i < found.gl_pathc; i++)
            add_place(toolkit, found.gl_pathv[i], found.gl_pathv[i] + strlen(system_root));
        globfree(&found);
    }
    buf_free(&pattern);
}

static void add_fixed(struct toolkit *toolkit, const char *system_root, const char *folder)
{
    char *path = mem_printf("%s%s", system_root, folder);
    add_place(toolkit, path, folder);
    free(path);
}

/* The first place with each part; NVRTC's companions must be of its own version. */
static void choose_parts(struct toolkit *toolkit)
{
    for (int part = 0; part < PART_COUNT; part++) {
        toolkit->used[part] = -1;
        for (int i = toolkit->count - 1; i >= 0; i--)
            if (toolkit->places[i].parts[part])
                toolkit->used[part] = i;
    }
    static const enum toolkit_part follow[][2] = {{PART_NVRTC, PART_BUILTINS},
                                                  {PART_NVRTC, PART_HEADERS},
                                                  {PART_NVCC, PART_PTXAS},
                                                  {PART_NVCC, PART_CUDART}};
    for (size_t i = 0; i < sizeof follow / sizeof *follow; i++) {
        int leader = toolkit->used[follow[i][0]];
        if (leader >= 0 && toolkit->places[leader].parts[follow[i][1]])
            toolkit->used[follow[i][1]] = leader;
    }
    for (int part = 0; part < PART_COUNT; part++)
        toolkit->parts[part] =
            toolkit->used[part] < 0 ? NULL : toolkit->places[toolkit->used[part]].parts[part];
}

void toolkit_find(struct toolkit *out, const char *root, const char *system_root)
{
    *out = (struct toolkit){0};
    add_variable(out, "STRIDE_CUDA");
    add_variable(out, "CUDA_HOME");
    add_variable(out, "CUDA_PATH");
    add_path(out);
    char *own = path_join(root, ".deps/cuda");
    add_place(out, own, ".deps/cuda");
    free(own);
    add_fixed(out, system_root, "/usr/local/cuda");
    add_versions(out, system_root);
    add_fixed(out, system_root, "/opt/cuda");
    add_fixed(out, system_root, "/usr/lib/nvidia-cuda-toolkit");
    add_fixed(out, system_root, "/usr");
    choose_parts(out);
}

void toolkit_free(struct toolkit *toolkit)
{
    for (int i = 0; i < toolkit->count; i++) {
        free(toolkit->places[i].folder);
        free(toolkit->places[i].origin);
        for (int part = 0; part < PART_COUNT; part++)
            free(toolkit->places[i].parts[part]);
    }
    for (int i = 0; i < toolkit->complaint_count; i++)
        free(toolkit->complaints[i]);
    *toolkit = (struct toolkit){0};
}

char *toolkit_searched(const char *root)
{
    return mem_printf("$STRIDE_CUDA, $CUDA_HOME, $CUDA_PATH, PATH, %s/.deps/cuda, /usr/local/cuda, "
                      "/usr/local/cuda-*, /opt/cuda, /usr",
                      root);
}
