/* Whose turn it is to time on a GPU: two Strides that measure at once would measure each other.
 *
 * A turn is a lock on a file for each GPU, shared by all users of the machine; the system gives it
 * back when the process ends, however it ends. The struct belongs to the caller.
 *
 * It never waits for ever, and never needs to write into a file that another user owns. */
#ifndef STRIDE_HARNESS_TURN_H
#define STRIDE_HARNESS_TURN_H

#include <stdbool.h>

struct turn {
    int fd; /* -1 when no lock is held */
};

enum turn_state {
    TURN_MINE,
    TURN_BUSY,    /* somebody else timed all the while */
    TURN_UNLOCKED /* there is no place for a lock: go on without one */
};

/* Takes the turn for this GPU, waiting up to most_ms. `waiting` is called once when it has to wait;
 * may be NULL. `folder` is NULL for the system's own (/tmp). */
enum turn_state turn_take(struct turn *out, const char *folder, const char *uuid, double most_ms,
                          void (*waiting)(void *context), void *context);
void turn_give(struct turn *turn);

#endif
