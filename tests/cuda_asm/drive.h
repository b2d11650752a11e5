/* SPDX-License-Identifier: MIT */
/*
 * For programs that run a kernel of sm_90 on the host layer by its asm statements: device memory
 * with random numbers, what a launch failed with, a verdict. No test library: the programs are
 * built again for each mutation of a kernel (mutate.py), and end with 1 where anything is wrong.
 */
#ifndef CUDA_ASM_DRIVE_H
#define CUDA_ASM_DRIVE_H

#include "cuda_host.h"
#include "kernels/cuda/bf16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

inline int drive_wrong;

/* Compiled for the banks of what it accesses, and not for the order of its blocks. */
#ifdef DRIVE_UNORDERED
inline const bool drive_unordered = (cuda_host_order = false);
#endif

/* `nr` elements of device memory behind `off` others; random ones where `scale` is not 0, else
 * NaN. */
template <class T> struct drive_array {
    T *base, *at;
    size_t nr;

    drive_array(size_t n, float scale, unsigned seed = 1, size_t off = 0) : nr(n)
    {
        if (cudaMalloc(&base, (n + off) * sizeof(T)) != cudaSuccess)
            abort();
        at = base + off;
        cudaMemset(base, 0xff, (n + off) * sizeof(T));
        if (scale == 0)
            return;
        std::vector<T> v(n);
        for (T &x : v) {
            seed = seed * 1664525u + 1013904223u;
            x = cuda_from<T>(scale * ((float)(seed >> 8) / 8388608.0f - 1));
        }
        cudaMemcpy(at, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    drive_array(const drive_array &) = delete;
    ~drive_array(void)
    {
        cudaFree(base);
    }
    std::vector<T> host(void) const
    {
        std::vector<T> v(nr);

        cudaMemcpy(v.data(), at, nr * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
};

/* False, and said, where the launches since the last call have failed, or `rc`, what one of them
 * came to at once. */
inline bool drive_ran(const char *what, cudaError_t rc = cudaSuccess)
{
    const cudaError_t ran = cudaDeviceSynchronize();

    if (rc == cudaSuccess)
        rc = ran;
    if (rc == cudaSuccess)
        rc = cudaGetLastError();
    if (rc == cudaSuccess)
        return true;
    printf("%s: WRONG: %s\n", what, cudaGetErrorString(rc));
    drive_wrong++;
    cuda_host_reset();
    return false;
}

/* Counts an element that is further off than `most`. */
struct drive_compared {
    const char *what;
    size_t bad = 0, all = 0;
    double worst = 0;

    void element(double got, double want, double most)
    {
        double off = fabs(got - want);

        all++;
        if (!(off <= most) && bad++ == 0)
            printf("%s: element %zu is %g, want %g\n", what, all - 1, got, want);
        worst = off > worst || isnan(off) ? off : worst;
    }
    void verdict(void) const
    {
        printf("%-52s %s\n", what, bad ? "WRONG" : "ok");
        drive_wrong += bad > 0;
    }
};

/* Runs f(i) for both of two launches that are chained: the second may start early, and finds NaN
 * where the first has not written yet. False where one has failed. */
template <class F> inline bool drive_chain(const char *what, const F &f)
{
    cuda_host_dependents = true;
    for (int i = 0; i < 2; i++)
        f(i);
    cuda_host_dependents = false;
    return drive_ran(what);
}

/* The exit status of the program. No kernel has bank conflicts where it moves matrices. */
inline int drive_end(void)
{
    printf("%llu matrices to and from shared memory, %llu with bank conflicts\n",
           (unsigned long long)cuda_host_matrices, (unsigned long long)cuda_host_matrix_conflicts);
    return drive_wrong > 0 || cuda_host_matrix_conflicts > 0;
}

/* Ends at the first thing that is wrong, where a mutation is looked for. */
inline bool drive_goes_on(void)
{
    return drive_wrong == 0 || getenv("CUDA_ASM_ALL") != nullptr;
}

#endif
