#include "host_lines.h"

#include "process.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_MS 10000.0

/* Of code: a student's file has some thousands of bytes; what is beyond the most has no line. */
enum { OBJECT_MOST = 256 << 20, BATCH = 16384, CODE_MOST = 64 * BATCH };

static char *find_tool(void)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t len = strcspn(at, ":");
        char *path = *at == '/' ? mem_printf("%.*s/addr2line", (int)len, at) : NULL;
        if (path && access(path, X_OK) == 0)
            return path;
        free(path);
        at += len + (at[len] == ':');
    }
    return access("/usr/bin/addr2line", X_OK) == 0 ? mem_strdup("/usr/bin/addr2line") : NULL;
}

/* The innermost frame in `source` of the frames that stand in `at`, one a line, innermost first:
 * the line is then the same whether or not the compiler inlined the function that it stands in. */
static int innermost_line(const char *at, const char *end, const char *source)
{
    size_t name = strlen(source);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        if ((size_t)(stop - at) > name && memcmp(at, source, name) == 0 && at[name] == ':' &&
            atoi(at + name + 1) > 0)
            return atoi(at + name + 1);
        at = stop + 1;
    }
    return 0;
}

struct table {
    struct buf text;
    const char *source;
    int last; /* the line of the row before */
};

/* addr2line answers with each address on a line of its own ("0x..."), then its frames. */
static void add_answers(struct table *table, const char *answers)
{
    for (const char *at = answers; strncmp(at, "0x", 2) == 0;) {
        unsigned long long address = strtoull(at, NULL, 16);
        const char *frames = strchr(at, '\n');
        if (!frames)
            break;
        const char *end = strstr(frames, "\n0x");
        end = end ? end + 1 : frames + strlen(frames);
        int line = innermost_line(frames + 1, end, table->source);
        if (line != table->last)
            buf_printf(&table->text, "%llx %d\n", address, line);
        table->last = line;
        at = end;
    }
}

static bool ask(struct table *table, char *tool, char *object, uint64_t from, uint64_t to,
                struct err *err)
{
    struct buf addresses = {0};
    for (uint64_t at = from; at < to; at++)
        buf_printf(&addresses, "0x%llx\n", (unsigned long long)at);
    int input = process_make_input(addresses.data, addresses.len, err);
    buf_free(&addresses);
    if (input < 0)
        return false;
    char all[] = "-sai", of[] = "-e", list[] = "@/proc/self/fd/4";
    char *argv[] = {tool, all, of, object, list, NULL};
    struct process process;
    struct process_result result = {0};
    bool ok = process_start(&process, argv, NULL, input, NULL, err) &&
              process_finish(&process, &result, BATCH_MS, err);
    if (ok && result.status != 0)
        ok = err_set(err, _("%s failed (status %d)"), tool, result.status);
    if (ok)
        add_answers(table, buf_str(&result.out));
    process_result_free(&result);
    close(input);
    return ok;
}

static bool add_sections(struct table *table, const struct buf *elf, char *tool, char *object,
                         struct err *err)
{
    Elf64_Ehdr head;
    if (elf->len < sizeof head || memcmp(elf->data, ELFMAG, SELFMAG) != 0)
        return err_set(err, _("%s is no shared object"), object);
    memcpy(&head, elf->data, sizeof head);
    uint64_t left = CODE_MOST;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        uint64_t place = head.e_shoff + (uint64_t)i * sizeof section;
        if (head.e_shentsize != sizeof section || place > elf->len ||
            elf->len - place < sizeof section)
            return err_set(err, _("%s is no shared object"), object);
        memcpy(&section, elf->data + place, sizeof section);
        if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR))
            continue;
        uint64_t bytes = section.sh_size < left ? section.sh_size : left;
        left -= bytes;
        for (uint64_t at = 0; at < bytes; at += BATCH) {
            uint64_t to = at + BATCH < bytes ? at + BATCH : bytes;
            if (!ask(table, tool, object, section.sh_addr + at, section.sh_addr + to, err))
                return false;
        }
        if (table->last != 0)
            buf_printf(&table->text, "%llx 0\n", (unsigned long long)section.sh_addr + bytes);
        table->last = 0;
    }
    return true;
}

bool host_lines_write(const char *object, const char *source, const char *table, struct err *err)
{
    char *tool = find_tool();
    if (!tool)
        return err_set(err, _("addr2line is missing, which every host compiler brings (package "
                              "binutils)"));
    char *path = mem_strdup(object);
    struct buf elf = {0};
    struct table rows = {.source = source};
    bool ok = file_read(&elf, object, OBJECT_MOST, err) &&
              add_sections(&rows, &elf, tool, path, err) &&
              file_write(table, buf_str(&rows.text), rows.text.len, false, err);
    buf_free(&elf);
    buf_free(&rows.text);
    free(path);
    free(tool);
    return ok;
}
