/* The cache of builds: found again by its key alone, shared by several makers, limited in size, and
 * quietly absent where nothing can be written. */
#include "harness/base/file.h"
#include "harness/cache.h"
#include "harness/scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *source;

static int set_up(void **state)
{
    (void)state;
    folder = scratch_make(NULL);
    source = path_join(folder, "made");
    setenv("XDG_CACHE_HOME", folder, 1);
    mkdir(source, 0700);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    struct buf command = {0};
    buf_printf(&command, "rm -rf '%s'", folder);
    int status = system(buf_str(&command));
    buf_free(&command);
    free(folder);
    free(source);
    return status;
}

static void put(const char *name, const char *text)
{
    char *path = path_join(source, name);
    assert_true(file_write(path, text, strlen(text), false, NULL));
    free(path);
}

static struct buf key_of(const char *text)
{
    struct buf key = {0};
    buf_add_str(&key, text);
    return key;
}

static const char *const names[] = {"yours.so", "log", NULL};

static char *keep(const char *text, unsigned long long most)
{
    struct buf key = key_of(text);
    char *kept = cache_keep(&key, source, names, most);
    buf_free(&key);
    return kept;
}

static char *find(const char *text)
{
    struct buf key = key_of(text);
    char *found = cache_find(&key);
    buf_free(&key);
    return found;
}

static void what_is_kept_is_found(void **state)
{
    (void)state;
    put("yours.so", "object");
    assert_null(find("one"));
    char *kept = keep("one", CACHE_BYTES_MOST), *found = find("one");
    assert_non_null(kept);
    assert_string_equal(kept, found);
    char *path = path_join(found, "yours.so"), *log = path_join(found, "log");
    struct buf text = {0};
    assert_true(file_read(&text, path, 100, NULL));
    assert_string_equal(buf_str(&text), "object");
    assert_false(file_exists(log));
    assert_null(find("two"));
    /* A second maker of the same is not a failure. */
    char *again = keep("one", CACHE_BYTES_MOST);
    assert_string_equal(again, kept);
    buf_free(&text);
    free(path);
    free(log);
    free(kept);
    free(found);
    free(again);
}

static void a_hash_alone_proves_nothing(void **state)
{
    (void)state;
    put("yours.so", "object");
    char *kept = keep("one", CACHE_BYTES_MOST), *path = path_join(kept, "key");
    assert_true(file_write(path, "other", 5, false, NULL));
    assert_null(find("one"));
    free(path);
    free(kept);
}

/* A crash or a full disk may leave an entry whose files are cut, or full of zeros. */
static void what_is_damaged_is_made_again(void **state)
{
    (void)state;
    put("yours.so", "object");
    static const struct {
        const char *file, *text;
    } damage[] = {{"yours.so", ""}, {"yours.so", "obj"},    {"yours.so", "foreig"}, {"key", ""},
                  {"sums", ""},     {"sums", "1 2 ../x\n"}, {"log", "more"}};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char *kept = keep("one", CACHE_BYTES_MOST), *path = path_join(kept, damage[i].file);
        char *found = find("one");
        assert_non_null(found);
        free(found);
        assert_true(file_write(path, damage[i].text, strlen(damage[i].text), false, NULL));
        found = find("one");
        if (found && strcmp(damage[i].file, "log") != 0) /* a file more does no harm */
            fail_msg("found with %s '%s'", damage[i].file, damage[i].text);
        free(found);
        free(kept);
        free(path);
    }
}

static void the_oldest_go_first(void **state)
{
    (void)state;
    put("yours.so", "0123456789");
    char *old = keep("old", CACHE_BYTES_MOST);
    struct timespec long_ago[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    assert_int_equal(utimensat(AT_FDCWD, old, long_ago, 0), 0);
    free(keep("new", 15)); /* fresh ones stay, whatever their size */
    free(keep("newer", 15));
    char *gone = find("old"), *there = find("new"), *also = find("newer");
    assert_null(gone);
    assert_non_null(there);
    assert_non_null(also);
    free(old);
    free(there);
    free(also);
}

static void no_place_is_no_failure(void **state)
{
    (void)state;
    put("yours.so", "object");
    char *file = path_join(source, "yours.so");
    setenv("XDG_CACHE_HOME", file, 1);
    assert_null(keep("one", CACHE_BYTES_MOST));
    assert_null(find("one"));
    setenv("XDG_CACHE_HOME", folder, 1);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hash_alone_proves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_made_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_go_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_place_is_no_failure, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
