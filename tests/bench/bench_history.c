/* A long course: 5,000 attempts are committed, then the history is opened and its first page
 * listed. Prints medians and 99th percentiles against the budgets; files lie in $TMPDIR. */
#include "tui/history.h"
#include "tui/job.h"

#include "harness/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ATTEMPTS = 5000, PAGE = 50, OPENINGS = 20, LISTING_BYTES = 20000 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *ms, int count, double budget_ms)
{
    qsort(ms, (size_t)count, sizeof *ms, by_size);
    printf("%-34s median %7.2f ms   p99 %7.2f ms   %5.2fx of the budget of %.0f ms\n", what,
           ms[count / 2], ms[count * 99 / 100], ms[count / 2] / budget_ms, budget_ms);
}

static double now_ms(void)
{
    return (double)job_clock_ns() / 1e6;
}

static void die(const struct err *err)
{
    fprintf(stderr, "bench_history: %s\n", err->text);
    exit(1);
}

/* Like a listing: mostly what the last one was. */
static void fill(struct buf *out, int number, size_t len)
{
    buf_clear(out);
    for (int line = 0; out->len < len; line++)
        buf_printf(out, "        /*%04x*/  LDGSTS.E.BYPASS.128 [R%d+0x%x], [R2.64] ;\n", line * 16,
                   line % 97 == 0 ? number % 200 : line % 32, line);
}

static void commit(struct history *history, int number)
{
    struct buf kernel = {0}, record = {0}, ptx = {0}, sass = {0};
    struct err err = {0};
    char id[41], subject[64];
    fill(&ptx, number, LISTING_BYTES);
    fill(&sass, number + 1, LISTING_BYTES);
    fill(&kernel, number, 3000);
    buf_printf(&record, "{\n  \"attempt\": %d,\n  \"lab\": \"cp-async\"\n}\n", number);
    snprintf(subject, sizeof subject, "cp-async #%d: pass, 1.%02dx", number, number % 100);
    struct history_attempt attempt = {.lab = "cp-async",
                                      .kernel = &kernel,
                                      .record = &record,
                                      .ptx = &ptx,
                                      .sass = &sass,
                                      .subject = subject,
                                      .body = "passes\n"};
    if (!history_commit_attempt(history, &attempt, id, NULL, &err))
        die(&err);
    buf_free(&kernel);
    buf_free(&record);
    buf_free(&ptx);
    buf_free(&sass);
}

static void time_openings(const char *what, const char *work)
{
    static struct history_entry entries[PAGE];
    double ms[OPENINGS];
    struct err err = {0};
    for (int i = 0; i < OPENINGS; i++) {
        struct history *history = NULL;
        size_t count = 0;
        bool more = false;
        double start = now_ms();
        if (!history_open(&history, work, NULL, &err) ||
            !history_list(history, "cp-async", 0, PAGE, entries, &count, &more, &err) ||
            count != PAGE || !more)
            die(&err);
        ms[i] = now_ms() - start;
        history_close(history);
    }
    report(what, ms, OPENINGS, 100);
}

int main(void)
{
    const char *temp = getenv("TMPDIR");
    char *folder = path_join(temp && *temp ? temp : "/tmp", "stride-bench-XXXXXX");
    struct err err = {0};
    struct history *history = NULL;
    static double ms[ATTEMPTS], next_ms[ATTEMPTS];
    if (!mkdtemp(folder))
        return 1;
    char *work = path_join(folder, "work");
    if (!file_make_dirs(work, &err) || !history_open(&history, work, NULL, &err))
        die(&err);
    for (int i = 0; i < ATTEMPTS; i++) {
        int number = 0;
        double start = now_ms();
        if (!history_next_attempt(history, "cp-async", &number, &err))
            die(&err);
        next_ms[i] = now_ms() - start;
        start = now_ms();
        commit(history, i + 1);
        ms[i] = now_ms() - start;
    }
    double last[500];
    memcpy(last, ms + ATTEMPTS - 500, sizeof last);
    report("commit, all 5,000", ms, ATTEMPTS, 20);
    report("commit, the last 500", last, 500, 20);
    report("number of the next attempt", next_ms, ATTEMPTS, 20);
    history_close(history);
    time_openings("open and first page, loose objects", work);
    char *command = mem_printf("git -c safe.directory='*' -C %s gc -q", work);
    if (system(command) == 0)
        time_openings("open and first page, after git gc", work);
    free(command);
    command = mem_printf("rm -rf %s", folder);
    int status = system(command);
    free(command);
    free(work);
    free(folder);
    return status != 0;
}
