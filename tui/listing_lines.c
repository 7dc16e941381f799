#include "listing_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct listing_word listing_trim(const char *text, size_t len)
{
    while (len && (text[0] == ' ' || text[0] == '\t')) {
        text++;
        len--;
    }
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return (struct listing_word){text, len};
}

static bool starts(struct listing_word word, const char *prefix)
{
    size_t len = strlen(prefix);
    return word.len >= len && memcmp(word.text, prefix, len) == 0;
}

static bool starts_any(struct listing_word word, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (starts(word, *prefixes))
            return true;
    return false;
}

static struct listing_word skip(struct listing_word word, size_t count)
{
    count = count < word.len ? count : word.len;
    return listing_trim(word.text + count, word.len - count);
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static struct listing_word take_name(struct listing_word word)
{
    size_t len = 0;
    while (len < word.len && is_name_char(word.text[len]))
        len++;
    word.len = len;
    return word;
}

/* A number of at most 9 digits at the start of the word, which moves past it; -1 for none. */
static long take_number(struct listing_word *word)
{
    long value = 0;
    size_t len = 0;
    *word = listing_trim(word->text, word->len);
    while (len < word->len && len < 9 && isdigit((unsigned char)word->text[len]))
        value = value * 10 + (word->text[len++] - '0');
    if (!len)
        return -1;
    word->text += len;
    word->len -= len;
    return value;
}

/* The name behind .entry or .func (skipping the latter's return parameter). */
static bool kernel_name(struct listing_word line, struct listing_word *name)
{
    static const char *const words[] = {".entry", ".func"};
    for (int i = 0; i < 2; i++) {
        const char *at = memmem(line.text, line.len, words[i], strlen(words[i]));
        if (!at)
            continue;
        struct listing_word rest = skip(line, (size_t)(at - line.text) + strlen(words[i]));
        if (starts(rest, "(")) {
            const char *close = memchr(rest.text, ')', rest.len);
            if (!close)
                return false;
            rest = skip(rest, (size_t)(close + 1 - rest.text));
        }
        *name = take_name(rest);
        return name->len > 0;
    }
    return false;
}

enum listing_line listing_ptx_line(const char *text, size_t len, struct listing_word *name)
{
    static const char *const heads[] = {".visible", ".entry", ".func", ".weak", NULL};
    static const char *const noise[] = {
        "//",      ".file",     ".version", ".target",       ".address_size",
        ".pragma", "$L__func_", "$L__tmp",  ".extern .func", NULL};
    struct listing_word line = listing_trim(text, len);
    if (!line.len)
        return LISTING_LINE_BLANK;
    if (starts(line, "// begin inline asm"))
        return LISTING_LINE_REGION_BEGIN;
    if (starts(line, "// end inline asm"))
        return LISTING_LINE_REGION_END;
    if (starts(line, ".loc"))
        return LISTING_LINE_LOCATION;
    if (starts(line, ".section"))
        return LISTING_LINE_SECTION;
    if (starts_any(line, heads) && kernel_name(line, name))
        return LISTING_LINE_KERNEL;
    return starts_any(line, noise) ? LISTING_LINE_NOISE : LISTING_LINE_CODE;
}

enum listing_line listing_sass_line(const char *text, size_t len, struct listing_word *name)
{
    static const char *const noise[] = {
        ".headerflags", ".elftype",        ".section",     ".sectionflags",
        ".sectioninfo", ".sectionentsize", ".align",       ".global",
        ".type",        ".size",           ".other",       ".target",
        ".weak",        ".byte",           ".word",        ".dword",
        ".zero",        ".short",          ".string",      "//--",
        "// +.",        "Fatbin",          "=====",        "arch =",
        "code version", "host =",          "compile_size", "compressed",
        "identifier:",  "code for",        "....",         NULL};
    struct listing_word line = listing_trim(text, len);
    if (!line.len)
        return LISTING_LINE_BLANK;
    if (starts(line, "//##"))
        return LISTING_LINE_LOCATION;
    if (starts(line, "Function :")) {
        *name = take_name(skip(line, 10));
        return name->len ? LISTING_LINE_KERNEL : LISTING_LINE_NOISE;
    }
    if (line.text[line.len - 1] == ':' && line.text[0] != '/') {
        if (!starts(line, ".text."))
            return starts(line, ".") ? LISTING_LINE_LABEL : LISTING_LINE_NOISE;
        *name = (struct listing_word){line.text + 6, line.len - 7};
        return name->len ? LISTING_LINE_KERNEL : LISTING_LINE_NOISE;
    }
    if (starts_any(line, noise))
        return LISTING_LINE_NOISE;
    return LISTING_LINE_CODE;
}

void listing_sass_split(const char *text, size_t len, struct listing_word *offset,
                        struct listing_word *code)
{
    struct listing_word line = listing_trim(text, len);
    *offset = (struct listing_word){line.text, 0};
    if (starts(line, "/*")) {
        const char *end = memmem(line.text, line.len, "*/", 2);
        size_t taken = end ? (size_t)(end + 2 - line.text) : line.len;
        offset->len = taken;
        line = skip(line, taken);
    }
    const char *encoding = memmem(line.text, line.len, "/* 0x", 5);
    if (encoding)
        line = listing_trim(line.text, (size_t)(encoding - line.text));
    *code = line;
}

static unsigned long hex_behind(struct listing_word word, const char *prefix)
{
    const char *at = memmem(word.text, word.len, prefix, strlen(prefix));
    unsigned long value = 0;
    if (!at)
        return ~0ul;
    for (at += strlen(prefix); at < word.text + word.len && isxdigit((unsigned char)*at); at++)
        value = value * 16 +
                (unsigned)(isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10);
    return value;
}

/* nvdisasm names a label on the line above, cuobjdump an address. */
bool listing_sass_is_end(const struct listing *listing, struct listing_word offset,
                         struct listing_word code)
{
    size_t count = listing->doc.line_count, label_len;
    if (!starts(code, "BRA"))
        return false;
    unsigned long target = hex_behind(code, "0x");
    if (target != ~0ul && target == hex_behind(offset, "/*"))
        return true;
    if (count < 2)
        return false;
    const char *label = doc_line_text(&listing->doc.lines[count - 2], &label_len);
    struct listing_word name = listing_trim(label, label_len);
    if (name.len < 2 || name.text[name.len - 1] != ':')
        return false;
    return memmem(code.text, code.len, name.text, name.len - 1) != NULL;
}

unsigned listing_arch(const char *text, size_t len)
{
    const char *at = memmem(text, len, "sm_", 3);
    if (!at)
        return 0;
    struct listing_word rest = {at + 3, len - (size_t)(at + 3 - text)};
    long arch = take_number(&rest);
    return arch > 0 && arch < 1000 ? (unsigned)arch : 0;
}

/* Whether the quoted path's last component is the student's file. */
static bool is_ours(const struct listing_lines *lines, const char *path, size_t len)
{
    size_t name = strlen(lines->name);
    return len >= name && memcmp(path + len - name, lines->name, name) == 0 &&
           (len == name || path[len - name - 1] == '/');
}

static bool take_quoted(struct listing_word *word, struct listing_word *quoted)
{
    const char *open = memchr(word->text, '"', word->len);
    if (!open)
        return false;
    size_t left = word->len - (size_t)(open + 1 - word->text);
    const char *close = memchr(open + 1, '"', left);
    if (!close)
        return false;
    *quoted = (struct listing_word){open + 1, (size_t)(close - open - 1)};
    *word = skip((struct listing_word){open + 1, left}, quoted->len + 1);
    return true;
}

/* The last .file that fits; when none does, file 1, which is the one that was compiled. */
static long find_file(const struct listing_lines *lines, const char *text, size_t len)
{
    long found = 1;
    for (size_t at = 0; at < len;) {
        const char *hit = memmem(text + at, len - at, ".file", 5);
        if (!hit)
            break;
        const char *end = memchr(hit, '\n', len - (size_t)(hit - text));
        size_t line_len = (size_t)((end ? end : text + len) - hit);
        struct listing_word rest = {hit + 5, line_len - 5}, path;
        long number = take_number(&rest);
        if (number >= 0 && take_quoted(&rest, &path) && is_ours(lines, path.text, path.len))
            found = number;
        at = (size_t)(hit - text) + line_len;
    }
    return found;
}

void listing_lines_init(struct listing_lines *lines, const char *name, enum lab_listing kind,
                        const char *text, size_t len)
{
    const char *slash = strrchr(name, '/');
    *lines = (struct listing_lines){.name = slash ? slash + 1 : name};
    if (kind == LISTING_PTX)
        lines->file = find_file(lines, text, len);
}

/* .loc FILE LINE COLUMN[, function_name NAME, inlined_at FILE LINE COLUMN]. Inside a header's
 * function the place it was called from counts; the chain is written from the outside in, so a call
 * between two headers keeps the line that is known already. */
void listing_lines_ptx(struct listing_lines *lines, const char *text, size_t len)
{
    struct listing_word line = listing_trim(text, len);
    if (!starts(line, ".loc"))
        return;
    const char *inlined = memmem(line.text, line.len, "inlined_at", 10);
    struct listing_word rest = skip(line, 4);
    long file = take_number(&rest), number = take_number(&rest);
    if (file != lines->file && inlined) {
        rest = skip(line, (size_t)(inlined + 10 - line.text));
        file = take_number(&rest);
        number = take_number(&rest);
    }
    if (file == lines->file && number > 0)
        lines->line = (int32_t)number;
}

/* //## File "PATH", line N [inlined at "PATH", line N]; with inlining, one such line per level,
 * from the inside out. The innermost place in the student's file counts. */
void listing_lines_sass(struct listing_lines *lines, const char *text, size_t len)
{
    struct listing_word line = listing_trim(text, len), path;
    if (!starts(line, "//##"))
        return;
    if (!lines->in_chain)
        lines->chain_found = false;
    lines->in_chain = true;
    while (!lines->chain_found && take_quoted(&line, &path)) {
        const char *word = memmem(line.text, line.len, "line", 4);
        if (!word)
            return;
        line = skip(line, (size_t)(word + 4 - line.text));
        long number = take_number(&line);
        if (number > 0 && is_ours(lines, path.text, path.len)) {
            lines->line = (int32_t)number;
            lines->chain_found = true;
        }
    }
}

void listing_lines_instruction(struct listing_lines *lines)
{
    lines->in_chain = false;
}
