/* Where in kernel.cu the student's code is at this moment: for a crash, an exit, or when the
 * harness asks because a deadline is near.
 *
 * It owns the handlers of the fatal signals, of SIGQUIT (the question) and of exit.
 *
 * A handler looks at registers and stack and tells a line; it allocates nothing and takes no lock.
 */
#ifndef STRIDE_HOST_WHERE_H
#define STRIDE_HOST_WHERE_H

/* Installs the handlers. From then on a crash tells {"crash":{"signal":N,"line":L}}, the question
 * {"stuck":{"signal":3,"line":L}}, and exit() {"exit":{"status":S,"line":L}}. */
void where_watch(void);

#endif
