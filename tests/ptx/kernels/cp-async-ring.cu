// Three stages of cp.async, one barrier per step.
// launch: grid=2 block=128
// in: 8192 f32
// out: 8192 f32
extern "C" __global__ void k(float *out, const float *in)
{
    __shared__ alignas(16) float ring[3][512];
    const float *from = in + blockIdx.x * 4096;
    auto stage = [&](int tile) {
        if (tile < 8) {
            unsigned to = (unsigned)__cvta_generic_to_shared(&ring[tile % 3][threadIdx.x * 4]);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                         "l"(__cvta_generic_to_global(from + tile * 512 + threadIdx.x * 4))
                         : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    stage(0);
    stage(1);
    for (int tile = 0; tile < 8; tile++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        stage(tile + 2);
        for (int i = threadIdx.x; i < 512; i += 128)
            out[blockIdx.x * 4096 + tile * 512 + i] =
                ring[tile % 3][511 - i] * 2.0f + ring[tile % 3][(i + 7) % 512];
    }
}
