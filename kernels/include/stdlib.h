/* Stands in for the C library's stdlib.h when NVRTC compiles a kernel: what device code may use of
 * it (printf, memcpy, malloc, assert), NVRTC knows by itself. */
#pragma once
