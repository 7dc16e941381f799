/* What the student's code may not do to the machine: start processes, fill the disk or the pipe,
 * outlive its parent, leave a core.
 *
 * Limits belong to this process and cannot be taken back.
 *
 * It is a net for mistakes, and no prison: the code runs in this process and may do to it what it
 * likes. */
#ifndef STRIDE_HOST_SANDBOX_H
#define STRIDE_HOST_SANDBOX_H

#include <stdbool.h>

/* At the start of the program: no core, dies with its parent, first to go when memory is short;
 * stdout and stderr come out at once, up to a limit, and are dropped beyond it. */
void sandbox_begin(void);

/* Before the first line of the student's runs: no new processes (threads are fine), no signals to
 * others, no large files; where it is simulated, also no more memory than a lab needs by far (a
 * GPU's driver reserves what it likes). */
void sandbox_close(bool simulated);

#endif
