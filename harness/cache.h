/* What was built before, kept by content: $XDG_CACHE_HOME/stride/host (else ~/.cache/stride/host),
 * one folder per entry.
 *
 * An entry holds its key and some files. It appears whole or not at all, so that any number of
 * Strides may share the folder, and a disk that is full costs time and nothing else. Paths that are
 * returned belong to the caller; their files stay for ten minutes at least.
 *
 * Nothing that is found here is trusted to be right because of its name: the key is compared, and
 * so are sums of the files. An entry that does not fit makes place for the next that is kept. */
#ifndef STRIDE_HARNESS_CACHE_H
#define STRIDE_HARNESS_CACHE_H

#include "harness/base/buf.h"

#include <stdbool.h>

#define CACHE_BYTES_MOST (256ull << 20)

/* The folder of the entry with this key; NULL when there is none. free() it. */
char *cache_find(const struct buf *key);

/* Keeps copies of `folder`'s files `names` (a NULL ends the list; a missing file is left out) under
 * the key, and removes the oldest entries beyond `bytes_most`. Returns the entry's folder, NULL
 * when nothing could be kept. free() it. */
char *cache_keep(const struct buf *key, const char *folder, const char *const names[],
                 unsigned long long bytes_most);

#endif
