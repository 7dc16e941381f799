/* How to read this file: a fat binary is a header (magic, version, its own size, size of all
 * entries) and entries, each with a header of its own (kind, version, its own size, size of the
 * payload, and of what is compressed). Sources: the bytes that fatbinary of CUDA 12 and 13 writes.
 */
#include "fatbin.h"

#include "harness/base/msg.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define MAGIC_FATBIN  0xba55ed50u
#define MAGIC_WRAPPER 0x466243b1u

enum { FLAG_COMPRESSED = 0x2000 | 0x8000 | 0x1000, BYTES_MOST = 1 << 28 };

struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* of the payload, padded */
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name, name_bytes;
    uint64_t flags, reserved, whole_bytes;
};

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *linked;
};

static bool damaged(struct err *err)
{
    return err_set(err, "%s", _("the fat binary is damaged"));
}

/* Text ends where its padding of NULs begins; machine code is padded too, and its own header knows
 * how long it is. */
static size_t payload_bytes(enum fatbin_kind kind, const unsigned char *bytes, size_t len)
{
    if (kind == FATBIN_PTX)
        while (len && !bytes[len - 1])
            len--;
    return len;
}

/* Walks the entries of one fat binary. `*found` says whether one is of that kind. */
static bool search(struct fatbin_part *out, bool *found, enum fatbin_kind kind,
                   const unsigned char *at, size_t len, struct err *err)
{
    struct entry entry;
    while (len) {
        if (len < sizeof entry)
            return damaged(err);
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > len ||
            entry.bytes > len - entry.header_bytes)
            return damaged(err);
        if (entry.kind == kind) {
            if (entry.compressed_bytes || (entry.flags & FLAG_COMPRESSED))
                return err_set(err, "%s",
                               _("the device code is compressed; build it with -no-compress"));
            *out = (struct fatbin_part){.bytes = at + entry.header_bytes, .arch = entry.arch};
            out->len = payload_bytes(kind, out->bytes, (size_t)entry.bytes);
            *found = true;
            return true;
        }
        at += entry.header_bytes + entry.bytes;
        len -= entry.header_bytes + (size_t)entry.bytes;
    }
    return true;
}

bool fatbin_find(struct fatbin_part *out, enum fatbin_kind kind, const void *bytes, size_t len,
                 struct err *err)
{
    const unsigned char *at = bytes;
    struct header header;
    bool found = false;
    while (len >= sizeof header) {
        memcpy(&header, at, sizeof header);
        if (!header.magic) { /* padding between two of them */
            at += 4;
            len -= 4;
            continue;
        }
        if (header.magic != MAGIC_FATBIN || header.header_bytes < sizeof header ||
            header.header_bytes > len || header.bytes > len - header.header_bytes)
            return damaged(err);
        if (!search(out, &found, kind, at + header.header_bytes, (size_t)header.bytes, err))
            return false;
        if (found)
            return true;
        at += header.header_bytes + header.bytes;
        len -= header.header_bytes + (size_t)header.bytes;
    }
    return err_set(err, kind == FATBIN_PTX ? _("the fat binary holds no PTX")
                                           : _("the fat binary holds no machine code"));
}

bool fatbin_find_ptx(struct fatbin_part *out, const void *wrapper, struct err *err)
{
    struct wrapper known;
    struct header header;
    if (!wrapper)
        return damaged(err);
    memcpy(&known, wrapper, sizeof known);
    if (known.magic != MAGIC_WRAPPER || !known.data)
        return damaged(err);
    memcpy(&header, known.data, sizeof header);
    if (header.magic != MAGIC_FATBIN || header.bytes > BYTES_MOST)
        return damaged(err);
    return fatbin_find(out, FATBIN_PTX, known.data, header.header_bytes + (size_t)header.bytes,
                       err);
}

bool fatbin_section(const void **out, size_t *out_len, const void *elf, size_t len, struct err *err)
{
    const unsigned char *bytes = elf;
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    if (len < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
        bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB)
        return err_set(err, "%s", _("not a 64-bit ELF file"));
    memcpy(&header, bytes, sizeof header);
    uint64_t table = header.e_shoff, count = header.e_shnum;
    if (header.e_shentsize != sizeof section || table > len ||
        count * sizeof section > len - table || header.e_shstrndx >= count)
        return err_set(err, "%s", _("the file's section table is damaged"));
    memcpy(&names, bytes + table + header.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > len || names.sh_size > len - names.sh_offset)
        return err_set(err, "%s", _("the file's section table is damaged"));
    static const char wanted[] = ".nv_fatbin";
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&section, bytes + table + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_name > names.sh_size ||
            names.sh_size - section.sh_name < sizeof wanted ||
            memcmp(bytes + names.sh_offset + section.sh_name, wanted, sizeof wanted) != 0)
            continue;
        if (section.sh_offset > len || section.sh_size > len - section.sh_offset)
            return err_set(err, "%s", _("the file's section table is damaged"));
        *out = bytes + section.sh_offset;
        *out_len = (size_t)section.sh_size;
        return true;
    }
    return err_set(err, "%s", _("there is no device code in it"));
}
