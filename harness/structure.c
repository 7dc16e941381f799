#include "structure.h"

#include "emit.h"

#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

json_t *structure_json(const struct lab_structure *entry, const json_t *metrics)
{
    const char *metric = lab_metric_name(entry->metric);
    const json_t *found = json_object_get(metrics, metric);
    if (!json_is_number(found))
        return NULL;
    double value = json_number_value(found);
    bool ok = entry->at_least ? value >= *entry->at_least : value <= *entry->at_most;
    return json_pack("{s:o, s:s, s:f, s:s, s:f, s:b, s:o}", "name", json_text(entry->name),
                     "metric", metric, "want", entry->at_least ? *entry->at_least : *entry->at_most,
                     "bound", entry->at_least ? "at least" : "at most", "found", value, "ok", ok,
                     "text", json_text(lab_text_get(&entry->text)));
}

void structure_describe(char *out, size_t len, const json_t *entry)
{
    const char *bound = json_string_value(json_object_get(entry, "bound"));
    snprintf(out, len,
             bound && strcmp(bound, "at least") == 0
                 ? _("%s: at least %.3g is wanted, and it is %.3g")
                 : _("%s: at most %.3g is wanted, and it is %.3g"),
             json_string_value(json_object_get(entry, "name")),
             json_number_value(json_object_get(entry, "want")),
             json_number_value(json_object_get(entry, "found")));
}
