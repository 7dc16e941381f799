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

/* 0.4996 is not "0.5, at least 0.5 is wanted". */
static int digits_that_differ(double found, double want)
{
    char a[32], b[32];
    int digits = 3;
    for (; digits < 9; digits++) {
        snprintf(a, sizeof a, "%.*g", digits, found);
        snprintf(b, sizeof b, "%.*g", digits, want);
        if (strcmp(a, b) != 0)
            break;
    }
    return digits;
}

void structure_add_miss(char *summary, size_t size, const json_t *entry, unsigned misses)
{
    const char *bound = json_string_value(json_object_get(entry, "bound"));
    bool least = bound && strcmp(bound, "at least") == 0;
    double found = json_number_value(json_object_get(entry, "found"));
    double want = json_number_value(json_object_get(entry, "want"));
    const char *format = misses ? (least ? _("; %s is %.*g, at least %.3g is wanted")
                                         : _("; %s is %.*g, at most %.3g is wanted"))
                                : (least ? _(", but %s is %.*g, at least %.3g is wanted")
                                         : _(", but %s is %.*g, at most %.3g is wanted"));
    size_t len = strlen(summary);
    snprintf(summary + len, size - len, format, json_string_value(json_object_get(entry, "name")),
             digits_that_differ(found, want), found, want);
}
