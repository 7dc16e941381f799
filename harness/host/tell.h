/* What stride-host tells stride-harness: one JSON object a line, as docs/host-labs.md lists them.
 *
 * JSON given to a function is taken over; text is cleaned. The descriptor is moved out of the way
 * of the student's code and closed by nobody.
 *
 * It never buffers: what was told is out, whatever happens next. */
#ifndef STRIDE_HOST_TELL_H
#define STRIDE_HOST_TELL_H

#include "harness/base/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { TELL_FD = 3 };

/* Each line begins with nonce (NULL: with nothing), so that nobody else's is taken for one. False
 * when descriptor 3 is not open. */
bool tell_open(const char *nonce);

void tell(json_t *line);                        /* as it is */
void tell_add(const char *array, json_t *item); /* to the record's array */
void tell_phase(const char *phase, uint64_t n, unsigned round);
void tell_end(enum verdict verdict, const char *summary); /* of the command that was asked for */

/* {"WORD":{"KEY":VALUE,"line":LINE}}, from a signal handler too. */
void tell_signal(const char *word, const char *key, int value, int line);

#endif
