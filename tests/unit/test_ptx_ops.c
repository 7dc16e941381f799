/* Every form of ops.def that maps registers to registers, on edge cases and noise, in every build
 * of the interpreter, against scalar C (tests/ptx/oracle*.h). A form without a test is a failure.
 *
 * Arguments: parts of opcodes to try alone. */
#include "harness/ptx/handlers.h"
#include "tests/ptx/columns.h"
#include "tests/ptx/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { COUNT = 256, OPCODES = 8192, TRIED = 40, COMPLAINTS = 3 };

static char *opcodes[OPCODES];
static unsigned opcode_count;
static unsigned failures, runs;
static char **only;

static bool collect(const char *opcode, void *context)
{
    struct form_match match;
    const struct form *form = context;
    if (opcode_count == OPCODES)
        return false;
    if (form_find(&match, opcode) && match.form == form)
        opcodes[opcode_count++] = mem_printf("%s", opcode);
    return true;
}

static void try_on(const char *opcode, const struct form_match *m, const struct kernel_shape *s,
                   enum ptx_isa isa)
{
    static uint64_t in[KERNEL_SOURCES * COUNT], out[2 * KERNEL_RESULTS * COUNT];
    struct buf text = {0};
    unsigned complaints = 0;
    char why[512];
    columns_fill(in, COUNT, m, s, 7 + runs++);
    kernel_text(&text, "sm_90", opcode, s, COUNT);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = COUNT,
                          .isa = isa};
    if (!ptx_job_run(&job)) {
        print_error("%s: %s\n", opcode, job.message);
        failures++;
        goto done;
    }
    for (unsigned e = 0; e < COUNT && complaints < COMPLAINTS; e++) {
        if (!columns_judge(in, out, COUNT, e, m, s, false, why, sizeof why)) {
            print_error("%s (build %d): %s\n", opcode, isa, why);
            complaints++;
        }
    }
    failures += complaints > 0;
done:
    buf_free(&text);
}

static void try_opcode(const char *opcode, unsigned number)
{
    static const uint64_t tables[] = {0x96, 0xe8, 0xca, 0x80, 0xfe, 0x1b, 0, 0xff};
    struct form_match m;
    struct kernel_shape s;
    if (!form_find(&m, opcode) || !kernel_shape(&s, &m)) {
        print_error("%s: no kernel\n", opcode);
        failures++;
        return;
    }
    s.negated = number % 2 && strchr(m.form->operands, 'p') && strchr(m.form->operands, '?');
    for (unsigned i = 0; i < (s.has_immediate ? 8u : 1u); i++) {
        s.immediate = tables[i];
        for (int isa = PTX_ISA_BASE; isa <= PTX_ISA_AVX512; isa++)
            try_on(opcode, &m, &s, (enum ptx_isa)isa);
    }
}

static bool wanted(const char *opcode)
{
    for (char **part = only; part && *part; part++)
        if (strstr(opcode, *part))
            return true;
    return !only || !*only;
}

static void test_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < form_count; i++) {
        if (!columns_form(&forms[i]))
            continue;
        opcode_count = 0;
        form_expand(forms[i].pattern, collect, (void *)(uintptr_t)&forms[i]);
        unsigned step = opcode_count > TRIED ? opcode_count / TRIED : 1;
        unsigned tried = 0, first = opcode_count > TRIED ? (unsigned)i % step : 0;
        for (unsigned k = first; k < opcode_count; k += step, tried++)
            if (wanted(opcodes[k]))
                try_opcode(opcodes[k], tried);
        if (!tried) {
            print_error("no opcode reaches %s\n", forms[i].pattern);
            failures++;
        }
        for (unsigned k = 0; k < opcode_count; k++)
            free(opcodes[k]);
    }
    print_message("%u runs\n", runs);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers)};
    only = argc > 1 ? argv + 1 : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
