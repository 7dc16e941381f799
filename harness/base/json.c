#include "json.h"

#include "buf.h"
#include "clean.h"

#include <string.h>

json_t *json_text(const char *text)
{
    struct buf clean = {0};
    clean_text(&clean, text ? text : "", text ? strlen(text) : 0);
    json_t *value = json_stringn(buf_str(&clean), clean.len);
    buf_free(&clean);
    return value;
}
