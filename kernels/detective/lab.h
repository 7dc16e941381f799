/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * The input is a recording, cut into frames of 1,024 samples. Every frame has
 * to come out back to front and without its mean:
 *
 *     output[1023 - i] = input[i] - mean of the frame      for each frame
 *
 * Samples are whole numbers, so sums and means are exact in float, whatever
 * the order of adding. A block of 256 threads works through 16 frames, one
 * after the other, and N is always a multiple of 16,384. */
#ifndef STRIDE_LAB_DETECTIVE_H
#define STRIDE_LAB_DETECTIVE_H

#ifdef __CUDACC__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C and gets its right answers from this file too */
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kFrameThreads, 256);
LAB_CONSTANT(kFrameWarps, 8);
LAB_CONSTANT(kFrameSamples, 1024); /* four for each thread */
LAB_CONSTANT(kFramesPerBlock, 16);
LAB_CONSTANT(kFrameSamplesPerBlock, 16384);

#ifdef __CUDACC__
/* Starts the copy of the calling thread's four samples of a frame, 16 bytes
 * from global to shared memory, and closes a group. Warp w copies the samples
 * 128 w to 128 w + 127. */
__device__ __forceinline__ void frameStartCopy(float *shared,
                                               const float *global)
{
    const int chunk = 4 * threadIdx.x;
    const unsigned to =
        static_cast<unsigned>(__cvta_generic_to_shared(shared + chunk));
    const size_t from = __cvta_generic_to_global(global + chunk);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                 "cp.async.commit_group;\n"
                 :
                 : "r"(to), "l"(from)
                 : "memory");
}

/* Waits until at most kLeft of the calling thread's groups are under way. */
template <int kLeft>
__device__ __forceinline__ void frameWait()
{
    asm volatile("cp.async.wait_group %0;\n" : : "n"(kLeft) : "memory");
}
#endif

#endif
