/* Text from outside as JSON.
 *
 * Values that are returned belong to the caller.
 *
 * Nothing here reads JSON, and nothing gets into it uncleaned. */
#ifndef STRIDE_BASE_JSON_H
#define STRIDE_BASE_JSON_H

#include <jansson.h>

/* A JSON string of text from outside, cleaned; "" for NULL. Never NULL. */
json_t *json_text(const char *text);

#endif
