/* The pages of pinned memory: which are closed, for what, and where Stride reaches them.
 *
 * Regions and their pages belong to this module; sim_guard.c holds the lock around every call and
 * says who needs what.
 *
 * It knows nothing of operations, signals or lines. */
#ifndef STRIDE_HOST_SIM_GUARD_PAGES_H
#define STRIDE_HOST_SIM_GUARD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard_page {
    uint32_t writers, readers; /* operations that will write and read bytes of it */
    uint16_t open;             /* threads that are stepping over an access */
    uint16_t steps;            /* since the first that needs it */
    bool given_up;             /* stays open until nothing needs it */
    char *at;
};

struct guard_region {
    char *at, *view; /* what the student was given; the same bytes for Stride, or NULL */
    size_t bytes;
    char *first; /* of the watched pages */
    size_t page_count;
    struct guard_page *pages;
};

/* Memory that the student and Stride each have a mapping of; NULL when there is none left. */
void *guard_pages_alloc(size_t bytes);

/* The student's own memory, of which only pages that lie in it as a whole are watched. False when
 * some of it is registered already. */
bool guard_pages_register(void *at, size_t bytes);

const struct guard_region *guard_region_at(const void *at, bool registered); /* that begins there */
const struct guard_region *guard_region_of(const void *at, size_t bytes);    /* that holds all */
void guard_pages_forget(const struct guard_region *region); /* and unmaps what was allocated */

/* One more (`by` 1) or one less (-1) who writes or reads these bytes. */
void guard_pages_count(const void *at, size_t bytes, bool written, int by);

/* Where Stride finds these bytes, whatever is closed to the student. */
void *guard_pages_view(const void *at, size_t bytes);

struct guard_page *guard_page_of(const void *address); /* a watched one, or NULL */
bool guard_page_closed(const struct guard_page *page); /* to some access */
void guard_page_open(struct guard_page *page);         /* guard_page_close closes it again */
void guard_page_close(struct guard_page *page);
void guard_page_give_up(struct guard_page *page); /* open until nothing needs it */

#endif
