// Loops whose length differs by lane, a switch, early exits and a nested branch.
// launch: grid=3 block=100
// in: 300 u32
// out: 300 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    unsigned i = blockIdx.x * 100 + threadIdx.x, x = in[i], steps = 0, y = x & 0xfff;
    if (x % 17 == 3) {
        out[i] = 17;
        return;
    }
    while (y > 1) {
        y = y & 1 ? 3 * y + 1 : y / 2;
        if (++steps > 60)
            break;
    }
    switch (x >> 20 & 7) {
    case 0: y += 10; break;
    case 1: y *= 3; [[fallthrough]];
    case 2: y ^= 0x55; break;
    case 5: y = __brev(y); break;
    case 6: y -= steps; break;
    case 7: for (unsigned k = 0; k < (x >> 28); k++) y = y * 5 + k; break;
    default: y = ~y;
    }
    out[i] = y + steps * 0x10000;
}
