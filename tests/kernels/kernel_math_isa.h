/* SPDX-License-Identifier: MIT */
/* Checks of kernels/simd.h and kernels/simd_math.h, compiled once for each instruction set. */
#ifndef HARNESS_TESTS_KERNEL_MATH_ISA_H
#define HARNESS_TESTS_KERNEL_MATH_ISA_H

#include "kernels/simd.h"

enum { LANES_MOST = 16 };

/* The vector functions over arrays; n is any length. */
struct math_checks {
    int64_t width;
    void (*exp)(const float *x, float *y, int64_t n);
    void (*exp2)(const float *x, float *y, int64_t n);
    void (*gelu)(const float *x, float *y, int64_t n);
    /* Loads the first n lanes of x, gives all lanes. */
    void (*load_part)(const float *x, int64_t n, float lanes[LANES_MOST]);
    /* Stores the first n lanes. */
    void (*store_part)(float *x, int64_t n, const float lanes[LANES_MOST]);
    void (*fill_first)(const float *x, int64_t n, float value, float lanes[LANES_MOST]);
    void (*zero_below)(const float *x, float limit, float lanes[LANES_MOST]);
    void (*power_of_two)(const float *n, float lanes[LANES_MOST]); /* of rounded n */
    void (*stream)(float *x, const float lanes[LANES_MOST]);       /* x aligned to 64 bytes */
    float (*sum)(const float *x);
    float (*first)(const float *x);
    void (*halves)(const float *x, float lower[LANES_MOST], float upper[LANES_MOST]);
    bool (*any_above)(const float *x, float limit);
    void (*floor)(const float *x, float lanes[LANES_MOST]);
    void (*scale)(const float *x, const float *n, float lanes[LANES_MOST]);
    void (*transpose)(float *x);                               /* [width][width], in place */
    void (*sum_each)(const float *x, float lanes[LANES_MOST]); /* x [width][width] */
    void (*sqrt)(const float *x, float lanes[LANES_MOST]);
    /* a * b + c, both rounded. */
    void (*product)(const float *a, const float *b, const float *c, float lanes[LANES_MOST]);
    /* bfloat16, n of them. */
    void (*widen)(const uint16_t *x, float *y, int64_t n);
    void (*narrow)(const float *x, uint16_t *y, int64_t n);
    /* Pairs of x[i] and y[i], and from those both again. */
    void (*pairs)(float x[LANES_MOST], float y[LANES_MOST], uint32_t pairs[LANES_MOST]);
    /* Pairs of x[i] and y[i], rounded. */
    void (*round_pairs)(const float *x, const float *y, uint32_t pairs[LANES_MOST]);
    /* c + sum of products of two pairs in each lane; NULL where there is no such instruction. */
    void (*dots)(const uint32_t *a, const uint32_t *b, float c[LANES_MOST]);
    int64_t int8_terms; /* the most of a sum */
    /* Lane j: the sum over n terms, a multiple of LANES_MOST, of whole x[i] and w[i + j], which are
     * int8. */
    void (*int8)(const float *x, const int8_t *w, int64_t n, float lanes[LANES_MOST]);
};

typedef const struct math_checks *math_checks_fn(void);

SIMD_DECLARE_BF16(math_checks_fn, math_checks);
extern math_checks_fn math_checks_avx512_vnni;

#endif
