/* Disassemblers that are missing, broken or the only one of their kind, played by scripts. */
#include "harness/base/file.h"
#include "harness/disasm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64] = "/tmp/stride disasm é-XXXXXX";
static char *good, *bad; /* paths of the scripts */

static char *make_script(const char *name, const char *text)
{
    char *path = path_join(folder, name);
    assert_true(file_write(path, text, strlen(text), false, NULL));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    good =
        make_script("good", "#!/bin/sh\nfor last; do :; done\necho \"$1 of $(cat \"$last\")\"\n");
    bad = make_script("bad", "#!/bin/sh\necho 'cannot read this cubin' >&2\nexit 9\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(good);
    unlink(bad);
    rmdir(folder);
    free(good);
    free(bad);
    return 0;
}

/* Lists "code" with these tools; "" and err when that fails. */
static char *list(const struct toolkit *toolkit, struct err *err)
{
    struct disasm disasm;
    struct buf listing = {0};
    if (disasm_start(&disasm, toolkit, "code", 4, err))
        disasm_finish(&disasm, &listing, err);
    return buf_take(&listing);
}

static void none_says_how_to_get_one(void **state)
{
    (void)state;
    struct toolkit toolkit = {.used = {[PART_NVRTC] = -1}};
    struct err err = {0};
    char *listing = list(&toolkit, &err);
    assert_string_equal(listing, "");
    assert_non_null(strstr(err.text, "make deps"));
    free(listing);
}

static void either_alone_is_enough(void **state)
{
    (void)state;
    struct err err = {0};
    struct toolkit one = {.count = 1, .places = {{.parts = {[PART_NVDISASM] = good}}}};
    struct toolkit other = {.count = 1, .places = {{.parts = {[PART_CUOBJDUMP] = good}}}};
    char *listing = list(&one, &err);
    assert_string_equal(listing, "-c of code\n");
    free(listing);
    listing = list(&other, &err);
    assert_string_equal(listing, "-sass of code\n");
    free(listing);
}

static void the_next_is_tried_and_the_last_reason_kept(void **state)
{
    (void)state;
    struct err err = {0};
    struct toolkit toolkit = {.count = 3,
                              .used = {[PART_NVRTC] = 2},
                              .places = {{.parts = {[PART_CUOBJDUMP] = good}},
                                         {.parts = {[PART_NVDISASM] = (char[]){"/nonexistent"}}},
                                         {.parts = {[PART_NVDISASM] = bad}}}};
    char *listing = list(&toolkit, &err);
    assert_string_equal(listing, "-sass of code\n");
    free(listing);
    toolkit.count = 3;
    toolkit.places[0].parts[PART_CUOBJDUMP] = bad;
    listing = list(&toolkit, &err);
    assert_string_equal(listing, "");
    assert_non_null(strstr(err.text, "cuobjdump failed (status 9): cannot read this cubin"));
    free(listing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_says_how_to_get_one),
        cmocka_unit_test(either_alone_is_enough),
        cmocka_unit_test(the_next_is_tried_and_the_last_reason_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
