/* The PTX and SASS panes: a listing as a doc that knows which line of the student's kernel each
 * instruction comes from, where inline assembly begins and ends, and which instructions the lesson
 * is about.
 *
 * A listing owns its doc; it borrows the landmarks only while it is built.
 *
 * It shows the text of the very binary that ran and changes no instruction in it; what it leaves
 * out as noise is shown again with `noise`. It never disassembles. */
#ifndef STRIDE_TUI_LISTING_H
#define STRIDE_TUI_LISTING_H

#include "doc.h"

#include "harness/base/labfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of a doc line's tag. */
enum listing_tag {
    LISTING_INSTRUCTION = 1,
    LISTING_LANDMARK = 2, /* marked by a * in the margin */
    LISTING_REGION = 4,   /* between the inline asm markers; a | in the margin */
    LISTING_KERNEL = 8,   /* the line that names a kernel or function */
    LISTING_BEGIN = 16    /* the first line of a region */
};

struct listing {
    struct doc doc;
    enum lab_listing kind;
    unsigned arch; /* 80 for sm_80; 0 when the listing does not say */
    unsigned instructions;
    unsigned landmarks, regions; /* how many */
    unsigned kernels;
};

struct listing_options {
    const char *source_name; /* the student's file as the line table calls it; NULL: "kernel.cu" */
    const struct lab_landmark *landmarks;
    size_t landmark_count;
    bool noise; /* show .loc, debug sections, padding and the like too */
};

/* Fills a zeroed listing. Broken text gives what can be made of it. */
void listing_build(struct listing *out, enum lab_listing kind, const char *text, size_t len,
                   const struct listing_options *options);
void listing_free(struct listing *listing);

/* The functions below that take a doc want one that listing_build made; it may have been moved out
 * of its listing.
 *
 * The next (by > 0) or previous line that has the tag (LISTING_BEGIN for regions),
 * around the end. False when there is none. */
bool listing_jump(const struct doc *doc, enum listing_tag tag, uint32_t from, int by,
                  uint32_t *line);

/* The first instruction that comes from the line of the student's kernel. */
bool listing_find_source(const struct doc *doc, int32_t source_line, uint32_t *line);

/* The name of the kernel or function that the line belongs to, as the listing has it (mangled or
 * not); NULL above the first. Borrowed from the doc, not NUL-terminated. */
const char *listing_kernel(const struct doc *doc, uint32_t line, size_t *len);

/* The opcode on a line ("cp.async.cg.shared.global", "LDGSTS.E.128"), with no operands; NULL when
 * the line has none. Borrowed, not NUL-terminated. Of several on a line, the first that is a
 * landmark. */
const char *listing_opcode(const struct doc_line *line, size_t *len);

#endif
