/* Functions of libc that start processes, in place of libc's: the limits make them fail
 * (sandbox.h), and these say once which line tried.
 *
 * Only stride-host links it. Before denied_begin they do what libc's do: the CUDA driver needs them
 * while it starts.
 *
 * What goes to the system without libc is refused too, and not told. */
#ifndef STRIDE_HOST_DENIED_H
#define STRIDE_HOST_DENIED_H

/* From now on an attempt fails with EPERM; the first tells {"denied":{"count":1,"line":L}}. */
void denied_begin(void);

#endif
