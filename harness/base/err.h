/* One error, as a sentence for a person.
 *
 * A struct err belongs to the caller, usually on the stack and zeroed. It is filled once, by the
 * function that knows the reason: lower case, one line, naming the thing, the cause and the way
 * out. Callers pass it up; they may put context in front of it, and never fill it a second time.
 *
 * It never holds a verdict: what a student can cause is a value in the record, not an error. */
#ifndef STRIDE_BASE_ERR_H
#define STRIDE_BASE_ERR_H

#include <stdbool.h>

struct err {
    char text[768];
};

/* Fills err (which may be NULL) and returns false, so that callers write `return err_set(err,
 * ...)`. */
bool err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before the text that is there. Returns false. */
bool err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
