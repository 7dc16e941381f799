// verdict: wrong
// Does nothing: whatever was in the output must not pass for an answer.
#include "lab.h"

extern "C" __global__ void asyncTransformTiles(const float *input,
                                               float *output)
{
    // >>> your code
    // <<< your code
}
