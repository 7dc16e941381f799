/* Memory: device allocations, which the host cannot touch, and page-locked host memory. */
#include "sim.h"

#include "names.h"
#include "sim_guard.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Device addresses lie in a range that is reserved and never accessible: the host that follows one
 * is stopped at once, as it is with a GPU, and none can equal a host address. */
#define DEVICE_RANGE (1ull << 40)
#define GAP          (1ull << 20) /* between allocations, so that running off one's end is seen */

enum { UNWRITTEN = 0xcd, PORTABLE = 1, MAPPED = 2, WRITE_COMBINED = 4, ALL_HOST_FLAGS = 7 };
enum { REGISTER_FLAGS = 15 };

static struct {
    uint64_t base, next, used;
} device;

static bool reserve(void)
{
    if (device.base)
        return true;
    void *at =
        mmap(NULL, DEVICE_RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) { /* a limit on address space: any range will do, only less safe */
        device.base = 1ull << 40;
        device.next = device.base;
        return true;
    }
    device.base = (uintptr_t)at;
    device.next = (device.base + GAP - 1) & ~(GAP - 1);
    return true;
}

bool memory_is_device_address(uint64_t va)
{
    return device.base && va - device.base < DEVICE_RANGE;
}

/* ---- what is where */

struct memory *memory_at(uint64_t va)
{
    struct memory *dead = NULL;
    for (struct memory *m = sim.memory; m; m = m->next) {
        if (va - m->va >= m->bytes)
            continue;
        if (!m->freed)
            return m;
        if (!dead)
            dead = m;
    }
    return dead;
}

bool memory_holds(const struct memory *m, uint64_t va, uint64_t bytes)
{
    return va - m->va <= m->bytes && bytes <= m->bytes - (va - m->va);
}

bool memory_is_pinned(const void *pointer, size_t bytes)
{
    const struct memory *m = memory_at((uintptr_t)pointer);
    return m && !m->freed && m->kind != MEMORY_DEVICE && memory_holds(m, (uintptr_t)pointer, bytes);
}

bool memory_is_host(uint64_t va)
{
    const struct memory *m = memory_at(va);
    return m && !m->freed && m->kind != MEMORY_DEVICE;
}

uint8_t *memory_bytes(uint64_t va, uint64_t bytes)
{
    const struct memory *m = memory_at(va);
    if (!m || m->freed || !memory_holds(m, va, bytes))
        return NULL;
    return (uint8_t *)m->host + (va - m->va);
}

void memory_explain(uint64_t va, uint64_t bytes)
{
    const struct memory *m = memory_at(va), *near = NULL;
    unsigned long long size = bytes;
    if (m && m->freed) {
        sim_why(_("%s was given back in line %d already"), m->name, m->freed_line);
        return;
    }
    if (m) {
        sim_why(_("%llu bytes from byte %llu on run over the end of %s, which has %llu bytes"),
                size, (unsigned long long)(va - m->va), m->name, (unsigned long long)m->bytes);
        return;
    }
    for (const struct memory *other = sim.memory; other; other = other->next)
        if (other->va <= va && (!near || other->va > near->va))
            near = other;
    if (near && va - near->va - near->bytes < GAP)
        sim_why(_("the address lies %llu bytes behind the end of %s, which has %llu bytes"),
                (unsigned long long)(va - near->va - near->bytes), near->name,
                (unsigned long long)near->bytes);
    else
        sim_why("%s", va ? _("the address belongs to no allocation") : _("it is a null pointer"));
}

struct memory *memory_add(enum memory_kind kind, void *host, size_t bytes)
{
    struct memory *m = mem_zero(1, sizeof *m);
    *m = (struct memory){.kind = kind,
                         .va = (uintptr_t)host,
                         .bytes = bytes,
                         .host = host,
                         .line = sim_call_line(),
                         .next = sim.memory};
    if (kind != MEMORY_DEVICE) {
        m->host = guard_view(host, bytes);
    } else {
        m->va = device.next;
        device.next += (bytes + 2 * GAP - 1) & ~(GAP - 1);
        device.used += bytes;
    }
    if (names_find(m->line, m->name, sizeof m->name))
        ;
    else if (m->line)
        snprintf(m->name, sizeof m->name, _("the memory of line %d"), m->line);
    else
        snprintf(m->name, sizeof m->name, "%s", _("an allocation"));
    sim.memory = m;
    return m;
}

void memory_end(struct memory *m, int line)
{
    if (m->freed)
        return;
    m->freed = true;
    m->freed_line = line;
    if (m->kind == MEMORY_DEVICE && !m->variable) {
        device.used -= m->bytes;
        free(m->host);
        free(m->written);
    } else if (m->kind == MEMORY_PINNED) {
        guard_free((void *)(uintptr_t)m->va);
    } else if (m->kind == MEMORY_REGISTERED) {
        guard_unregister((void *)(uintptr_t)m->va);
    }
    m->host = NULL;
    m->written = NULL;
}

void memory_add_variable(const char *name, uint64_t va, void *host, size_t bytes)
{
    struct memory *m = mem_zero(1, sizeof *m);
    *m = (struct memory){.kind = MEMORY_DEVICE,
                         .variable = true,
                         .va = va,
                         .bytes = bytes,
                         .host = host,
                         .next = sim.memory};
    snprintf(m->name, sizeof m->name, "%s", name);
    sim.memory = m;
}

struct ptx_memory *memory_list(size_t *count)
{
    size_t n = 0;
    for (const struct memory *m = sim.memory; m; m = m->next)
        n += !m->freed && !m->dormant && !m->variable;
    struct ptx_memory *list = mem_zero(n + 1, sizeof *list);
    *count = 0;
    for (const struct memory *m = sim.memory; m; m = m->next)
        if (!m->freed && !m->dormant && !m->variable)
            list[(*count)++] = (struct ptx_memory){.va = m->va,
                                                   .bytes = m->bytes,
                                                   .host = m->host,
                                                   .name = m->name,
                                                   .element_bytes = 4,
                                                   .written = m->written};
    return list;
}

/* ---- device memory */

int memory_allocate_device(struct memory **out, size_t bytes)
{
    if (!reserve() || bytes > MEMORY_DEVICE_BYTES || device.used + bytes > MEMORY_DEVICE_BYTES ||
        device.next + bytes + 2 * GAP > device.base + DEVICE_RANGE) {
        sim_why(_("%zu bytes were asked for; the simulated device has %llu, and %llu of them are "
                  "in use"),
                bytes, MEMORY_DEVICE_BYTES, (unsigned long long)device.used);
        return CUDA_OUT_OF_MEMORY;
    }
    size_t rounded = (bytes + 127) & ~(size_t)63;
    void *host = aligned_alloc(64, rounded);
    uint8_t *written = calloc(bytes + 64, 1);
    if (!host || !written) {
        free(host);
        free(written);
        return CUDA_OUT_OF_MEMORY;
    }
    *out = memory_add(MEMORY_DEVICE, host, bytes);
    (*out)->written = written;
    memory_clear(*out);
    return CUDA_OK;
}

void memory_clear(struct memory *m)
{
    memset(m->host, UNWRITTEN, m->bytes);
    memset(m->written, 0, m->bytes);
}

void memory_rest(struct memory *m, int line)
{
    m->dormant = true;
    m->freed_line = line;
}

bool memory_is_held(const struct memory *m)
{
    if (!m->held)
        sim_why(_("%s belongs to a graph, and no launch of it has it allocated now"), m->name);
    return m->held;
}

static int allocate(void **out, size_t bytes)
{
    struct memory *memory;
    if (!out)
        return CUDA_INVALID_VALUE;
    int result = capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (result >= 0)
        return result;
    *out = NULL;
    if (!bytes)
        return CUDA_OK;
    result = memory_allocate_device(&memory, bytes);
    if (!result)
        *out = (void *)(uintptr_t)memory->va;
    return result;
}

static int sim_malloc(void **out, size_t bytes)
{
    int result = sim_enter();
    return sim_leave(result ? result : allocate(out, bytes));
}

static int sim_malloc_pitch(void **out, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH = 512 };
    size_t bytes;
    int result = sim_enter();
    if (!result && !pitch)
        result = CUDA_INVALID_VALUE;
    if (!result &&
        (width > SIZE_MAX - PITCH ||
         __builtin_mul_overflow((width + PITCH - 1) & ~(size_t)(PITCH - 1), height, &bytes)))
        result = CUDA_OUT_OF_MEMORY;
    if (!result) {
        *pitch = (width + PITCH - 1) & ~(size_t)(PITCH - 1);
        result = allocate(out, bytes);
    }
    return sim_leave(result);
}

struct memory *memory_find_start(void *pointer, bool device_memory)
{
    struct memory *m = memory_at((uintptr_t)pointer);
    if (m && m->freed)
        memory_explain((uintptr_t)pointer, 1);
    else if (m && (m->kind == MEMORY_DEVICE) != device_memory)
        sim_why(m->kind == MEMORY_DEVICE ? _("%s is device memory: give it to cudaFree")
                                         : _("%s is host memory: give it to cudaFreeHost"),
                m->name);
    else if (m && m->variable)
        sim_why(_("%s is a variable of the program, not an allocation"), m->name);
    else if (m && m->va != (uintptr_t)pointer)
        sim_why(_("the pointer points into %s, not at its start"), m->name);
    else if (!m)
        sim_why("%s", _("this pointer was never allocated"));
    else
        return m;
    return NULL;
}

static int release(void *pointer)
{
    int result = capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (result >= 0)
        return result;
    if (!pointer)
        return CUDA_OK;
    struct memory *m = memory_find_start(pointer, true);
    if (!m)
        return CUDA_INVALID_VALUE;
    if (m->of_graph && !memory_is_held(m))
        return CUDA_INVALID_VALUE;
    /* What still uses it, and everything else, ends first. */
    sim_finish_all("cudaFree", sim_call_line());
    m->held = false;
    if (m->works)
        memory_rest(m, sim_call_line());
    else
        memory_end(m, sim_call_line());
    return sim.sticky;
}

static int sim_free(void *pointer)
{
    int result = sim_enter();
    return sim_leave(result ? result : release(pointer));
}

static int sim_mem_get_info(size_t *free_bytes, size_t *total)
{
    int result = sim_enter();
    if (!result && free_bytes)
        *free_bytes = MEMORY_DEVICE_BYTES - device.used;
    if (!result && total)
        *total = MEMORY_DEVICE_BYTES;
    return sim_leave(result);
}

/* ---- host memory */

static int host_alloc(void **out, size_t bytes, unsigned flags)
{
    int result = sim_enter();
    if (!result && (!out || (flags & ~(unsigned)ALL_HOST_FLAGS)))
        result = CUDA_INVALID_VALUE;
    int forbidden = result ? -1 : capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (forbidden > 0)
        result = forbidden;
    if (!result)
        *out = NULL;
    if (!result && bytes) {
        void *host = guard_alloc(bytes);
        if (host) {
            memory_add(MEMORY_PINNED, host, bytes)->flags = flags | MAPPED;
            *out = host;
        } else {
            result = CUDA_OUT_OF_MEMORY;
        }
    }
    return sim_leave(result);
}

static int sim_malloc_host(void **out, size_t bytes)
{
    return host_alloc(out, bytes, 0);
}

/* Work of streams that still reads or writes this host memory, as far as the host can know. */
static void check_given_back(const struct memory *m, int line)
{
    const struct op *op = order_user(m);
    if (op)
        report_unordered(line, op->work.line,
                         _("%s is given back while a copy may still work on it: wait for the "
                           "stream first (cudaStreamSynchronize)"),
                         m->name);
}

static int free_host(void *pointer, bool registered)
{
    int line = sim_call_line(), result = capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (result >= 0)
        return result;
    if (!pointer)
        return registered ? CUDA_INVALID_VALUE : CUDA_OK;
    const struct memory *known = memory_at((uintptr_t)pointer);
    struct memory *m = memory_find_start(pointer, false);
    if (!m) /* an address that CUDA knows is a wrong value */
        return registered && (!known || known->freed) ? CUDA_HOST_NOT_REGISTERED
                                                      : CUDA_INVALID_VALUE;
    if ((m->kind == MEMORY_REGISTERED) != registered) {
        sim_why(registered ? _("%s comes from cudaMallocHost or cudaHostAlloc: give it to "
                               "cudaFreeHost")
                           : _("%s was registered by cudaHostRegister: give it to "
                               "cudaHostUnregister"),
                m->name);
        return CUDA_INVALID_VALUE;
    }
    check_given_back(m, line);
    sim_finish_all(registered ? "cudaHostUnregister" : "cudaFreeHost", line);
    memory_end(m, line);
    return sim.sticky;
}

static int sim_free_host(void *pointer)
{
    int result = sim_enter();
    return sim_leave(result ? result : free_host(pointer, false));
}

static int sim_host_unregister(void *pointer)
{
    int result = sim_enter();
    return sim_leave(result ? result : free_host(pointer, true));
}

static int sim_host_register(void *pointer, size_t bytes, unsigned flags)
{
    int result = sim_enter();
    uintptr_t from = (uintptr_t)pointer;
    if (!result && (!pointer || !bytes || (flags & ~(unsigned)REGISTER_FLAGS) ||
                    from + bytes < from || memory_is_device_address(from)))
        result = CUDA_INVALID_VALUE;
    int forbidden = result ? -1 : capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (forbidden > 0)
        result = forbidden;
    for (const struct memory *m = sim.memory; !result && m; m = m->next) {
        if (m->freed || m->va + m->bytes <= from || from + bytes <= m->va)
            continue;
        sim_why(_("it overlaps %s"), m->name);
        result = CUDA_HOST_REGISTERED;
    }
    if (!result && !guard_register(pointer, bytes))
        result = CUDA_HOST_REGISTERED;
    if (!result)
        memory_add(MEMORY_REGISTERED, pointer, bytes)->flags = flags | MAPPED;
    return sim_leave(result);
}

static int sim_host_get_device_pointer(void **out, void *host, unsigned flags)
{
    int result = sim_enter();
    if (!result && (!out || flags || !memory_is_pinned(host, 1)))
        result = CUDA_INVALID_VALUE;
    if (!result)
        *out = host;
    return sim_leave(result);
}

static int sim_host_get_flags(unsigned *out, void *host)
{
    int result = sim_enter();
    if (!result && (!out || !memory_is_pinned(host, 1)))
        result = CUDA_INVALID_VALUE;
    if (!result)
        *out = memory_at((uintptr_t)host)->flags;
    return sim_leave(result);
}

/* cudaPointerAttributes */
struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer; /* CUDA 13 has reserved space behind */
};

static int sim_pointer_get_attributes(void *attributes, const void *pointer)
{
    enum { UNREGISTERED, HOST, DEVICE };
    struct pointer_attributes *out = attributes;
    int result = sim_enter();
    if (!result && !out)
        result = CUDA_INVALID_VALUE;
    if (!result) {
        struct memory *m = memory_at((uintptr_t)pointer);
        *out = (struct pointer_attributes){.type = UNREGISTERED, .device = -2};
        if (m && !m->freed && m->kind == MEMORY_DEVICE) {
            out->type = DEVICE;
            out->device = 0;
            out->device_pointer = (void *)(uintptr_t)pointer;
        } else if (m && !m->freed) {
            out->type = HOST;
            out->device = 0;
            out->device_pointer = out->host_pointer = (void *)(uintptr_t)pointer;
        } else {
            out->host_pointer = (void *)(uintptr_t)pointer;
        }
    }
    return sim_leave(result);
}

void sim_install_memory(struct runtime *out)
{
    out->cudaMalloc = sim_malloc;
    out->cudaMallocPitch = sim_malloc_pitch;
    out->cudaFree = sim_free;
    out->cudaMemGetInfo = sim_mem_get_info;
    out->cudaMallocHost = sim_malloc_host;
    out->cudaHostAlloc = host_alloc;
    out->cudaFreeHost = sim_free_host;
    out->cudaHostRegister = sim_host_register;
    out->cudaHostUnregister = sim_host_unregister;
    out->cudaHostGetDevicePointer = sim_host_get_device_pointer;
    out->cudaHostGetFlags = sim_host_get_flags;
    out->cudaPointerGetAttributes = sim_pointer_get_attributes;
}
