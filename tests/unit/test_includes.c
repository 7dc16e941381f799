/* What a source includes before a compiler sees it: ordinary files of any shape pass, everything
 * that would hang or fill the memory is named with its line, and what only looks like an include is
 * left alone. */
#include "harness/base/file.h"
#include "harness/includes.h"
#include "harness/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char *folder;

static void put(const char *name, const char *text)
{
    char *path = path_join(folder, name);
    struct err err = {0};
    if (!file_write(path, text, strlen(text), false, &err))
        fail_msg("%s", err.text);
    free(path);
}

static char *in(const char *name)
{
    return path_join(folder, name);
}

static int set_up(void **state)
{
    (void)state;
    folder = scratch_make(NULL);
    char *pipe = in("pipe.h"), *sub = in("sub"), *vector = in("vector"), *large = in("large.h"),
         *link = in("link.h"), *loop = in("loop.h"), *socket_path = in("socket.h");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(mkdir(vector, 0700), 0);
    int fd = open(large, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, 4ll << 30), 0);
    close(fd);
    assert_int_equal(symlink("/dev/zero", link), 0);
    assert_int_equal(symlink("loop.h", loop), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof address), 0);
    close(made);
    put("good.h", "#define GOOD 1\n");
    put("self.h", "#include \"self.h\"\n#include \"good.h\"\n");
    put("deep.h", "#include \"good.h\"\n\n#include \"sub/deeper.h\"\n");
    put("sub/deeper.h", "// near\n#include \"near.h\"\n#include \"pipe.h\"\n");
    put("sub/near.h", "#define NEAR 1\n");
    free(pipe), free(sub), free(vector), free(large), free(link), free(loop), free(socket_path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    file_remove_folder(folder);
    free(folder);
    return 0;
}

static struct build check(const char *source, bool *ok)
{
    struct build build = {.name = mem_strdup("kernel.cu")};
    buf_add_str(&build.source, source);
    *ok = includes_check(&build, folder);
    return build;
}

static void assert_refused(const char *source, const char *file, unsigned line, const char *text)
{
    bool ok;
    struct build build = check(source, &ok);
    if (ok || build.diagnostics.count != 1)
        fail_msg("%s: is let pass", source);
    const struct diagnostic *item = &build.diagnostics.items[0];
    size_t len = strlen(item->file), tail = strlen(file);
    if (item->line != line || !strstr(item->text, text) || len < tail ||
        strcmp(item->file + len - tail, file) != 0)
        fail_msg("%s: %s:%u: %s", source, item->file, item->line, item->text);
    assert_int_equal(item->severity, SEVERITY_ERROR);
    build_free(&build);
}

static void assert_passes(const char *source)
{
    bool ok;
    struct build build = check(source, &ok);
    if (!ok)
        fail_msg("%s: %s", source, build.diagnostics.items[0].text);
    assert_int_equal(build.diagnostics.count, 0);
    build_free(&build);
}

static void what_is_no_file_is_named(void **state)
{
    (void)state;
    assert_refused("#include \"/dev/zero\"\n", "kernel.cu", 1,
                   "/dev/zero cannot be included: it "
                   "is a device");
    assert_refused("\n\n#include </dev/urandom>\n", "kernel.cu", 3, "a device");
    assert_refused("#include \"link.h\"\n", "kernel.cu", 1, "a device");
    assert_refused("#include \"pipe.h\"\n", "kernel.cu", 1,
                   "pipe.h cannot be included: it is a "
                   "pipe");
    assert_refused("#include <pipe.h>\n", "kernel.cu", 1, "a pipe");
    assert_refused("#include \"socket.h\"\n", "kernel.cu", 1, "no ordinary file");
    assert_refused("#include \"sub\"\n", "kernel.cu", 1, "a folder");
    assert_refused("#include </dev>\n", "kernel.cu", 1, "a folder");
    assert_refused("#include \"/proc/kmsg\"\n", "kernel.cu", 1, "makes it up");
    assert_refused("#include \"large.h\"\n", "kernel.cu", 1, "4096 MiB");
}

static void what_headers_include_counts_too(void **state)
{
    (void)state;
    assert_refused("#include \"deep.h\"\n", "sub/deeper.h", 3, "pipe.h cannot be included");
    assert_passes("#include \"self.h\"\n");
}

static void an_include_is_found_however_it_is_written(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "/* a\n */ # /* b */ include /* c */ \"pipe.h\"\n",
        "%:include \"pipe.h\"\n\n",
        "#\\\ninclude \\\n\"pipe.h\"",
        "#\\\r\ninclude\t\\\r\n<pipe.h>",
        "\"/*\"\n#include_next \"pipe.h\"\n",
        "'\"'\n#import \"pipe.h\"\n",
        "#define IT \"pipe.h\"\n#include IT\n",
        "#define IT <pipe.h>\n#include IT\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        bool ok;
        struct build build = check(sources[i], &ok);
        if (ok)
            fail_msg("%s", sources[i]);
        build_free(&build);
    }
    assert_refused(sources[2], "kernel.cu", 3, "pipe.h");
}

static void what_only_looks_like_one_passes(void **state)
{
    (void)state;
    assert_passes("// #include \"pipe.h\"\n");
    assert_passes("// \\\n#include \"pipe.h\"\n");
    assert_passes("/*\n#include \"pipe.h\"\n*/\n");
    assert_passes("int a; #include \"pipe.h\"\n");
    assert_passes("const char *a = \"\\\n#include \\\"pipe.h\\\"\\n\";\n");
    assert_passes("#define ZERO \"/dev/zero\"\nint fd = open(ZERO, 0);\n");
    assert_passes("#pragma include \"pipe.h\"\n");
    assert_passes("#include <vector>\n");
    assert_passes("#include \"lab.h\"\n#include \"good.h\"\n#include \"none.h\"\n");
    assert_passes("#include \"loop.h\"\n#include \"\"\n#include \"pipe.h\n#include <pipe.h\n");
    assert_passes("#include");
    assert_passes("#");
    assert_passes("/*");
    assert_passes("\"\\");
    assert_passes("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_file_is_named),
        cmocka_unit_test(what_headers_include_counts_too),
        cmocka_unit_test(an_include_is_found_however_it_is_written),
        cmocka_unit_test(what_only_looks_like_one_passes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
