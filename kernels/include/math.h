/* Stands in for the C library's math.h when NVRTC compiles a kernel: NVRTC has no host headers.
 * Wording as in <cuda/std/cstdint> and <cuda/std/climits>, so that both can be included together.
 */
#pragma once

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_E
#define M_E 2.7182818284590452354
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
