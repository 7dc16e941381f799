/* The same shape as in sgemm-blocked: see ../sgemm-blocked/lab.h. Besides, a faster way to
 * load fragments out of a slab. */
#ifndef STRIDE_LAB_SGEMM_WMMA_H
#define STRIDE_LAB_SGEMM_WMMA_H

#include "../sgemm-blocked/lab.h"

#ifdef __CUDACC__
#include <mma.h>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8,
                                         nvcuda::wmma::precision::tf32,
                                         nvcuda::wmma::row_major>;
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 8,
                                         nvcuda::wmma::precision::tf32,
                                         nvcuda::wmma::row_major>;

/* wmma::load_matrix_sync for what lies in shared memory. The original takes a pointer that may
 * point anywhere, and the compiler believes it. */
#define STRIDE_LOAD_FRAGMENT(Fragment, which)                              \
    __device__ __forceinline__ void loadFragment(                          \
        Fragment &to, const float *from, unsigned stride)                  \
    {                                                                      \
        unsigned bits[4];                                                  \
        asm volatile(                                                      \
            "wmma.load." which ".sync.aligned.row.m16n16k8.shared.tf32 "   \
            "{%0, %1, %2, %3}, [%4], %5;\n"                                \
            : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])   \
            : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))),  \
              "r"(stride)                                                  \
            : "memory");                                                   \
        for (int e = 0; e < 4; ++e)                                        \
            to.x[e] = __uint_as_float(bits[e]);                            \
    }
STRIDE_LOAD_FRAGMENT(FragmentA, "a")
STRIDE_LOAD_FRAGMENT(FragmentB, "b")
#undef STRIDE_LOAD_FRAGMENT
#endif
#endif

#endif
