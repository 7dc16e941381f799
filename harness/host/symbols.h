/* Which functions a shared object offers and which it needs from elsewhere: its dynamic symbols.
 *
 * Pure: bytes in, names out, borrowed from them. Any bytes are safe to pass.
 *
 * It loads nothing and resolves nothing. */
#ifndef STRIDE_HOST_SYMBOLS_H
#define STRIDE_HOST_SYMBOLS_H

#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Calls `each` for every named dynamic symbol of a 64-bit ELF file. False: it is no such file, or
 * damaged. */
bool symbols_each(const void *elf, size_t len,
                  void (*each)(void *context, const char *name, bool defined), void *context,
                  struct err *err);

#endif
