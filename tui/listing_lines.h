/* What the lines of PTX and SASS files are, and where they come from.
 *
 * Words point into the line that was given.
 *
 * For listing.c only; the harness has its own readers. */
#ifndef STRIDE_TUI_LISTING_LINES_H
#define STRIDE_TUI_LISTING_LINES_H

#include "listing.h"

struct listing_word {
    const char *text;
    size_t len;
};

/* Without blanks at both ends. */
struct listing_word listing_trim(const char *text, size_t len);

enum listing_line {
    LISTING_LINE_CODE,
    LISTING_LINE_BLANK,
    LISTING_LINE_LOCATION, /* .loc, //## File */
    LISTING_LINE_KERNEL,   /* names a kernel or function */
    LISTING_LINE_LABEL,
    LISTING_LINE_REGION_BEGIN,
    LISTING_LINE_REGION_END,
    LISTING_LINE_SECTION, /* .section with a body in braces */
    LISTING_LINE_NOISE
};

enum listing_line listing_ptx_line(const char *text, size_t len, struct listing_word *name);
enum listing_line listing_sass_line(const char *text, size_t len, struct listing_word *name);

/* A SASS instruction's offset (with its comment signs) and the instruction without its encoding. */
void listing_sass_split(const char *text, size_t len, struct listing_word *offset,
                        struct listing_word *code);

/* Whether the instruction, which is the newest line of the listing, branches to itself: behind it
 * only padding follows. */
bool listing_sass_is_end(const struct listing *listing, struct listing_word offset,
                         struct listing_word code);

/* sm_80 -> 80; 0 when the text names none. */
unsigned listing_arch(const char *text, size_t len);

/* The line of the student's file that the place being read comes from. */
struct listing_lines {
    const char *name; /* the student's file, by its last component */
    long file;        /* its number in .file; -1 when none fits */
    int32_t line;     /* 0 while unknown */
    bool in_chain;    /* SASS: //## lines since the last instruction */
    bool chain_found; /* ...and one of them named the student's file */
};

void listing_lines_init(struct listing_lines *lines, const char *name, enum lab_listing kind,
                        const char *text, size_t len);
void listing_lines_ptx(struct listing_lines *lines, const char *text, size_t len);
void listing_lines_sass(struct listing_lines *lines, const char *text, size_t len);
void listing_lines_instruction(struct listing_lines *lines);

#endif
