/* A child that says anything on descriptor 3: the attempt takes it line by line, ends with a
 * verdict, and what it kept is a record that Stride itself reads back. */
#include "tui/attempt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attempt attempt;
    attempt_init(&attempt, "cp-async", "n1", false, 0);
    const char *line = (const char *)data, *end = line + size;
    for (int64_t now = 1; line < end; now++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        attempt_event(&attempt, line, (size_t)(stop - line), now);
        attempt_deadline_ns(&attempt);
        attempt_running(&attempt);
        line = stop + 1;
    }
    attempt_set_output(&attempt, (const char *)data, size, false);
    attempt_set_number(&attempt, 1);
    attempt_child_over(&attempt, DEATH_SIGNAL, 11);
    if (!attempt.ended || attempt.verdict >= VERDICT_COUNT)
        abort();
    struct buf text = {0}, subject = {0};
    attempt_dump(attempt.record, &text);
    json_t *again = attempt_load_record(buf_str(&text), text.len);
    if (!again)
        abort();
    /* Numbers are written with 15 digits, so what is read back is equal as text. */
    struct buf text_again = {0};
    attempt_dump(again, &text_again);
    if (strcmp(buf_str(&text), buf_str(&text_again)) != 0)
        abort();
    attempt_commit_subject(again, &subject);
    if (memchr(buf_str(&subject), '\n', subject.len))
        abort();
    attempt_commit_body(again, &subject);
    char speedup[16];
    attempt_speedup(again, speedup);
    json_decref(again);
    buf_free(&text);
    buf_free(&text_again);
    buf_free(&subject);
    attempt_free(&attempt);
    return 0;
}
