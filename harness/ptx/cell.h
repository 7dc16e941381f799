/* Cells of the shadow, and the rules that hold for one: shared by shadow.c (storage), conflict.c
 * (rules), shadow_lanes.c (from a warp's addresses to cells) and global_cells.c (the same for
 * global memory, as far as one block goes).
 *
 * A *cell* is a word, or one byte of a split word; it points into the shadow, or into that of an
 * allocation. A struct access is one lane's turn and lives on the stack.
 *
 * A write is checked for all lanes first and stamped afterwards, so that lanes of one instruction
 * are never taken for earlier accesses. */
#ifndef STRIDE_PTX_CELL_H
#define STRIDE_PTX_CELL_H

#include "harness/ptx/hazard.h"
#include "harness/ptx/shadow.h"

struct cell {
    uint32_t *write_key, *read_key, *readers;
    uint16_t *write_site, *read_site;
    uint32_t address, bytes;
};

struct access {
    struct warp *w;
    const struct op *op;
    struct hazard_block *block;
    struct hazard_warp *h;
    unsigned lane;
    bool strong;
    bool async;    /* a copy being issued */
    bool reported; /* one report per lane and word is enough */
    bool global;   /* cells of an allocation at `va` */
    uint64_t va;
};

/* The other side of a conflict. */
struct side {
    uint16_t site;
    uint32_t thread; /* or NOBODY: several of the warp */
    uint32_t warp;
};

/* ---- shadow.c ---- */

struct cell cell_of_word(struct shadow *shadow, uint32_t word);
struct cell cell_of_byte(struct shadow *shadow, uint32_t byte);

/* Gives the word's bytes keys of their own; false: it is in flight and stays whole. */
bool word_split(struct shadow *shadow, uint32_t word);

/* Before the word gets one key again: drops what its bytes hold. */
void word_join(struct shadow *shadow, uint32_t word);

/* Readers in several warps: a list per cell. begin makes one from the key that the cell has. */
void readers_begin(const struct access *a, struct cell *cell, uint32_t key);
void readers_add(const struct access *a, struct cell *cell);
void readers_drop(struct shadow *shadow, struct cell *cell);

/* One lane of the reader that is not ordered before this access; -1 when all are. */
int reader_unordered(const struct access *a, const struct shadow_reader *reader);

/* ---- conflict.c ---- */

/* Checks a read and notes the reader. */
void cell_read(struct access *a, struct cell *cell);

/* Checks a write; stamping comes later. same_value: memory holds it already. */
void cell_write(struct access *a, struct cell *cell, bool same_value);
void cell_stamp(struct access *a, struct cell *cell, uint32_t key);

/* Reports from the other side's point of view when `turn` is set. */
void conflict_report(struct access *a, const struct cell *cell, enum ptx_hazard_kind kind,
                     enum hazard_reason reason, struct side other, bool turn);
void conflict_report_unset(struct access *a, const struct cell *cell, enum hazard_reason reason);

/* Is the key one of this access's own warp? */
bool key_is_near(const struct access *a, uint32_t key);
bool site_is_copy(const struct access *a, uint16_t site);

/* ---- speculation.c ---- */

/* Is the value that this lane loads thrown away unused, as the compiler's speculative loads are? */
bool read_is_idle(struct warp *w, const struct op *op, unsigned lane);

#endif
