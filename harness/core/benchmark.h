/* SPDX-License-Identifier: MIT */
/*
 * A benchmark's identity across years of history is its key:
 *
 *     gemm/linear/simd/fp32/batch=4,seq=64,n=192,k=48/cpu-2t/warm
 *     kernel      var. math shape                     device cache
 *
 * Where inputs are filled otherwise than the kernel says (core/input_fill.h), a key says so behind
 * the caches: ".../warm+zeros". In a name that is a member of its own.
 *
 * A program without sizes, which `harness run -- COMMAND` measures, has "-" for its shape.
 *
 * `struct benchmark` points into the registry of this build; `struct benchmark_name` is the same
 * as text, which is all that old history and imported results have.
 */
#ifndef HARNESS_CORE_BENCHMARK_H
#define HARNESS_CORE_BENCHMARK_H

#include "base/error.h"
#include "core/input_fill.h"
#include "core/kernel.h"

enum cache_state { CACHE_WARM, CACHE_COLD, CACHE_ROTATE, CACHE_NR };

struct benchmark {
    const struct variant *variant;
    struct shape shape;
    enum cache_state cache;
    const struct input_fill *inputs; /* borrowed; NULL: as the kernel says */
};

/* The operation that stands for the whole of a profiled benchmark: its time with scopes on, which
 * is not that of ordinary runs. */
#define BENCHMARK_WHOLE "all"

enum { KEY_SIZE = 256, NAME_SIZE = 64 };

struct benchmark_dim {
    char name[24];
    int64_t value;
};

struct benchmark_name {
    char key[KEY_SIZE]; /* the whole; unique */
    char kernel[NAME_SIZE], variant[NAME_SIZE], math[16], device[NAME_SIZE];
    char cache[8];
    char fill[INPUT_FILL_NAME]; /* "zeros"; "": as the kernel says, or not known */
    struct benchmark_dim dims[SHAPE_MAX];
    int nr_dims;
};

const char *cache_state_name(enum cache_state cache); /* "warm", "cold", "rotate" */
int cache_state_find(const char *name);               /* -1 if unknown */

/* The fill as people say it: "normal" where the inputs are as the kernel says; "" for a benchmark
 * of another program, which has no state of caches either. */
const char *benchmark_name_fill(const struct benchmark_name *name);

/* Fills every field, the key included. */
void benchmark_name_of(const struct benchmark *b, const struct device *d,
                       struct benchmark_name *name);
/* The key again, of what the other members say. */
void benchmark_name_make_key(struct benchmark_name *name);
/* Of an operation inside it, as profiling measures it: the kernel becomes "kernel:operation", the
 * key follows. Blanks and slashes of the operation become '-'. A name that is cut to its room stays
 * usable. */
void benchmark_name_operation(struct benchmark_name *name, const char *operation);
/* Takes a key apart. Keys of other origin (imports) need not have this form: "BM_Sort/arg=8192" is
 * a kernel and its dims; else the whole key becomes `kernel`, the rest is empty, and the result is
 * still usable. Fails only if too long. */
int benchmark_name_parse(const char *key, struct benchmark_name *name, struct error *err);
/* A dim's value, or `otherwise`. */
int64_t benchmark_name_dim(const struct benchmark_name *name, const char *dim, int64_t otherwise);

#endif
