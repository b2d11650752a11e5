/* SPDX-License-Identifier: MIT */
/*
 * ggml, the tensor library of llama.cpp, for the peers that call it: its CPU back end, opened at
 * run time. It comes as one file for each sort of processor, libggml-cpu-zen4.so and so on, which
 * say by a score how much of this one they use.
 *
 * HARNESS_GGML names the folder of these files, of which the best is taken as ggml's own loader
 * would, or one of them.
 */
#ifndef HARNESS_KERNELS_GGML_GGML_H
#define HARNESS_KERNELS_GGML_GGML_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As ggml.h has them; they are in files of models, too, and stay. */
enum { GGML_FP32 = 0, GGML_BF16 = 30 };

/* ggml's own, known by address alone. */
struct ggml_context;
struct ggml_tensor;
struct ggml_graph;
struct ggml_buffer;
struct ggml_backend;
struct ggml_plan;
struct ggml_pool;

struct ggml_memory { /* ggml_init_params */
    size_t bytes;
    void *at;      /* NULL: it allocates them */
    bool no_alloc; /* of descriptions alone: what tensors hold lies elsewhere */
};

/* Whole parameters of a pool, whatever they are: about 530 bytes in ggml 0.23. */
struct ggml_pool_words {
    _Alignas(64) char bytes[4096];
};

/*
 * What is used of the C API: the comment has the name there, where it is not ggml_ and ours.
 * Extents are ne[0], ne[1]: the first one is contiguous, a row-major [m,k] has k first. Where ggml
 * finds an argument wrong, or no memory, it ends the process.
 */
struct ggml {
    struct ggml_context *(*init)(struct ggml_memory memory);
    void (*free)(struct ggml_context *c);                  /* and all descriptions in it */
    size_t (*tensor_overhead)(void);                       /* bytes of a description */
    size_t (*graph_overhead)(size_t size, bool gradients); /* ggml_graph_overhead_custom */
    struct ggml_tensor *(*new_tensor_2d)(struct ggml_context *c, int type, int64_t ne0,
                                         int64_t ne1);
    /* fp32 [m,n] = x[m,k] w[n,k]^T; x is of w's type, or fp32. */
    struct ggml_tensor *(*mul_mat)(struct ggml_context *c, struct ggml_tensor *w,
                                   struct ggml_tensor *x);
    /* a + b, b's rows repeated as often as a has rows; in a's type. */
    struct ggml_tensor *(*add)(struct ggml_context *c, struct ggml_tensor *a,
                               struct ggml_tensor *b);
    /* The same, onto a. A view: see view_init. */
    struct ggml_tensor *(*add_inplace)(struct ggml_context *c, struct ggml_tensor *a,
                                       struct ggml_tensor *b);
    /* `from` into `to`, in its type. A view of `to`. */
    struct ggml_tensor *(*copy)(struct ggml_context *c, struct ggml_tensor *from,
                                struct ggml_tensor *to); /* ggml_cpy */
    struct ggml_graph *(*new_graph)(struct ggml_context *c, size_t size,
                                    bool gradients);                  /* ggml_new_graph_custom */
    void (*expand)(struct ggml_graph *g, struct ggml_tensor *result); /* _build_forward_expand */

    /* Memory of ours, 32-byte aligned, and the tensor that lies in it. */
    struct ggml_buffer *(*buffer)(void *memory, size_t bytes); /* _backend_cpu_buffer_from_ptr */
    void (*buffer_free)(struct ggml_buffer *b);                /* ggml_backend_buffer_free */
    int (*place)(struct ggml_buffer *b, struct ggml_tensor *t,
                 void *at);                  /* ggml_backend_tensor_alloc; 0: done */
    int (*view_init)(struct ggml_tensor *t); /* ggml_backend_view_init; 0: done */

    struct ggml_backend *(*backend)(void); /* ggml_backend_cpu_init; NULL: none */
    void (*backend_free)(struct ggml_backend *b);
    void (*set_threads)(struct ggml_backend *b, int threads);      /* _backend_cpu_set_n_threads */
    void (*set_pool)(struct ggml_backend *b, struct ggml_pool *p); /* _cpu_set_threadpool */
    /* Its threads are made, and of the caller's processors; they spin a while after each graph. */
    void (*pool_words)(struct ggml_pool_words *w, int threads); /* ggml_threadpool_params_init */
    struct ggml_pool *(*pool_new)(struct ggml_pool_words *w);
    void (*pool_free)(struct ggml_pool *p);
    /* With the working space of its largest node; computed as often as one likes. 0: done. */
    struct ggml_plan *(*plan)(struct ggml_backend *b, struct ggml_graph *g);
    int (*compute)(struct ggml_backend *b, struct ggml_plan *p);
    void (*plan_free)(struct ggml_backend *b, struct ggml_plan *p);
};

/* As peer_open(). */
int ggml_open(struct ggml *table, struct error *err);

#endif
