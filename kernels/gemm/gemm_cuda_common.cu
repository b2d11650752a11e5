/* SPDX-License-Identifier: MIT */
#include "kernels/gemm/gemm_cuda_launch.h"

#include <limits.h>

static const int most_slices = 32, least_steps = 2; /* a slice's: the ring must get going */

/* Cycles from a launch to the first arithmetic, and to end a block: the latency of memory, once
 * each, and the barriers. */
static const double fill_cycles = 1500, end_cycles = 500;
/* To order partial sums before a ticket, and the bytes of them that an SM moves in a cycle. */
static const double ticket_cycles = 1500, partial_bytes_a_cycle = 32;

static size_t tickets_bytes(int sms)
{
    size_t bytes = (size_t)sms * GEMM_CUDA_SPLIT_BLOCKS_PER_SM * sizeof(unsigned);

    return cuda_pieces<size_t>(bytes, 256) * 256;
}

static size_t padded(int64_t extent)
{
    return (size_t)cuda_pieces<int64_t>(extent, 128) * 128;
}

size_t gemm_cuda_workspace(int64_t m, int64_t n, int sms)
{
    size_t blocks = (size_t)sms * GEMM_CUDA_SPLIT_BLOCKS_PER_SM;
    size_t of_device = blocks * GEMM_CUDA_SPLIT_ELEMENTS * sizeof(float);
    double of_product = 4.0 * most_slices * (double)padded(m) * (double)padded(n);
    size_t partials = of_product < (double)of_device ? (size_t)of_product : of_device;

    return tickets_bytes(sms) + partials;
}

unsigned *gemm_cuda_tickets(const struct gemm_cuda *g)
{
    return static_cast<unsigned *>(g->workspace);
}

float *gemm_cuda_partials(const struct gemm_cuda *g)
{
    unsigned char *start = static_cast<unsigned char *>(g->workspace);

    return start ? reinterpret_cast<float *>(start + tickets_bytes(g->sms)) : nullptr;
}

/* Rounds of blocks on the busiest SM, each bound by arithmetic or by latency. */
static double rounds_cost(const struct gemm_cuda_shape *t, double blocks, double steps, int sms)
{
    double here = ceil(blocks / sms), rounds = ceil(here / t->resident);
    double arithmetic = here * steps * t->step, latency = rounds * steps * t->lone;
    double epilogue = end_cycles + (double)t->bm * t->bn / 16;

    return fill_cycles + fmax(arithmetic, latency) + here * epilogue;
}

/* Cycles, by the model. */
static double cost_of(const struct gemm_cuda *g, const struct gemm_cuda_shape *t, int split)
{
    int64_t tiles = cuda_pieces<int64_t>(g->m, t->bm) * cuda_pieces<int64_t>(g->n, t->bn);
    double steps = ceil((double)cuda_pieces<int64_t>(g->k, t->bk) / split);
    double cost = rounds_cost(t, (double)tiles * split, steps, g->sms);

    if (split == 1)
        return cost;
    double partial = 4.0 * t->bm * t->bn / partial_bytes_a_cycle;
    return cost + ticket_cycles + partial * (1 + split);
}

/* The most slices that a product may be cut into with this tile. */
static int slices_allowed(const struct gemm_cuda *g, const struct gemm_cuda_shape *t)
{
    int64_t tiles = cuda_pieces<int64_t>(g->m, t->bm) * cuda_pieces<int64_t>(g->n, t->bn);
    int64_t by_blocks = (int64_t)g->sms * GEMM_CUDA_SPLIT_BLOCKS_PER_SM / tiles;
    int64_t by_depth = cuda_pieces<int64_t>(g->k, t->bk) / least_steps;
    int64_t most = by_blocks < by_depth ? by_blocks : by_depth;

    if (!t->may_split || g->workspace == nullptr || most < 1)
        return 1;
    return most < most_slices ? (int)most : most_slices;
}

/* The number of slices to try after `split`. Not every one is: this is done at each launch. But the
 * most are, which fill the device. */
static int next_split(int split, int most)
{
    int next = split + 1 + split / 4;

    return split < most && next > most ? most : next;
}

/* The best number of slices for a tile; its cost in *cost. */
static int choose_split(const struct gemm_cuda *g, const struct gemm_cuda_shape *t, double *cost)
{
    int most = slices_allowed(g, t), least = 1, best = 1;

    if (g->split > 0)
        least = most = g->split < most ? g->split : most;
    *cost = INFINITY;
    for (int split = least; split <= most; split = next_split(split, most)) {
        double c = cost_of(g, t, split);
        if (c >= *cost)
            continue;
        *cost = c;
        best = split;
    }
    return best;
}

struct gemm_cuda_plan gemm_cuda_plan_of(const struct gemm_cuda *g,
                                        const struct gemm_cuda_shape *table, int nr, bool aligned)
{
    struct gemm_cuda_plan best = { -1, 0, 0, 0 };
    double cost, least = INFINITY;

    for (int i = 0; i < nr; i++) {
        const struct gemm_cuda_shape *t = &table[i];
        if ((!aligned && !t->any_alignment) || t->shared > g->shared)
            continue;
        int split = choose_split(g, t, &cost);
        bool asked = g->tile == i + 1;
        if (cost >= least && !asked)
            continue;
        least = asked ? 0 : cost;
        best = { i, (int)cuda_pieces<int64_t>(g->m, t->bm), (int)cuda_pieces<int64_t>(g->n, t->bn),
                 split };
    }
    return best;
}

/* Everything but operands. */
static struct gemm_cuda of_call(const struct call *call, int64_t m, int64_t n, int64_t k)
{
    struct gemm_cuda g = {};

    g.m = m, g.n = n, g.k = k;
    g.ldx = k, g.ldy = n;
    g.activation = GEMM_IDENTITY;
    g.out = call->variant->dtype;
    g.sms = device_cuda_properties(call->device)->multiProcessorCount;
    g.shared = device_cuda_properties(call->device)->sharedMemPerBlockOptin;
    g.workspace = call->state;
    return g;
}

struct gemm_cuda gemm_cuda_of(const struct call *call)
{
    const struct tensor *t = call->tensor, *w = &t[GEMM_LINEAR_W];
    const struct gemm_epilogue *e = static_cast<const struct gemm_epilogue *>(call->kernel->config);
    struct gemm_cuda g = of_call(call, tensor_rows(&t[GEMM_LINEAR_X]), w->extent[0], w->extent[1]);

    g.x = t[GEMM_LINEAR_X].data;
    g.w = w->data, g.ldw = g.k;
    g.bias = e->bias ? t[GEMM_LINEAR_BIAS].data : nullptr;
    g.residual = e->residual ? t[GEMM_LINEAR_RESIDUAL].data : nullptr, g.ldr = g.n;
    g.activation = e->activation;
    g.y = t[GEMM_LINEAR_Y].data;
    return g;
}

struct gemm_cuda gemm_cuda_nn_of(const struct call *call)
{
    const struct tensor *t = call->tensor, *b = &t[GEMM_NN_B];
    struct gemm_cuda g = of_call(call, tensor_rows(&t[GEMM_NN_A]), b->extent[1], b->extent[0]);

    g.x = t[GEMM_NN_A].data;
    g.w = b->data, g.ldw = g.n;
    g.y = t[GEMM_NN_C].data;
    return g;
}

static size_t workspace_of(const struct call *call)
{
    bool nn = call->kernel == &gemm_nn_kernel;
    struct gemm_cuda g = nn ? gemm_cuda_nn_of(call) : gemm_cuda_of(call);

    return gemm_cuda_workspace(g.m, g.n, g.sms);
}

int gemm_cuda_prepare(struct call *call, struct error *err)
{
    size_t bytes = workspace_of(call);
    cudaStream_t stream = device_cuda_stream(call->device);

    call->state = device_alloc(call->device, bytes, err);
    if (call->state == nullptr)
        return error_prefix(err, "workspace");
    if (CUDA_TRY(cudaMemsetAsync(call->state, 0, bytes, stream), err) == 0)
        return 0;
    gemm_cuda_release(call);
    return -1;
}

void gemm_cuda_release(struct call *call)
{
    device_free(call->device, call->state);
    call->state = nullptr;
}

bool gemm_cuda_supports(const struct kernel *k, const struct shape *s, const struct device *d,
                        size_t shared, struct error *why)
{
    const cudaDeviceProp *p = device_cuda_properties(d);
    int64_t n = kernel_dim(k, s, "n", 1), depth = kernel_dim(k, s, "k", 1);
    int64_t m = kernel_dim(k, s, "batch", 1) * kernel_dim(k, s, "seq", 1);
    int64_t most = INT_MAX / 2;

    if (m > most || n > most || depth > most)
        return error_set(why, "a size beyond %lld does not fit the kernel's integers",
                         (long long)most) == 0;
    if (m * n / 128 > most)
        return error_set(why, "m x n is beyond the blocks of one launch") == 0;
    if (shared == 0)
        return true;
    if (p->major < 8)
        return error_set(why, "needs compute capability 8.0 or newer (cp.async), this is %d.%d",
                         p->major, p->minor) == 0;
    if (p->sharedMemPerBlockOptin < shared)
        return error_set(why, "needs %zu KiB of shared memory a block, the device has %zu",
                         shared / 1024, p->sharedMemPerBlockOptin / 1024) == 0;
    return true;
}
