/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * *sum must become the sum of input[0] to input[n - 1]. It is 0 when your
 * kernel starts.
 *
 * The shape is fixed: blocks of 256 threads, one block for each 16,384
 * elements that there are, but at least 1 and at most 1,056. n may be any
 * number, also one that is no multiple of 4. input begins at a multiple of
 * 256 bytes.
 *
 * All elements are small odd numbers, so every sum of them is exact in
 * float, in whatever order you add. */
#ifndef STRIDE_LAB_REDUCTION_H
#define STRIDE_LAB_REDUCTION_H

#ifdef __CUDACC__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C */
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kReduceThreads, 256);
LAB_CONSTANT(kReduceElementsPerBlock, 16384); /* and more, from here on: */
LAB_CONSTANT(kReduceMostBlocks, 1056);

#endif
