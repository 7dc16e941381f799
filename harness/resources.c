#include "resources.h"

#include "cubin.h"
#include "gpu.h"
#include "occupancy.h"

#include <stdio.h>

static json_t *from_machine_code(const struct build *build, const char *entry, unsigned threads,
                                 unsigned dynamic_shared_bytes)
{
    unsigned capability = 0;
    struct cubin_kernel kernel;
    if (sscanf(build->arch, "sm_%u", &capability) != 1 ||
        !cubin_read(&kernel, build->cubin.data, build->cubin.len, entry, capability, NULL))
        return NULL;
    json_t *out = json_pack("{s:i, s:i, s:i}", "registers", (int)kernel.registers, "shared_bytes",
                            (int)(kernel.shared_bytes + dynamic_shared_bytes), "local_bytes",
                            (int)kernel.local_bytes);
    struct occupancy occupancy;
    if (threads && occupancy_compute(&occupancy, capability, threads, kernel.registers,
                                     kernel.shared_bytes + dynamic_shared_bytes)) {
        json_object_set_new(out, "occupancy",
                            json_real((double)occupancy.warps_per_sm / occupancy.warps_most));
        json_object_set_new(out, "blocks_per_sm", json_integer(occupancy.blocks_per_sm));
        json_object_set_new(out, "warps_per_sm", json_integer(occupancy.warps_per_sm));
        json_object_set_new(out, "limited_by", json_string(occupancy.limited_by));
    }
    return out;
}

json_t *resources_find(const struct warm *warm, const struct build *build)
{
    struct lab_shape shape;
    unsigned threads = 0, shared = 0;
    const char *entry = warm->about->entry;
    if (warm->lab && warm->lab->shape(&shape, warm->about->check_sizes[0])) {
        threads = shape.block[0] * shape.block[1] * shape.block[2];
        shared = shape.dynamic_shared_bytes;
    }
    struct image image = build_image(build);
    struct backend_module *module;
    if (warm_fits_gpu(warm) && warm->gpu->ops->load(warm->gpu, &module, &image, NULL)) {
        json_t *out = gpu_resources_json(warm->gpu, module, entry, threads, shared);
        warm->gpu->ops->unload(warm->gpu, module);
        if (out && json_number_value(json_object_get(out, "occupancy")) >= 1)
            json_object_set_new(out, "limited_by", json_string("")); /* nothing is left to gain */
        if (out)
            return out;
    }
    return from_machine_code(build, entry, threads, shared);
}
