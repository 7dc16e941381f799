/* Happens-before: floors, vectors, and the way between them. A block is driven by hand and checked
 * against a plain thread-by-thread model in random programs. */
#include "harness/ptx/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 80, WARPS = 3 }; /* the last warp is half full */

struct world {
    struct clock clock;
    struct clock_warp warps[WARPS];
    int forgotten;
};

static void forget(void *owner)
{
    (*(int *)owner)++;
}

static void begin(struct world *world)
{
    memset(world, 0, sizeof *world);
    for (int i = 0; i < WARPS; i++)
        world->clock.warps[i] = &world->warps[i];
    world->clock.forget = forget;
    world->clock.owner = &world->forgotten;
    clock_begin(&world->clock, THREADS);
}

static uint32_t live(uint32_t warp)
{
    return warp == 2 ? 0xffff : UINT32_MAX;
}

static uint32_t key_of(const struct world *world, uint32_t thread)
{
    return world->warps[thread / 32].mine + thread % 32;
}

static bool ordered(const struct world *world, uint32_t thread, uint32_t key)
{
    return clock_ordered(&world->clock, thread / 32, thread % 32, key);
}

static void block_barrier_orders_everyone(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t key = key_of(&w, 5);
    assert_true(ordered(&w, 5, key));
    assert_false(ordered(&w, 6, key));
    assert_false(ordered(&w, 40, key));
    clock_block_barrier(&w.clock);
    assert_true(ordered(&w, 6, key));
    assert_true(ordered(&w, 40, key));
    assert_true(key < w.warps[1].floor);
    clock_free(&w.clock);
}

static void full_warp_sync_orders_one_warp_without_vectors(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t key = key_of(&w, 5), many = w.warps[0].many;
    clock_warp_sync(&w.clock, 0, UINT32_MAX, UINT32_MAX);
    assert_false(w.clock.vectors);
    assert_true(ordered(&w, 6, key));
    assert_true(ordered(&w, 6, many));
    assert_false(ordered(&w, 40, key));
    assert_false(ordered(&w, 40, many));
    clock_free(&w.clock);
}

static void partial_warp_sync_orders_its_lanes_only(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t low = key_of(&w, 3), high = key_of(&w, 20);
    clock_warp_sync(&w.clock, 0, 0xffff, UINT32_MAX);
    assert_true(ordered(&w, 4, low));
    assert_false(ordered(&w, 4, high));
    assert_false(ordered(&w, 21, low));
    clock_warp_sync(&w.clock, 0, 0xffff0000, UINT32_MAX);
    assert_true(ordered(&w, 21, high));
    assert_false(ordered(&w, 21, low));
    clock_warp_sync(&w.clock, 0, UINT32_MAX, UINT32_MAX);
    assert_true(ordered(&w, 21, low));
    assert_true(ordered(&w, 4, high));
    clock_free(&w.clock);
}

static void release_and_acquire_order_what_came_before(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t *flag = calloc(clock_stride(&w.clock), sizeof *flag);
    uint32_t before = key_of(&w, 5), other = key_of(&w, 6);
    clock_release(&w.clock, 0, 1u << 5, flag);
    uint32_t after = key_of(&w, 5);
    clock_acquire(&w.clock, 1, 1u << 8, UINT32_MAX, flag);
    assert_true(ordered(&w, 40, before));
    assert_false(ordered(&w, 40, after));
    assert_false(ordered(&w, 40, other));
    assert_false(ordered(&w, 41, before)); /* only the lane that acquired */
    clock_warp_sync(&w.clock, 1, UINT32_MAX, UINT32_MAX);
    assert_true(ordered(&w, 41, before));
    clock_block_barrier(&w.clock);
    assert_false(w.clock.vectors);
    assert_true(ordered(&w, 70, after));
    free(flag);
    clock_free(&w.clock);
}

static void fence_splits_what_a_strong_write_releases(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t *flag = calloc(clock_stride(&w.clock), sizeof *flag);
    clock_release_fenced(&w.clock, 0, 1, flag);
    uint32_t before = key_of(&w, 0);
    clock_fence(&w.clock, 0, 1);
    uint32_t after = key_of(&w, 0);
    clock_release_fenced(&w.clock, 0, 1, flag);
    clock_acquire(&w.clock, 1, UINT32_MAX, UINT32_MAX, flag);
    assert_true(ordered(&w, 40, before));
    assert_false(ordered(&w, 40, after));
    free(flag);
    clock_free(&w.clock);
}

static void engine_is_nobodys_own(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    uint32_t *phase = calloc(clock_stride(&w.clock), sizeof *phase);
    uint32_t key = clock_async_key(&w.clock, phase);
    assert_true(key_is_async(key));
    for (uint32_t thread = 0; thread < THREADS; thread++)
        assert_false(ordered(&w, thread, key));
    clock_acquire(&w.clock, 0, UINT32_MAX, UINT32_MAX, phase);
    assert_true(ordered(&w, 7, key));
    assert_false(ordered(&w, 40, key));
    free(phase);
    clock_free(&w.clock);
}

static void epochs_run_out_and_start_again(void **state)
{
    (void)state;
    struct world w;
    begin(&w);
    for (uint32_t i = 0; i < KEY_EPOCHS + 10; i++)
        clock_warp_sync(&w.clock, i % WARPS, live(i % WARPS), live(i % WARPS));
    assert_int_equal(w.forgotten, 1);
    assert_true(w.warps[0].mine < KEY_SPECIAL);
    clock_free(&w.clock);
}

/* The model: time[a][b] is the number of accesses of b that happen before a's next one. */
struct model {
    uint32_t time[THREADS][THREADS], flag[2][THREADS], count[THREADS];
};

static void model_join(uint32_t *into, const uint32_t *from)
{
    for (int i = 0; i < THREADS; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

static void model_meet(struct model *m, const bool *who)
{
    uint32_t all[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        if (who[i]) {
            model_join(all, m->time[i]);
            all[i] = m->count[i];
        }
    for (int i = 0; i < THREADS; i++)
        if (who[i])
            memcpy(m->time[i], all, sizeof all);
}

static void model_lanes(bool *who, uint32_t warp, uint32_t lanes)
{
    for (uint32_t i = 0; i < THREADS; i++)
        who[i] = i / 32 == warp && lanes >> (i % 32) & 1;
}

static void random_programs_agree_with_the_model(void **state)
{
    (void)state;
    srand(4711);
    for (int program = 0; program < 60; program++) {
        struct world w;
        struct model *m = calloc(1, sizeof *m);
        begin(&w);
        uint32_t *flags[2];
        for (int i = 0; i < 2; i++)
            flags[i] = calloc(clock_stride(&w.clock), sizeof(uint32_t));
        uint32_t keys[THREADS][64];
        for (int step = 0; step < 60; step++) {
            for (uint32_t i = 0; i < THREADS; i++)
                keys[i][m->count[i]++] = key_of(&w, i); /* everybody accesses something */
            uint32_t warp = (uint32_t)rand() % WARPS, all = live(warp);
            uint32_t lanes = rand() % 2 ? all : ((uint32_t)rand() * 65539u & all);
            lanes = lanes ? lanes : 1;
            bool who[THREADS];
            model_lanes(who, warp, lanes);
            int flag = rand() % 2;
            switch (rand() % 8) {
            case 0:
                clock_block_barrier(&w.clock);
                memset(who, 1, sizeof who);
                model_meet(m, who);
                break;
            case 1:
            case 2:
                clock_warp_sync(&w.clock, warp, lanes, all);
                model_meet(m, who);
                break;
            case 3:
            case 4:
                clock_release(&w.clock, warp, lanes, flags[flag]);
                for (int i = 0; i < THREADS; i++)
                    if (who[i]) {
                        model_join(m->flag[flag], m->time[i]);
                        if (m->flag[flag][i] < m->count[i])
                            m->flag[flag][i] = m->count[i];
                    }
                break;
            default:
                clock_acquire(&w.clock, warp, lanes, all, flags[flag]);
                for (int i = 0; i < THREADS; i++)
                    if (who[i])
                        model_join(m->time[i], m->flag[flag]);
            }
            for (int probe = 0; probe < 200; probe++) {
                uint32_t a = (uint32_t)rand() % THREADS, b = (uint32_t)rand() % THREADS;
                uint32_t at = (uint32_t)rand() % m->count[b];
                bool want = a == b || at < m->time[a][b];
                assert_int_equal(ordered(&w, a, keys[b][at]), want);
                if (a / 32 != b / 32 && keys[b][at] < w.warps[a / 32].floor)
                    assert_true(want);
            }
        }
        free(flags[0]);
        free(flags[1]);
        free(m);
        clock_free(&w.clock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_barrier_orders_everyone),
        cmocka_unit_test(full_warp_sync_orders_one_warp_without_vectors),
        cmocka_unit_test(partial_warp_sync_orders_its_lanes_only),
        cmocka_unit_test(release_and_acquire_order_what_came_before),
        cmocka_unit_test(fence_splits_what_a_strong_write_releases),
        cmocka_unit_test(engine_is_nobodys_own),
        cmocka_unit_test(epochs_run_out_and_start_again),
        cmocka_unit_test(random_programs_agree_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
