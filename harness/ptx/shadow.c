#include "harness/ptx/shadow.h"

#include "harness/base/buf.h"
#include "harness/ptx/cell.h"

#include <stdlib.h>
#include <string.h>

enum { SLACK = 160 }; /* rows may be loaded a bit beyond the last word */

/* ---- storage */

static void *fresh(void *old, size_t count, size_t size)
{
    free(old);
    void *memory = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (!memory)
        return mem_alloc(SIZE_MAX); /* says that memory ran out, and ends */
    memset(memory, 0, (count * size + 63) / 64 * 64);
    return memory;
}

void shadow_begin(struct shadow *s, uint32_t bytes, bool precise)
{
    uint32_t words = (bytes + 3) / 4;
    if (!s->write_key || words > s->capacity) {
        s->capacity = words;
        size_t count = (size_t)words + SLACK;
        s->write_key = fresh(s->write_key, count, sizeof *s->write_key);
        s->read_key = fresh(s->read_key, count, sizeof *s->read_key);
        s->write_site = fresh(s->write_site, count, sizeof *s->write_site);
        s->read_site = fresh(s->read_site, count, sizeof *s->read_site);
        s->readers = fresh(s->readers, count, sizeof *s->readers);
        s->has_bytes = false;
    }
    s->words = words;
    s->precise = precise;
    memset(s->write_key, 0xff, words * sizeof *s->write_key);
    memset(s->read_key, 0, words * sizeof *s->read_key);
    s->pool_count = s->pool_free = 0;
}

void shadow_free(struct shadow *s)
{
    free(s->write_key);
    free(s->read_key);
    free(s->write_site);
    free(s->read_site);
    free(s->readers);
    free(s->byte_write_key);
    free(s->byte_read_key);
    free(s->byte_write_site);
    free(s->byte_read_site);
    free(s->byte_readers);
    free(s->pool);
    memset(s, 0, sizeof *s);
}

void shadow_forget(struct shadow *s)
{
    for (uint32_t i = 0; i < s->words; i++) {
        if (s->write_key[i] < KEY_SPECIAL)
            s->write_key[i] = 0;
        if (s->read_key[i] < KEY_SPECIAL || s->read_key[i] == KEY_LIST)
            s->read_key[i] = 0;
    }
    for (uint32_t i = 0; s->has_bytes && i < 4 * s->words; i++) {
        if (s->byte_write_key[i] < KEY_SPECIAL)
            s->byte_write_key[i] = 0;
        s->byte_read_key[i] = 0;
    }
    s->pool_count = s->pool_free = 0;
}

struct cell cell_of_word(struct shadow *s, uint32_t word)
{
    return (struct cell){s->write_key + word,
                         s->read_key + word,
                         s->readers + word,
                         s->write_site + word,
                         s->read_site + word,
                         word * 4,
                         4};
}

struct cell cell_of_byte(struct shadow *s, uint32_t byte)
{
    return (struct cell){s->byte_write_key + byte,
                         s->byte_read_key + byte,
                         s->byte_readers + byte,
                         s->byte_write_site + byte,
                         s->byte_read_site + byte,
                         byte,
                         1};
}
/* ---- readers in several warps */

static uint32_t reader_new(struct shadow *s, struct shadow_reader reader)
{
    uint32_t index;
    if (s->pool_free) {
        index = s->pool_free - 1;
        s->pool_free = s->pool[index].next;
    } else {
        if (s->pool_count == s->pool_capacity) {
            s->pool_capacity = s->pool_capacity ? 2 * s->pool_capacity : 1024;
            s->pool = mem_grow(s->pool, s->pool_capacity, sizeof *s->pool);
        }
        index = s->pool_count++;
    }
    s->pool[index] = reader;
    return index + 1;
}

void readers_drop(struct shadow *s, struct cell *cell)
{
    uint32_t at = *cell->readers;
    while (at) {
        uint32_t next = s->pool[at - 1].next;
        s->pool[at - 1].next = s->pool_free;
        s->pool_free = at;
        at = next;
    }
    *cell->readers = 0;
}

static uint32_t readers_copy(struct shadow *s, uint32_t at)
{
    if (!at)
        return 0;
    struct shadow_reader reader = s->pool[at - 1];
    reader.next = readers_copy(s, reader.next);
    return reader_new(s, reader);
}

/* One lane of the reader that is not ordered before this access; -1 when all are. */
int reader_unordered(const struct access *a, const struct shadow_reader *reader)
{
    for (uint32_t left = reader->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!clock_knows(&a->block->clock, a->w->id, a->lane, reader->warp * 32u + lane,
                         reader->epoch))
            return (int)lane;
    }
    return -1;
}

/* Adds this lane to the list; its warp's older readers go when they are ordered before. */
void readers_add(const struct access *a, struct cell *cell)
{
    struct shadow *s = &a->block->shadow;
    uint32_t epoch = a->h->clock.mine >> KEY_WHO_BITS, bit = 1u << a->lane;
    for (uint32_t at = *cell->readers; at; at = s->pool[at - 1].next) {
        struct shadow_reader *reader = &s->pool[at - 1];
        if (reader->warp != a->w->id)
            continue;
        if (reader->epoch == epoch) {
            reader->lanes |= bit;
            reader->site = shadow_site(a->op);
            return;
        }
        if (reader_unordered(a, reader) < 0) {
            reader->epoch = epoch;
            reader->lanes = bit;
            reader->site = shadow_site(a->op);
            return;
        }
    }
    *cell->readers = reader_new(s, (struct shadow_reader){*cell->readers, epoch, bit,
                                                          shadow_site(a->op), (uint16_t)a->w->id});
}

/* A single or many key turns into a list with one entry. */
void readers_begin(const struct access *a, struct cell *cell, uint32_t key)
{
    struct shadow *s = &a->block->shadow;
    uint32_t lanes = key_is_thread(key) ? 1u << (key & 31) : UINT32_MAX;
    *cell->readers = 0;
    *cell->readers =
        reader_new(s, (struct shadow_reader){0, key >> KEY_WHO_BITS, lanes, *cell->read_site,
                                             (uint16_t)key_warp(key)});
    *cell->read_key = KEY_LIST;
}
/* ---- words and bytes */

static void make_bytes(struct shadow *s)
{
    if (s->has_bytes)
        return;
    size_t count = 4 * ((size_t)s->capacity + SLACK);
    s->byte_write_key = fresh(s->byte_write_key, count, sizeof *s->byte_write_key);
    s->byte_read_key = fresh(s->byte_read_key, count, sizeof *s->byte_read_key);
    s->byte_write_site = fresh(s->byte_write_site, count, sizeof *s->byte_write_site);
    s->byte_read_site = fresh(s->byte_read_site, count, sizeof *s->byte_read_site);
    s->byte_readers = fresh(s->byte_readers, count, sizeof *s->byte_readers);
    s->has_bytes = true;
}

/* Gives the word's bytes keys of their own. A word in flight stays whole. */
bool word_split(struct shadow *s, uint32_t word)
{
    if (s->write_key[word] == KEY_SPLIT)
        return true;
    if (key_is_pending(s->write_key[word]))
        return false;
    make_bytes(s);
    for (uint32_t byte = word * 4; byte < word * 4 + 4; byte++) {
        s->byte_write_key[byte] = s->write_key[word];
        s->byte_write_site[byte] = s->write_site[word];
        s->byte_read_key[byte] = s->read_key[word];
        s->byte_read_site[byte] = s->read_site[word];
        s->byte_readers[byte] =
            s->read_key[word] == KEY_LIST ? readers_copy(s, s->readers[word]) : 0;
    }
    if (s->read_key[word] == KEY_LIST) {
        struct cell cell = cell_of_word(s, word);
        readers_drop(s, &cell);
    }
    s->write_key[word] = s->read_key[word] = KEY_SPLIT;
    return true;
}

void word_join(struct shadow *s, uint32_t word)
{
    for (uint32_t byte = word * 4; byte < word * 4 + 4; byte++)
        if (s->byte_read_key[byte] == KEY_LIST) {
            struct cell cell = cell_of_byte(s, byte);
            readers_drop(s, &cell);
            s->byte_read_key[byte] = 0;
        }
    s->read_key[word] = 0;
}
