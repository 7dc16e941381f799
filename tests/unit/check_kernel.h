/* The check of the real cp-async lab under test, with C functions for kernels (fake_backend.h):
 * runs one and keeps what was told.
 *
 * Who runs a kernel drops what was seen of it.
 *
 * Nothing here knows what is right, but for good(). */
#ifndef STRIDE_TESTS_CHECK_KERNEL_H
#define STRIDE_TESTS_CHECK_KERNEL_H

#include "harness/base/buf.h"
#include "harness/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "fake_backend.h"

static const uint64_t sizes[] = {4096, 12288};
static const struct image no_image;

struct seen {
    struct check_result result;
    json_t *cases;
    struct fake fake;
};

static inline void collect(void *context, json_t *entry)
{
    json_array_append(context, entry);
}

static inline struct check_request request_of(struct seen *seen,
                                              void (*kernel)(const struct call *))
{
    seen->fake = (struct fake){.backend = {&fake_ops}, .kernel = kernel};
    seen->cases = json_array();
    return (struct check_request){
        .backend = &seen->fake.backend,
        .lab = lab_find("cp-async"),
        .image = &no_image,
        .entry = "k",
        .sizes = sizes,
        .size_count = 2,
        .seed = 11,
        .add = collect,
        .context = seen->cases,
    };
}

static inline void run(struct seen *seen, void (*kernel)(const struct call *))
{
    struct check_request request = request_of(seen, kernel);
    struct err err = {0};
    if (!check_run(&seen->result, &request, &err))
        fail_msg("%s", err.text);
    if (!seen->result.poisoned) {
        assert_int_equal(seen->fake.live, 0);
        assert_int_equal(seen->fake.loads, 0);
    }
}

static inline void drop(struct seen *seen)
{
    while (seen->fake.live)
        free(seen->fake.kept[--seen->fake.live]);
    json_decref(seen->cases);
    check_result_free(&seen->result);
}

static inline json_t *mismatch_of(const struct seen *seen, size_t i)
{
    return json_object_get(json_array_get(seen->cases, i), "mismatch");
}

static inline const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static inline long long number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static inline void transform(const float *in, float *out, size_t n)
{
    struct lab_shape shape;
    const struct lab *lab = lab_find("cp-async");
    assert_true(lab->shape(&shape, n));
    lab->reference(&shape, (void *[]){(void *)(uintptr_t)in, NULL}, (void *[]){NULL, out});
}

static inline void good(const struct call *call)
{
    transform(call->in, call->out, call->n);
}

#endif
