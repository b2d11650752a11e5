/* SPDX-License-Identifier: MIT */
/*
 * What is dealt to the cells: inputs for each slot, the same to all of them, and what the spec's
 * float64 oracle expects of them. All of it lies in the judge's memory alone. Seeds come from the
 * kernel's generator, one for each tensor and launch: none can be guessed from those before.
 *
 * Kinds of data. In timed windows all is fresh. Before that come the others, in which who remembers
 * is found out: the inputs of the launch before but for one element, those that another slot had,
 * and the very same once more.
 */
#ifndef HARNESS_JUDGE_DEAL_H
#define HARNESS_JUDGE_DEAL_H

#include "judge/arena.h"

enum deal_kind {
    DEAL_FRESH,
    DEAL_NEAR,  /* as before, but for one element */
    DEAL_SAME,  /* as before */
    DEAL_MOVED, /* as another slot had it; weights are each slot's own */
    DEAL_NR,
};

/* Rows of an output in float64. */
struct look {
    int output; /* tensor */
    int64_t *rows;
    size_t nr;
    double *values; /* nr x columns */
};

struct hand {
    struct tensor host[TENSOR_MAX]; /* outputs without data */
    struct look looks[TENSOR_MAX];
    int nr_looks;
    int64_t near_row; /* of the tensor that was changed in one element; -1: none was */
    bool all;         /* the looks are of all rows */
};

struct deal {
    const struct kernel *kernel;
    struct shape shape;
    enum dtype dtype;
    int nr_tensors, slots;
    struct hand *hands;
    double squares[TENSOR_MAX]; /* of all expected values of an output so far, and how many */
    double counts[TENSOR_MAX];
};

/* Weights are filled here, and inputs with what no launch will get. deal_close() it. */
int deal_open(struct deal *d, const struct kernel *k, const struct shape *s, enum dtype dtype,
              int slots, struct error *err);
void deal_close(struct deal *d);

void deal_inputs(struct deal *d, int slot, enum deal_kind kind);
/* Asks the oracle for as many rows of each output as `flops` allow, at least one; all, where that
 * is enough. Which ones is drawn now. */
void deal_look(struct deal *d, int slot, double flops);
/* rms of what is expected of an output, the unit of errors. */
double deal_scale(const struct deal *d, int output);

#endif
