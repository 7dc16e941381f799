#include "prepared.h"

#include "check.h"
#include "compare.h"
#include "guard.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static void *host_alloc(const struct prepared *prepared, size_t bytes)
{
    struct backend *backend = prepared->backend;
    return backend->ops->host_alloc ? backend->ops->host_alloc(backend, bytes) : mem_alloc(bytes);
}

static void host_free(const struct prepared *prepared, void *host)
{
    struct backend *backend = prepared->backend;
    if (backend->ops->host_free)
        backend->ops->host_free(backend, host);
    else
        free(host);
}

/* Host bytes of one case; *more is by how much the buffers for what comes back must grow. */
static size_t bytes_of(const struct prepared *prepared, const struct lab_shape *shape, size_t *more)
{
    size_t sum = 0;
    *more = 0;
    for (int i = 0; i < shape->buffer_count; i++) {
        const struct lab_buffer *about = &shape->buffers[i];
        size_t back = guard_allocation(prepared->backend, about);
        sum += guard_buffer_bytes(about) *
               (unsigned)(lab_is_filled(about->role) + lab_is_answer(about->role));
        if (back > prepared->back_bytes[i])
            *more += back - prepared->back_bytes[i];
    }
    return sum;
}

static void add_case(struct prepared *prepared, const struct lab_shape *shape, uint64_t seed)
{
    size_t more, bytes = bytes_of(prepared, shape, &more);
    if (prepared->count == PREPARED_CASES || bytes + more > prepared->most_bytes - prepared->bytes)
        return;
    prepared->bytes += bytes + more;
    for (int i = 0; i < shape->buffer_count; i++) {
        size_t back = guard_allocation(prepared->backend, &shape->buffers[i]);
        if (back > prepared->back_bytes[i])
            prepared->back_bytes[i] = back;
    }
    prepared->cases[prepared->count++] =
        (struct prepared_case){.n = shape->n, .seed = seed, .shape = *shape};
}

void prepared_plan(struct prepared *out, struct backend *backend, const struct lab *lab,
                   const uint64_t *sizes, unsigned size_count, uint64_t seed, size_t most_bytes)
{
    struct lab_shape shape;
    *out = (struct prepared){.backend = backend, .lab = lab, .most_bytes = most_bytes};
    uint64_t below = UINT64_MAX;
    for (unsigned turn = 0; turn < size_count; turn++) {
        uint64_t n = 0; /* the largest that was not yet taken */
        for (unsigned i = 0; i < size_count; i++)
            n = sizes[i] < below && sizes[i] > n ? sizes[i] : n;
        below = n;
        if (!n || !lab->shape(&shape, n))
            continue;
        for (unsigned k = 0; k < check_seed_count(backend, &shape); k++)
            add_case(out, &shape, seed + k);
    }
}

/* False when there is no memory for it. */
static bool make_case(struct prepared *prepared, struct prepared_case *made)
{
    const struct lab *lab = prepared->lab;
    for (int i = 0; i < made->shape.buffer_count; i++) {
        const struct lab_buffer *about = &made->shape.buffers[i];
        if (lab_is_filled(about->role)) {
            made->host[i] = host_alloc(prepared, guard_buffer_bytes(about));
            if (!made->host[i])
                return false;
            lab->fill(&made->shape, i, made->seed, made->host[i]);
        }
        if (lab_is_answer(about->role))
            made->want[i] = mem_alloc(guard_buffer_bytes(about));
    }
    lab->reference(&made->shape, made->host, made->want);
    for (int i = 0; i < made->shape.buffer_count; i++) {
        struct check_buffer buffer = {
            .lab = lab, .shape = &made->shape, .buffer = i, .want = made->want[i]};
        if (made->want[i])
            made->allowed[i] = compare_allowance(&buffer);
    }
    return true;
}

static bool make_back(struct prepared *prepared)
{
    for (int i = 0; i < LAB_BUFFERS && prepared->back_bytes[i]; i++) {
        prepared->back[i] = host_alloc(prepared, prepared->back_bytes[i]);
        if (!prepared->back[i])
            return false;
    }
    return true;
}

bool prepared_step(struct prepared *prepared)
{
    if (prepared->ready == prepared->count)
        return false;
    bool ok = (prepared->back[0] || make_back(prepared)) &&
              make_case(prepared, &prepared->cases[prepared->ready]);
    if (ok)
        prepared->ready++;
    else
        prepared->count = prepared->ready; /* no memory: what is not there is made when needed */
    return prepared->ready < prepared->count;
}

const struct prepared_case *prepared_find(const struct prepared *prepared,
                                          const struct lab_shape *shape, uint64_t seed)
{
    for (unsigned i = 0; prepared && i < prepared->ready; i++)
        if (prepared->cases[i].n == shape->n && prepared->cases[i].seed == seed)
            return &prepared->cases[i];
    return NULL;
}

void prepared_free(struct prepared *prepared)
{
    for (unsigned k = 0; k < PREPARED_CASES; k++) /* also one that was only half made */
        for (int i = 0; i < LAB_BUFFERS; i++) {
            if (prepared->cases[k].host[i])
                host_free(prepared, prepared->cases[k].host[i]);
            free(prepared->cases[k].want[i]);
        }
    for (int i = 0; i < LAB_BUFFERS; i++)
        if (prepared->back[i])
            host_free(prepared, prepared->back[i]);
    *prepared = (struct prepared){0};
}
