/* SPDX-License-Identifier: MIT */
/*
 * The tensors of one case: a host copy, which the oracle reads, and device memory, which the
 * variant gets. Inputs are random and fresh from a seed, or as the benchmark says; outputs are
 * poisoned.
 */
#ifndef HARNESS_MEASURE_BUFFERS_H
#define HARNESS_MEASURE_BUFFERS_H

#include "core/benchmark.h"

struct buffers {
    struct device *device;
    const struct kernel *kernel;
    struct shape shape;
    const struct input_fill *inputs; /* as in the benchmark */
    struct tensor host[TENSOR_MAX], on_device[TENSOR_MAX];
    int nr;
    void *block; /* on the device, in which all of them lie; NULL: each has its own */
};

/* Bytes that a tensor takes where several lie behind each other in one block: with pages of their
 * own, small ones would take many times their size. Each begins at a line of its own; on a device
 * with memory of its own as well aligned as what that allocates. */
size_t buffers_place(const struct buffers *b, int i);
/* Of all of them. */
size_t buffers_room(const struct buffers *b);
/* Allocates both sides; fills nothing. What another process is to have of a device's own memory is
 * one block. Release whatever the result. */
int buffers_init(struct buffers *b, const struct benchmark *bench, struct device *device,
                 struct error *err);
void buffers_release(struct buffers *b);

/* One tensor of a layout, in host memory; outputs as its `fill` says. */
void buffers_fill_tensor(const struct kernel *k, const struct shape *s, struct tensor *t,
                         uint64_t seed);
/* Fills inputs from the seed on the host and uploads them. */
int buffers_fill(struct buffers *b, uint64_t seed, struct error *err);
/* See tensor_poison(). */
int buffers_poison_outputs(struct buffers *b, struct error *err);
/* Bytes that buffers_init() allocates on both sides together. */
int64_t buffers_bytes(const struct benchmark *bench);

#endif
