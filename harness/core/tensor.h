/* SPDX-License-Identifier: MIT */
/*
 * A dense row-major tensor: what it is called, what it is for, how it is filled, where it lies.
 * The layout callback of a kernel describes its tensors; measure/ allocates and fills them.
 */
#ifndef HARNESS_CORE_TENSOR_H
#define HARNESS_CORE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype { DTYPE_FP32, DTYPE_BF16, DTYPE_FP16, DTYPE_INT32, DTYPE_FP64, DTYPE_NR };

/* What arithmetic is done on stored values: tf32 is fp32 storage of which the matrix units read 10
 * bits of mantissa; bf16 products are added up in fp32, and so are those of fp8, to whose e4m3 the
 * kernel itself rounds stored values. int8 is that of weights, to which prepare() rounds them, with
 * a scale for each output (kernel.round_weight); all else is as it is stored. Those from fp64 on
 * are of guests alone (plugin/guests.h); a program that is run has none. */
enum math {
    MATH_FP32,
    MATH_TF32,
    MATH_BF16,
    MATH_FP8,
    MATH_INT8,
    MATH_FP64,
    MATH_FP16,
    MATH_INT32,
    MATH_NONE,
    MATH_NR,
};

enum tensor_role {
    TENSOR_IN,     /* read only: a variant that changes it is WRONG */
    TENSOR_OUT,    /* poisoned before, compared with the oracle after */
    TENSOR_INOUT,  /* read and written (a KV cache); refilled before a check, not compared */
    TENSOR_WEIGHT, /* like IN, but constant over a model's life: prepare() may repack it */
};

enum tensor_fill {
    FILL_NORMAL, /* N(mean, scale^2) */
    FILL_CONST,  /* `mean` everywhere */
    FILL_TOKENS, /* int32, uniform in [0, limit) */
    FILL_KERNEL, /* the kernel's own fill() callback (GPT parameters) */
};

enum { TENSOR_MAX = 16, TENSOR_RANK = 4 };

struct tensor {
    const char *name; /* "x", "weight", "logits" */
    enum tensor_role role;
    enum dtype dtype;
    int rank;
    int64_t extent[TENSOR_RANK];
    enum tensor_fill fill;
    double mean, scale;
    int64_t limit;
    void *data; /* device memory of the owner of the layout; not owned by the tensor */
};

const char *dtype_name(enum dtype dtype);     /* "fp32" */
size_t dtype_size(enum dtype dtype);          /* bytes */
double dtype_roundoff(enum dtype dtype);      /* half a unit in the last place of 1; 0: exact */
bool dtype_holds(enum dtype dtype, double x); /* whether x, rounded to it, is a number still */
enum math dtype_math(enum dtype dtype);       /* arithmetic in the type itself */

const char *math_name(enum math math);    /* "fp32", as in keys */
bool math_rounds_weights(enum math math); /* to less than their stored type */

/* Number of elements; INT64_MAX where the product would overflow. */
int64_t tensor_elements(const struct tensor *t);
/* Bytes; INT64_MAX where the product would overflow. */
int64_t tensor_bytes(const struct tensor *t);
/* As a matrix: all leading extents are rows, the last one is the columns. */
int64_t tensor_rows(const struct tensor *t);
int64_t tensor_cols(const struct tensor *t);

/* Element i as double, and back with one rounding to nearest even, in the tensor's dtype. An int32
 * takes no value beyond its range. */
double tensor_get(const struct tensor *t, int64_t i);
void tensor_set(struct tensor *t, int64_t i, double value);

/* Into all of it, at `data`, what an output holds before a launch: NaN (all bits set), and of
 * int32, which has none, a number that nobody expects. */
void tensor_poison(const struct tensor *t, void *data);
/* Whether an element of it is that still, or is no number. */
bool tensor_is_poison(const struct tensor *t, double element);

/* bfloat16 as the upper half of a float, rounded to nearest even; NaN stays NaN. */
uint16_t bf16_from_float(float x);
float bf16_to_float(uint16_t x);

#endif
