#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return false;
}

bool err_prefix(struct err *err, const char *format, ...)
{
    if (err) {
        char context[256], joined[sizeof err->text + sizeof context + 3];
        va_list args;
        va_start(args, format);
        vsnprintf(context, sizeof context, format, args);
        va_end(args);
        snprintf(joined, sizeof joined, "%s: %s", context, err->text);
        memcpy(err->text, joined, sizeof err->text - 1);
        err->text[sizeof err->text - 1] = '\0';
    }
    return false;
}
