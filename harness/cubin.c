/* How to read this file: a cubin is an ELF64 file. Section .text.NAME is the code, .nv.shared.NAME
 * (without contents) has the size of its shared memory. .nv.info lists attributes of all functions,
 * each naming a symbol; .nv.info.NAME those of one. An attribute is format, number, then by format:
 * 1 nothing, 2 one byte, 3 a 16-bit value, 4 a 16-bit size and that many bytes.
 *
 * Nothing is trusted: every offset goes through `inside`. */
#include "cubin.h"

#include <elf.h>
#include <string.h>

enum attribute {
    ATTR_MAX_THREADS = 0x05,
    ATTR_FRAME_SIZE = 0x11,
    ATTR_MIN_STACK = 0x12,
    ATTR_REGCOUNT = 0x2f
};

struct reader {
    const unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
    const char *names; /* section names */
    size_t names_len;
};

static bool inside(const struct reader *in, uint64_t offset, uint64_t size)
{
    return offset <= in->len && size <= in->len - offset;
}

static bool read_section(const struct reader *in, unsigned index, Elf64_Shdr *out)
{
    uint64_t at = in->header.e_shoff + (uint64_t)index * sizeof *out;
    if (index >= in->header.e_shnum || in->header.e_shoff > in->len || !inside(in, at, sizeof *out))
        return false;
    memcpy(out, in->bytes + at, sizeof *out);
    return out->sh_type == SHT_NOBITS || inside(in, out->sh_offset, out->sh_size);
}

/* A NUL-terminated name of a string table, "" when it is not one. */
static const char *name_at(const char *table, size_t len, uint32_t offset)
{
    return offset < len && memchr(table + offset, '\0', len - offset) ? table + offset : "";
}

static bool open_reader(struct reader *out, const void *cubin, size_t len, struct err *err)
{
    *out = (struct reader){.bytes = cubin, .len = len};
    if (len < sizeof out->header || memcmp(cubin, ELFMAG, SELFMAG) != 0 ||
        out->bytes[EI_CLASS] != ELFCLASS64 || out->bytes[EI_DATA] != ELFDATA2LSB)
        return err_set(err, "the machine code is not a 64-bit ELF file");
    memcpy(&out->header, cubin, sizeof out->header);
    Elf64_Shdr names;
    if (out->header.e_shentsize != sizeof names ||
        !read_section(out, out->header.e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
        return err_set(err, "the machine code's section table is damaged");
    out->names = (const char *)out->bytes + names.sh_offset;
    out->names_len = names.sh_size;
    return true;
}

/* The section called prefix + entry. */
static bool find_section(const struct reader *in, const char *prefix, const char *entry,
                         Elf64_Shdr *out)
{
    size_t len = strlen(prefix);
    for (unsigned i = 1; i < in->header.e_shnum; i++) {
        if (!read_section(in, i, out))
            continue;
        const char *name = name_at(in->names, in->names_len, out->sh_name);
        if (strncmp(name, prefix, len) == 0 && strcmp(name + len, entry) == 0)
            return true;
    }
    return false;
}

static uint32_t read_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Whether symbol number `index` is called `entry`. */
static bool is_symbol(const struct reader *in, uint32_t index, const char *entry)
{
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!find_section(in, ".symtab", "", &table) || table.sh_type == SHT_NOBITS ||
        index >= table.sh_size / sizeof symbol || !read_section(in, table.sh_link, &strings) ||
        strings.sh_type == SHT_NOBITS)
        return false;
    memcpy(&symbol, in->bytes + table.sh_offset + index * sizeof symbol, sizeof symbol);
    return strcmp(name_at((const char *)in->bytes + strings.sh_offset, strings.sh_size,
                          symbol.st_name),
                  entry) == 0;
}

static void take_attribute(struct cubin_kernel *out, const struct reader *in, const char *entry,
                           enum attribute number, const unsigned char *value, size_t size)
{
    if (number == ATTR_MAX_THREADS && size >= 12) {
        uint64_t x = read_u32(value), y = read_u32(value + 4), z = read_u32(value + 8);
        out->max_threads = x <= 1024 && y <= 1024 && z <= 1024 ? (unsigned)(x * y * z) : 0;
        return;
    }
    if (size < 8 ||
        !(number == ATTR_REGCOUNT || number == ATTR_FRAME_SIZE || number == ATTR_MIN_STACK) ||
        !is_symbol(in, read_u32(value), entry))
        return;
    uint32_t figure = read_u32(value + 4);
    if (number == ATTR_REGCOUNT)
        out->registers = figure;
    else if (figure > out->local_bytes) /* the stack of called functions counts too */
        out->local_bytes = figure;
}

static void read_attributes(struct cubin_kernel *out, const struct reader *in, const char *entry,
                            const Elf64_Shdr *section)
{
    const unsigned char *bytes = in->bytes + section->sh_offset;
    size_t len = section->sh_type == SHT_NOBITS ? 0 : section->sh_size;
    for (size_t at = 0; at + 4 <= len;) {
        unsigned format = bytes[at], size = 0;
        if (format == 4) {
            size = (unsigned)bytes[at + 2] | (unsigned)bytes[at + 3] << 8;
            if (size > len - at - 4)
                return;
            take_attribute(out, in, entry, bytes[at + 1], bytes + at + 4, size);
        } else if (format < 1 || format > 3) {
            return;
        }
        at += 4 + size;
    }
}

bool cubin_read(struct cubin_kernel *out, const void *cubin, size_t len, const char *entry,
                unsigned capability, struct err *err)
{
    struct reader in;
    Elf64_Shdr section;
    *out = (struct cubin_kernel){0};
    if (!open_reader(&in, cubin, len, err))
        return false;
    if (!find_section(&in, ".text.", entry, &section))
        return err_set(err, "the machine code has no kernel %s", entry);
    out->code_bytes = section.sh_size;
    if (find_section(&in, ".nv.info", "", &section))
        read_attributes(out, &in, entry, &section);
    if (find_section(&in, ".nv.info.", entry, &section))
        read_attributes(out, &in, entry, &section);
    enum {
        RESERVED = 1024
    }; /* from Hopper on the section counts what the system takes of a block */
    if (find_section(&in, ".nv.shared.", entry, &section)) {
        uint64_t size = section.sh_size;
        size -= capability >= 90 && size >= RESERVED ? RESERVED : 0;
        out->shared_bytes = size < (1u << 30) ? (unsigned)size : 0;
    }
    return out->registers > 0 ||
           err_set(err, "the machine code does not say how many registers %s takes", entry);
}
