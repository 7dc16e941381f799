#!/usr/bin/env python3
"""Writes random CUDA kernels whose result is defined bit for bit, for comparing machines that run them:
`generate.py SEED` prints a source that nvcc or NVRTC compiles as a kernel, and g++ -DHOST as a program
that computes the same on the host (input on stdin, output on stdout).

A kernel is a list of phases. In most, every thread computes on variables of its own: integers of all
sizes, single and double precision with explicit rounding, branches, loops, switches, local arrays, calls.
Between them threads exchange values through shared memory and barriers, shuffles, votes, reductions and
atomics. Nothing in it is undefined: no signed overflow, no division by zero, no shift beyond the width;
NaNs are made canonical before their bits are looked at.
"""
import random
import sys

BLOCK = 96  # threads of a block: three warps
HEADER = r"""
#ifdef HOST
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fenv.h>
#define __device__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
static float bitsf(unsigned x) { float f; memcpy(&f, &x, 4); return f; }
static unsigned fbits(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
static double bitsd(unsigned long long x) { double f; memcpy(&f, &x, 8); return f; }
static unsigned long long dbits(double x) { unsigned long long u; memcpy(&u, &x, 8); return u; }
#define MODE(T, name, mode, args, e) static __attribute__((noinline)) T name args { volatile T r; fesetround(mode); __asm__ volatile("" ::: "memory"); r = e; __asm__ volatile("" ::: "memory"); fesetround(FE_TONEAREST); return r; }
#define RN(T, name, args, e) static __attribute__((noinline)) T name args { return e; }
RN(float, __fadd_rn, (float a, float b), a + b) RN(float, __fsub_rn, (float a, float b), a - b) RN(float, __fmul_rn, (float a, float b), a * b)
RN(float, __fdiv_rn, (float a, float b), a / b) RN(float, __fmaf_rn, (float a, float b, float c), fmaf(a, b, c)) RN(float, __fsqrt_rn, (float a), sqrtf(a))
RN(double, __dadd_rn, (double a, double b), a + b) RN(double, __dmul_rn, (double a, double b), a * b) RN(double, __ddiv_rn, (double a, double b), a / b)
RN(double, __fma_rn, (double a, double b, double c), fma(a, b, c)) RN(double, __dsqrt_rn, (double a), sqrt(a))
MODE(float, __fadd_rz, FE_TOWARDZERO, (volatile float a, volatile float b), a + b) MODE(float, __fmul_ru, FE_UPWARD, (volatile float a, volatile float b), a * b)
MODE(float, __fdiv_rd, FE_DOWNWARD, (volatile float a, volatile float b), a / b) MODE(double, __dadd_rd, FE_DOWNWARD, (volatile double a, volatile double b), a + b)
MODE(float, __fmaf_rz, FE_TOWARDZERO, (volatile float a, volatile float b, volatile float c), fmaf(a, b, c))
MODE(float, __fsqrt_ru, FE_UPWARD, (volatile float a), sqrtf(a)) MODE(double, __dmul_rz, FE_TOWARDZERO, (volatile double a, volatile double b), a * b)
MODE(float, __double2float_rz, FE_TOWARDZERO, (volatile double a), (float)a) MODE(float, __int2float_ru, FE_UPWARD, (volatile int a), (float)a)
static float minf(float a, float b) { if (a != a) return b; if (b != b) return a; if (a == b) return signbit(a) ? a : b; return a < b ? a : b; }
static float maxf(float a, float b) { if (a != a) return b; if (b != b) return a; if (a == b) return signbit(a) ? b : a; return a > b ? a : b; }
static double mind(double a, double b) { if (a != a) return b; if (b != b) return a; if (a == b) return signbit(a) ? a : b; return a < b ? a : b; }
static int f2i(float x) { return x != x ? 0 : x >= 2147483648.f ? 2147483647 : x < -2147483648.f ? (int)0x80000000 : (int)x; }
static unsigned f2u(float x) { return !(x > 0) ? 0 : x >= 4294967296.f ? ~0u : (unsigned)x; }
static long long d2l(double x) { return x != x ? (long long)(1ull << 63) : x >= 9223372036854775808. ? 0x7fffffffffffffffll : x < -9223372036854775808. ? (long long)(1ull << 63) : (long long)x; }
static int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
static int __popc(unsigned a) { return __builtin_popcount(a); }
static int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
static int __clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
static int __clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
static int __ffs(int a) { return __builtin_ffs(a); }
static unsigned __brev(unsigned a) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (a >> i & 1) << (31 - i); return r; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s) { unsigned long long x = (unsigned long long)b << 32 | a; unsigned r = 0; for (int i = 0; i < 4; i++) r |= (unsigned)(x >> (8 * (s >> 4 * i & 7)) & 255) << 8 * i; return r; }
static unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31) >> 32); }
static unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s > 32 ? 32 : s)); }
static unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static unsigned __dp4a(unsigned a, unsigned b, unsigned c) { for (int i = 0; i < 4; i++) c += (a >> 8 * i & 255) * (b >> 8 * i & 255); return c; }
static unsigned bfe(unsigned a, unsigned p, unsigned l) { return l ? a >> p & (l > 31 ? ~0u : (1u << l) - 1) : 0; }
#else
typedef unsigned long long uint64_t;
#define bitsf __uint_as_float
#define fbits __float_as_uint
#define bitsd(x) __longlong_as_double((long long)(x))
#define dbits(x) ((unsigned long long)__double_as_longlong(x))
#define minf fminf
#define maxf fmaxf
#define mind fmin
#define f2i __float2int_rz
#define f2u __float2uint_rz
#define d2l __double2ll_rz
static __device__ unsigned bfe(unsigned a, unsigned p, unsigned l) { unsigned r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(p), "r"(l)); return r; }
#endif
/* The bits of a number, all NaNs being one. */
static __device__ unsigned fval(float x) { return x != x ? 0x7fc00000u : fbits(x); }
static __device__ unsigned long long dval(double x) { return x != x ? 0x7ff8000000000000ull : dbits(x); }
struct T { int i[3]; unsigned u[3]; long long l[2]; unsigned long long q[2]; float f[3]; double d[2]; short s; unsigned char c; unsigned tid; };
"""

INTS = {"i": ("int", "unsigned"), "u": ("unsigned", "unsigned"), "l": ("long long", "unsigned long long"),
        "q": ("unsigned long long", "unsigned long long")}
COUNT = {"i": 3, "u": 3, "l": 2, "q": 2, "f": 3, "d": 2}


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.out = []

    def var(self, t):
        return f"v.{t}[{self.r.randrange(COUNT[t])}]"

    def const(self, t):
        r = self.r
        if t in INTS:
            value = r.choice([0, 1, 2, 3, 7, 31, 255, 4097, r.getrandbits(16), r.getrandbits(31)])
            return f"({INTS[t][0]}){value}u"
        bits = r.choice([0x3f800000, 0xbf000000, 0x40490fdb, 0x00000001, 0x7f7fffff, 0x4b800000, r.getrandbits(31),
                         0x3f000000 + r.getrandbits(20)])
        if bits & 0x7f800000 == 0x7f800000:
            bits &= 0x7effffff
        return f"bitsf(0x{bits:08x}u)" if t == "f" else f"(double)bitsf(0x{bits:08x}u)"

    def cond(self, depth):
        t = self.r.choice("iulqfd")
        op = self.r.choice(["<", "<=", ">", ">=", "==", "!="])
        text = f"({self.expr(t, depth - 1)} {op} {self.expr(t, depth - 1)})"
        if depth > 1 and self.r.random() < .3:
            text = f"({text} {self.r.choice(['&&', '||'])} {self.cond(depth - 1)})"
        return text if self.r.random() < .8 else f"!{text}"

    def integer(self, t, depth):
        r = self.r
        signed, raw = INTS[t]
        wide = t in "lq"
        a = lambda kind=t: self.expr(kind, depth - 1)
        choices = [
            lambda: f"({signed})(({raw}){a()} {r.choice(['+', '-', '*', '&', '|', '^'])} ({raw}){a()})",
            lambda: f"({signed})(({raw}){a()} << ({a('u')} & {63 if wide else 31}))",
            lambda: f"({a()} >> ({a('u')} & {63 if wide else 31}))",
            lambda: f"({a()} {r.choice(['/', '%'])} ({signed})(({a('u')} & 0x{r.choice([7, 255, 0x7fff]):x}u) | 1u))",
            lambda: f"({self.cond(depth - 1)} ? {a()} : {a()})",
            lambda: f"({signed})~{a()}",
            lambda: f"({signed})({a(r.choice('iulq'))})",
        ]
        if t == "i":
            choices += [lambda: f"__mulhi({a()}, {a()})", lambda: f"__clz({a()})", lambda: f"__ffs({a()})",
                        lambda: f"__popcll({a('q')})", lambda: f"__clzll({a('l')})", lambda: f"f2i({a('f')})",
                        lambda: f"(int)(short)({a()})", lambda: f"(int)(signed char)({a()})", lambda: "(int)v.s"]
        if t == "u":
            choices += [lambda: f"__umulhi({a()}, {a()})", lambda: f"__brev({a()})", lambda: f"(unsigned)__popc({a()})",
                        lambda: f"__byte_perm({a()}, {a()}, {a()} & 0x7777u)", lambda: f"__funnelshift_l({a()}, {a()}, {a()})",
                        lambda: f"__funnelshift_rc({a()}, {a()}, {a()} & 63u)", lambda: f"__usad({a()}, {a()}, {a()})",
                        lambda: f"__dp4a({a()}, {a()}, {a()})", lambda: f"bfe({a()}, {a()} & 31u, {a()} & 31u)",
                        lambda: f"fval({a('f')})", lambda: f"f2u({a('f')})", lambda: f"(unsigned)(unsigned short)({a()})", lambda: "(unsigned)v.c"]
        if t == "l":
            choices += [lambda: f"d2l({a('d')})", lambda: f"((long long){a('i')} * (long long){a('i')})"]
        if t == "q":
            choices += [lambda: f"__umul64hi({a()}, {a()})", lambda: f"dval({a('d')})",
                        lambda: f"((unsigned long long){a('u')} * (unsigned long long){a('u')})"]
        return r.choice(choices)()

    def real(self, t, depth):
        r = self.r
        a = lambda kind=t: self.expr(kind, depth - 1)
        if t == "f":
            return r.choice([
                lambda: f"__fadd_rn({a()}, {a()})", lambda: f"__fsub_rn({a()}, {a()})", lambda: f"__fmul_rn({a()}, {a()})",
                lambda: f"__fmaf_rn({a()}, {a()}, {a()})", lambda: f"__fdiv_rn({a()}, {a()})", lambda: f"__fsqrt_rn(fabsf({a()}))",
                lambda: f"minf({a()}, {a()})", lambda: f"maxf({a()}, {a()})", lambda: f"fabsf({a()})", lambda: f"(-{a()})",
                lambda: f"{r.choice(['floorf', 'ceilf', 'truncf', 'rintf'])}({a()})", lambda: f"(float){a('i')}",
                lambda: f"(float){a('u')}", lambda: f"(float){a('l')}", lambda: f"(float){a('q')}", lambda: f"(float){a('d')}",
                lambda: f"__fadd_rz({a()}, {a()})", lambda: f"__fmul_ru({a()}, {a()})", lambda: f"__fdiv_rd({a()}, {a()})",
                lambda: f"__fmaf_rz({a()}, {a()}, {a()})", lambda: f"__fsqrt_ru(fabsf({a()}))", lambda: f"__double2float_rz({a('d')})",
                lambda: f"__int2float_ru({a('i')})", lambda: f"({self.cond(depth - 1)} ? {a()} : {a()})",
                lambda: f"copysignf({a()}, bitsf(fval({a()})))",
            ])()
        return r.choice([
            lambda: f"__dadd_rn({a()}, {a()})", lambda: f"__dmul_rn({a()}, {a()})", lambda: f"__fma_rn({a()}, {a()}, {a()})",
            lambda: f"__ddiv_rn({a()}, {a()})", lambda: f"__dsqrt_rn(fabs({a()}))", lambda: f"mind({a()}, {a()})",
            lambda: f"fabs({a()})", lambda: f"(-{a()})", lambda: f"{r.choice(['floor', 'rint', 'trunc'])}({a()})",
            lambda: f"(double){a('i')}", lambda: f"(double){a('l')}", lambda: f"(double){a('q')}", lambda: f"(double){a('f')}",
            lambda: f"__dadd_rd({a()}, {a()})", lambda: f"__dmul_rz({a()}, {a()})", lambda: f"({self.cond(depth - 1)} ? {a()} : {a()})",
        ])()

    def expr(self, t, depth):
        if depth <= 0:
            return self.var(t) if self.r.random() < .75 else self.const(t)
        return self.integer(t, depth) if t in INTS else self.real(t, depth)

    def assign(self, indent):
        r = self.r
        if r.random() < .1:
            return f"{indent}v.s = (short)({self.expr('i', 1)}); v.c = (unsigned char)({self.expr('u', 1)});"
        t = r.choice("iiuulqffd")
        return f"{indent}{self.var(t)} = {self.expr(t, r.randint(1, 3))};"

    def statements(self, depth, indent):
        r = self.r
        lines = []
        for _ in range(r.randint(1, 4)):
            kind = r.random()
            if depth and kind < .18:
                lines.append(f"{indent}if ({self.cond(2)}) {{")
                lines += self.statements(depth - 1, indent + "  ")
                if r.random() < .6:
                    lines.append(f"{indent}}} else {{")
                    lines += self.statements(depth - 1, indent + "  ")
                lines.append(f"{indent}}}")
            elif depth and kind < .28:
                k = f"k{depth}"
                lines.append(f"{indent}for (unsigned {k} = 0; {k} < ({self.expr('u', 1)} & 7u); {k}++) {{")
                lines += self.statements(depth - 1, indent + "  ")
                if r.random() < .3:
                    lines.append(f"{indent}  if ({self.cond(1)}) break;")
                lines.append(f"{indent}}}")
            elif depth and kind < .36:
                lines.append(f"{indent}switch ({self.expr('u', 1)} & 7u) {{")
                for case in range(r.randint(2, 8)):
                    lines.append(f"{indent}case {case}:")
                    lines += self.statements(0, indent + "  ")
                    if r.random() < .8:
                        lines.append(f"{indent}  break;")
                lines.append(f"{indent}default:\n{self.assign(indent + '  ')}\n{indent}}}")
            elif depth and kind < .44:
                lines.append(f"{indent}{{ unsigned a[8]; for (int k = 0; k < 8; k++) a[k] = {self.expr('u', 1)} + (unsigned)k;")
                lines.append(f"{indent}  a[{self.expr('u', 1)} & 7u] = {self.expr('u', 1)}; {self.var('u')} = a[{self.expr('u', 1)} & 7u] ^ a[{self.expr('u', 1)} & 7u]; }}")
            else:
                lines.append(self.assign(indent))
        return lines

    def exchange(self):
        """(device statements, host statements over t[] of one block) of one exchange."""
        r = self.r
        t = r.choice("uuif")
        x, y = self.var(t), self.var(t)
        hx, hy = x.replace("v.", "t[n]."), y.replace("v.", "t[n].")
        ctype = {"u": "unsigned", "i": "int", "f": "float"}[t]
        each = f"for (int n = 0; n < {BLOCK}; n++)"
        kind = r.randrange(6)
        if kind == 0:
            a, b = r.randrange(1, BLOCK), r.randrange(BLOCK)
            at = f"(v.tid * {a}u + {b}u) % {BLOCK}u"
            device = (f"  ((volatile {ctype} *)shared)[v.tid] = {x}; __syncthreads();\n"
                      f"  {y} = (({ctype} *)shared)[{at}]; __syncthreads();")
            host = f"  {{ {ctype} s[{BLOCK}]; {each} s[n] = {hx}; {each} {hy} = s[{at.replace('v.tid', '(unsigned)n')}]; }}"
        elif kind == 1:
            mode, n, width = r.choice(["xor", "up", "down", "idx"]), r.randrange(1, 32), r.choice([8, 16, 32])
            call = {"xor": "__shfl_xor_sync", "up": "__shfl_up_sync", "down": "__shfl_down_sync", "idx": "__shfl_sync"}[mode]
            n = n % width
            device = f"  {y} = {call}(~0u, {x}, {n}, {width});"
            j = {"xor": f"lane ^ {n}", "up": f"lane - {n}", "down": f"lane + {n}", "idx": f"base + {n % width}"}[mode]
            ok = {"xor": "j < base + W", "up": "j >= base", "down": "j < base + W", "idx": "1"}[mode].replace("W", str(width))
            host = (f"  {{ {ctype} s[{BLOCK}]; {each} s[n] = {hx}; {each} {{ int lane = n & 31, base = lane & ~{width - 1}, j = {j};"
                    f" {hy} = s[(n & ~31) + (({ok}) ? j : lane)]; }} }}")
        elif kind == 2:
            c = self.cond(1)
            device = f"  {self_u(y, t)} = __ballot_sync(~0u, {c});" if t == "u" else f"  v.u[0] = __ballot_sync(~0u, {c});"
            target = hy if t == "u" else "t[n].u[0]"
            host = (f"  {{ unsigned s[{BLOCK // 32}] = {{0}}; {each} {{ T &v = t[n]; s[n / 32] |= (unsigned)({c}) << (n & 31); }}"
                    f" {each} {target} = s[n / 32]; }}")
        elif kind == 3:
            device = "  v.u[1] = __reduce_add_sync(~0u, v.u[0]); v.i[1] = __reduce_min_sync(~0u, v.i[0]); v.u[2] = __reduce_xor_sync(~0u, v.u[2]);"
            host = (f"  for (int w = 0; w < {BLOCK}; w += 32) {{ unsigned a = 0, x = 0; int m = t[w].i[0]; for (int n = w; n < w + 32; n++)"
                    " { a += t[n].u[0]; x ^= t[n].u[2]; if (t[n].i[0] < m) m = t[n].i[0]; }"
                    " for (int n = w; n < w + 32; n++) { t[n].u[1] = a; t[n].i[1] = m; t[n].u[2] = x; } }")
        elif kind == 4:
            device = ("  if (v.tid < 16) shared[v.tid] = 0; __syncthreads(); atomicAdd(&shared[v.u[0] & 15u], v.u[1]);\n"
                      "  atomicMax(&shared[8 + (v.u[1] & 7u)], 5u); __syncthreads(); v.u[2] ^= shared[v.u[2] & 7u]; __syncthreads();")
            device = ("  if (v.tid < 16) shared[v.tid] = 0; __syncthreads(); atomicAdd(&shared[v.u[0] & 7u], v.u[1]);\n"
                      "  atomicMax(&shared[8 + (v.u[1] & 7u)], v.u[2]); __syncthreads(); v.u[2] ^= shared[v.u[0] & 15u]; __syncthreads();")
            host = (f"  {{ unsigned s[16] = {{0}}; {each} {{ s[t[n].u[0] & 7u] += t[n].u[1]; unsigned &m = s[8 + (t[n].u[1] & 7u)];"
                    f" if (t[n].u[2] > m) m = t[n].u[2]; }} {each} t[n].u[2] ^= s[t[n].u[0] & 15u]; }}")
        else:
            device = "  v.i[2] = __syncthreads_count((v.u[0] & 3u) == 1u); v.u[0] = __match_any_sync(~0u, v.u[0] & 3u);"
            host = (f"  {{ int c = 0; unsigned s[{BLOCK}]; {each} c += (t[n].u[0] & 3u) == 1u; {each} {{ s[n] = 0; for (int k = 0; k < 32; k++)"
                    f" s[n] |= (unsigned)((t[(n & ~31) + k].u[0] & 3u) == (t[n].u[0] & 3u)) << k; }} {each} {{ t[n].i[2] = c; t[n].u[0] = s[n]; }} }}")
        return device, host

    def program(self):
        r = self.r
        phases = r.randint(2, 4)
        text = [HEADER]
        device, host = [], []
        for p in range(phases):
            inline = r.choice(["__noinline__", "__forceinline__"])
            text.append(f"static __device__ {inline} void phase{p}(T &v)\n{{")
            text += self.statements(2, "  ")
            text.append("}")
            device.append(f"  phase{p}(v);")
            host.append(f"  for (int n = 0; n < {BLOCK}; n++) phase{p}(t[n]);")
            if p + 1 < phases:
                d, h = self.exchange()
                device.append(d)
                host.append(h)
        text.append(FILL)
        text.append("#ifdef HOST\nint main() { static unsigned long long in[1024], out[2 * %d * 16];\n"
                    "if (fread(in, 8, 1024, stdin) != 1024) return 1;\nfor (unsigned b = 0; b < 2; b++) { static T t[%d];\n"
                    "for (unsigned n = 0; n < %d; n++) fill(t[n], in, n, b);" % (BLOCK, BLOCK, BLOCK))
        text += host
        text.append("for (unsigned n = 0; n < %d; n++) spill(t[n], out + (b * %d + n) * 16); }\n"
                    "fwrite(out, 8, 2 * %d * 16, stdout); return 0; }" % (BLOCK, BLOCK, BLOCK))
        text.append("#else\nextern \"C\" __global__ void k(unsigned long long *out, const unsigned long long *in)\n{\n"
                    "  __shared__ unsigned shared[128]; T v; (void)shared;\n  fill(v, in, threadIdx.x, blockIdx.x);")
        text += device
        text.append("  spill(v, out + (blockIdx.x * %du + v.tid) * 16);\n}\n#endif" % BLOCK)
        return "\n".join(text) + "\n"


def self_u(name, _):
    return name


FILL = r"""
static __device__ void fill(T &v, const unsigned long long *in, unsigned tid, unsigned block)
{
  const unsigned long long *p = in + (tid * 7 + block * 97) % 1000;
  v.tid = tid;
  for (int k = 0; k < 3; k++) { v.i[k] = (int)p[k]; v.u[k] = (unsigned)(p[k] >> 32); v.f[k] = __fmul_rn((float)v.i[k], bitsf(0x38000000u)); }
  for (int k = 0; k < 2; k++) { v.l[k] = (long long)p[k + 3]; v.q[k] = p[k + 5]; v.d[k] = (double)v.i[k] * 0.0001220703125; }
  v.s = (short)p[8]; v.c = (unsigned char)p[9];
}
static __device__ void spill(const T &v, unsigned long long *o)
{
  for (int k = 0; k < 3; k++) { o[k] = (unsigned long long)(unsigned)v.i[k] << 32 | v.u[k]; o[k + 3] = fval(v.f[k]); }
  for (int k = 0; k < 2; k++) { o[k + 6] = (unsigned long long)v.l[k]; o[k + 8] = v.q[k]; o[k + 10] = dval(v.d[k]); }
  o[12] = (unsigned short)v.s; o[13] = v.c; o[14] = v.tid; o[15] = 0;
}
"""

if __name__ == "__main__":
    sys.stdout.write(Maker(int(sys.argv[1])).program())
