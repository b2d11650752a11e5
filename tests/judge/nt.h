/* SPDX-License-Identifier: MIT */
/* What the plugins of these tests share: y = x W^T, honestly. */
#ifndef HARNESS_TESTS_JUDGE_NT_H
#define HARNESS_TESTS_JUDGE_NT_H

#include "nt_plugin.h"

#include <stdlib.h>
#include <string.h>

struct nt {
    const float *x, *w;
    float *y;
    int64_t m, n, k;
};

static inline struct nt nt_of(const struct harness_call *call)
{
    return (struct nt) { call->tensor[0].data,          call->tensor[1].data, call->tensor[2].data,
                         call->size[0] * call->size[1], call->size[2],        call->size[3] };
}

static inline void nt_rows(const struct nt *p, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += p->x[i * p->k + l] * p->w[j * p->k + l];
            p->y[i * p->n + j] = sum;
        }
}

static inline void nt_all(const struct nt *p)
{
    nt_rows(p, 0, p->m);
}

static inline size_t nt_bytes(const struct nt *p)
{
    return (size_t)(p->m * p->n) * sizeof(float);
}

#endif
