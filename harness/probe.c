#include "probe.h"

#include "nvrtc.h"
#include "toolkit.h"

#include "harness/base/buf.h"

#include <stdlib.h>

static json_t *version_text(unsigned version)
{
    char *text = mem_printf("%u.%u", version / 1000, version % 1000 / 10);
    json_t *value = version ? json_string(text) : json_null();
    free(text);
    return value;
}

/* Every place, with what it has and which of its parts are in use. */
static json_t *places_json(const struct toolkit *toolkit)
{
    json_t *list = json_array();
    for (int i = 0; i < toolkit->count; i++) {
        const struct toolkit_place *place = &toolkit->places[i];
        json_t *parts = json_object();
        for (int part = 0; part < PART_COUNT; part++)
            if (place->parts[part])
                json_object_set_new(parts, toolkit_part_name((enum toolkit_part)part),
                                    json_pack("{s:o, s:b}", "path", json_text(place->parts[part]),
                                              "used", toolkit->used[part] == i));
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o, s:o}", "folder", json_text(place->folder),
                                        "found_by", json_text(place->origin), "version",
                                        version_text(place->version), "parts", parts));
    }
    return list;
}

static json_t *tools_json(const struct toolkit *toolkit)
{
    json_t *tools = json_object();
    for (int part = 0; part < PART_COUNT; part++)
        json_object_set_new(tools, toolkit_part_name((enum toolkit_part)part),
                            toolkit->parts[part] ? json_text(toolkit->parts[part]) : json_null());
    return tools;
}

static json_t *complaints_json(const struct toolkit *toolkit)
{
    json_t *list = json_array();
    for (int i = 0; i < toolkit->complaint_count; i++)
        json_array_append_new(list, json_text(toolkit->complaints[i]));
    return list;
}

static json_t *toolkit_json(const struct toolkit *toolkit)
{
    struct err err = {0};
    struct nvrtc nvrtc;
    if (!toolkit->parts[PART_NVRTC] ||
        !nvrtc_open(&nvrtc, toolkit->parts[PART_NVRTC], toolkit->parts[PART_BUILTINS], &err))
        return err.text[0] ? json_pack("{s:o}", "problem", json_text(err.text)) : json_object();
    char *version = mem_printf("%d.%d", nvrtc.abilities.major, nvrtc.abilities.minor);
    json_t *archs = json_array();
    for (int i = 0; i < nvrtc.abilities.arch_count; i++)
        json_array_append_new(archs, json_integer(nvrtc.abilities.archs[i]));
    json_t *out = json_pack("{s:s, s:o, s:o}", "version", version, "nvrtc",
                            json_text(toolkit->parts[PART_NVRTC]), "architectures", archs);
    free(version);
    nvrtc_close(&nvrtc);
    return out;
}

void probe_run(struct emit *emit, const char *root)
{
    struct toolkit toolkit;
    toolkit_find(&toolkit, root, "");
    json_t *found = toolkit_json(&toolkit);
    json_object_set_new(found, "places", places_json(&toolkit));
    json_object_set_new(found, "complaints", complaints_json(&toolkit));
    char *searched = toolkit_searched(root);
    json_object_set_new(found, "searched", json_text(searched));
    free(searched);
    emit_set(emit, json_pack("{s:o, s:o}", "toolkit", found, "tools", tools_json(&toolkit)));
    toolkit_free(&toolkit);
}
