#include "host_death.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* "streamsRun" in whichever role the phase says. */
void host_death_function(const struct host_child *child, char *out, size_t len)
{
    int prefix = (int)strlen(child->entry) - (int)strlen("Run");
    const char *role = strcmp(child->phase, "open") == 0    ? "Open"
                       : strcmp(child->phase, "fill") == 0  ? "Open"
                       : strcmp(child->phase, "close") == 0 ? "Close"
                                                            : "Run";
    snprintf(out, len, "%.*s%s", prefix > 0 ? prefix : 0, child->entry, role);
}

void host_death_last_words(const struct host_child *child, char *out, size_t len)
{
    const char *text = buf_str(&child->errors), *end = text + child->errors.len;
    struct buf clean = {0};
    while (end > text && end[-1] == '\n')
        end--;
    const char *begin = end;
    while (begin > text && begin[-1] != '\n')
        begin--;
    clean_line(&clean, begin, (size_t)(end - begin));
    snprintf(out, len, clean.len ? ": %.200s" : "%s", buf_str(&clean));
    buf_free(&clean);
}

static const char *signal_words(int number)
{
    switch (number) {
    case SIGSEGV:
        return _("a segmentation fault: memory that is not there was used");
    case SIGPIPE:
        return _("SIGPIPE: it wrote into a pipe that nobody reads");
    case SIGALRM:
        return _("SIGALRM: an alarm that it had set");
    case SIGBUS:
        return _("a bus error: memory that is not there was used");
    case SIGFPE:
        return _("an arithmetic error: an integer was divided by zero");
    case SIGABRT:
        return _("abort");
    case SIGKILL:
        return _("SIGKILL: the system ended it, perhaps for want of memory");
    case SIGILL:
        return _("an illegal instruction");
    default:
        return _("a signal");
    }
}

void host_death_describe(const struct host_child *child, struct host_outcome *out, int status,
                         bool late, double waited_s)
{
    char where[40] = "", function[80], words[240] = "";
    int number = child->crash_signal   ? child->crash_signal
                 : WIFSIGNALED(status) ? WTERMSIG(status)
                                       : 0;
    host_death_function(child, function, sizeof function);
    host_death_last_words(child, words, sizeof words);
    if (child->line_no)
        snprintf(where, sizeof where, _("line %u: "), (unsigned)child->line_no);
    char *text = out->summary;
    size_t len = sizeof out->summary;
    bool own = strcmp(child->phase, "solution") == 0;
    bool outside = strcmp(child->phase, "fill") == 0 || strcmp(child->phase, "judge") == 0;
    bool loading = strncmp(child->phase, "load", 4) == 0;
    unsigned long long n = child->n;
    if (late && strcmp(child->phase, "wait") == 0)
        snprintf(text, len, _("N = %llu: the work that %s queued did not end within %.0f s"), n,
                 function, waited_s);
    else if (late && child->all_late)
        snprintf(text, len, _("%sN = %llu: the time for all cases was over while %s ran"), where, n,
                 function);
    else if (late)
        snprintf(text, len, _("%sN = %llu: %s did not return within %.0f s"), where, n, function,
                 waited_s);
    else if (number && child->left_function)
        snprintf(text, len,
                 _("%sN = %llu: %s crashed: a host function has to return, and the one queued here "
                   "was left by an exception, by longjmp or by the end of its thread"),
                 where, n, function);
    else if (loading && number)
        snprintf(text, len, _("%sthe program crashed while it was loaded, with %s%s"), where,
                 signal_words(number), words);
    else if (own && number)
        snprintf(text, len,
                 _("N = %llu: after %s the harness itself crashed with %s%s: something that ran "
                   "before had damaged memory"),
                 n, function, signal_words(number), words);
    else if (number && outside && !child->line_no)
        snprintf(
            text, len,
            _("N = %llu: after %s the memory that work points to is not there, or it is smaller "
              "than the lab asks for: the harness crashed on it with %s"),
            n, function, signal_words(number));
    else if (number == SIGSEGV && child->touched_device)
        snprintf(
            text, len,
            _("%sN = %llu: %s crashed: the host followed a pointer to device memory, which only "
              "kernels and copies can reach"),
            where, n, function);
    else if (number == SIGSEGV && child->touched_stack)
        snprintf(text, len,
                 _("%sN = %llu: %s crashed with a segmentation fault at the end of its stack: a "
                   "recursion without end, or an array too large for a function"),
                 where, n, function);
    else if (number)
        snprintf(text, len, _("%sN = %llu: %s crashed with %s%s"), where, n, function,
                 signal_words(number), number == SIGABRT ? words : "");
    else
        snprintf(text, len,
                 _("%sN = %llu: %s ended the whole program with exit(%d); it has to return"), where,
                 n, function, WEXITSTATUS(status));
    out->verdict = late ? VERDICT_TIMED_OUT : number ? VERDICT_CRASHED : VERDICT_STOPPED_EARLY;
}
