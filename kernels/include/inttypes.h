/* Stands in for the C library's inttypes.h when NVRTC compiles a kernel: NVRTC has no host headers.
 * Wording as in <cuda/std/cstdint> and <cuda/std/climits>, so that both can be included together.
 */
#pragma once

#include <stdint.h>
