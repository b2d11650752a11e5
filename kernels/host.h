/* SPDX-License-Identifier: MIT */
/* What the CPU variants share: threads, memory of a prepared call, float64 rows for oracles. */
#ifndef HARNESS_KERNELS_HOST_H
#define HARNESS_KERNELS_HOST_H

#include "base/error.h"
#include "core/kernel.h"

#include <stddef.h>
#include <stdint.h>

/* 2^-23, the distance from 1 to the next float; one rounding is off by half of it at most. */
#define HOST_FP32_EPS 1.1920928955078125e-07

/* tf32 has 10 bits of mantissa. */
#define HOST_TF32_EPS 0x1p-10

/* Rounding unit (distance from 1 to the next number) of a floating-point storage type. */
double host_epsilon(enum dtype dtype);
/* That of whatever is coarser than fp32 in storage or arithmetic; 0 if nothing is. */
double host_coarse_epsilon(enum dtype dtype, enum math math);

/* Tolerances are relative to the rms of the expected values, which for a handful of values may by
 * chance be far below the usual one (by 65 for one value: 1 case in 80). A factor for that. */
double host_few_values(double values);

/* The device's threads; 1 where there is none. */
int host_threads(const struct call *call);

/* Does an operation's work by an orphaned `omp for` or several. */
typedef void host_share_fn(const void *operation);
/*
 * Runs share(operation) in a parallel region of its own, of as many of `threads` threads as `work`
 * FLOPs (or bytes) are worth: a fork and join costs a few us. With threads = 0 it is part of the
 * caller's team (team_run()) instead: every thread of it makes the same call, and they meet at its
 * end.
 */
void host_share(host_share_fn *share, const void *operation, int threads, double work);

/* Are `bytes`, all that an operation reads and writes, too many for the last cache? Its outputs are
 * then better streamed past it. 32 MiB where the system does not tell the cache's size. */
bool host_beyond_caches(double bytes);

/* `floats` floats on pages of their own, from 64 KiB on on huge ones (host/host_memory.h): packed
 * weights are read once a product, page walks take a part of that, and small pages fall on the same
 * lines of a cache. NULL with an error that says how many. Freed by free(). */
float *host_floats(size_t floats, struct error *err);
/* As many bytes, for a variant's workspace(). */
int64_t host_bytes(size_t floats);
/* prepare()/release() of variants whose state is just such memory. */
int host_state(struct call *call, size_t floats, struct error *err);
void host_state_release(struct call *call);

/*
 * Weights as whole numbers of 8 or 10 bits: of each output (a row of w) the largest is 127 or 511
 * and rounds the others.
 *     scale = max |w| / 127, q = w / scale rounded to nearest even, w' = q scale, all in fp32
 * |w' - w| <= scale / 2, up to fp32's own rounding. The same operations by whoever packs weights
 * and by the oracle's callers, so that no w lies on one side of a tie here and on the other there.
 */
float host_int_scale(const float *row, int64_t n, int bits);
int host_int_round(float w, float scale, int bits);       /* q */
void host_int_round_row(float *row, int64_t n, int bits); /* each w to w' */

/* Elements [first, first + n) of a floating-point tensor as float64. */
void host_doubles(const struct tensor *t, int64_t first, int64_t n, double *to);
/* Dot product of float64 runs. */
double host_dot(const double *a, const double *b, int64_t n);

#endif
