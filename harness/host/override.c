/* What stride-host puts in place of functions of libc, for the student's object and what it calls.
 * Only stride-host links it: anywhere else it would change Stride itself. */
#include <stddef.h>
#include <string.h>

void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    return memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    return memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    return memset(to, value, bytes);
}
