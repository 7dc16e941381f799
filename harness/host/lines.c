#include "lines.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_MOST = 64 << 20, FRAMES_MOST = 64 };

struct row {
    uint64_t offset; /* from here to the next row's */
    int line;
};

static struct {
    struct row *rows;
    size_t count;
    uintptr_t base, from, to; /* load address; the code's extent */
} lines;

bool lines_load(const char *table, struct err *err)
{
    struct buf text = {0};
    if (!file_read(&text, table, TABLE_MOST, err)) {
        buf_free(&text);
        return false;
    }
    size_t most = 0;
    for (size_t i = 0; i < text.len; i++)
        most += text.data[i] == '\n';
    free(lines.rows);
    lines.rows = mem_zero(most + 1, sizeof *lines.rows);
    lines.count = 0;
    bool ok = true;
    for (const char *at = buf_str(&text); ok && *at && lines.count < most;) {
        char *end;
        struct row row = {.offset = strtoull(at, &end, 16)};
        ok = end != at && *end == ' ';
        long line = strtol(end, &end, 10);
        ok = ok && *end == '\n' && line >= 0 && line <= INT32_MAX &&
             (!lines.count || lines.rows[lines.count - 1].offset <= row.offset);
        row.line = (int)line;
        lines.rows[lines.count++] = row;
        at = end + (*end == '\n');
    }
    buf_free(&text);
    if (ok)
        return true;
    lines.count = 0;
    return err_set(err, _("%s is no table of lines"), table);
}

/* The code of the object that holds `want`. */
static int find_object(struct dl_phdr_info *info, size_t size, void *want)
{
    (void)size;
    uintptr_t address = *(uintptr_t *)want;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || address < from ||
            address - from >= part->p_memsz)
            continue;
        lines.base = info->dlpi_addr;
        lines.from = from;
        lines.to = from + part->p_memsz;
        return 1;
    }
    return 0;
}

bool lines_attach(const void *symbol)
{
    uintptr_t address = (uintptr_t)symbol;
    lines.from = lines.to = 0;
    return dl_iterate_phdr(find_object, &address) == 1;
}

bool lines_inside(const void *address)
{
    return (uintptr_t)address >= lines.from && (uintptr_t)address < lines.to;
}

int lines_at(const void *address)
{
    if (!lines_inside(address) || !lines.count)
        return 0;
    uint64_t offset = (uintptr_t)address - lines.base;
    size_t low = 0, high = lines.count; /* the last row at or before the offset is below high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines.rows[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? lines.rows[low - 1].line : 0;
}

int lines_of_call(const void *return_address)
{
    return return_address ? lines_at((const char *)return_address - 1) : 0;
}

const void *lines_site(const void *frame)
{
    const void *first = NULL;
    const uintptr_t *at = frame;
    for (int depth = 0; depth < FRAMES_MOST; depth++) {
        const void *from = (const void *)at[1];
        /* What called the object need not keep frame pointers: there the walk ends. */
        if (!lines_inside(from))
            break;
        if (lines_of_call(from))
            return from;
        first = first ? first : from;
        const uintptr_t *next = (const uintptr_t *)at[0];
        if (next <= at || (uintptr_t)next % sizeof *next)
            break;
        at = next;
    }
    return first;
}
