/* SPDX-License-Identifier: MIT */
/* The arguments of a prepared call, for the CPU variants' launch(). */
#ifndef HARNESS_KERNELS_GEMM_CALL_H
#define HARNESS_KERNELS_GEMM_CALL_H

#include "kernels/gemm/gemm.h"

struct gemm_linear gemm_linear_of(const struct call *call);
struct gemm_nn gemm_nn_of(const struct call *call);

#endif
