/* The simulated runtime's virtual time: how long things take, what runs beside what. */
#include "host_sim.h"

#include "harness/host/sim_host.h"

static void work_for_a_while(void *us)
{
    host_pass(*(const double *)us);
}

static void host_functions_take_their_time(void **state)
{
    static const double us = 250;
    void *s = stream_new(NON_BLOCKING);
    (void)state;
    OK(1, cudaLaunchHostFunc(s, work_for_a_while, (void *)&us));
    OK(2, cudaStreamSynchronize(s));
    OK(3, cudaStreamDestroy(s));
    assert_clean();
    const struct span *span = &host_sim_found.spans.items[0];
    assert_int_equal(span->kind, SPAN_HOST);
    assert_true(span->to_us - span->from_us > 249 && span->to_us - span->from_us < 251);
    /* the host waited for it, once */
    span = &host_sim_found.spans.items[1];
    assert_int_equal(span->kind, SPAN_WAIT);
    assert_true(span->to_us - span->from_us < 251);
}

enum { BIG = 1 << 16 };

static void queue(void *const streams[], unsigned count, uint32_t *h, void *x, uint32_t *g)
{
    enum { CHUNKS = 4 };
    for (unsigned c = 0; c < CHUNKS; c++) {
        void *s = streams[c % count];
        size_t at = c * (BIG / CHUNKS);
        cudaMemcpyAsync((uint32_t *)x + at, h + at, BIG / CHUNKS * 4, TO_DEVICE, s);
        run_add((uint32_t *)x + at, BIG / CHUNKS, s);
        cudaMemcpyAsync(g + at, (uint32_t *)x + at, BIG / CHUNKS * 4, TO_HOST, s);
    }
    cudaDeviceSynchronize();
}

static double length_us(void)
{
    double from = 1e30, to = 0;
    for (size_t i = 0; i < host_sim_found.spans.count; i++) {
        const struct span *s = &host_sim_found.spans.items[i];
        if (s->stream == (uint32_t)SPAN_HOST_ROW)
            continue;
        from = s->from_us < from ? s->from_us : from;
        to = s->to_us > to ? s->to_us : to;
    }
    return to - from;
}

/* Pieces of the same engine never run at the same time. */
static void assert_engines_apart(void)
{
    const struct spans *spans = &host_sim_found.spans;
    for (size_t i = 0; i < spans->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct span *a = &spans->items[i], *b = &spans->items[k];
            if (a->kind == b->kind && (a->kind == SPAN_H2D || a->kind == SPAN_D2H))
                assert_true(a->from_us >= b->to_us || b->from_us >= a->to_us);
        }
}

static void copies_overlap(void **state)
{
    void *streams[4], *x = device_new(BIG * 4);
    uint32_t *h = pinned_new(BIG * 4), *g = pinned_new(BIG * 4);
    double serial, apart, again;
    (void)state;
    for (int i = 0; i < 4; i++)
        streams[i] = stream_new(NON_BLOCKING);
    memset(h, 0, BIG * 4);
    queue(streams, 1, h, x, g);
    host_sim_take();
    queue(streams, 1, h, x, g);
    host_sim_take();
    serial = length_us();
    queue(streams, 4, h, x, g);
    host_sim_take();
    apart = length_us();
    assert_engines_apart();
    assert_int_equal(host_sim_found.spans.count, 12 + 1); /* and the host's wait */
    queue(streams, 4, h, x, g);
    host_sim_take();
    again = length_us();
    assert_true(serial / apart > 1.4);
    assert_true(again == apart || (again - apart) * (again - apart) < 1e-12);
    for (int i = 0; i < 4; i++)
        OK(1, cudaStreamDestroy(streams[i]));
    OK(2, cudaFree(x));
    OK(3, cudaFreeHost(h));
    OK(4, cudaFreeHost(g));
    assert_clean();
}

static double kernels_us(unsigned n, void *between)
{
    void *a = stream_new(0), *b = stream_new(0), *x = device_new(4 * BIG * 4);
    uint32_t *y = (uint32_t *)x + 2 * BIG;
    cudaMemset(x, 0, 4 * BIG * 4);
    cudaDeviceSynchronize();
    host_sim_take();
    run_add(x, n, a);
    if (between)
        run_add((uint32_t *)x + BIG, 32, NULL);
    run_add(y, n, b);
    cudaDeviceSynchronize();
    assert_clean();
    double us = length_us();
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(x);
    return us;
}

static void kernels_share_only_when_small(void **state)
{
    (void)state;
    kernels_us(32, NULL); /* loads the kernel */
    double one = 0;
    kernels_us(BIG, NULL);
    for (size_t i = 0; i < host_sim_found.spans.count; i++)
        if (host_sim_found.spans.items[i].kind == SPAN_KERNEL)
            one = host_sim_found.spans.items[i].to_us - host_sim_found.spans.items[i].from_us;
    assert_true(length_us() > 1.9 * one);
    /* Small ones run side by side, unless the default stream stands between them. */
    kernels_us(1024, NULL);
    const struct span *s = host_sim_found.spans.items;
    assert_true(s[1].from_us < s[0].to_us || s[1].from_us - s[0].from_us < 5);
    kernels_us(1024, &one);
    s = host_sim_found.spans.items;
    assert_true(s[1].from_us >= s[0].to_us && s[2].from_us >= s[1].to_us);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, host_sim_settle)
    const struct CMUnitTest tests[] = {
        T(host_functions_take_their_time),
        T(copies_overlap),
        T(kernels_share_only_when_small),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
