/* Text from outside made fit for a screen: compiler logs, kernels' printf, lessons, git.
 *
 * Clean text is valid UTF-8 without control characters but '\n' (and '\t', where the caller wants
 * to expand it). Results are appended to the caller's buffer; nothing else is kept.
 *
 * It never asks how wide a character is (tui/doc does), and never lets an escape sequence that was
 * not ended swallow more than its own line. */
#ifndef STRIDE_BASE_CLEAN_H
#define STRIDE_BASE_CLEAN_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends the text made clean. Dropped: escape sequences (CSI, OSC with its hyperlinks, DCS and
 * their kin, 7-bit and as C1 characters), other control characters, invisible format characters
 * whose width terminals disagree on. U+FFFD stands for what is not valid UTF-8 and for
 * bidirectional overrides, which could make a line read differently from what it says. CR LF, CR
 * and the Unicode line separators become '\n'; tabs stay. */
void clean_text(struct buf *out, const char *text, size_t len);

/* The same for one line: line ends and tabs become a space, and none stand at either end. */
void clean_line(struct buf *out, const char *text, size_t len);

/* Whether clean_text would change nothing. */
bool clean_is(const char *text, size_t len);

/* Decodes one character of `len` > 0 bytes; returns the bytes it takes. What is not valid UTF-8
 * gives U+FFFD for the longest part that could have begun a character. */
size_t utf8_decode(uint32_t *code, const char *text, size_t len);

/* Writes a character's bytes; returns how many. */
size_t utf8_encode(char out[4], uint32_t code);

/* The longest prefix that does not end inside a character, for text cut at a byte limit. */
size_t utf8_whole(const char *text, size_t len);

#endif
