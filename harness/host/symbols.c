#include "symbols.h"

#include "harness/base/msg.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct file {
    const unsigned char *bytes;
    size_t len;
    Elf64_Ehdr header;
};

static bool inside(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->len && size <= file->len - offset;
}

static bool read_section(const struct file *file, uint64_t index, Elf64_Shdr *out)
{
    if (index >= file->header.e_shnum || !inside(file, file->header.e_shoff, 0) ||
        !inside(file, file->header.e_shoff + index * sizeof *out, sizeof *out))
        return false;
    memcpy(out, file->bytes + file->header.e_shoff + index * sizeof *out, sizeof *out);
    return out->sh_type == SHT_NOBITS || inside(file, out->sh_offset, out->sh_size);
}

static void walk(const struct file *file, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                 void (*each)(void *context, const char *name, bool defined), void *context)
{
    const char *table = (const char *)file->bytes + names->sh_offset;
    for (uint64_t at = 0; symbols->sh_size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, file->bytes + symbols->sh_offset + at, sizeof symbol);
        if (symbol.st_name && symbol.st_name < names->sh_size &&
            memchr(table + symbol.st_name, '\0', names->sh_size - symbol.st_name))
            each(context, table + symbol.st_name, symbol.st_shndx != SHN_UNDEF);
    }
}

bool symbols_each(const void *elf, size_t len,
                  void (*each)(void *context, const char *name, bool defined), void *context,
                  struct err *err)
{
    struct file file = {.bytes = elf, .len = len};
    Elf64_Shdr symbols, names;
    if (len < sizeof file.header || memcmp(elf, ELFMAG, SELFMAG) != 0 ||
        file.bytes[EI_CLASS] != ELFCLASS64 || file.bytes[EI_DATA] != ELFDATA2LSB)
        return err_set(err, "%s", _("not a 64-bit ELF file"));
    memcpy(&file.header, elf, sizeof file.header);
    if (file.header.e_shentsize != sizeof symbols)
        return err_set(err, "%s", _("the file's section table is damaged"));
    for (unsigned i = 0; i < file.header.e_shnum; i++) {
        if (!read_section(&file, i, &symbols))
            return err_set(err, "%s", _("the file's section table is damaged"));
        if (symbols.sh_type != SHT_DYNSYM)
            continue;
        if (!read_section(&file, symbols.sh_link, &names) || names.sh_type != SHT_STRTAB)
            return err_set(err, "%s", _("the file's section table is damaged"));
        walk(&file, &symbols, &names, each, context);
    }
    return true;
}
