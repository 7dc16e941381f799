/* The glossary: every instruction that our kernels compile to has a sentence, in both languages. */
#include "tui/glossary.h"
#include "tui/listing.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct glossary *open_ours(void)
{
    struct glossary *glossary = NULL;
    struct err err = {0};
    if (!glossary_open(&glossary, ".", &err))
        fail_msg("%s", err.text);
    return glossary;
}

static void check(const struct glossary *glossary, enum lab_listing kind, const char *opcode,
                  const char *want)
{
    struct buf out = {0};
    assert_int_equal(glossary_explain_opcode(glossary, kind, opcode, strlen(opcode), &out),
                     want != NULL);
    if (strcmp(buf_str(&out), want ? want : "") != 0)
        fail_msg("\n got %s\nwant %s", buf_str(&out), want ? want : "");
    buf_free(&out);
}

static void the_longest_name_counts(void **state)
{
    (void)state;
    struct glossary *glossary = open_ours();
    check(glossary, LISTING_PTX, "shl.b32", "shl: Shifts left.");
    check(glossary, LISTING_PTX, "fma.rn.f32",
          "fma: a*b+c with a single rounding. · .rn: rounds to the nearest, ties to even");
    check(glossary, LISTING_PTX, "cp.async.commit_group",
          "cp.async.commit_group: Closes the group of this thread's asynchronous copies that were "
          "started since the last commit.");
    check(glossary, LISTING_SASS, "IMAD.WIDE.U32",
          "IMAD.WIDE: 32 x 32 bits, plus 64 bits: usual for addresses.");
    check(glossary, LISTING_SASS, "LDGSTS.E.BYPASS.128",
          "LDGSTS: Copies from global to shared memory asynchronously; no register holds the data "
          "on its "
          "way: cp.async. · .E: 64-bit address · .BYPASS: past L1 · .128: 16 bytes per lane");
    check(glossary, LISTING_SASS, "shl", NULL);
    check(glossary, LISTING_PTX, "LDGSTS", NULL);
    check(glossary, LISTING_PTX, "", NULL);
    check(glossary, LISTING_PTX, "...", NULL);
    check(NULL, LISTING_PTX, "shl", NULL);
    glossary_close(glossary);
}

static void lines_name_their_registers(void **state)
{
    (void)state;
    struct glossary *glossary = open_ours();
    struct listing listing = {0};
    struct buf out = {0};
    static const char ptx[] = "mov.u32 %r1, %ctaid.y;\nret;\n// x\n";
    static const char sass[] = "/*0000*/ S2R R0, SR_TID.X ;\n";
    listing_build(&listing, LISTING_PTX, ptx, sizeof ptx - 1, NULL);
    assert_true(glossary_explain(glossary, LISTING_PTX, &listing.doc.lines[0], &out));
    assert_string_equal(buf_str(&out), "mov: Copies a value, or takes the address of a variable. · "
                                       "%ctaid: blockIdx");
    assert_true(glossary_explain(glossary, LISTING_PTX, &listing.doc.lines[1], &out));
    listing_free(&listing);
    listing_build(&listing, LISTING_SASS, sass, sizeof sass - 1, NULL);
    buf_clear(&out);
    assert_true(glossary_explain(glossary, LISTING_SASS, &listing.doc.lines[0], &out));
    assert_non_null(strstr(buf_str(&out), "SR_TID: threadIdx"));
    listing_free(&listing);
    buf_free(&out);
    glossary_close(glossary);
}

/* Base names of what nvcc 13.0 makes of our kernels for sm_75 to sm_90. */
static void nothing_is_missing(void **state)
{
    (void)state;
    static const char ptx[] =
        "abs activemask add and atom bar barrier bfi bfind bra brev call clz copysign cp cvt cvta "
        "div ex2 "
        "exit fence fma ld ldmatrix lg2 lop3 mad match max mbarrier membar min mma mov mul "
        "nanosleep neg "
        "not or popc prmt rcp red redux rem ret rsqrt selp set setp shf shfl shl shr sin cos sqrt "
        "st "
        "stmatrix sub tanh testp trap vote wgmma wmma xor isspacep bfe sad mul24 mad24 dp4a elect";
    static const char sass[] = "ARRIVES ATOM ATOMG ATOMS B2R BAR BMOV BRA BREV BSSY BSYNC CALL "
                               "CCTL CGAERRBAR CS2R DADD DEPBAR "
                               "DFMA DMUL DSETP ENDCOLLECTIVE ERRBAR EXIT F2F F2FP F2I FADD FCHK "
                               "FENCE FFMA FLO FMNMX FMUL FRND FSEL "
                               "FSETP HADD2 HFMA2 HMMA HMUL2 I2F I2FP IABS IADD3 IMAD IMNMX ISETP "
                               "LD LDC LDG LDGDEPBAR LDGSTS LDL "
                               "LDS LDSM LEA LEPC LOP3 MATCH MEMBAR MOV MUFU NANOSLEEP NOP P2R "
                               "PLOP3 POPC PRMT QSPC R2P R2UR RED REDG "
                               "REDUX RET S2R S2UR SEL SHF SHFL ST STG STL STS SYNCS UBLKCP UBREV "
                               "UFLO UIADD3 UIMAD UISETP ULDC ULEA "
                               "ULOP3 UMOV UPOPC USEL USHF UTMALDG UTMASTG VIADD VIADDMNMX VIMNMX "
                               "VOTE VOTEU WARPGROUP WARPSYNC YIELD";
    struct glossary *glossary = open_ours();
    for (int kind = LISTING_PTX; kind <= LISTING_SASS; kind++) {
        char *names = mem_strdup(kind == LISTING_PTX ? ptx : sass), *place = NULL;
        for (char *name = strtok_r(names, " ", &place); name; name = strtok_r(NULL, " ", &place)) {
            struct buf out = {0};
            if (!glossary_explain_opcode(glossary, (enum lab_listing)kind, name, strlen(name),
                                         &out))
                fail_msg("%s is not in the glossary", name);
            buf_free(&out);
        }
        free(names);
    }
    glossary_close(glossary);
}

static void entries_are_short_and_clean(void **state)
{
    (void)state;
    struct buf text = {0};
    struct err err = {0};
    assert_true(file_read(&text, "assets/glossary.json", 4 << 20, &err));
    json_t *root = json_loadb(text.data, text.len, 0, NULL), *section, *entry;
    const char *section_name, *name;
    json_object_foreach(root, section_name, section) {
        json_object_foreach(section, name, entry) {
            const char *en = json_string_value(json_object_get(entry, "en"));
            const char *zh = json_string_value(json_object_get(entry, "zh"));
            assert_true(clean_is(en, strlen(en)) && clean_is(zh, strlen(zh)));
            if (strlen(en) > 170 || text_columns(zh, strlen(zh)) > 150 || !*en || !*zh)
                fail_msg("%s: %zu bytes, %d columns", name, strlen(en),
                         text_columns(zh, strlen(zh)));
            if (strcmp(section_name, "ptx") == 0 || strcmp(section_name, "sass") == 0)
                assert_int_equal(en[strlen(en) - 1], '.');
        }
    }
    json_decref(root);
    buf_free(&text);
}

static void chinese_when_asked(void **state)
{
    (void)state;
    struct glossary *glossary = open_ours();
    struct err err = {0};
    if (!msg_load(".", "zh", &err)) {
        glossary_close(glossary);
        skip();
    }
    check(glossary, LISTING_PTX, "shl.b32", "shl: 左移。");
    assert_true(msg_load(".", "en", &err));
    glossary_close(glossary);
}

static void a_broken_file_is_named(void **state)
{
    (void)state;
    char root[] = "/tmp/stride-glossary-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *folder = path_join(root, "assets"), *path = path_join(folder, "glossary.json");
    struct err err = {0};
    assert_true(file_make_dirs(folder, &err));
    static const char *const texts[] = {"{", "[]", "{\"ptx\": {\"a\": {\"en\": \"x\"}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct glossary *glossary = NULL;
        assert_true(file_write(path, texts[i], strlen(texts[i]), false, &err));
        assert_false(glossary_open(&glossary, root, &err));
        assert_non_null(strstr(err.text, "glossary.json"));
    }
    unlink(path);
    rmdir(folder);
    rmdir(root);
    free(path);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_name_counts), cmocka_unit_test(lines_name_their_registers),
        cmocka_unit_test(nothing_is_missing),      cmocka_unit_test(entries_are_short_and_clean),
        cmocka_unit_test(chinese_when_asked),      cmocka_unit_test(a_broken_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
