/* Parts of fat binaries that CUDA 13 wrote (the fuzzer's corpus): found where they are, and refused
 * where they are compressed, missing or cut off. */
#include "harness/base/file.h"
#include "harness/host/fatbin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* The corpus file holds one byte for the fuzzer, then the bytes. */
static struct buf read_corpus(const char *name)
{
    struct buf file = {0};
    struct err err = {0};
    char *path = path_join("tests/fuzz/corpus/fatbin", name);
    if (!file_read(&file, path, 1 << 20, &err))
        fail_msg("%s", err.text);
    memmove(file.data, file.data + 1, --file.len);
    free(path);
    return file;
}

static void assert_parts(const void *bytes, size_t len)
{
    struct fatbin_part ptx, cubin;
    struct err err = {0};
    assert_true(fatbin_find(&ptx, FATBIN_PTX, bytes, len, &err));
    assert_int_equal(ptx.arch, 80);
    assert_non_null(memmem(ptx.bytes, ptx.len, ".target sm_80", 13));
    assert_int_not_equal(((const char *)ptx.bytes)[ptx.len - 1], '\0');
    assert_true(fatbin_find(&cubin, FATBIN_CUBIN, bytes, len, &err));
    assert_int_equal(cubin.arch, 80);
    assert_memory_equal(cubin.bytes, "\177ELF", 4);
}

static void parts_are_found(void **state)
{
    (void)state;
    struct buf plain = read_corpus("plain"), object = read_corpus("object");
    struct err err = {0};
    const void *section;
    size_t len;
    assert_parts(plain.data, plain.len);
    assert_true(fatbin_section(&section, &len, object.data, object.len, &err));
    assert_parts(section, len);
    buf_free(&plain);
    buf_free(&object);
}

static void a_registered_wrapper_leads_to_its_ptx(void **state)
{
    (void)state;
    struct buf plain = read_corpus("plain");
    struct fatbin_part part;
    struct err err = {0};
    struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1, 1, plain.data, NULL};
    assert_true(fatbin_find_ptx(&part, &wrapper, &err));
    assert_true((const char *)part.bytes > plain.data);
    assert_non_null(memmem(part.bytes, part.len, ".visible .entry", 15));
    wrapper.magic++;
    assert_false(fatbin_find_ptx(&part, &wrapper, &err));
    assert_false(fatbin_find_ptx(&part, NULL, &err));
    buf_free(&plain);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    struct buf packed = read_corpus("packed"), plain = read_corpus("plain");
    struct fatbin_part part;
    struct err err = {0};
    const void *section;
    size_t len;
    assert_false(fatbin_find(&part, FATBIN_PTX, packed.data, packed.len, &err));
    assert_non_null(strstr(err.text, "-no-compress"));
    assert_false(fatbin_find(&part, FATBIN_PTX, "", 0, &err));
    assert_non_null(strstr(err.text, "no PTX"));
    assert_false(fatbin_section(&section, &len, plain.data, plain.len, &err));
    assert_non_null(strstr(err.text, "ELF"));
    buf_free(&packed);
    buf_free(&plain);
}

static void damage_is_survived(void **state)
{
    (void)state;
    struct buf plain = read_corpus("plain");
    struct fatbin_part part;
    for (size_t len = 0; len < plain.len; len += 7) { /* a copy of exactly that size, for ASan */
        char *cut = mem_alloc(len);
        memcpy(cut, plain.data, len);
        assert_false(fatbin_find(&part, FATBIN_PTX, cut, len, NULL));
        free(cut);
    }
    buf_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(a_registered_wrapper_leads_to_its_ptx),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
