#include "nvml.h"

#include "harness/base/msg.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { CLOCK_SM = 1, MOST_PROCESSES = 256, INSUFFICIENT_SIZE = 7 };

struct process { /* nvmlProcessInfo_t since version 2 */
    unsigned pid;
    unsigned long long memory_bytes;
    unsigned gpu_instance, compute_instance;
};

/* X(member, "symbol", "older symbol" or "", (parameters)) */
#define FUNCTIONS(X)                                                                               \
    X(init, "nvmlInit_v2", "nvmlInit", (void))                                                     \
    X(by_uuid, "nvmlDeviceGetHandleByUUID", "", (const char *uuid, void **device))                 \
    X(clock, "nvmlDeviceGetClockInfo", "", (void *device, int type, unsigned *mhz))                \
    X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons",                                        \
      "nvmlDeviceGetCurrentClocksEventReasons", (void *device, unsigned long long *bits))          \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                                        \
      "nvmlDeviceGetComputeRunningProcesses_v2",                                                   \
      (void *device, unsigned *count, struct process *list))

static struct {
    bool tried, ready;
#define X(member, symbol, older, parameters) int(*member) parameters;
    FUNCTIONS(X)
#undef X
} nvml;

static const struct {
    unsigned long long bit;
    const char *word;
} slowing[] = {
    {0x4, "power"}, {0x8, "hardware"}, {0x20, "heat"}, {0x40, "heat (hw)"}, {0x80, "power brake"}};

static bool open_nvml(void)
{
    if (nvml.tried)
        return nvml.ready;
    nvml.tried = true;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = dlopen("/usr/lib/wsl/lib/libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
#define X(member, symbol, older, parameters)                                                       \
    nvml.member = (int(*) parameters)(uintptr_t)dlsym(library, symbol);                            \
    if (!nvml.member && *older)                                                                    \
        nvml.member = (int(*) parameters)(uintptr_t)dlsym(library, older);
    FUNCTIONS(X)
#undef X
    nvml.ready = nvml.init && nvml.by_uuid && nvml.init() == 0;
    return nvml.ready;
}

/* Inside a container the numbers of processes are the host's, and our own is not in the list under
 * the number we know; but it is in the list. */
static int count_others(void *device)
{
    static struct process list[MOST_PROCESSES];
    unsigned count = MOST_PROCESSES;
    int result = nvml.processes ? nvml.processes(device, &count, list) : -1;
    if (result == INSUFFICIENT_SIZE)
        return MOST_PROCESSES;
    if (result != 0)
        return -1;
    return count ? (int)count - 1 : 0;
}

void nvml_read(struct nvml_state *out, const char *uuid)
{
    *out = (struct nvml_state){.others = -1};
    void *device;
    if (!open_nvml() || nvml.by_uuid(uuid, &device) != 0)
        return;
    unsigned long long bits = 0;
    out->known = nvml.clock && nvml.clock(device, CLOCK_SM, &out->sm_mhz) == 0;
    if (nvml.reasons && nvml.reasons(device, &bits) == 0)
        for (size_t i = 0; i < sizeof slowing / sizeof *slowing; i++)
            out->slowed |= bits & slowing[i].bit;
    out->others = count_others(device);
}

void nvml_merge(struct nvml_state *into, const struct nvml_state *from)
{
    if (!from->known)
        return;
    if (!into->known) {
        *into = *from;
        return;
    }
    into->sm_mhz = from->sm_mhz < into->sm_mhz ? from->sm_mhz : into->sm_mhz;
    into->slowed |= from->slowed;
    into->others = from->others > into->others ? from->others : into->others;
}

void nvml_explain_noise(const struct nvml_state *state, const char **why)
{
    if (state->slowed)
        *why = _("times vary too much, and the GPU slowed its clocks down meanwhile");
    else if (state->others > 0)
        *why = _("times vary too much, and other programs are using this GPU");
}

json_t *nvml_json(const struct nvml_state *state)
{
    if (!state->known)
        return NULL;
    json_t *json =
        json_pack("{s:i, s:b}", "sm_mhz", (int)state->sm_mhz, "throttled", state->slowed != 0);
    if (state->slowed) {
        json_t *reasons = json_array();
        for (size_t i = 0; i < sizeof slowing / sizeof *slowing; i++)
            if (state->slowed & slowing[i].bit)
                json_array_append_new(reasons, json_string(slowing[i].word));
        json_object_set_new(json, "reasons", reasons);
    }
    if (state->others >= 0)
        json_object_set_new(json, "others", json_integer(state->others));
    return json;
}
