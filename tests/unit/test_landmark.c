/* Landmarks are counted where they are instructions, in both listings, and nowhere else. */
#include "harness/landmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static unsigned count(const char *listing, const char *match)
{
    return landmark_count(listing, strlen(listing), match);
}

static void ptx_is_counted(void **state)
{
    (void)state;
    static const char ptx[] =
        "// cp.async.cg.shared.global in a comment\n"
        "\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n"
        "\t{ cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.commit_group; }\n"
        "$L__BB0_2:\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n"
        "\t@!%p1 cp.async.cg.shared.global [%r1], [%rd1], 16;\n"
        "\tmov.b32 %cp.async.cg.shared.global, 1;\n"
        "\t/* cp.async.commit_group */ cp.async.commit_group;\n"
        "\tcp.async.cg.shared.global [%r1], [%rd1], 16";
    assert_int_equal(count(ptx, "cp.async.cg.shared.global"), 5);
    assert_int_equal(count(ptx, "cp.async.commit_group"), 2);
    assert_int_equal(count(ptx, "cp.async"), 7);
    assert_int_equal(count(ptx, ""), 0);
    assert_int_equal(
        count("W: mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], 0;", "mbarrier.try_wait"), 1);
    assert_int_equal(
        count("cp.async.bulk.shared::cluster.global [%r1], [%rd1], 16;", "cp.async.bulk"), 1);
    assert_int_equal(count("", "cp.async"), 0);
    assert_int_equal(count("cp.asy", "cp.async"), 0);
    assert_int_equal(count("@", "cp.async") + count("/*", "x") + count("{ ; }}", "x"), 0);
}

static void sass_is_counted(void **state)
{
    (void)state;
    static const char sass[] =
        "\t//## File \"/kernel.cu\", line 5\n"
        "        /*0110*/              @!PT LDS RZ, [RZ] ;\n"
        "        /*0140*/                   LDGSTS.E.BYPASS.128 [R3], desc[UR6][R4.64] ;\n"
        "        /*0170*/                   LDGDEPBAR ;\n"
        ".L_x_0:\n"
        "        /*0180*/               @P0 LDGSTS.E.BYPASS.128 [R3], desc[UR6][R4.64] ;    /* "
        "0x00000a00ff017b82 */\n"
        "                                                                                /* "
        "0x000fe20000000800 */\n"
        "        /*01c0*/                   DEPBAR.LE SB0, 0x1 ;\n";
    assert_int_equal(count(sass, "LDGSTS"), 2);
    assert_int_equal(count(sass, "LDGDEPBAR"), 1);
    assert_int_equal(count(sass, "DEPBAR.LE"), 1);
    assert_int_equal(count(sass, "LDS"), 1);
    assert_int_equal(count(sass, "RZ"), 0);
}

static void a_record_says_whether_it_is_enough(void **state)
{
    (void)state;
    char name[] = "cp.async", match[] = "cp.async", since[] = "8.0";
    struct lab_landmark landmark = {.name = name, .match = match, .at_least = 2, .since = since};
    json_t *few = landmark_json(&landmark, 1), *enough = landmark_json(&landmark, 2);
    assert_true(json_is_false(json_object_get(few, "ok")));
    assert_true(json_is_true(json_object_get(enough, "ok")));
    assert_string_equal(json_string_value(json_object_get(few, "listing")), "ptx");
    json_decref(few);
    json_decref(enough);
    assert_true(landmark_applies(&landmark, 80));
    assert_false(landmark_applies(&landmark, 75));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_is_counted),
        cmocka_unit_test(sass_is_counted),
        cmocka_unit_test(a_record_says_whether_it_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
