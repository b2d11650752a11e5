/* SPDX-License-Identifier: MIT */
/* What the plugins for the second accelerator of the tests share: y = x W^T on call->stream. */
#ifndef HARNESS_TESTS_JUDGE_NT_SYCL_H
#define HARNESS_TESTS_JUDGE_NT_SYCL_H

#include "../measure/fake_sycl.h"
#include "nt_plugin.h"

#include <stdlib.h>
#include <string.h>

struct nt {
    const float *x, *w; /* as its kernels find them */
    float *y;
    int64_t m, n, k;
    struct fake_sycl_queue *queue;
};

static inline struct nt nt_of(const struct harness_call *call)
{
    const struct harness_tensor *t = call->tensor;

    return (struct nt) { .x = (const float *)fake_sycl_memory(t[0].data),
                         .w = (const float *)fake_sycl_memory(t[1].data),
                         .y = (float *)fake_sycl_memory(t[2].data),
                         .m = call->size[0] * call->size[1],
                         .n = call->size[2],
                         .k = call->size[3],
                         .queue = (struct fake_sycl_queue *)call->stream };
}

/* ---- kernels ---- */

struct nt_part {
    struct nt p;
    int64_t first, last;
};

static inline void nt_kernel(const void *what)
{
    const struct nt_part *part = (const struct nt_part *)what;
    const struct nt p = part->p;

    for (int64_t at = part->first * p.n; at < part->last * p.n; at++) {
        const float *x = p.x + at / p.n * p.k, *w = p.w + at % p.n * p.k;
        p.y[at] = 0;
        for (int64_t l = 0; l < p.k; l++)
            p.y[at] += x[l] * w[l];
    }
}

struct nt_fill {
    void *at;
    size_t bytes;
    int with;
};

static inline void nt_fill_kernel(const void *what)
{
    const struct nt_fill *f = (const struct nt_fill *)what;

    memset(f->at, f->with, f->bytes);
}

struct nt_copy {
    void *to;
    const void *from;
    size_t bytes;
};

static inline void nt_copy_kernel(const void *what)
{
    const struct nt_copy *c = (const struct nt_copy *)what;

    memcpy(c->to, c->from, c->bytes);
}

/* ---- what enqueues them ---- */

static inline void nt_rows(const struct nt *p, int64_t first, int64_t last)
{
    const struct nt_part part = { *p, first, last };

    fake_sycl_submit(p->queue, nt_kernel, &part, sizeof(part));
}

static inline void nt_all(const struct nt *p)
{
    nt_rows(p, 0, p->m);
}

static inline void nt_fill(const struct nt *p, const void *at, size_t bytes, int with)
{
    const struct nt_fill fill = { (void *)at, bytes, with };

    fake_sycl_submit(p->queue, nt_fill_kernel, &fill, sizeof(fill));
}

static inline void nt_copy(const struct nt *p, void *to, const void *from, size_t bytes)
{
    const struct nt_copy copy = { to, from, bytes };

    fake_sycl_submit(p->queue, nt_copy_kernel, &copy, sizeof(copy));
}

static inline size_t nt_bytes(const struct nt *p)
{
    return (size_t)(p->m * p->n) * sizeof(float);
}

static inline size_t nt_input_bytes(const struct nt *p)
{
    return (size_t)(p->m * p->k) * sizeof(float);
}

#define NT_VARIANT(name_, prepare_)                                                                \
    {                                                                                              \
        .name = #name_, .device = HARNESS_SYCL, .prepare = (prepare_), .launch = (name_)           \
    }

#endif
