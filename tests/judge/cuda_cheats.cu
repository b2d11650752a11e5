/* SPDX-License-Identifier: MIT */
/*
 * Known ways to win without computing on a GPU, as variants of gemm/nt. docs/judge-cuda.md says in
 * its table how each is found out; tests/cli/judge_cuda.sh holds both against what `harness judge`
 * says on the host layer, with streams that lag.
 */
#include "nt_cuda.h"

#include "board.h"

#include <stdint.h>

/* ---- who remembers ---- */

struct memory {
    float *x, *y, *few; /* of the device */
    int *same;
    int64_t launches;
};

static int remember(struct harness_call *call, char *, size_t)
{
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)calloc(1, sizeof(*m));
    const size_t few = 3 * sizeof(float);

    call->state = m;
    if (cudaMalloc(&m->x, nt_input_bytes(&p)) || cudaMalloc(&m->y, nt_bytes(&p)) ||
        cudaMalloc(&m->few, few) || cudaMalloc(&m->same, sizeof(int)))
        return -1;
    cudaMemsetAsync(m->few, 0, few, p.stream);
    cudaMemsetAsync(m->x, 0, nt_input_bytes(&p), p.stream);
    return 0;
}

static void copy(float *to, const float *from, size_t bytes, cudaStream_t stream)
{
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

static void compute_and_keep(const struct nt *p, struct memory *m)
{
    nt_all(p);
    copy(m->y, p->y, nt_bytes(p), p->stream);
}

static void give_kept(const struct nt *p, const struct memory *m)
{
    copy(p->y, m->y, nt_bytes(p), p->stream);
}

#include "device_cheats.h"

/* One result for each content, which three elements tell. */
__global__ static void few_kernel(struct nt p, struct memory m)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), nr = p.m * p.k;

    if (i >= p.m * p.n)
        return;
    if (p.x[0] != m.few[0] || p.x[nr / 2] != m.few[1] || p.x[nr - 1] != m.few[2])
        m.y[i] = nt_element(p, i);
    p.y[i] = m.y[i];
}

static void memo_by_few(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)call->state;
    const size_t nr = (size_t)p.m * (size_t)p.k, one = sizeof(float);
    cudaLaunchConfig_t config = nt_config((size_t)p.m * (size_t)p.n, 128, p.stream);

    cudaLaunchKernelEx(&config, few_kernel, p, *m);
    copy(m->few, p.x, one, p.stream);
    copy(m->few + 1, p.x + nr / 2, one, p.stream);
    copy(m->few + 2, p.x + nr - 1, one, p.stream);
}

/* Nothing is written where the whole input is that of before. */
__global__ static void same_kernel(struct nt p, struct memory m)
{
    *m.same = 1;
    for (int i = 0; i < p.m * p.k; i++)
        *m.same = *m.same && p.x[i] == m.x[i];
}

__global__ static void unless_same_kernel(struct nt p, struct memory m)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < p.m * p.n && !*m.same)
        p.y[i] = nt_element(p, i);
}

static void skip_repeats(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    struct memory *m = (struct memory *)call->state;
    cudaLaunchConfig_t one = nt_config(1, 1, p.stream);
    cudaLaunchConfig_t config = nt_config((size_t)p.m * (size_t)p.n, 128, p.stream);

    cudaLaunchKernelEx(&one, same_kernel, p, *m);
    cudaLaunchKernelEx(&config, unless_same_kernel, p, *m);
    copy(m->x, p.x, nt_input_bytes(&p), p.stream);
}

/* ---- who guesses ---- */

static void zeros_for_shape(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    cudaMemsetAsync(p.y, 0, nt_bytes(&p), p.stream);
}

static void not_a_number(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    cudaMemsetAsync(p.y, 0xff, nt_bytes(&p), p.stream);
}

/* Nine rows of ten, and for the tenth what looks like one. */
static void most_rows(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    const int some = p.m - (p.m + 9) / 10;
    const size_t row = (size_t)p.n * sizeof(float);

    nt_rows(&p, 0, some);
    for (int i = some; i < p.m; i++)
        if (some > 0)
            copy(p.y + (size_t)i * (size_t)p.n, p.y, row, p.stream);
        else
            cudaMemsetAsync(p.y + (size_t)i * (size_t)p.n, 0, row, p.stream);
}

/* ---- who computes with less ---- */

__device__ static float with_bits(float x, int bits)
{
    unsigned drop = 23U - (unsigned)bits, half = 1U << (drop - 1);

    return __uint_as_float((__float_as_uint(x) + half) & ~((1U << drop) - 1));
}

__global__ static void rounding_kernel(struct nt p, int bits)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;

    if (i >= p.m * p.n)
        return;
    for (int l = 0; l < p.k; l++)
        sum += with_bits(p.x[(size_t)(i / p.n) * p.k + l], bits) *
               with_bits(p.w[(size_t)(i % p.n) * p.k + l], bits);
    p.y[i] = sum;
}

static void with_mantissa(const struct harness_call *call, int bits)
{
    const struct nt p = nt_of(call);
    cudaLaunchConfig_t config = nt_config((size_t)p.m * (size_t)p.n, 128, p.stream);

    cudaLaunchKernelEx(&config, rounding_kernel, p, bits);
}

static void bf16_inside(const struct harness_call *call)
{
    with_mantissa(call, 7);
}

static void tf32_inside(const struct harness_call *call)
{
    with_mantissa(call, 10);
}

/* As by three products of bf16: under the tolerance, which is for the largest of many errors. */
static void few_bits_less(const struct harness_call *call)
{
    with_mantissa(call, 19);
}

/* ---- who works elsewhere, or at another time ---- */

static cudaStream_t own_stream(void)
{
    static cudaStream_t stream;

    if (!stream)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}

static void another_stream(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    p.stream = own_stream();
    nt_all(&p);
}

static void default_stream(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    p.stream = NULL;
    nt_all(&p);
}

/* Ordered behind the call's stream, which does not wait for it: done after its last event. */
static void after_the_event(const struct harness_call *call)
{
    static cudaEvent_t event;
    struct nt p = nt_of(call);

    if (!event)
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, p.stream);
    cudaStreamWaitEvent(own_stream(), event, 0);
    p.stream = own_stream();
    nt_all(&p);
}

static void half_aside(const struct harness_call *call)
{
    struct nt p = nt_of(call);

    nt_rows(&p, 0, p.m / 2);
    p.stream = own_stream();
    nt_rows(&p, p.m / 2, p.m);
}

/* ---- who wants something of the judge ---- */

/* Zeros times anything are zeros, for a reference that is computed afterwards, too. */
static void change_inputs(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    cudaMemsetAsync((void *)p.x, 0, nt_input_bytes(&p), p.stream);
    cudaMemsetAsync(p.y, 0, nt_bytes(&p), p.stream);
}

/* The same of what may be packed, and lies in the same memory in every launch. */
static void change_weights(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
    cudaMemsetAsync((void *)p.w, 0, sizeof(float), p.stream);
}

static void behind_the_end(const struct harness_call *call)
{
    const struct nt p = nt_of(call);

    nt_all(&p);
    cudaMemsetAsync(p.y + (size_t)p.m * (size_t)p.n, 0, 64, p.stream);
}

static void bad_launch(const struct harness_call *call)
{
    const struct nt p = nt_of(call);
    cudaLaunchConfig_t config = nt_config((size_t)p.m * (size_t)p.n, 4096, p.stream);

    cudaLaunchKernelEx(&config, nt_kernel, p, 0, p.m * p.n);
}

static const struct harness_variant variants[] = {
    NT_PREPARED(last_result, remember),
    NT_PREPARED(right_at_first, remember),
    NT_PREPARED(skip_addresses, remember),
    NT_PREPARED(memo_by_few, remember),
    NT_PREPARED(skip_repeats, remember),
    NT_VARIANT(zeros_for_shape),
    NT_VARIANT(not_a_number),
    NT_VARIANT(launch_nothing),
    NT_PREPARED(give_computed, compute_before),
    NT_VARIANT(most_rows),
    NT_VARIANT(half_of_it),
    NT_VARIANT(bf16_inside),
    NT_VARIANT(tf32_inside),
    NT_VARIANT(few_bits_less),
    NT_VARIANT(another_stream),
    NT_VARIANT(default_stream),
    NT_VARIANT(after_the_event),
    NT_VARIANT(half_aside),
    NT_VARIANT(later),
    NT_VARIANT(owe_one),
    NT_VARIANT(leave_to_the_last),
    NT_PREPARED(work_for_the_next, note_slot),
    NT_VARIANT(change_inputs),
    NT_VARIANT(change_weights),
    NT_VARIANT(behind_the_end),
    NT_VARIANT(helper_process),
    NT_VARIANT(ask_a_server),
    NT_VARIANT(bad_launch),
};
static const struct harness_kernel kernels[] = { HARNESS_LIKE("gemm/nt", variants) };
HARNESS_PLUGIN(kernels);
