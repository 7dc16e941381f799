/* Key to frame with a 100,000-line listing open: the time from an event to finished cells, for each
 * kind of key, at 200x60. What curses then sends is the difference of two such frames. */
#include "harness/base/labfile.h"
#include "tui/app.h"
#include "tui/job.h"
#include "tui/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 100000, PRESSES = 2000 };

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t own_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Returns the time that passed; *own is the part in which we had the processor. */
static int64_t press(struct app *app, struct cells *cells, int32_t key, int64_t *own)
{
    int64_t from = job_clock_ns(), own_from = own_ns();
    app_event(app, &(struct event){.kind = EVENT_KEY, .key = key, .now_ns = from});
    app_draw(app, cells);
    if (own)
        *own = own_ns() - own_from;
    return job_clock_ns() - from;
}

static void measure(struct app *app, struct cells *cells, const char *name, const int32_t *keys,
                    int key_count)
{
    int64_t *times = mem_zero(PRESSES, sizeof *times), *own = mem_zero(PRESSES, sizeof *own);
    for (int i = 0; i < PRESSES; i++)
        times[i] = press(app, cells, keys[i % key_count], &own[i]);
    qsort(times, PRESSES, sizeof *times, by_value);
    qsort(own, PRESSES, sizeof *own, by_value);
    printf("%-20s median %7.3f ms  p99 %7.3f ms  (own time p99 %7.3f ms, worst %7.3f ms)\n", name,
           (double)times[PRESSES / 2] / 1e6, (double)times[PRESSES * 99 / 100] / 1e6,
           (double)own[PRESSES * 99 / 100] / 1e6, (double)own[PRESSES - 1] / 1e6);
    free(times);
    free(own);
}

/* Of this process now, from the kernel. */
static double resident_mib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void fill(struct app *app)
{
    struct buf listing = {0}, none = {0};
    for (int i = 0; i < LINES; i++)
        if (i % 50)
            buf_printf(&listing, "        fma.rn.f32      %%f%d, %%f%d, %%f%d, 0f3F800000;\n",
                       i % 97, i % 89, i % 83);
        else
            buf_printf(&listing, "        .loc    1 %d 13\n", 1 + i % 80);
    printf("key to frame, listing of %d lines (%.1f MiB), 200x60; the budget is 8 ms at p99\n",
           LINES, (double)listing.len / (1 << 20));
    app_set_listings(app, &listing, &none);
    buf_free(&listing);
}

/* A run as long as a record holds, and a baseline's as long: 2,000 pieces each, in 8 streams. */
static json_t *long_run(void)
{
    json_t *rows = json_array(), *engine = json_array();
    for (int stream = 0; stream < 8; stream++) {
        json_t *spans = json_array();
        char name[16];
        for (int i = stream; i < 2000; i += 8) {
            json_t *span = json_pack("{s:s, s:f, s:f, s:s, s:i, s:i}", "kind",
                                     i % 3 == 0   ? "h2d"
                                     : i % 3 == 1 ? "kernel"
                                                  : "d2h",
                                     "from", i * 2.5, "to", i * 2.5 + 4, "label", "work(float*)",
                                     "line", 20 + i % 7, "graph", i / 40);
            json_array_append(engine, span);
            json_array_append_new(spans, span);
        }
        snprintf(name, sizeof name, "stream %d", stream + 1);
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:o}", "name", name, "role", "stream", "spans", spans));
    }
    json_array_append_new(
        rows, json_pack("{s:s, s:s, s:o}", "name", "SMs", "role", "engine", "spans", engine));
    return json_pack("{s:{s:s, s:O, s:f, s:{s:o, s:f}}}", "timeline", "unit", "us", "rows", rows,
                     "length_us", 5004.0, "baseline", "rows", rows, "length_us", 5004.0);
}

static void measure_timeline(struct app *app, struct cells *cells)
{
    json_t *record = long_run();
    const int32_t zoom[] = {'+', '-'}, along[] = {'l', 'l', 'h'}, folds[] = {'v'};
    app_set_record(app, record);
    json_decref(record);
    press(app, cells, '5', NULL);
    measure(app, cells, "timeline, zoom", zoom, 2);
    press(app, cells, '+', NULL);
    measure(app, cells, "timeline, along", along, 3);
    measure(app, cells, "timeline, graphs", folds, 1);
}

int main(void)
{
    struct labfile **labs = NULL;
    unsigned count = 0;
    struct app app;
    struct cells cells = {0};
    if (!labfile_load_all(&labs, &count, ".", NULL))
        return 1;
    app_init(&app, labs, count);
    app_set_lab(&app, 0);
    fill(&app);
    app_event(&app, &(struct event){.kind = EVENT_SIZE, .cols = 200, .rows = 60});
    printf("%-20s %14.3f ms\n", "opening the pane", (double)press(&app, &cells, '6', NULL) / 1e6);
    const int32_t lines[] = {'j', 'j', 'j', 'k'}, pages[] = {' ', ' ', 'b'}, ends[] = {'G', 'g'};
    const int32_t sideways[] = {'l', 'h'}, panes[] = {KEY_CODE_TAB, KEY_CODE_BACK_TAB};
    measure(&app, &cells, "line down, up", lines, 4);
    measure(&app, &cells, "page down, up", pages, 3);
    measure(&app, &cells, "end, beginning", ends, 2);
    measure(&app, &cells, "sideways", sideways, 2);
    measure(&app, &cells, "pane and back", panes, 2);
    for (const char *at = "/f96"; *at; at++)
        press(&app, &cells, *at, NULL);
    printf("%-20s %14.3f ms\n", "searching all of it",
           (double)press(&app, &cells, KEY_CODE_ENTER, NULL) / 1e6);
    const int32_t next[] = {'n', 'n', 'N'};
    measure(&app, &cells, "next match", next, 3);
    printf("%-20s %14.1f MiB\n", "resident", resident_mib());
    measure_timeline(&app, &cells);
    app_free(&app);
    cells_free(&cells);
    labfile_free_all(labs, count);
    return 0;
}
