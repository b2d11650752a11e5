/* SPDX-License-Identifier: MIT */
/*
 * y = activation(x w^T + bias) + residual with weights of 8 bits, rounded as kernels/host.h says:
 * a quarter of the bytes of fp32. All else is fp32; x is rounded on its way into the product, to 16
 * bits of the largest of its row, so that what is lost is lost by the weights.
 *
 * What is right: the product with the rounded weights, which is exact but for the 16 bits of x and
 * a few roundings of fp32 (the tolerance in gemm.c). What the rounding of weights costs is a matter
 * of the weights, not of the kernel. A row of x with a NaN or an infinity in it is NaN in y.
 */
#ifndef HARNESS_KERNELS_GEMM_INT8_H
#define HARNESS_KERNELS_GEMM_INT8_H

#include "kernels/gemm/gemm.h"

/* g->w is what gemm_int8_pack() made, g->scratch gemm_int8_scratch() floats, 64-byte aligned. */
gemm_linear_fn gemm_linear_int8;

size_t gemm_int8_scratch(int64_t m, int64_t k, int threads); /* floats */

/* As gemm_packed_size() and gemm_pack(): panels of outputs, each their scales and then quads of
 * terms (kernels/simd_int8.h). */
size_t gemm_int8_packed_size(int64_t n, int64_t k); /* floats */
void gemm_int8_pack(const float *w, int64_t n, int64_t k, float *packed, int threads);

/*
 * The same with weights of 10 bits, that is 1.25 bytes: a quarter of int8's rounding error, for
 * products whose errors go through many more. Three vpdpbusd for four terms where int8 has two.
 * Scratch is gemm_int8_scratch() too.
 */
gemm_linear_fn gemm_linear_int10;
size_t gemm_int10_packed_size(int64_t n, int64_t k); /* floats */
void gemm_int10_pack(const float *w, int64_t n, int64_t k, float *packed, int threads);

#endif
