/* The time that passes, for measuring how long something took.
 *
 * Nothing is owned.
 *
 * It is never the time of day, and never the virtual time of a simulated host lab. */
#ifndef STRIDE_BASE_CLOCK_H
#define STRIDE_BASE_CLOCK_H

/* Milliseconds of CLOCK_MONOTONIC. */
double clock_ms(void);

#endif
