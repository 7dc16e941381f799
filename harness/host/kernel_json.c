#include "kernel_json.h"

#include <stdlib.h>
#include <string.h>

const char *kernel_json_fault(enum ptx_fault fault)
{
    switch (fault) {
    case PTX_FAULT_BOUNDS:
        return "out-of-bounds";
    case PTX_FAULT_NULL:
        return "illegal-address";
    case PTX_FAULT_MISALIGNED:
        return "misaligned";
    case PTX_FAULT_READ_ONLY:
        return "input-modified";
    default:
        return "trap";
    }
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* ---- hazards */

static unsigned linear(const uint32_t block[3], const uint32_t t[3])
{
    return t[0] + block[0] * (t[1] + block[1] * t[2]);
}

/* "tile[12]": the array and the index. An array of a host lab may be an element itself. */
static void add_where(json_t *object, const char *where)
{
    const char *bracket = strrchr(where, '[');
    size_t len = bracket ? (size_t)(bracket - where) : strlen(where);
    char *end;
    if (!len)
        return;
    json_object_set_new(object, "array", json_stringn(where, len));
    if (!bracket)
        return;
    long long index = strtoll(bracket + 1, &end, 10);
    if (*end == ']' && !end[1])
        json_object_set_new(object, "index", json_integer(index));
}

void kernel_json_add_place(json_t *object, const struct ptx_hazard *hazard, const uint32_t block[3])
{
    const uint32_t *at = hazard->thread.block;
    json_t *threads = json_array();
    json_object_set_new(object, "block", json_pack("[i,i,i]", at[0], at[1], at[2]));
    json_array_append_new(threads, json_integer(linear(block, hazard->thread.thread)));
    if (hazard->has_other)
        json_array_append_new(threads, json_integer(linear(block, hazard->other.thread)));
    json_object_set_new(object, "threads", threads);
    add_where(object, hazard->where);
}

/* ---- counters */

static json_t *kinds_json(const struct ptx_counters *c)
{
    json_t *kinds = json_object();
    for (unsigned k = 0; k < PTX_KIND_COUNT; k++)
        if (c->by_kind[k])
            json_object_set_new(kinds, ptx_kind_name(k), number(c->by_kind[k]));
    return kinds;
}

json_t *kernel_json_counters(const struct ptx_counters *c)
{
    uint64_t requests = c->global_load_requests + c->global_store_requests;
    uint64_t sectors = c->global_load_sectors + c->global_store_sectors;
    uint64_t bytes = c->global_load_bytes + c->global_store_bytes + c->async_bytes;
    json_t *object = json_pack("{s:s}", "backend", "sim");
    json_object_set_new(object, "instructions", number(c->warp_instructions));
    json_object_set_new(object, "lane_instructions", number(c->thread_instructions));
    json_object_set_new(object, "by_kind", kinds_json(c));
    if (requests)
        json_object_set_new(object, "sectors_per_request",
                            json_real((double)sectors / (double)requests));
    json_object_set_new(object, "bank_conflicts",
                        number(c->shared_wavefronts - c->shared_ideal_wavefronts));
    json_object_set_new(object, "divergent_branches", number(c->divergent_branches));
    json_object_set_new(object, "bytes_read", number(c->global_load_bytes + c->async_bytes));
    json_object_set_new(object, "bytes_written", number(c->global_store_bytes));
    json_object_set_new(object, "flops", number(c->flops));
    if (bytes)
        json_object_set_new(object, "arithmetic_intensity",
                            json_real((double)c->flops / (double)bytes));
    return object;
}
