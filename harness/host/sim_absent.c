/* Stands in for the simulated runtime until it is part of the build. */
#include "runtime.h"

#include <stdio.h>

static int nothing(void)
{
    return 0;
}

__attribute__((weak)) void sim_open_runtime(struct runtime *out, const struct sim_options *options)
{
    (void)options;
    *out = (struct runtime){.cudaDeviceSynchronize = nothing};
}

__attribute__((weak)) void sim_take_report(struct sim_report *out)
{
    *out = (struct sim_report){0};
    snprintf(out->cannot, sizeof out->cannot, "the simulated runtime is not part of this build");
}

__attribute__((weak)) void sim_report_free(struct sim_report *report)
{
    spans_free(&report->spans);
}
