/* Stands in for the C library's stddef.h when NVRTC compiles a kernel: NVRTC has no host headers.
 * Wording as in <cuda/std/cstdint> and <cuda/std/climits>, so that both can be included together.
 */
#pragma once

typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;

#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
