/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * y[i] must become a * x[i] + y[i], once, for every i from 0 to n - 1.
 *
 * The shape is fixed: blocks of 256 threads, one block for each 4,096
 * elements that there are, but at least 1 and at most 1,056. So there are
 * far fewer threads than elements, and n may be any number: 1, 257, a prime,
 * or 32 million. */
#ifndef STRIDE_LAB_FIRST_KERNEL_H
#define STRIDE_LAB_FIRST_KERNEL_H

#ifdef __CUDACC__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C */
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kSaxpyThreadsPerBlock, 256);
LAB_CONSTANT(kSaxpyElementsPerBlock, 4096); /* and more, from here on: */
LAB_CONSTANT(kSaxpyMostBlocks, 1056);

#endif
