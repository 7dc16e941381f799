/* Stands in for cupti.c until it is part of the build. */
#include "cupti.h"

__attribute__((weak)) struct cupti *cupti_open(const char *path, struct err *err)
{
    err_set(err, "%s: this build of Stride does not read CUPTI", path);
    return NULL;
}

__attribute__((weak)) bool cupti_start(struct cupti *cupti, struct err *err)
{
    (void)cupti;
    return err_set(err, "no CUPTI");
}

__attribute__((weak)) bool cupti_stop(struct cupti *cupti, int (*line_of)(const void *site),
                                      struct spans *out, struct err *err)
{
    (void)cupti;
    (void)line_of;
    (void)out;
    return err_set(err, "no CUPTI");
}
