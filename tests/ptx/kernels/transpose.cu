// Transposes 64 x 64 through a padded tile.
// launch: grid=4 block=256
// in: 4096 u32
// out: 4096 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    __shared__ unsigned tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    int column = blockIdx.x % 2 * 32, row = blockIdx.x / 2 * 32;
    for (int i = y; i < 32; i += 8)
        tile[i][x] = in[(row + i) * 64 + column + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        out[(column + i) * 64 + row + x] = tile[x][i];
}
