/* A job from start to end without a GPU: which events come, in which order, and what ends the
 * attempt. Skipped where there is no NVRTC. */
#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *root, folder[64] = "/tmp/stride-stages-XXXXXX", *source;
static struct warm warm;

static int set_up(void **state)
{
    (void)state;
    struct err err = {0};
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* the same everywhere */
    root = realpath(".", NULL);
    source = mkdtemp(folder) ? path_join(folder, "kernel.cu") : NULL;
    if (!warm_open(&warm, root, "cp-async", &err)) {
        print_message("%s\n", err.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const files[] = {"kernel.cu", "kernel.ptx", "kernel.sass"};
    for (size_t i = 0; i < 3; i++) {
        char *path = path_join(folder, files[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    warm_close(&warm);
    free(source);
    free(root);
    return 0;
}

/* Runs a job on the text; returns all its events, in order. */
static json_t *run(const char *text, const bool stages[STAGE_COUNT])
{
    struct err err = {0};
    struct work work = {.nonce = (char[]){"n1"},
                        .source = source,
                        .name = (char[]){"kernel.cu"},
                        .out = folder,
                        .seed = 1};
    memcpy(work.stages, stages, sizeof work.stages);
    assert_true(file_write(source, text, strlen(text), false, &err));
    FILE *file = tmpfile();
    assert_non_null(file);
    struct emit emit = {.fd = fileno(file)};
    assert_true(stages_run(&warm, &work, &emit));
    assert_null(emit.nonce);
    rewind(file);
    json_t *events = json_array(), *event;
    while ((event = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
        json_array_append_new(events, event);
    fclose(file);
    return events;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

/* The first event of this kind about this stage ("" for any). */
static json_t *find(const json_t *events, const char *kind, const char *stage)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        assert_string_equal(text_of(event, "nonce"), "n1");
        if (strcmp(text_of(event, "event"), kind) == 0 &&
            (!*stage || strcmp(text_of(event, "stage"), stage) == 0))
            return event;
    }
    return NULL;
}

/* Every begun stage is done or skipped, before the next begins; `end` is last and alone. */
static void assert_order(const json_t *events)
{
    size_t i;
    json_t *event;
    const char *open = "";
    json_array_foreach(events, i, event) {
        const char *kind = text_of(event, "event"), *stage = text_of(event, "stage");
        if (strcmp(kind, "begin") == 0) {
            assert_string_equal(open, "");
            open = stage;
        } else if (strcmp(kind, "done") == 0) {
            assert_string_equal(open, stage);
            open = "";
        } else if (strcmp(kind, "skip") == 0) {
            assert_true(!*open || strcmp(open, stage) == 0);
            open = "";
        }
        assert_int_equal(strcmp(kind, "end") == 0, i + 1 == json_array_size(events));
    }
}

static char *read_own(const char *file)
{
    struct buf text = {0};
    char *path = mem_printf("%s/kernels/cp-async/%s", root, file);
    assert_true(file_read(&text, path, 1 << 20, NULL));
    free(path);
    return buf_take(&text);
}

static void a_kernel_that_compiles_leaves_its_listings(void **state)
{
    (void)state;
    if (!warm.can_compile)
        skip();
    char *text = read_own("solution.cu");
    json_t *events = run(text, (bool[STAGE_COUNT]){[STAGE_COMPILE] = true, [STAGE_DISASM] = true});
    assert_order(events);
    assert_non_null(find(events, "done", "compile"));
    assert_string_equal(text_of(find(events, "end", ""), "verdict"), "pass");
    struct buf ptx = {0};
    char *path = path_join(folder, "kernel.ptx");
    assert_true(file_read(&ptx, path, 1 << 20, NULL));
    assert_non_null(strstr(buf_str(&ptx), "asyncTransformTiles"));
    bool listed = find(events, "done", "disasm") != NULL;
    assert_true(listed || strstr(text_of(find(events, "skip", "disasm"), "why"), "nvdisasm"));
    free(path);
    path = path_join(folder, "kernel.sass");
    assert_int_equal(file_exists(path), listed);
    free(path);
    buf_free(&ptx);
    json_decref(events);
    free(text);
}

static void a_kernel_that_does_not_compile_stops_there(void **state)
{
    (void)state;
    if (!warm.can_compile)
        skip();
    const bool all[STAGE_COUNT] = {true, true, true, true, true, true};
    json_t *events = run("extern \"C\" __global__ void asyncTransformTiles(\n", all);
    assert_order(events);
    json_t *end = find(events, "end", "");
    assert_string_equal(text_of(end, "verdict"), "no-build");
    assert_non_null(strstr(text_of(end, "summary"), "line "));
    assert_null(find(events, "begin", "check"));
    assert_null(find(events, "skip", "disasm"));
    json_decref(events);
}

/* A line number alone would be taken for one of kernel.cu. */
static void an_error_in_a_header_names_the_header(void **state)
{
    (void)state;
    if (!warm.can_compile)
        skip();
    const bool all[STAGE_COUNT] = {true, true, true, true, true, true};
    struct err err = {0};
    char *header = path_join(folder, "mine.h");
    assert_true(file_write(header, "\nint x = y;\n", 12, false, &err));
    json_t *events = run("#include \"mine.h\"\n", all);
    const json_t *end = find(events, "end", "");
    assert_string_equal(text_of(end, "verdict"), "no-build");
    assert_non_null(strstr(text_of(end, "summary"), "mine.h, line 2: "));
    json_decref(events);
    remove(header);
    free(header);
}

static void without_a_gpu_timing_says_what_is_missing(void **state)
{
    (void)state;
    if (!warm.can_compile)
        skip();
    char *text = read_own("starter.cu");
    const bool all[STAGE_COUNT] = {true, true, true, true, true, true};
    json_t *events = run(text, all);
    assert_order(events);
    assert_non_null(strstr(text_of(find(events, "skip", "time"), "why"), "NVIDIA GPU"));
    json_decref(events);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_compiles_leaves_its_listings),
        cmocka_unit_test(a_kernel_that_does_not_compile_stops_there),
        cmocka_unit_test(an_error_in_a_header_names_the_header),
        cmocka_unit_test(without_a_gpu_timing_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
