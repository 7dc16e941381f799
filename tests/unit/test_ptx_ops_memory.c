/* Loads and stores in every space, parameters, atomics, addresses: each form in a kernel of its
 * own. */
#include "ptx_trial.h"

/* ---- loads and stores ---- */

static const char *type_word(const struct trial *t, unsigned *bytes, bool *is_signed)
{
    static char word[16];
    const struct form_word *last = &t->m->words[t->m->word_count - 1];
    snprintf(word, sizeof word, "%.*s", (int)last->len, last->text);
    *bytes = (unsigned)strtoul(word + strcspn(word, "0123456789"), NULL, 10) / 8;
    *is_signed = word[0] == 's';
    return word;
}

static unsigned vector_of(const struct trial *t)
{
    return has(t, "v4") ? 4 : has(t, "v2") ? 2 : 1;
}

/* `%a` and friends: an address register for the thread's own place in the opcode's space, filled
 * with its raw bytes. Generic addresses are shared ones for even threads. */
static const char *own_place(struct trial *t, bool writes)
{
    if (has(t, "shared") || has(t, "shared::cta") || has(t, "shared::cluster")) {
        for (unsigned w = 0; w < RAW; w += 4)
            emit(t, "ld.global.u32 %%z, [%%raw+%u]; st.shared.u32 [%%s+%u], %%z;\n", w, w);
        return "%s";
    }
    if (has(t, "local")) {
        emit(t, "mov.u64 %%u6, l;\n");
        for (unsigned w = 0; w < RAW; w += 4)
            emit(t, "ld.global.u32 %%z, [%%raw+%u]; st.local.u32 [%%u6+%u], %%z;\n", w, w);
        return "%u6";
    }
    if (has(t, "const")) {
        emit(t, "mov.u64 %%u7, table;\n");
        return "%u7";
    }
    if (writes)
        for (unsigned w = 0; w < RAW; w += 4)
            emit(t, "ld.global.u32 %%z, [%%raw+%u]; st.global.u32 [%%p+%u], %%z;\n", w, w);
    if (has(t, "global"))
        return writes ? "%p" : "%raw";
    for (unsigned w = 0; w < RAW; w += 4)
        emit(t, "ld.global.u32 %%z, [%%raw+%u]; st.shared.u32 [%%s+%u], %%z;\n", w, w);
    emit(t,
         "cvt.u64.u32 %%u7, %%s; cvta.shared.u64 %%u7, %%u7; and.b32 %%z, %%i, 1;\n"
         "setp.ne.u32 %%c7, %%z, 0; selp.b64 %%u7, %s, %%u7, %%c7;\n",
         writes ? "%p" : "%raw");
    return "%u7";
}

static const uint8_t *place_bytes(const struct trial *t, unsigned i)
{
    static const uint8_t table[64] = {1,  130, 3,  132, 5,  134, 7,  136, 9,  138,
                                      11, 140, 13, 142, 15, 144, 17, 18,  19, 20};
    return has(t, "const") ? table : t->in.raw[i];
}

static void register_list(struct trial *t, unsigned vec, unsigned bytes)
{
    static const char *const names[9] = {[1] = "%r", [2] = "%h", [4] = "%r", [8] = "%u"};
    emit(t, "%s", vec > 1 ? "{" : "");
    for (unsigned v = 0; v < vec; v++)
        emit(t, "%s%s%u", v ? "," : "", names[bytes], v);
    emit(t, "%s", vec > 1 ? "}" : "");
}

static bool load(struct trial *t)
{
    unsigned bytes, vec = vector_of(t);
    bool is_signed;
    static const char *const widen[9] = {[1] = "cvt.u64.u32 %%y%u, %%r%u;\n",
                                         [2] = "cvt.u64.u16 %%y%u, %%h%u;\n",
                                         [4] = "cvt.u64.u32 %%y%u, %%r%u;\n",
                                         [8] = "mov.b64 %%y%u, %%u%u;\n"};
    type_word(t, &bytes, &is_signed);
    if (bytes * vec > 16)
        return false;
    const char *at = own_place(t, false);
    emit(t, "%s ", t->opcode);
    register_list(t, vec, bytes);
    emit(t, ", [%s+16];\n", at);
    for (unsigned v = 0; v < vec; v++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        emit(t, widen[bytes], v, v);
#pragma GCC diagnostic pop
        for (unsigned i = 0; i < N; i++) {
            uint64_t x = 0;
            memcpy(&x, place_bytes(t, i) + 16 + v * bytes, bytes);
            if (bytes == 1 && is_signed)
                x = (uint64_t)(int64_t)(int8_t)x & UINT32_MAX;
            t->want.y[v][i] = x;
        }
    }
    return true;
}

static bool store(struct trial *t)
{
    unsigned bytes, vec = vector_of(t);
    bool is_signed;
    type_word(t, &bytes, &is_signed);
    if (bytes * vec > 16)
        return false;
    const char *at = own_place(t, true);
    for (unsigned v = 0; v < 4; v++)
        emit(t, "cvt.u32.u64 %%r%u, %%x%u; cvt.u16.u64 %%h%u, %%x%u; mov.b64 %%u%u, %%x%u;\n", v, v,
             v, v, v, v);
    emit(t, "%s [%s+16], ", t->opcode, at);
    register_list(t, vec, bytes);
    bool local = has(t, "local"), shared = at[1] == 's';
    emit(t, ";\n");
    for (unsigned k = 0; k < 4; k++)
        emit(t, "ld%s.u64 %%y%u, [%s+%u];\n",
             local    ? ".local"
             : shared ? ".shared"
                      : "",
             k, at, 8 + 8 * k);
    for (unsigned i = 0; i < N; i++) {
        uint8_t flat[RAW];
        memcpy(flat, t->in.raw[i], RAW);
        for (unsigned v = 0; v < vec; v++)
            memcpy(flat + 16 + v * bytes, &t->in.x[v][i], bytes);
        for (unsigned k = 0; k < 4; k++)
            memcpy(&t->want.y[k][i], flat + 8 + 8 * k, 8);
    }
    return true;
}

/* Arguments and results of a call, of 16 bytes each; the form loads or stores both ways. */
static bool parameters(struct trial *t)
{
    unsigned bytes, vec = vector_of(t);
    bool is_signed, loads = t->opcode[0] == 'l';
    type_word(t, &bytes, &is_signed);
    if (bytes * vec > 16 || bytes == 1 || has(t, "param::entry"))
        return false;
    struct buf body = t->body;
    t->body = (struct buf){0};
    emit(t, ".func (.param .align 16 .b8 r[16]) f(.param .align 16 .b8 a[16])\n{\n"
            ".reg .b64 %%u<8>; .reg .b32 %%r<8>; .reg .b16 %%h<8>;\n"
            "ld.param.u64 %%u4, [a]; ld.param.u64 %%u5, [a+8]; st.param.u64 [r], %%u5; "
            "st.param.u64 [r+8], %%u4;\n");
    emit(t, loads ? "%s " : "ld.param.%s",
         loads      ? t->opcode
         : vec == 4 ? "v4."
         : vec == 2 ? "v2."
                    : "");
    if (!loads)
        emit(t, "b%u ", bytes * 8);
    register_list(t, vec, bytes);
    emit(t, ", [a];\n");
    if (loads)
        emit(t, "st.param.%sb%u [r], ", vec == 4 ? "v4." : vec == 2 ? "v2." : "", bytes * 8);
    else
        emit(t, "%s [r], ", t->opcode);
    register_list(t, vec, bytes);
    emit(t, ";\nret;\n}\n");
    t->functions = t->body;
    t->body = body;
    emit(t, "{ .param .align 16 .b8 a[16]; .param .align 16 .b8 r[16];\n"
            "st.param.u64 [a], %%x0; st.param.u64 [a+8], %%x1;\n"
            "call.uni (r), f, (a);\nld.param.u64 %%y0, [r]; ld.param.u64 %%y1, [r+8]; }\n");
    for (unsigned i = 0; i < N; i++) {
        uint64_t flat[2] = {t->in.x[1][i], t->in.x[0][i]};
        uint64_t from[2] = {t->in.x[0][i], t->in.x[1][i]};
        memcpy(flat, from, bytes * vec);
        t->want.y[0][i] = flat[0];
        t->want.y[1][i] = flat[1];
    }
    return true;
}

/* ---- atomics ---- */

static double half_number(const char *type, uint64_t bits)
{
    return of_narrow(type[0] == 'f' ? &narrow_f16 : &narrow_bf16, bits & 0xffff);
}

static uint64_t half_sum(const char *type, uint64_t a, uint64_t b)
{
    return want_narrow(type[0] == 'f' ? 'h' : 'B', half_number(type, a) + half_number(type, b),
                       FE_TONEAREST)
        .bits;
}

static uint64_t atom_result(const struct trial *t, const char *type, uint64_t old, uint64_t b,
                            uint64_t c, unsigned bits)
{
    struct kind k = {type[0], bits, false};
    old = low_bits(old, bits);
    b = low_bits(b, bits);
    if (has(t, "and"))
        return old & b;
    if (has(t, "or"))
        return old | b;
    if (has(t, "xor"))
        return old ^ b;
    if (has(t, "exch"))
        return b;
    if (has(t, "cas"))
        return old == b ? low_bits(c, bits) : old;
    if (has(t, "inc"))
        return old >= b ? 0 : old + 1;
    if (has(t, "dec"))
        return old == 0 || old > b ? b : old - 1;
    if (has(t, "min") || has(t, "max")) {
        bool less = number(old, k) < number(b, k);
        return less == has(t, "min") ? old : b;
    }
    if (!strcmp(type, "f32"))
        return of_f32(as_f32(old) + as_f32(b));
    if (!strcmp(type, "f64"))
        return of_f64(as_f64(old) + as_f64(b));
    if (strstr(type, "x2"))
        return half_sum(type, old, b) | half_sum(type, old >> 16, b >> 16) << 16;
    if (strstr(type, "f16"))
        return half_sum(type, old, b);
    return low_bits((u128)old + b, bits);
}

/* Operands for which the sum is a plain number. */
static void atom_operands(struct trial *t, const char *type)
{
    for (unsigned i = 0; i < N; i++) {
        for (unsigned j = 0; j < 2; j++) {
            int n = (int)(t->in.x[j][i] % 200) - 100;
            if (!strcmp(type, "f32"))
                t->in.x[j][i] = of_f32((float)n * 0.37f);
            else if (!strcmp(type, "f64"))
                t->in.x[j][i] = of_f64(n * 0.37);
            else if (type[0] == 'b' && type[1] == 'f')
                t->in.x[j][i] = want_narrow('B', n * 0.25, FE_TONEAREST).bits * 0x10001;
            else if (strstr(type, "f16"))
                t->in.x[j][i] = want_narrow('h', n * 0.37, FE_TONEAREST).bits * 0x10001;
            else if (i % 4 == 0)
                t->in.x[j][i] = t->in.x[0][i] + (i % 8 ? 0 : 1);
        }
    }
}

static bool atomic(struct trial *t)
{
    char type[16];
    unsigned bytes;
    bool is_signed, shared, red = t->opcode[0] == 'r';
    snprintf(type, sizeof type, "%s", type_word(t, &bytes, &is_signed));
    if (strstr(type, "x2"))
        bytes = 4;
    else if (strstr(type, "f16"))
        bytes = 2;
    atom_operands(t, type);
    const char *at = own_place(t, true), *reg = bytes == 8 ? "%u" : bytes == 4 ? "%r" : "%h";
    shared = at[1] == 's';
    for (unsigned v = 0; v < 3; v++)
        emit(t, "cvt.u32.u64 %%r%u, %%x%u; cvt.u16.u64 %%h%u, %%x%u; mov.b64 %%u%u, %%x%u;\n", v, v,
             v, v, v, v);
    emit(t, "st%s.b%u [%s+8], %s0;\n%s ", shared ? ".shared" : "", bytes * 8, at, reg, t->opcode);
    if (!red)
        emit(t, "%s4, ", reg);
    emit(t, "[%s+8], %s1", at, reg);
    if (has(t, "cas"))
        emit(t, ", %s2", reg);
    emit(t, ";\nld%s.b%u %s5, [%s+8];\n", shared ? ".shared" : "", bytes * 8, reg, at);
    for (unsigned k = 0; k < 2; k++) {
        if (red && !k)
            continue;
        if (bytes == 8)
            emit(t, "mov.b64 %%y%u, %%u%u;\n", k, 4 + k);
        else
            emit(t, "cvt.u64.u%u %%y%u, %s%u;\n", bytes * 8, k, reg, 4 + k);
    }
    for (unsigned i = 0; i < N; i++) {
        t->want.y[0][i] = red ? 0 : low_bits(t->in.x[0][i], bytes * 8);
        t->want.y[1][i] =
            atom_result(t, type, t->in.x[0][i], t->in.x[1][i], t->in.x[2][i], bytes * 8);
    }
    return true;
}

/* ---- addresses ---- */

static bool addresses(struct trial *t)
{
    if (has(t, "mapa")) {
        emit(t, "%s %%r1, %%s, 0; st.shared.u64 [%%r1], %%x0; ld.shared.u64 %%y0, [%%s];\n",
             t->opcode);
        memcpy(t->want.y[0], t->in.x[0], sizeof t->want.y[0]);
        return true;
    }
    emit(t, "mov.u64 %%u0, s; cvta.shared.u64 %%u0, %%u0; mov.u64 %%u1, l; "
            "cvta.local.u64 %%u1, %%u1; mov.u64 %%u2, table; cvta.const.u64 %%u2, %%u2;\n");
    for (unsigned k = 0; k < 3; k++)
        emit(t, "%s %%c0, %%u%u; selp.u64 %%y%u, 1, 0, %%c0;\n", t->opcode, k, k);
    emit(t, "%s %%c0, %%in; selp.u64 %%y3, 1, 0, %%c0;\n", t->opcode);
    for (unsigned i = 0; i < N; i++) {
        t->want.y[0][i] = has(t, "shared") || has(t, "shared::cta");
        t->want.y[1][i] = has(t, "local");
        t->want.y[2][i] = has(t, "const");
        t->want.y[3][i] = has(t, "global");
    }
    return true;
}

static bool convert_address(struct trial *t)
{
    bool shared = has(t, "shared") || has(t, "shared::cta"), local = has(t, "local");
    bool constant = has(t, "const"), back = has(t, "to");
    const char *space = shared ? "shared" : local ? "local" : constant ? "const" : "global";
    const char *name = shared ? "s" : local ? "l" : constant ? "table" : "%p";
    if (has(t, "param"))
        return false;
    emit(t, "mov.u64 %%u0, %s;\n", name);
    if (back)
        emit(t, "cvta.%s.u64 %%u1, %%u0; %s %%u2, %%u1; sub.u64 %%y0, %%u2, %%u0;\n", space,
             t->opcode);
    else
        emit(t, "%s %%u1, %%u0; cvta.to.%s.u64 %%u2, %%u1; sub.u64 %%y0, %%u2, %%u0;\n", t->opcode,
             space);
    if (!constant && !shared)
        emit(t, "st.u64 [%%u1], %%x1; ld.%s.u64 %%y1, [%%u0];\n", space);
    for (unsigned i = 0; i < N; i++)
        t->want.y[1][i] = constant || shared ? 0 : t->in.x[1][i];
    return true;
}

/* ---- which kernel a form gets ---- */

static bool build_form(struct trial *t)
{
    switch (t->m->form->rule) {
    case RULE_LOAD:
        return load(t);
    case RULE_STORE:
        return store(t);
    case RULE_LOAD_PARAM:
    case RULE_STORE_PARAM:
        return parameters(t);
    case RULE_ATOM:
    case RULE_RED:
        return atomic(t);
    case RULE_CVTA:
        return convert_address(t);
    default:
        break;
    }
    switch (t->m->form->handler) {
    case H_isspacep:
    case H_mov_32: /* mapa */
        return addresses(t);
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    return trial_main(argv, FAMILY_MEMORY, build_form);
}
