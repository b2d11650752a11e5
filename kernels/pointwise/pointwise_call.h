/* SPDX-License-Identifier: MIT */
/* The arguments of a prepared call, for the CPU variants' launch(). */
#ifndef HARNESS_KERNELS_POINTWISE_CALL_H
#define HARNESS_KERNELS_POINTWISE_CALL_H

#include "kernels/pointwise/pointwise.h"

struct pointwise pointwise_of(const struct call *call);

/* A variant entry that differs from its neighbours in the kernel alone. */
#define POINTWISE_VARIANT(of, label, text, which, can, run)                                        \
    {                                                                                              \
        .name = (label), .summary = (text), .kernel = &(of), .device = DEVICE_CPU,                 \
        .dtype = DTYPE_FP32, .math = MATH_FP32, .flags = (which), .supports = (can),               \
        .launch = (run),                                                                           \
    }

#endif
