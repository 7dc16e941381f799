/* The text of a kernel that runs one instruction form on columns of 64-bit slots: source j of
 * element e is in[j * count + e], result k goes to out[k * count + e]. A second run of the
 * instruction under a guard that odd elements alone pass goes to out[(results + k) * count + e],
 * where even ones keep a marker.
 *
 * Texts are appended to the caller's buffer.
 *
 * It works for forms whose operands are registers and numbers; memory has kernels of its own. */
#ifndef STRIDE_TESTS_PTX_KERNEL_H
#define STRIDE_TESTS_PTX_KERNEL_H

#include "harness/base/buf.h"
#include "harness/ptx/forms.h"
#include "harness/ptx/lower.h"

#include <stdlib.h>
#include <string.h>

enum { KERNEL_SOURCES = 5, KERNEL_RESULTS = 3 };

#define KERNEL_MARKER 0x5a5a5a5au

/* What an instruction takes: sizes in bytes, 0 for a predicate. */
struct kernel_shape {
    unsigned sources[KERNEL_SOURCES], source_count;
    unsigned results[KERNEL_RESULTS], result_count;
    bool second_predicate; /* result 1 stands behind a bar */
    bool is_float[KERNEL_SOURCES];
    bool negated;       /* the predicate source is written !p */
    bool has_immediate; /* the last source is a number in the text */
    uint64_t immediate;
    bool carry_in, carry_out; /* one source, one result more */
};

static inline unsigned kernel_cvt_bytes(const struct form_word *word)
{
    unsigned bytes = lower_type_bytes(word);
    return bytes < 2 ? 2 : bytes;
}

/* Operands by the row's signature; by the opcode's types where the row has none. False when the
 * form is not of this sort. */
static inline bool kernel_shape(struct kernel_shape *s, const struct form_match *m)
{
    const struct form *form = m->form;
    const char *spec = form->operands;
    const struct form_word *to = &m->words[m->word_count - 2], *from = to + 1;
    memset(s, 0, sizeof *s);
    if (form->rule >= RULE_CVT_INT_INT && form->rule <= RULE_CVT_FLOAT_FLOAT) {
        s->results[s->result_count++] = kernel_cvt_bytes(to);
        s->sources[s->source_count++] = kernel_cvt_bytes(from);
        return true;
    }
    if (form->rule == RULE_MOV) {
        s->results[s->result_count++] = s->sources[s->source_count++] = form->value;
        return true;
    }
    for (; *spec; spec += strcspn(spec, " "), spec += *spec == ' ') {
        bool optional = spec[strcspn(spec, " ") - 1] == '?';
        if (*spec == '=') {
            s->results[s->result_count++] = spec[1] == 'p'   ? 0
                                            : spec[1] == 'x' ? lower_type_bytes(to)
                                                             : (unsigned)(spec[1] - '0');
            if (spec[2] == '|') {
                s->second_predicate = true;
                s->results[s->result_count++] = 0;
            }
        } else if (*spec == 'p' || *spec == 'q') {
            if (!optional || m->mode2)
                s->sources[s->source_count++] = 0;
        } else if (*spec == 'f') {
            s->is_float[s->source_count] = true;
            s->sources[s->source_count++] = (unsigned)(spec[1] - '0');
        } else if (*spec == '#') {
            s->has_immediate = true;
            s->sources[s->source_count++] = 4;
        } else if (*spec >= '2' && *spec <= '8') {
            s->sources[s->source_count++] = (unsigned)(*spec - '0');
        } else {
            return false;
        }
    }
    s->carry_in = !strncmp(form->pattern, "addc", 4) || !strncmp(form->pattern, "subc", 4) ||
                  !strncmp(form->pattern, "madc", 4);
    s->carry_out = form_has(m, "cc");
    if (s->carry_in)
        s->sources[s->source_count++] = 4;
    if (s->carry_out)
        s->results[s->result_count++] = 4;
    return s->result_count > 0;
}

static inline const char *kernel_move(unsigned bytes, bool to_slot)
{
    static const char *const moves[2][9] = {
        {[2] = "cvt.u16.u64", [4] = "cvt.u32.u64", [8] = "mov.u64"},
        {[2] = "cvt.u64.u16", [4] = "cvt.u64.u32", [8] = "mov.u64"}};
    return moves[to_slot][bytes];
}

static inline void kernel_results(struct buf *text, const struct kernel_shape *s, unsigned from)
{
    for (unsigned k = 0; k < s->result_count; k++) {
        if (s->results[k])
            buf_printf(text, "%s %%v, %%d%u; ", kernel_move(s->results[k], true), k);
        else
            buf_printf(text, "selp.u64 %%v, 1, 0, %%d%u; ", k);
        buf_printf(text, "add.u64 %%at, %%at%s, %%step; st.global.u64 [%%at], %%v;\n",
                   k || from ? "" : "0");
    }
}

static inline void kernel_instruction(struct buf *text, const char *opcode,
                                      const struct kernel_shape *s, const char *guard)
{
    unsigned sources = s->source_count - s->carry_in, results = s->result_count - s->carry_out;
    bool subtracts = !strncmp(opcode, "sub", 3);
    if (s->carry_in)
        buf_printf(text, "%s.cc.u32 %%x, %s;\n", subtracts ? "sub" : "add",
                   subtracts ? "0, %c" : "%c, 0xffffffff");
    buf_printf(text, "%s%s ", guard, opcode);
    for (unsigned k = 0; k < results; k++)
        buf_printf(text, "%s%%d%u", !k ? "" : s->second_predicate ? "|" : ", ", k);
    for (unsigned j = 0; j < sources; j++) {
        if (s->has_immediate && j + 1 == sources)
            buf_printf(text, ", %llu", (unsigned long long)s->immediate);
        else
            buf_printf(text, ", %s%%s%u", s->negated && !s->sources[j] ? "!" : "", j);
    }
    buf_add_str(text, ";\n");
    if (s->carry_out)
        buf_printf(text, "%s.u32 %%d%u, 0, 0; and.b32 %%d%u, %%d%u, 1;\n",
                   subtracts ? "subc" : "addc", results, results, results);
}

static inline void kernel_registers(struct buf *text, const char *name, unsigned index,
                                    unsigned bytes)
{
    if (bytes)
        buf_printf(text, ".reg .b%u %%%s%u; ", bytes * 8, name, index);
    else
        buf_printf(text, ".reg .pred %%%s%u; ", name, index);
}

static inline void kernel_text(struct buf *text, const char *target, const char *opcode,
                               const struct kernel_shape *s, unsigned count)
{
    buf_printf(text,
               ".version 8.7\n.target %s\n.address_size 64\n"
               ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
               ".reg .b64 %%in, %%at0, %%at, %%e, %%v, %%step; .reg .b32 %%i, %%t, %%x, %%c; "
               ".reg .pred %%odd, %%p;\n",
               target);
    for (unsigned j = 0; j < s->source_count; j++)
        kernel_registers(text, "s", j, s->sources[j]);
    for (unsigned k = 0; k < s->result_count; k++)
        kernel_registers(text, "d", k, s->results[k]);
    buf_printf(text,
               "\nld.param.u64 %%in, [in]; ld.param.u64 %%at0, [out];\n"
               "mov.u32 %%i, %%ctaid.x; mov.u32 %%t, %%ntid.x; mov.u32 %%x, %%tid.x;\n"
               "mad.lo.u32 %%i, %%i, %%t, %%x; mul.wide.u32 %%e, %%i, 8; mov.u64 %%step, %u;\n"
               "add.u64 %%in, %%in, %%e; add.u64 %%at0, %%at0, %%e; sub.u64 %%at0, %%at0, "
               "%%step;\nand.b32 %%t, %%i, 1; setp.ne.u32 %%odd, %%t, 0;\n",
               count * 8);
    for (unsigned j = 0; j < s->source_count; j++) {
        buf_printf(text, "ld.global.u64 %%v, [%%in+%u]; ", j * count * 8);
        if (s->sources[j])
            buf_printf(text, "%s %%s%u, %%v;\n", kernel_move(s->sources[j], false), j);
        else
            buf_printf(text, "setp.ne.u64 %%s%u, %%v, 0;\n", j);
    }
    if (s->carry_in)
        buf_printf(text, "mov.b32 %%c, %%s%u;\n", s->source_count - 1);
    kernel_instruction(text, opcode, s, "");
    kernel_results(text, s, 0);
    for (unsigned k = 0; k < s->result_count; k++) {
        if (s->results[k])
            buf_printf(text, "mov.b%u %%d%u, %u; ", s->results[k] * 8, k,
                       s->results[k] == 2 ? KERNEL_MARKER & 0xffff : KERNEL_MARKER);
        else
            buf_printf(text, "setp.eq.u32 %%d%u, 0, 0; ", k);
    }
    if (!s->carry_in && !s->carry_out) {
        buf_add_str(text, "\n");
        kernel_instruction(text, opcode, s, "@%odd ");
        kernel_results(text, s, 1);
    }
    buf_add_str(text, "ret;\n}\n");
}

#endif
