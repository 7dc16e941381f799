/* What session.c and session_run.c share; nobody else needs it.
 *
 * Everything belongs to the session.
 *
 * Nothing here waits. */
#ifndef STRIDE_TUI_SESSION_CORE_H
#define STRIDE_TUI_SESSION_CORE_H

#include "tui/session.h"

/* Reads the kernel from disk; true when its text is another one than last seen. */
bool session_load_kernel(struct session *session);
void session_load_history(struct session *session, size_t most);
void session_load_progress(struct session *session);
void session_save_settings(struct session *session);
void session_save_quiz(struct session *session);

/* Starts the next harness child when there is none. */
void session_warm(struct session *session, int64_t now_ns);
/* Ends the child, whatever it does. */
void session_let_go(struct session *session, int64_t now_ns);
void session_run(struct session *session, int64_t now_ns);
/* Starts the editor; false when it could not be, and the app says why. */
bool session_edit(struct session *session, int line, int64_t now_ns);

#endif
