#include "sim_guard_pages.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    struct guard_region *items;
    size_t count, capacity;
} regions;

static size_t page_bytes(void)
{
    static size_t bytes;
    if (!bytes)
        bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static void add_region(struct guard_region added)
{
    if (regions.count == regions.capacity) {
        regions.capacity = regions.capacity ? regions.capacity * 2 : 16;
        regions.items = mem_grow(regions.items, regions.capacity, sizeof *regions.items);
    }
    struct guard_region *region = &regions.items[regions.count++];
    *region = added;
    region->pages = mem_zero(added.page_count + 1, sizeof *region->pages);
    for (size_t i = 0; i < added.page_count; i++)
        region->pages[i].at = added.first + i * page_bytes();
}

void *guard_pages_alloc(size_t bytes)
{
    size_t pages = bytes / page_bytes() + (bytes % page_bytes() != 0 || !bytes);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t mapped = pages * page_bytes();
    char *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    /* An old size of 0 makes a second mapping of the same shared pages. */
    char *view = mremap(at, 0, mapped, MREMAP_MAYMOVE);
    if (view == MAP_FAILED) {
        munmap(at, mapped);
        return NULL;
    }
    add_region((struct guard_region){
        .at = at, .view = view, .bytes = bytes, .first = at, .page_count = pages});
    return at;
}

bool guard_pages_register(void *at, size_t bytes)
{
    char *from = at;
    if (!bytes || (uintptr_t)from + bytes < (uintptr_t)from)
        return false;
    for (size_t i = 0; i < regions.count; i++)
        if (from < regions.items[i].at + regions.items[i].bytes &&
            regions.items[i].at < from + bytes)
            return false;
    uintptr_t mask = page_bytes() - 1;
    char *first = from + ((page_bytes() - ((uintptr_t)from & mask)) & mask);
    char *end = from + bytes - (((uintptr_t)from + bytes) & mask);
    add_region((struct guard_region){
        .at = from,
        .bytes = bytes,
        .first = first,
        .page_count = end > first ? (size_t)(end - first) / page_bytes() : 0,
    });
    return true;
}

const struct guard_region *guard_region_at(const void *at, bool registered)
{
    for (size_t i = 0; i < regions.count; i++)
        if (regions.items[i].at == at && !regions.items[i].view == registered)
            return &regions.items[i];
    return NULL;
}

const struct guard_region *guard_region_of(const void *at, size_t bytes)
{
    const char *from = at;
    for (size_t i = 0; i < regions.count; i++) {
        const struct guard_region *region = &regions.items[i];
        if (from >= region->at && from < region->at + region->bytes &&
            bytes <= (size_t)(region->at + region->bytes - from))
            return region;
    }
    return NULL;
}

void guard_pages_forget(const struct guard_region *region)
{
    size_t place = (size_t)(region - regions.items);
    size_t mapped = region->page_count * page_bytes();
    if (region->view) {
        munmap(region->view, mapped);
        munmap(region->at, mapped);
    }
    free(region->pages);
    regions.items[place] = regions.items[--regions.count];
}

/* ---- protection */

static int protection(const struct guard_page *page)
{
    if (page->open || page->given_up)
        return PROT_READ | PROT_WRITE;
    if (page->writers)
        return PROT_NONE;
    return page->readers ? PROT_READ : PROT_READ | PROT_WRITE;
}

/* Sets the protection of these pages, with as few calls as there are runs of equal ones. */
static void protect(struct guard_page *page, size_t count)
{
    for (size_t from = 0; from < count;) {
        size_t to = from + 1;
        while (to < count && protection(&page[to]) == protection(&page[from]))
            to++;
        mprotect(page[from].at, (to - from) * page_bytes(), protection(&page[from]));
        from = to;
    }
}

void guard_pages_count(const void *at, size_t bytes, bool written, int by)
{
    const struct guard_region *region = guard_region_of(at, bytes);
    const char *from = at, *to = from + bytes;
    if (!region || !region->page_count)
        return;
    const char *end = region->first + region->page_count * page_bytes();
    from = from < region->first ? region->first : from;
    to = to > end ? end : to;
    if (from >= to)
        return;
    size_t first = (size_t)(from - region->first) / page_bytes();
    size_t last = (size_t)(to - 1 - region->first) / page_bytes();
    for (size_t i = first; i <= last; i++) {
        struct guard_page *page = &region->pages[i];
        uint32_t *count = written ? &page->writers : &page->readers;
        *count += (uint32_t)by;
        if (!page->writers && !page->readers) {
            page->steps = 0;
            page->given_up = false;
        }
    }
    protect(&region->pages[first], last - first + 1);
}

void *guard_pages_view(const void *at, size_t bytes)
{
    const struct guard_region *region = guard_region_of(at, bytes);
    if (region && region->view)
        return region->view + ((const char *)at - region->at);
    for (size_t i = 0; region && i < region->page_count; i++) {
        struct guard_page *page = &region->pages[i];
        bool meets =
            page->at < (const char *)at + bytes && (const char *)at < page->at + page_bytes();
        if (meets && guard_page_closed(page))
            guard_page_give_up(page);
    }
    return (void *)(uintptr_t)at;
}

struct guard_page *guard_page_of(const void *address)
{
    const char *at = address;
    for (size_t i = 0; i < regions.count; i++) {
        const struct guard_region *region = &regions.items[i];
        if (at >= region->first && at < region->first + region->page_count * page_bytes())
            return &region->pages[(size_t)(at - region->first) / page_bytes()];
    }
    return NULL;
}

bool guard_page_closed(const struct guard_page *page)
{
    return protection(page) != (PROT_READ | PROT_WRITE);
}

void guard_page_open(struct guard_page *page)
{
    page->open++;
    protect(page, 1);
}

void guard_page_close(struct guard_page *page)
{
    page->open--;
    protect(page, 1);
}

void guard_page_give_up(struct guard_page *page)
{
    page->given_up = true;
    protect(page, 1);
}
