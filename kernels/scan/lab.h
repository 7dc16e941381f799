/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * output[i] must become input[0] + ... + input[i], modulo 2^32, for every i
 * from 0 to n - 1.
 *
 * The shape is fixed: a block of 128 threads makes a tile of 4,096 elements,
 * 32 for each thread. Which thread takes which 32 is up to you. There are
 * n / 4096 blocks, and n is always a multiple of 4,096. input and output
 * begin at multiples of 256 bytes.
 *
 * state is yours: 1 + n / 4096 words of 64 bits, all 0 when your kernel
 * starts. What is left in it nobody looks at. */
#ifndef STRIDE_LAB_SCAN_H
#define STRIDE_LAB_SCAN_H

#ifdef __CUDACC__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C */
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kScanThreads, 128);
LAB_CONSTANT(kScanItems, 32); /* elements of one thread */
LAB_CONSTANT(kScanTile, 4096);

#endif
