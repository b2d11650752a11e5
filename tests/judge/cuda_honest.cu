/* SPDX-License-Identifier: MIT */
/* CUDA variants of gemm/nt that do unusual things and are right: none of them may be refused. */
#include "nt_cuda.h"

static void loops(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
}

/* Half of it on a stream of its own, which the call's stream waits for. */
struct side {
    cudaStream_t stream;
    cudaEvent_t begun, done;
};

static int make_fork(struct harness_call *call, char *, size_t)
{
    struct side *f = (struct side *)calloc(1, sizeof(*f));

    cudaStreamCreateWithFlags(&f->stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&f->begun, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&f->done, cudaEventDisableTiming);
    call->state = f;
    return 0;
}

static void forked(const struct harness_call *call)
{
    struct nt p = nt_of(call), aside = p;
    struct side *f = (struct side *)call->state;

    aside.stream = f->stream;
    cudaEventRecord(f->begun, p.stream);
    cudaStreamWaitEvent(f->stream, f->begun, 0);
    nt_rows(&aside, p.m / 2, p.m);
    cudaEventRecord(f->done, f->stream);
    nt_rows(&p, 0, p.m / 2);
    cudaStreamWaitEvent(p.stream, f->done, 0);
}

/* Weights do not change: a copy that is made before is right. */
static int pack(struct harness_call *call, char *, size_t)
{
    const struct nt p = nt_of(call);
    size_t bytes = (size_t)p.n * (size_t)p.k * sizeof(float);
    float *copy = NULL;

    if (cudaMalloc(&copy, bytes))
        return -1;
    cudaMemcpyAsync(copy, p.w, bytes, cudaMemcpyDeviceToDevice, p.stream);
    call->state = copy;
    return 0;
}

static void packed(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    p.w = (const float *)call->state;
    nt_all(&p);
}

static int even_only(struct harness_call *call, char *why, size_t room)
{
    if (call->size[3] % 8 == 0)
        return 0;
    strncpy(why, "k must be a multiple of 8", room - 1);
    return HARNESS_UNSUPPORTED;
}

static void even(const struct harness_call *call)
{
    loops(call);
}

static const struct harness_variant variants[] = {
    NT_VARIANT(loops),
    NT_PREPARED(forked, make_fork),
    NT_PREPARED(packed, pack),
    NT_PREPARED(even, even_only),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("gemm/nt", variants) };
HARNESS_PLUGIN(kernels);
