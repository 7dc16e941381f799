/* Any bytes as a compiler's log, followed by a NUL and any bytes as PTX and source: lists, lines,
 * signatures and counts, never a crash, and always valid UTF-8. */
#include "harness/advice.h"
#include "harness/base/buf.h"
#include "harness/diagnostic.h"
#include "harness/entry.h"
#include "harness/landmark.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diagnostics list = {0};
    struct buf log = {0}, text = {0};
    struct entry_params params;
    const uint8_t *split = size ? memchr(data, '\0', size) : NULL;
    buf_add(&log, data, split ? (size_t)(split - data) : size);
    if (split)
        buf_add(&text, split + 1, (size_t)(data + size - split) - 1);
    diagnostics_parse(&list, buf_str(&log), log.len);
    diagnostics_map_ptx(&list, buf_str(&text), text.len, "kernel.cu");
    advice_add(&list, buf_str(&text), "kernel.cu");
    json_t *json = diagnostics_json(&list);
    char *line = json_dumps(json, 0);
    if (!line)
        abort();
    free(line);
    json_decref(json);
    free(entry_signature(buf_str(&text), "k"));
    entry_find(&params, buf_str(&text), "k");
    landmark_count(buf_str(&text), text.len, "cp.async");
    diagnostics_free(&list);
    buf_free(&log);
    buf_free(&text);
    return 0;
}
