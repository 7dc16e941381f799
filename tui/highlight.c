/* How to read this: each language is a row of `languages` (which characters make a word, which word
 * has which style, who decides about the rest), and one scanner walks over a line by that row. */
#include "highlight.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <stdio.h>
#include <string.h>

struct word_list {
    enum style style;
    const char *words; /* a blank before and behind each */
};

struct language_row;

struct scan {
    struct doc *doc;
    struct highlight *state;
    const struct language_row *row;
    const char *text;
    size_t len, at;
    bool blank_before; /* nothing but blanks so far */
};

struct language_row {
    const char *names;                  /* " cuda cu " */
    const char *word_start, *word_more; /* besides letters, _ (start) and digits (more) */
    const struct word_list *words;      /* ends with NULL words */
    enum style (*classify)(const struct scan *scan, const char *word, size_t len);
    bool c_like;     /* strings, preprocessor, raw strings */
    bool statements; /* the first word of a statement is an opcode */
};

static const struct word_list cuda_words[] = {
    {STYLE_KEYWORD, " alignas alignof asm auto break case catch class concept const "
                    " const_cast consteval constexpr constinit continue co_await co_return "
                    " co_yield decltype default delete do dynamic_cast else enum explicit "
                    " export extern false final for friend goto if inline mutable namespace "
                    " new noexcept nullptr operator override private protected public "
                    " register reinterpret_cast requires return sizeof static static_assert "
                    " static_cast struct switch template this thread_local throw true try "
                    " typedef typeid typename union using virtual volatile while __asm__ "
                    " __asm __volatile__ __restrict__ __restrict __global__ __device__ "
                    " __host__ __shared__ __constant__ __managed__ __grid_constant__ "
                    " __launch_bounds__ __cluster_dims__ __noinline__ __forceinline__ "
                    " __inline__ __align__ __attribute__ __declspec __builtin_assume "},
    {STYLE_TYPE, " bool char char8_t char16_t char32_t double float int long short signed "
                 " unsigned void wchar_t size_t ptrdiff_t ssize_t uintptr_t intptr_t dim3 "
                 " half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 "
                 " nv_bfloat162 __nv_fp8_e4m3 __nv_fp8_e5m2 CUtensorMap int8_t uint8_t "
                 " int16_t uint16_t int32_t uint32_t int64_t uint64_t char1 char2 char3 "
                 " char4 uchar1 uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 "
                 " ushort2 ushort3 ushort4 int1 int2 int3 int4 uint1 uint2 uint3 uint4 "
                 " long1 long2 long3 long4 ulong1 ulong2 ulong3 ulong4 longlong1 "
                 " longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 "
                 " ulonglong4 float1 float2 float3 float4 double1 double2 double3 double4 "
                 " cudaError_t cudaStream_t cudaEvent_t cudaGraph_t cudaGraphExec_t "
                 " cudaGraphNode_t cudaDeviceProp CUstream CUevent CUfunction CUmodule "
                 " CUdeviceptr "},
    {STYLE_BUILTIN, " threadIdx blockIdx blockDim gridDim warpSize atomicAdd atomicSub "
                    " atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd "
                    " atomicOr atomicXor cuda cooperative_groups nvcuda wmma cg std printf "
                    " assert fmaf fma sqrtf rsqrtf sinf cosf expf logf powf fabsf fminf "
                    " fmaxf min max clock clock64 memcpy_async make_pipeline pipeline "
                    " load_matrix_sync store_matrix_sync mma_sync fill_fragment fragment "
                    " make_float2 make_float3 make_float4 make_int2 make_int4 make_uint4 "},
    {STYLE_NORMAL, NULL},
};

static const struct word_list ptx_words[] = {
    {STYLE_TYPE, " .pred .b8 .b16 .b32 .b64 .s8 .s16 .s32 .s64 .u8 .u16 .u32 .u64 .b128 "
                 " .f16 .f16x2 .f32 .f64 .bf16 .bf16x2 .tf32 .e4m3 .e5m2 .texref "
                 " .samplerref .surfref "},
    {STYLE_NORMAL, NULL},
};

static const struct word_list sass_words[] = {
    {STYLE_REGISTER, " RZ URZ PT UPT "},
    {STYLE_NORMAL, NULL},
};

static bool starts_with(const char *word, size_t len, const char *prefix)
{
    size_t prefix_len = strlen(prefix);
    return len >= prefix_len && memcmp(word, prefix, prefix_len) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

static enum style classify_cuda(const struct scan *scan, const char *word, size_t len)
{
    (void)scan;
    if (len > 4 && starts_with(word, len, "cuda") && is_upper(word[4]))
        return STYLE_BUILTIN;
    if (len > 2 && starts_with(word, len, "__"))
        return STYLE_BUILTIN;
    return STYLE_NORMAL;
}

static enum style classify_ptx(const struct scan *scan, const char *word, size_t len)
{
    if (word[0] == '%')
        return STYLE_REGISTER;
    if (word[0] == '$')
        return STYLE_LABEL;
    if (word[0] == '.')
        return STYLE_KEYWORD;
    bool guards = word > scan->text && (word[-1] == '@' || word[-1] == '!');
    if (guards || (word[0] == '_' && len == 1))
        return STYLE_REGISTER;
    size_t after = (size_t)(word - scan->text) + len;
    if (!scan->state->in_statement && after < scan->len && scan->text[after] == ':')
        return STYLE_LABEL;
    return scan->state->in_statement ? STYLE_NORMAL : STYLE_OPCODE;
}

/* R12, UR4.64, P0, UP1, B3, SB0, SR_TID.X */
static bool is_sass_register(const char *word, size_t len)
{
    static const char *const kinds[] = {"UR", "UP", "SB", "R", "P", "B"};
    if (starts_with(word, len, "SR_"))
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t at = strlen(kinds[i]);
        if (!starts_with(word, len, kinds[i]))
            continue;
        if (at < len && (word[at] == 'Z' || word[at] == 'T'))
            return at + 1 == len || word[at + 1] == '.';
        size_t digits = at;
        while (digits < len && is_digit(word[digits]))
            digits++;
        return digits > at && (digits == len || word[digits] == '.');
    }
    return false;
}

static enum style classify_sass(const struct scan *scan, const char *word, size_t len)
{
    if (word[0] == '.')
        return starts_with(word, len, ".L") ? STYLE_LABEL : STYLE_KEYWORD;
    if (is_sass_register(word, len))
        return STYLE_REGISTER;
    return !scan->state->in_statement && is_upper(word[0]) ? STYLE_OPCODE : STYLE_NORMAL;
}

static const struct language_row languages[LANGUAGE_COUNT] = {
    [LANGUAGE_TEXT] = {.names = " text txt "},
    [LANGUAGE_CUDA] = {.names = " cuda cu cuh c++ cpp cc c h hpp ",
                       .word_start = "",
                       .word_more = "",
                       .words = cuda_words,
                       .classify = classify_cuda,
                       .c_like = true},
    [LANGUAGE_PTX] = {.names = " ptx ",
                      .word_start = "%$.",
                      .word_more = "%$.",
                      .words = ptx_words,
                      .classify = classify_ptx,
                      .statements = true},
    [LANGUAGE_SASS] = {.names = " sass ",
                       .word_start = ".$",
                       .word_more = ".$",
                       .words = sass_words,
                       .classify = classify_sass,
                       .statements = true},
};

static bool in_list(const char *list, const char *word, size_t len)
{
    char padded[32];
    if (!len || len > sizeof padded - 2)
        return false;
    padded[0] = padded[len + 1] = ' ';
    memcpy(padded + 1, word, len);
    return memmem(list, strlen(list), padded, len + 2) != NULL;
}

enum language highlight_language(const char *name, size_t len)
{
    for (int i = LANGUAGE_CUDA; i < LANGUAGE_COUNT; i++)
        if (in_list(languages[i].names, name, len))
            return (enum language)i;
    return LANGUAGE_TEXT;
}

static bool at_text(const struct scan *scan, const char *want)
{
    return starts_with(scan->text + scan->at, scan->len - scan->at, want);
}

static void take(struct scan *scan, enum style style, size_t to)
{
    doc_add(scan->doc, style, scan->text + scan->at, to - scan->at);
    scan->at = to;
}

/* The rest of something that ends with `end`, or the rest of the line. True when it ended. */
static bool take_until(struct scan *scan, enum style style, const char *end, size_t skip)
{
    size_t from = scan->at + skip, end_len = strlen(end);
    from = from < scan->len ? from : scan->len;
    const char *found = memmem(scan->text + from, scan->len - from, end, end_len);
    take(scan, style, found ? (size_t)(found - scan->text) + end_len : scan->len);
    return found != NULL;
}

static void take_string(struct scan *scan)
{
    char quote = scan->text[scan->at];
    size_t to = scan->at + 1;
    while (to < scan->len && scan->text[to] != quote)
        to += scan->text[to] == '\\' && to + 1 < scan->len ? 2 : 1;
    take(scan, STYLE_STRING, to < scan->len ? to + 1 : scan->len);
}

/* R"name( ... )name" */
static bool take_raw_string(struct scan *scan)
{
    size_t name = scan->at + 2, to = name;
    while (to < scan->len && to - name <= 16 && scan->text[to] != '(')
        to++;
    if (to == scan->len || to - name > 16)
        return false;
    snprintf(scan->state->raw_end, sizeof scan->state->raw_end, ")%.*s\"", (int)(to - name),
             scan->text + name);
    scan->state->in_raw = !take_until(scan, STYLE_STRING, scan->state->raw_end, to - scan->at + 1);
    return true;
}

static void take_number(struct scan *scan)
{
    size_t to = scan->at + 1;
    bool hex = at_text(scan, "0x") || at_text(scan, "0X");
    while (to < scan->len) {
        char c = scan->text[to], last = scan->text[to - 1];
        bool exponent = (c == '+' || c == '-') && !hex && (last == 'e' || last == 'E');
        bool separator = c == '\'' && scan->row->c_like;
        if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent && !separator)
            break;
        to++;
    }
    take(scan, STYLE_NUMBER, to);
}

static bool is_word_start(const struct scan *scan, char c)
{
    return is_letter(c) || (c && strchr(scan->row->word_start, c));
}

static bool is_word_more(const struct scan *scan, char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr(scan->row->word_more, c));
}

static size_t word_len(const struct scan *scan)
{
    size_t to = scan->at + 1;
    while (to < scan->len) {
        const char *at = scan->text + to;
        /* PTX: shared::cta is one word, where a single colon ends a label. */
        bool colons = scan->row->statements && scan->len - to > 2 && at[0] == ':' && at[1] == ':' &&
                      is_letter(at[2]);
        if (!colons && !is_word_more(scan, *at))
            break;
        to += colons ? 2 : 1;
    }
    return to - scan->at;
}

static void take_word(struct scan *scan)
{
    const char *word = scan->text + scan->at;
    size_t len = word_len(scan);
    enum style style = STYLE_NORMAL;
    for (const struct word_list *list = scan->row->words; list->words; list++)
        if (in_list(list->words, word, len)) {
            style = list->style;
            break;
        }
    if (style == STYLE_NORMAL)
        style = scan->row->classify(scan, word, len);
    take(scan, style, scan->at + len);
    if (style == STYLE_OPCODE || style == STYLE_KEYWORD || style == STYLE_TYPE)
        scan->state->in_statement = true;
}

/* #include <file>, #define ... */
static void take_directive(struct scan *scan)
{
    size_t to = scan->at + 1;
    while (to < scan->len && scan->text[to] == ' ')
        to++;
    size_t name = to;
    while (to < scan->len && is_letter(scan->text[to]))
        to++;
    bool include = starts_with(scan->text + name, to - name, "include");
    take(scan, STYLE_PREPROCESSOR, to);
    while (scan->at < scan->len && scan->text[scan->at] == ' ')
        take(scan, STYLE_NORMAL, scan->at + 1);
    if (include && scan->at < scan->len && scan->text[scan->at] == '<')
        take_until(scan, STYLE_STRING, ">", 0);
}

/* Braces at the beginning of a PTX line are blocks; elsewhere they hold a vector. */
static void take_mark(struct scan *scan)
{
    char c = scan->text[scan->at];
    size_t to = scan->at + 1;
    if (c == ';' || (scan->blank_before && (c == '{' || c == '}')))
        scan->state->in_statement = false;
    while (to < scan->len && (unsigned char)scan->text[to] >= 0x80)
        to++;
    take(scan, STYLE_NORMAL, to);
}

static void take_token(struct scan *scan)
{
    bool c_like = scan->row->c_like;
    char c = scan->text[scan->at];
    if (at_text(scan, "//"))
        take(scan, STYLE_COMMENT, scan->len);
    else if (at_text(scan, "/*"))
        scan->state->in_comment = !take_until(scan, STYLE_COMMENT, "*/", 2);
    else if (c_like && c == '#' && scan->blank_before)
        take_directive(scan);
    else if (c_like && at_text(scan, "R\"") && take_raw_string(scan))
        ;
    else if (c == '"' || (c_like && c == '\''))
        take_string(scan);
    else if (is_digit(c) ||
             (c == '.' && c_like && scan->at + 1 < scan->len && is_digit(scan->text[scan->at + 1])))
        take_number(scan);
    else if (is_word_start(scan, c))
        take_word(scan);
    else
        take_mark(scan);
}

void highlight_line(struct doc *doc, enum language language, struct highlight *state,
                    const char *text, size_t len)
{
    struct scan scan = {.doc = doc,
                        .state = state,
                        .row = &languages[language],
                        .text = text,
                        .len = len,
                        .blank_before = true};
    if (language == LANGUAGE_TEXT) {
        doc_add(doc, STYLE_CODE, text, len);
        return;
    }
    if (language == LANGUAGE_SASS)
        state->in_statement = false;
    if (state->in_comment)
        state->in_comment = !take_until(&scan, STYLE_COMMENT, "*/", 0);
    else if (state->in_raw)
        state->in_raw = !take_until(&scan, STYLE_STRING, state->raw_end, 0);
    while (scan.at < len) {
        size_t blank = scan.at;
        while (blank < len && (text[blank] == ' ' || text[blank] == '\t'))
            blank++;
        if (blank > scan.at) {
            take(&scan, STYLE_NORMAL, blank);
            continue;
        }
        take_token(&scan);
        scan.blank_before = false;
    }
    /* .loc, .version and their like end with the line, not with a semicolon. */
    size_t first = 0;
    while (first < len && (text[first] == ' ' || text[first] == '\t'))
        first++;
    if (first < len && text[first] == '.')
        state->in_statement = false;
}

static int digits_of(size_t number)
{
    int digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

int highlight_columns(const char *text, size_t len)
{
    int widest = 0, columns = 0;
    for (size_t from = 0, at = 0; at <= len; at++) {
        if (at < len && text[at] != '\t' && text[at] != '\n')
            continue;
        columns += text_columns(text + from, at - from);
        widest = columns > widest ? columns : widest;
        columns = at < len && text[at] == '\t' ? (columns / 4 + 1) * 4 : 0;
        from = at + 1;
    }
    return widest;
}

struct numbers {
    int digits, blanks; /* of each number, and behind it; 0 for no numbers */
};

static struct numbers choose_numbers(const struct highlight_options *options, int digits,
                                     const char *text, size_t len)
{
    const struct numbers forms[] = {{digits < 2 ? 2 : digits, 2}, {digits, 1}, {0, 0}};
    enum { FORMS = sizeof forms / sizeof *forms };
    int room = options->columns - options->indent - highlight_columns(text, len);
    if (!options->numbers)
        return forms[FORMS - 1];
    for (size_t i = 0; options->columns > 0 && i < FORMS; i++)
        if (forms[i].digits + forms[i].blanks <= room)
            return forms[i];
    return forms[0];
}

void highlight_code(struct doc *doc, enum language language, const char *text, size_t len,
                    const struct highlight_options *options)
{
    struct highlight state = {0};
    struct buf clean = {0};
    clean_text(&clean, text, len);
    text = buf_str(&clean);
    len = clean.len;
    size_t lines = 0, first = options->first_number ? (size_t)options->first_number : 1;
    int tab_size = doc->tab_size;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n' || i + 1 == len;
    struct numbers numbers =
        choose_numbers(options, digits_of(first + lines - (lines > 0)), text, len);
    doc->tab_size = 4;
    for (size_t at = 0, number = first; at < len; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t to = end ? (size_t)(end - text) : len;
        if (options->indent)
            doc_printf(doc, STYLE_NORMAL, "%*s", options->indent, "");
        if (numbers.digits)
            doc_printf(doc, STYLE_LINE_NUMBER, "%*zu%*s", numbers.digits, number, numbers.blanks,
                       "");
        doc_set_tab_origin(doc);
        highlight_line(doc, language, &state, text + at, to - at);
        struct doc_line *line = doc_end_line(doc);
        line->keep = true;
        if (options->source)
            line->source_line = (int32_t)number;
        at = to + 1;
    }
    doc->tab_size = tab_size;
    buf_free(&clean);
}
