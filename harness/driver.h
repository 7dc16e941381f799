/* The door to the CUDA driver: libcuda opened at run time, its functions in a table, its error
 * numbers as sentences.
 *
 * The library stays open until the process ends; the table is the module's own, and lives as long.
 *
 * No CUDA header is needed: what is used is declared in driver.def. Nothing here makes a context.
 */
#ifndef STRIDE_HARNESS_DRIVER_H
#define STRIDE_HARNESS_DRIVER_H

#include "harness/base/err.h"
#include "harness/base/verdict.h"

#include <stddef.h>
#include <stdint.h>

struct driver {
#define X(member, symbol, parameters) int(*member) parameters;
#include "driver.def"
#undef X
};

/* Result codes that code has to know by name; driver_error.def has a sentence for these and more.
 */
enum {
    DRIVER_OK = 0,
    DRIVER_NO_MEMORY = 2,
    DRIVER_NO_DEVICE = 100,
    DRIVER_INVALID_DEVICE = 101,
    DRIVER_NO_BINARY = 209,
    DRIVER_INVALID_PTX = 218,
    DRIVER_UNSUPPORTED_PTX = 222,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_READY = 600,
    DRIVER_OUT_OF_RESOURCES = 701
};

/* Opens libcuda and starts it (cuInit), once; later calls give the same table. False: err says in
 * one sentence whether there is no driver, no device, a driver too old, or a setting that hides the
 * GPU. */
bool driver_open(const struct driver **out, struct err *err);

/* The same with functions from elsewhere (tests): explains why `init` or `count` failed. */
bool driver_start(const struct driver *driver, int *device_count, struct err *err);

/* What a result code means, as a sentence in the student's language: static. */
const char *driver_meaning(int result);

/* When a kernel can cause this code: true, with the record's fault kind ("illegal-address"). After
 * it the context is lost. */
bool driver_is_fault(int result, const char **kind);

/* Fills err with "what: meaning (CUDA_ERROR_NAME, number)"; returns false. */
bool driver_fail(const struct driver *driver, int result, struct err *err, const char *what);

/* Whether this is Windows' Linux, where NVML shows neither clocks nor processes. */
bool driver_on_wsl(void);

#endif
