/* SPDX-License-Identifier: MIT */
/*
 * PyTorch, eager, as a peer: measured only by name, in a Python interpreter opened at run time.
 *
 * peer.py beside this makes a callable of a call: tensors are the call's own memory, weights are
 * taken from it as they are, results go into it. What of PyTorch has no out= is copied there, which
 * is timed and said in the variant's summary. It computes with as many threads as the device has.
 */
#ifndef HARNESS_KERNELS_TORCH_TORCH_H
#define HARNESS_KERNELS_TORCH_TORCH_H

#include "base/json.h"
#include "core/kernel.h"

bool torch_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                    struct error *why);
/* Imports PyTorch, which takes a second or two in each process, and runs the call once. */
int torch_prepare(struct call *call, struct error *err);
/* The same with what peer.py shall know beside dims and tensors; takes the tree. */
int torch_prepare_with(struct call *call, cJSON *details, struct error *err);
/* On an exception the outputs become NaN, so that no older result passes for this one. */
void torch_launch(const struct call *call);
void torch_release(struct call *call);

/* A row of a variant's table; `label` is "torch" or begins so. */
#define TORCH_VARIANT(of, label, text, supports_, prepare_)                                        \
    TORCH_VARIANT_IN(FP32, of, label, text, supports_, prepare_)
/* The same in FP32 or BF16, PyTorch's own bfloat16. */
#define TORCH_VARIANT_IN(type, of, label, text, supports_, prepare_)                               \
    {                                                                                              \
        .name = (label), .summary = "PyTorch, eager: " text, .kernel = &(of),                      \
        .device = DEVICE_CPU, .dtype = DTYPE_##type, .math = MATH_##type,                          \
        .flags = VARIANT_VENDOR | VARIANT_PEER, .supports = (supports_), .prepare = (prepare_),    \
        .launch = torch_launch, .release = torch_release,                                          \
    }

#endif
