/* Stands in for the C library's string.h when NVRTC compiles a kernel: what device code may use of
 * it (printf, memcpy, malloc, assert), NVRTC knows by itself. */
#pragma once
