#include "probe.h"

#include "gpu.h"
#include "nvcc.h"
#include "nvml.h"
#include "nvrtc.h"
#include "toolkit.h"

#include "harness/base/buf.h"
#include "harness/base/json.h"

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
    char *compilers = nvcc_host_compilers(); /* nvcc needs one, for host labs */
    json_object_set_new(tools, "host compilers", *compilers ? json_text(compilers) : json_null());
    free(compilers);
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

/* The devices, the one in use, and what NVML shows of it; without one, why. */
static void add_devices(json_t *facts)
{
    struct err err = {0};
    json_t *devices = gpu_list_json(&err);
    size_t used = (size_t)gpu_wanted_ordinal();
    json_t *device = json_array_get(devices, used < json_array_size(devices) ? used : 0);
    if (!device) {
        json_object_set_new(facts, "no_device", json_text(err.text));
        json_decref(devices);
        return;
    }
    struct nvml_state state = {0};
    nvml_read(&state, json_string_value(json_object_get(device, "uuid")));
    json_object_set(facts, "device", device);
    json_object_set_new(facts, "devices", devices);
    json_object_set_new(facts, "nvml", json_boolean(state.known));
}

/* Settings that change which GPU or toolkit is seen; only those that are set. */
static json_t *settings_json(void)
{
    static const char *const names[] = {"STRIDE_CUDA",          "CUDA_HOME",         "CUDA_PATH",
                                        "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "STRIDE_GPU",
                                        "CUDA_CACHE_DISABLE",   "CUDA_CACHE_PATH",   "NVCC_CCBIN"};
    json_t *settings = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            json_object_set_new(settings, names[i], json_text(getenv(names[i])));
    return settings;
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
    json_t *facts = json_pack("{s:o, s:o, s:o}", "toolkit", found, "tools", tools_json(&toolkit),
                              "settings", settings_json());
    add_devices(facts);
    emit_set(emit, facts);
    toolkit_free(&toolkit);
}
