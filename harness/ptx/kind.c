#include "harness/ptx/ptx.h"

const char *ptx_kind_name(enum ptx_kind kind)
{
    static const char *const names[PTX_KIND_COUNT] = {
        [PTX_KIND_INTEGER] = "integer", [PTX_KIND_FP32] = "fp32",
        [PTX_KIND_FP64] = "fp64",       [PTX_KIND_HALF] = "half",
        [PTX_KIND_TENSOR] = "tensor",   [PTX_KIND_CONVERT] = "convert",
        [PTX_KIND_MOVE] = "move",       [PTX_KIND_LOAD] = "load",
        [PTX_KIND_STORE] = "store",     [PTX_KIND_ATOMIC] = "atomic",
        [PTX_KIND_ASYNC] = "async",     [PTX_KIND_SYNC] = "sync",
        [PTX_KIND_WARP] = "warp",       [PTX_KIND_CONTROL] = "control",
        [PTX_KIND_OTHER] = "other",
    };
    return (unsigned)kind < PTX_KIND_COUNT ? names[kind] : "other";
}
