#include "peer.h"

#include "cub.h"
#include "cublas.h"
#include "measure.h"

static const struct about {
    const char *name, *unit;
} about[] = {
    [LAB_PEER_SGEMM] = {"cuBLAS FP32", "TFLOP/s"},
    [LAB_PEER_TF32_GEMM] = {"cuBLAS TF32", "TFLOP/s"},
    [LAB_PEER_CUB] = {"CUB", "GB/s"},
};

bool peer_is_late(const struct lab *lab, const struct peer_places *places)
{
    return lab->peer == LAB_PEER_CUB && places->cub && cub_build_is_running(places->cub);
}

/* The arguments of a matrix product end with m, n, k. */
static bool measure_cublas(struct interval *ms, struct bench *bench, const char *path,
                           struct err *err)
{
    const struct lab_arg *args = bench->shape.args;
    const unsigned size[] = {args[3].value.u32, args[4].value.u32, args[5].value.u32};
    struct cublas cublas;
    bool ok = cublas_open(&cublas, path, size, bench->lab->peer == LAB_PEER_TF32_GEMM, err) &&
              bench_time_call(bench, cublas_call, &cublas, ms, err);
    cublas_close(&cublas);
    return ok;
}

static bool measure_cub(struct interval *ms, struct bench *bench, struct cub_build *build,
                        double most_ms, struct err *err)
{
    struct cub cub;
    const char *object = cub_build_wait(build, most_ms > 0 ? most_ms : 0, err);
    if (!object)
        return false;
    bool ok = cub_open(&cub, object, bench->gpu, bench->shape.n, err) &&
              bench_time_call(bench, cub_call, &cub, ms, err);
    cub_close(&cub);
    return ok;
}

bool peer_measure(struct interval *ms, struct bench *bench, const struct peer_places *places,
                  double most_ms, struct err *err)
{
    switch (bench->lab->peer) {
    case LAB_PEER_SGEMM:
    case LAB_PEER_TF32_GEMM:
        return places->cublas && measure_cublas(ms, bench, places->cublas, err);
    case LAB_PEER_CUB:
        return places->cub && measure_cub(ms, bench, places->cub, most_ms, err);
    case LAB_NO_PEER:
        break;
    }
    return false;
}

void peer_write(const struct interval *ms, const struct bench *bench, double yours_ms,
                json_t *timing)
{
    const struct about *peer = &about[bench->lab->peer];
    double achieved = bench->lab->peer == LAB_PEER_CUB ? bench->shape.bytes_moved / ms->median / 1e6
                                                       : bench->shape.flops / ms->median / 1e9;
    json_object_set_new(timing, "library",
                        json_pack("{s:s, s:o, s:f, s:s}", "name", peer->name, "ms",
                                  measure_interval_json(*ms), "achieved", achieved, "unit",
                                  peer->unit));
    json_object_set_new(timing, "of_library", json_real(ms->median / yours_ms));
}
