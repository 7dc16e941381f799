/* The forms that test_ptx_ops has no kernels for: loads and stores in every space, atomics, warp
 * operations, barriers and fences, asynchronous copies, mbarriers, control. Each runs in a kernel
 * of 64 threads between a common head and tail, and scalar C says what every thread must get. A
 * form without a test is a failure.
 *
 * A thread has four numbers, x0 to x3, 64 bytes of its own in memory (`%raw`), and gives four
 * numbers, y0 to y3.
 *
 * With STRIDE_PTX_ON=gpu the kernels run on the GPU instead: a test of the test. Arguments: parts
 * of opcodes to try alone. */
#include "harness/ptx/handlers.h"
#include "tests/ptx/columns.h"
#include "tests/ptx/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N = 64, RAW = 64, COLUMNS = 4, TRIED = 48 };

struct memory { /* of one launch, as the kernel sees it */
    uint64_t x[COLUMNS][N];
    uint8_t raw[N][RAW];
};

struct results {
    uint64_t y[COLUMNS][N];
    uint8_t raw[N][RAW];
};

struct trial {
    const char *opcode;
    const struct form_match *m;
    unsigned variant; /* number of the opcode in its row */
    unsigned threads;
    struct buf body, functions;
    struct memory in;
    struct results want, got;
};

static bool covered[1024];
static unsigned failures, runs;
static char **only;

static void emit(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void emit(struct trial *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_add_str(&t->body, line);
}

static bool has(const struct trial *t, const char *word)
{
    return form_has(t->m, word);
}

static const char head[] =
    ".reg .b64 %in, %out, %raw, %p, %q, %x<4>, %y<4>, %u<8>; .reg .b32 %i, %lane, %s, %z, %r<16>;\n"
    ".reg .b16 %h<8>; .reg .pred %c<8>;\n"
    ".shared .align 128 .b8 s[8192]; .shared .align 8 .b8 bars[64]; .local .align 16 .b8 l[64];\n"
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mov.u32 %lane, "
    "%laneid;\n"
    "mul.wide.u32 %p, %i, 64; add.u64 %raw, %in, %p; add.u64 %raw, %raw, 2048;\n"
    "mul.wide.u32 %q, %i, 8; add.u64 %q, %q, %in; mov.u32 %s, s; mad.lo.u32 %s, %i, 64, %s;\n"
    "ld.global.u64 %x0, [%q]; ld.global.u64 %x1, [%q+512]; ld.global.u64 %x2, [%q+1024];\n"
    "ld.global.u64 %x3, [%q+1536]; mov.u64 %y0, 0; mov.u64 %y1, 0; mov.u64 %y2, 0; mov.u64 %y3, "
    "0;\n"
    "add.u64 %p, %p, %out; add.u64 %p, %p, 2048;\n";
static const char tail[] =
    "\nE: mul.wide.u32 %q, %i, 8; add.u64 %q, %q, %out; st.global.u64 [%q], %y0;\n"
    "st.global.u64 [%q+512], %y1; st.global.u64 [%q+1024], %y2; st.global.u64 [%q+1536], %y3;\n"
    "ret;\n}\n";

/* Runs what was built and compares; `name` is said when it fails. */
static void run_trial(struct trial *t, enum ptx_isa isa, enum ptx_status status)
{
    struct buf text = {0};
    buf_printf(&text, ".version 8.7\n.target sm_90\n.address_size 64\n%s", buf_str(&t->functions));
    buf_printf(&text,
               ".const .align 16 .b8 table[64] = {1,130,3,132,5,134,7,136,9,138,11,140,13,142,15,"
               "144,17,18,19,20};\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n%s%s%s",
               head, buf_str(&t->body), tail);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = &t->in,
                          .out = &t->got,
                          .in_bytes = sizeof t->in,
                          .out_bytes = sizeof t->got,
                          .threads = t->threads,
                          .isa = isa};
    memset(&t->got, 0, sizeof t->got);
    bool ran = ptx_job_run(&job);
    unsigned bad = 0;
    runs++;
    if (job.refused) /* by ptxas, or this GPU: the table is wider than they are */
        goto done;
    if (job.status != status || (!ran && status == PTX_DONE)) {
        print_error("%s: status %d: %s\n%s\n", t->opcode, job.status, job.message, job.text);
        failures++;
        goto done;
    }
    for (unsigned c = 0; c < COLUMNS && status == PTX_DONE; c++) {
        for (unsigned i = 0; i < t->threads; i++) {
            if (t->got.y[c][i] == t->want.y[c][i] || bad++ > 2)
                continue;
            print_error("%s (build %d): y%u of thread %u is %llx instead of %llx\n", t->opcode, isa,
                        c, i, (unsigned long long)t->got.y[c][i],
                        (unsigned long long)t->want.y[c][i]);
        }
    }
    failures += bad > 0;
done:
    buf_free(&text);
}

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

/* ---- warps ---- */

/* Lanes work in one group of 32 or in two of 16, by the variant. */
static uint32_t members_of(const struct trial *t, unsigned lane)
{
    return t->variant % 2 ? lane < 16 ? 0xffff : 0xffff0000 : UINT32_MAX;
}

static void emit_members(struct trial *t)
{
    emit(t, "setp.lt.u32 %%c7, %%lane, 16; selp.b32 %%r15, 0xffff, 0xffff0000, %%c7;\n");
    if (t->variant % 2 == 0)
        emit(t, "mov.u32 %%r15, 0xffffffff;\n");
    emit(t, "cvt.u32.u64 %%r0, %%x0; cvt.u32.u64 %%r1, %%x1; cvt.u32.u64 %%r2, %%x2;\n"
            "and.b32 %%z, %%r0, 1; setp.ne.u32 %%c0, %%z, 0;\n");
}

static bool shuffle(struct trial *t)
{
    for (unsigned i = 0; i < N; i++) { /* segments of 8, 16 or 32 lanes that stay in their group */
        unsigned width = t->variant % 2 ? i / 32 ? 8 : 16 : i / 32 ? 16 : 32;
        unsigned clamp = has(t, "up") ? 0 : 31;
        t->in.x[2][i] = (32 - width) << 8 | clamp;
        t->in.x[1][i] &= 31;
    }
    emit_members(t);
    emit(t,
         "%s %%r3|%%c1, %%r0, %%r1, %%r2, %%r15;\nselp.u64 %%y1, 1, 0, %%c1; "
         "cvt.u64.u32 %%y0, %%r3;\n",
         t->opcode);
    for (unsigned i = 0; i < N; i++) {
        int lane = (int)(i & 31), b = (int)t->in.x[1][i], j = 0;
        int mask = (int)(t->in.x[2][i] >> 8 & 31), clamp = (int)(t->in.x[2][i] & 31);
        int most = (lane & mask) | (clamp & ~mask), least = lane & mask;
        bool inside = false;
        if (has(t, "up"))
            inside = (j = lane - b) >= most;
        else if (has(t, "down"))
            inside = (j = lane + b) <= most;
        else if (has(t, "bfly"))
            inside = (j = lane ^ b) <= most;
        else
            inside = (j = least | (b & ~mask)) <= most;
        t->want.y[0][i] = (uint32_t)t->in.x[0][inside ? (i & ~31u) + (unsigned)j : i];
        t->want.y[1][i] = inside;
    }
    return true;
}

static bool collective(struct trial *t)
{
    bool match = t->opcode[0] == 'm', wide = has(t, "b64"), signs = has(t, "s32");
    for (unsigned i = 0; i < N; i++) /* few different values; some groups agree */
        t->in.x[0][i] = match
                            ? (uint64_t)(has(t, "all") && i < 32 ? 7 : i * 7 % 3) << (wide ? 33 : 0)
                        : t->variant == 2 ? t->in.x[0][i] | 1
                                          : t->in.x[0][i];
    emit_members(t);
    if (match)
        emit(t, "%s %%r3%s, %s, %%r15;\n", t->opcode, has(t, "all") ? "|%c1" : "",
             wide ? "%x0" : "%r0");
    else if (has(t, "ballot"))
        emit(t, "%s %%r3, %%c0, %%r15;\n", t->opcode);
    else if (has(t, "vote"))
        emit(t, "%s %%c1, %%c0, %%r15; selp.u32 %%r3, 1, 0, %%c1;\n", t->opcode);
    else
        emit(t, "%s %%r3, %%r0, %%r15;\n", t->opcode);
    emit(t, "cvt.u64.u32 %%y0, %%r3;\n%s",
         has(t, "all") && match ? "selp.u64 %y1, 1, 0, %c1;\n" : "");
    for (unsigned i = 0; i < N; i++) {
        uint32_t members = members_of(t, i & 31), set = 0, same = 0, r = 0;
        uint32_t all_and = UINT32_MAX, all_or = 0, all_xor = 0, sum = 0, least = 0, most = 0;
        bool first = true;
        for (unsigned k = 0; k < 32; k++) {
            uint64_t x = t->in.x[0][(i & ~31u) + k];
            uint32_t v = (uint32_t)x;
            if (!(members >> k & 1))
                continue;
            set |= (v & 1) << k;
            same |= (uint32_t)(x == t->in.x[0][i]) << k;
            all_and &= v;
            all_or |= v;
            all_xor ^= v;
            sum += v;
            bool less = signs ? (int32_t)v < (int32_t)least : v < least;
            bool more = signs ? (int32_t)v > (int32_t)most : v > most;
            least = first || less ? v : least;
            most = first || more ? v : most;
            first = false;
        }
        if (match)
            r = has(t, "any") || same == members ? same : 0;
        else if (has(t, "vote"))
            r = has(t, "ballot") ? set
                : has(t, "all")  ? set == members
                : has(t, "any")  ? set != 0
                                 : set == members || !set;
        else
            r = has(t, "add")   ? sum
                : has(t, "min") ? least
                : has(t, "max") ? most
                : has(t, "and") ? all_and
                : has(t, "or")  ? all_or
                                : all_xor;
        t->want.y[0][i] = r;
        t->want.y[1][i] = match && has(t, "all") && same == members;
    }
    return true;
}

static bool lanes(struct trial *t)
{
    emit_members(t);
    if (has(t, "activemask"))
        emit(t, "setp.lt.u32 %%c2, %%lane, 5; @%%c2 bra E; %s %%r3; cvt.u64.u32 %%y0, %%r3;\n",
             t->opcode);
    else if (has(t, "elect"))
        emit(t, "%s %%r3|%%c1, %%r15; cvt.u64.u32 %%y0, %%r3; selp.u64 %%y1, 1, 0, %%c1;\n",
             t->opcode);
    else
        emit(t,
             "st.shared.u64 [%%s], %%x0; %s %%r15; xor.b32 %%z, %%s, 64;\n"
             "ld.shared.u64 %%y0, [%%z];\n",
             t->opcode);
    for (unsigned i = 0; i < N; i++) {
        bool first = (i & 31) == (t->variant % 2 ? i & 16 : 0);
        t->want.y[0][i] = has(t, "activemask") ? ((i & 31) < 5 ? 0 : 0xffffffe0)
                          : has(t, "elect")    ? (t->variant % 2 ? i & 16 : 0)
                                               : t->in.x[0][i ^ 1];
        t->want.y[1][i] = has(t, "elect") && first;
    }
    return true;
}

/* ---- barriers and fences ---- */

static bool barrier_form(struct trial *t)
{
    bool counts = t->variant % 2;
    emit(t, "cvt.u32.u64 %%r0, %%x0; and.b32 %%z, %%r0, 1; setp.ne.u32 %%c0, %%z, 0;\n"
            "st.shared.u64 [%%s], %%x1; xor.b32 %%r1, %%s, 2048; setp.lt.u32 %%c1, %%i, 32;\n");
    if (has(t, "arrive"))
        emit(t,
             "@%%c1 bra A; barrier.sync 3, 64; ld.shared.u64 %%y0, [%%r1]; bra E; A: %s 3, 64;\n",
             t->opcode);
    else if (has(t, "popc"))
        emit(t, "%s %%r3, 2%s, %%c0; cvt.u64.u32 %%y1, %%r3; ld.shared.u64 %%y0, [%%r1];\n",
             t->opcode, counts ? ", 64" : "");
    else if (has(t, "red"))
        emit(t, "%s %%c2, 2%s, %%c0; selp.u64 %%y1, 1, 0, %%c2; ld.shared.u64 %%y0, [%%r1];\n",
             t->opcode, counts ? ", 64" : "");
    else
        emit(t, "%s 1%s; ld.shared.u64 %%y0, [%%r1];\n", t->opcode, counts ? ", 64" : "");
    unsigned set = 0;
    for (unsigned i = 0; i < N; i++)
        set += t->in.x[0][i] & 1;
    for (unsigned i = 0; i < N; i++) {
        t->want.y[0][i] = has(t, "arrive") && i < 32 ? 0 : t->in.x[1][i ^ 32];
        t->want.y[1][i] = has(t, "popc")  ? set
                          : has(t, "and") ? set == N
                          : has(t, "or")  ? set > 0
                                          : 0;
    }
    return true;
}

/* Forms that change nothing a thread can see of its own. */
static bool quiet(struct trial *t)
{
    const char *operands = "";
    if (has(t, "prefetch") && has(t, "bulk"))
        operands = "[%raw], 16";
    else if (has(t, "prefetch") || has(t, "prefetchu"))
        operands = has(t, "local") ? "[%u6]" : "[%raw]";
    else if (has(t, "applypriority"))
        operands = "[%raw], 128";
    else if (has(t, "createpolicy"))
        operands = t->variant % 2 ? "%u6" : "%u6, 1.0";
    else if (has(t, "nanosleep"))
        operands = "20";
    else if (has(t, "pmevent"))
        operands = "1";
    else if (has(t, "setmaxnreg"))
        operands = "40";
    emit(t, "mov.u64 %%u6, l; st.shared.u64 [%%s], %%x0; %s %s; ld.shared.u64 %%y0, [%%s];\n",
         t->opcode, operands);
    memcpy(t->want.y[0], t->in.x[0], sizeof t->want.y[0]);
    return true;
}

/* ---- asynchronous copies and mbarriers ---- */

static bool copy(struct trial *t)
{
    static const unsigned sizes[] = {16, 8, 4};
    unsigned size = has(t, "cg") ? 16 : sizes[t->variant % 3],
             source = t->variant % 2 ? size / 2 : size;
    if (has(t, "L2::cache_hint"))
        return false;
    emit(t,
         "st.shared.u64 [%%s+16], %%x2; st.shared.u64 [%%s+24], %%x3;\n%s [%%s+16], [%%raw+16], %u",
         t->opcode, size);
    emit(t, t->variant % 2 ? ", %u" : "%.0u", t->variant % 2 ? source : 0);
    emit(t, ";\n%s\nld.shared.u64 %%y0, [%%s+16]; ld.shared.u64 %%y1, [%%s+24];\n",
         t->variant % 2 ? "cp.async.wait_all;" : "cp.async.commit_group; cp.async.wait_group 0;");
    for (unsigned i = 0; i < N; i++) {
        uint8_t flat[16];
        memcpy(flat, &t->in.x[2][i], 8);
        memcpy(flat + 8, &t->in.x[3][i], 8);
        memset(flat, 0, size);
        memcpy(flat, t->in.raw[i] + 16, source);
        memcpy(&t->want.y[0][i], flat, 8);
        memcpy(&t->want.y[1][i], flat + 8, 8);
    }
    return true;
}

static bool copy_groups(struct trial *t)
{
    emit(t,
         "cp.async.ca.shared.global [%%s], [%%raw], 16; cp.async.commit_group;\n"
         "cp.async.ca.shared.global [%%s+16], [%%raw+16], 16; cp.async.commit_group;\n"
         "%s; ld.shared.u64 %%y0, [%%s]; cp.async.wait_all; ld.shared.u64 %%y1, [%%s+16];\n",
         has(t, "wait_group") ? "cp.async.wait_group 1" : "cp.async.wait_group 0");
    if (has(t, "wait_all"))
        emit(t, "cp.async.ca.shared.global [%%s], [%%raw+32], 16; cp.async.wait_all; "
                "ld.shared.u64 %%y0, [%%s];\n");
    for (unsigned i = 0; i < N; i++) {
        memcpy(&t->want.y[0][i], t->in.raw[i] + (has(t, "wait_all") ? 32 : 0), 8);
        memcpy(&t->want.y[1][i], t->in.raw[i] + 16, 8);
    }
    return true;
}

#define MB_HEAD                                                                                    \
    "mov.u32 %%r9, bars; setp.eq.u32 %%c6, %%i, 0; @%%c6 mbarrier.init.shared.b64 [%%r9], %u; "    \
    "bar.sync 0;\n"
#define MB_WAIT "W: mbarrier.try_wait.parity.shared.b64 %%c5, [%%r9], 0; @!%%c5 bra W;\n"

static bool copy_arrives(struct trial *t)
{
    emit(t, MB_HEAD "cp.async.ca.shared.global [%%s], [%%raw], 16; %s [%%r9];\n", N, t->opcode);
    if (!has(t, "noinc"))
        emit(t, "mbarrier.arrive.shared.b64 _, [%%r9];\n");
    emit(t, MB_WAIT "xor.b32 %%r1, %%s, 2048; ld.shared.u64 %%y0, [%%r1];\n");
    for (unsigned i = 0; i < N; i++)
        memcpy(&t->want.y[0][i], t->in.raw[i ^ 32], 8);
    return true;
}

/* 4 KiB in by one bulk copy, out by another. */
static bool bulk(struct trial *t)
{
    bool stores = has(t, "bulk_group") || has(t, "commit_group") || has(t, "wait_group");
    char opcode[128] = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    if (has(t, "L2::cache_hint"))
        return false;
    if (!stores)
        snprintf(opcode, sizeof opcode, "%s", t->opcode);
    emit(t,
         MB_HEAD "mov.u32 %%r8, s; sub.u64 %%u1, %%p, %%out; add.u64 %%u0, %%in, 2048;\n"
                 "add.u64 %%u1, %%out, 2048; @!%%c6 bra W;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%%r9], 4096;\n"
                 "%s [%%r8], [%%u0], 4096, [%%r9];\n" MB_WAIT
                 "xor.b32 %%r1, %%s, 2048; ld.shared.u64 %%y0, [%%r1];\n",
         1, opcode);
    if (stores)
        emit(t,
             "bar.sync 0; st.shared.u64 [%%s], %%x1; fence.proxy.async; bar.sync 0; @!%%c6 bra D;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%%u1], [%%r8], 4096;\n"
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group%s 0; "
             "cp.async.bulk.wait_group 0;\nD: bar.sync 0; ld.global.u64 %%y1, [%%p];\n",
             has(t, "read") ? ".read" : "");
    for (unsigned i = 0; i < N; i++) {
        memcpy(&t->want.y[0][i], t->in.raw[i ^ 32], 8);
        t->want.y[1][i] = stores ? t->in.x[1][i] : 0;
    }
    return true;
}

/* One thread drives an mbarrier with 3 arrivals through its first phase; y: done before the last
 * arrival, done after it, pending arrivals in the first state. */
static bool mbarrier(struct trial *t)
{
    bool tx = has(t, "expect_tx") || has(t, "complete_tx"), drop = has(t, "arrive_drop");
    bool tests = has(t, "test_wait") || has(t, "try_wait"), arrives = has(t, "arrive") || drop;
    t->threads = 1;
    emit(t, "mov.u32 %%r9, bars; %s [%%r9], 3;\n",
         has(t, "init") ? t->opcode : "mbarrier.init.shared.b64");
    if (arrives)
        emit(t, "%s %%u0, [%%r9]%s;\n", t->opcode, tx ? ", 16" : has(t, "noComplete") ? ", 1" : "");
    else
        emit(t, "mbarrier.arrive.shared.b64 %%u0, [%%r9];\n");
    if (tx && !arrives)
        emit(t, "%s [%%r9], 16;\n",
             has(t, "expect_tx") ? t->opcode : "mbarrier.expect_tx.relaxed.cta.shared::cta.b64");
    emit(t, "mbarrier.arrive.shared.b64 %%u1, [%%r9];\n"
            "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 0; selp.u64 %%y0, 1, 0, %%c0;\n"
            "mbarrier.arrive.shared.b64 %%u2, [%%r9];\n");
    if (tx)
        emit(t,
             "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 0; selp.u64 %%y3, 1, 0, %%c0;\n"
             "%s [%%r9], 16;\n",
             has(t, "complete_tx") ? t->opcode
                                   : "mbarrier.complete_tx.relaxed.cta.shared::cta.b64");
    emit(t, "%s %%c1, [%%r9], %s; selp.u64 %%y1, 1, 0, %%c1;\n",
         tests ? t->opcode : "mbarrier.test_wait.shared.b64",
         tests && has(t, "parity") ? "0" : "%u0");
    emit(t, "mbarrier.pending_count.b64 %%r3, %%u0; cvt.u64.u32 %%y2, %%r3;\n");
    if (drop) /* the next phase has one arrival less */
        emit(t,
             "mbarrier.arrive.shared.b64 %%u1, [%%r9]; mbarrier.arrive.shared.b64 %%u2, [%%r9];\n"
             "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 1; selp.u64 %%y3, 1, 0, %%c0;\n");
    if (has(t, "inval"))
        emit(t, "%s [%%r9];\n", t->opcode);
    t->want.y[1][0] = 1;
    t->want.y[2][0] = 3;
    t->want.y[3][0] = drop;
    return true;
}

/* ---- addresses and control ---- */

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

static bool control(struct trial *t)
{
    if (has(t, "bra"))
        emit(t, "%s A; mov.u64 %%y0, 1; bra E; A: mov.u64 %%y0, %%x0;\n", t->opcode);
    else if (has(t, "brx"))
        emit(t,
             "T: .branchtargets A, B, C; cvt.u32.u64 %%r0, %%x1; rem.u32 %%r0, %%r0, 3;\n"
             "%s %%r0, T; A: mov.u64 %%y0, 10; bra E; B: mov.u64 %%y0, 20; bra E; "
             "C: mov.u64 %%y0, 30;\n",
             has(t, "uni") ? "brx.idx" : t->opcode);
    else if (has(t, "call") || has(t, "ret")) {
        buf_printf(&t->functions,
                   ".func (.param .b64 r) g(.param .b64 a)\n{\n.reg .b64 %%a; .reg .pred %%p;\n"
                   "ld.param.u64 %%a, [a]; and.b64 %%a, %%a, 1; setp.eq.u64 %%p, %%a, 1;\n"
                   "st.param.u64 [r], 7; @%%p bra D; st.param.u64 [r], 9; D: %s;\n}\n",
                   has(t, "ret") ? t->opcode : "ret");
        emit(t,
             "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %%x0; %s (r), g, (a);\n"
             "ld.param.b64 %%y0, [r]; }\n",
             has(t, "call") ? t->opcode : "call");
    } else { /* exit: odd threads leave before they give their results */
        emit(t, "mov.u64 %%y0, %%x0; and.b32 %%z, %%i, 1; setp.ne.u32 %%c0, %%z, 0; @%%c0 %s;\n",
             t->opcode);
    }
    for (unsigned i = 0; i < N; i++)
        t->want.y[0][i] = has(t, "bra")       ? t->in.x[0][i]
                          : has(t, "brx")     ? ((uint32_t)t->in.x[1][i] % 3 + 1) * 10
                          : has(t, "exit")    ? (i % 2 ? 0 : t->in.x[0][i])
                          : t->in.x[0][i] & 1 ? 7
                                              : 9;
    return true;
}

static bool stops(struct trial *t)
{
    emit(t, "%s;\n", t->opcode);
    return true;
}

/* ---- which kernel a form gets ---- */

static bool build(struct trial *t)
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
    case RULE_CP_ASYNC:
        return copy(t);
    case RULE_CVTA:
        return convert_address(t);
    case RULE_BARRIER:
    case RULE_BARRIER_RED:
        return barrier_form(t);
    default:
        break;
    }
    switch (t->m->form->handler) {
    case H_shfl:
        return shuffle(t);
    case H_vote:
    case H_match_any:
    case H_match_all:
    case H_redux:
        return collective(t);
    case H_activemask:
    case H_elect:
    case H_bar_warp_sync:
        return lanes(t);
    case H_fence:
    case H_nothing:
    case H_nanosleep:
        return quiet(t);
    case H_cp_async_commit:
    case H_cp_async_wait:
        return copy_groups(t);
    case H_cp_async_mbarrier:
        return copy_arrives(t);
    case H_bulk_load:
    case H_bulk_store:
    case H_bulk_commit:
    case H_bulk_wait:
        return bulk(t);
    case H_isspacep:
    case H_mov_32: /* mapa */
        return addresses(t);
    case H_trap:
        return stops(t);
    case H_bra:
    case H_brx:
    case H_call:
    case H_ret:
    case H_exit:
        return control(t);
    default:
        return t->m->form->kind == PTX_KIND_SYNC && mbarrier(t);
    }
}

static void try_opcode(const char *opcode, unsigned variant)
{
    struct form_match m;
    uint64_t seed = 31 + variant;
    if (!form_find(&m, opcode))
        return;
    for (int isa = PTX_ISA_BASE; isa <= PTX_ISA_AVX512; isa++) {
        static struct trial t;
        memset(&t, 0, sizeof t);
        t.opcode = opcode;
        t.m = &m;
        t.variant = variant;
        t.threads = N;
        for (unsigned i = 0; i < N * COLUMNS; i++)
            t.in.x[i / N][i % N] = values_noise(&seed);
        for (unsigned i = 0; i < N * RAW; i++)
            t.in.raw[i / RAW][i % RAW] = (uint8_t)(values_noise(&seed) >> 20);
        bool hangs = m.form->handler == H_trap && ptx_job_on_gpu(); /* ends the context */
        if (!hangs && build(&t)) {
            covered[m.form - forms] = true;
            run_trial(&t, (enum ptx_isa)isa, m.form->handler == H_trap ? PTX_FAULT : PTX_DONE);
        }
        buf_free(&t.body);
        buf_free(&t.functions);
    }
}

struct opcodes {
    const struct form *form;
    char *list[20000];
    unsigned count;
};

static bool collect(const char *opcode, void *context)
{
    struct opcodes *all = context;
    struct form_match match;
    bool hinted = strstr(opcode, "L2::cache_hint") != NULL; /* needs a policy: one operand more */
    if (all->count == 20000)
        return false;
    if (!hinted && form_find(&match, opcode) && match.form == all->form)
        all->list[all->count++] = mem_printf("%s", opcode);
    return true;
}

static bool wanted(const char *opcode)
{
    for (char **part = only; part && *part; part++)
        if (strstr(opcode, *part))
            return true;
    return !only || !*only;
}

static bool mine(const struct form *form)
{
    return !columns_form(form) && form->rule != RULE_MATRIX && form->handler != H_movmatrix;
}

static void test_forms(void **state)
{
    (void)state;
    static struct opcodes all;
    for (size_t f = 0; f < form_count; f++) {
        if (!mine(&forms[f]))
            continue;
        all.form = &forms[f];
        all.count = 0;
        form_expand(forms[f].pattern, collect, &all);
        unsigned step = all.count > TRIED ? all.count / TRIED | 1 : 1, tried = 0;
        for (unsigned k = 0; k < all.count; k++) {
            if (k % step == 0 && wanted(all.list[k]))
                try_opcode(all.list[k], tried++);
            if (k % step == 0 && all.count < 4 && wanted(all.list[k]))
                try_opcode(all.list[k], tried++);
            free(all.list[k]);
        }
    }
    print_message("%u runs\n", runs);
    assert_int_equal(failures, 0);
}

static void test_every_form_ran(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (size_t i = 0; i < form_count && (!only || !*only); i++) {
        if (mine(&forms[i]) && !covered[i] && !ptx_job_on_gpu()) {
            print_error("no test for %s\n", forms[i].pattern);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_every_form_ran)};
    only = argc > 1 ? argv + 1 : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
