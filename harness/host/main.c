/* stride-host: the child that loads what the student built and runs it, on the GPU or in the
 * simulated runtime. docs/host-labs.md describes both. */
#include "runtime.h"

#include <stdio.h>

int main(void)
{
    fputs("stride-host is started by stride-harness\n", stderr);
    return 2;
}
