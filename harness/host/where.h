/* Where in kernel.cu the student's code is at this moment: for a crash, an exit, or when the
 * harness asks because a deadline is near.
 *
 * It owns the handlers of the fatal signals, of SIGQUIT (the question) and of exit.
 *
 * A handler looks at registers and stack and tells a line; it allocates nothing and takes no lock.
 */
#ifndef STRIDE_HOST_WHERE_H
#define STRIDE_HOST_WHERE_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers. From then on a crash tells {"crash":{"signal":N,"line":L}}, the question
 * {"stuck":{"signal":3,"line":L}}, and exit() {"exit":{"status":S,"line":L}}.
 * A segmentation fault tells {"touched":{"device":1}} before it, when on_device (NULL: nobody
 * knows) says so of its address, or {"touched":{"stack":1}}. on_device is called in the handler. */
void where_watch(bool (*on_device)(uint64_t address));

/* Ends the process as a crash that tells {"touched":{"function":1}} before it: a host function that
 * this line queued was left and did not return. */
_Noreturn void where_left(int line);

#endif
