/* SPDX-License-Identifier: MIT */
/*
 * Attention of bfloat16: narrow in memory, fp32 from the first cache on.
 *
 *      memory, bfloat16              a thread's scratch, fp32 (L1, L2)
 *      q k v of a head  -- widen -->  q k v  -- attention_simd_prefill.h -->  out  -- narrow -->
 * out
 *
 *      64 positions of K -- widen -->  K block  -- scores      } attention_simd_decode.h,
 *      64 positions of V -- widen -->  V block  -- add p V     } a block of the cache at a time
 *
 * So the arithmetic is that of attention_simd.c, which copies keys and values of a head anyway. A
 * prefill reads and writes half the bytes, and costs a pass through the cache more. A decode step
 * is bound by the bandwidth of the KV cache, of which there is half as much.
 */
#include "kernels/attention/attention_call.h"
#include "kernels/attention/bf16/attention_bf16.h"
#include "kernels/host.h"
#include "kernels/simd.h"
#include "kernels/simd_bf16.h"
#include "kernels/team.h"

#include <omp.h>

enum { LINE = 16, POSITIONS = 64 }; /* floats; positions of a block, whole vectors of any form */

/* A prefill: `a` with its pointers to bfloat16 cast. */
struct prefill {
    const struct attention *a;
    float *copies; /* [threads][q, k, v, out][seq][headdim] */
};

SIMD_DECLARE_BF16(host_share_fn, attention_prefill_bf16);
SIMD_DECLARE_BF16(host_share_fn, attention_decode_bf16);

/* Floats of a block of positions, the scores, and a row each of q, the sum and a summand. */
static size_t decode_row(int64_t floats)
{
    return ((size_t)floats + LINE - 1) / LINE * LINE;
}

#ifdef SIMD_ISA

/* The operations of fp32 are not asked for here, only what they are made of. */
static host_share_fn SIMD_NAME(attention_prefill) __attribute__((unused));
static host_share_fn SIMD_NAME(attention_decode) __attribute__((unused));

#include "kernels/attention/attention_simd_decode.h"
#include "kernels/attention/attention_simd_prefill.h"

/* Rows [first, end) of a head, `ld` apart, to dense ones. */
static void widen_rows(const void *from, int64_t ld, int64_t first, int64_t end, int64_t headdim,
                       float *to)
{
    for (int64_t i = first; i < end; i++)
        simd_bf16_widen((const uint16_t *)from + i * ld, headdim, to + i * headdim);
}

/* Where a head of a sequence begins, in elements. */
static const void *head_at(const float *bf16, int64_t at)
{
    return (const uint16_t *)(const void *)bf16 + at;
}

/* Queries [first, end) of one head. */
static void prefill_piece(const struct prefill *p, int64_t task, int64_t first, int64_t end)
{
    const struct attention *a = p->a;
    int64_t b = task / a->heads, head = task % a->heads * a->headdim;
    int64_t at = b * a->seq * a->ld + head, each = a->seq * a->headdim;
    int64_t seen = a->causal ? end : a->seq;
    float *q = p->copies + 4 * each * omp_get_thread_num(), *k = q + each, *v = k + each;
    struct attention one = *a;
    uint16_t *out = (uint16_t *)(void *)a->out + b * a->seq * a->ldo + head;

    widen_rows(head_at(a->q, at), a->ld, first, end, a->headdim, q);
    widen_rows(head_at(a->k, at), a->ld, 0, seen, a->headdim, k);
    widen_rows(head_at(a->v, at), a->ld, 0, seen, a->headdim, v);
    one.batch = one.heads = 1;
    one.q = q;
    one.k = k;
    one.v = v;
    one.out = v + each;
    one.ld = one.ldo = a->headdim;
    const struct head h = head_of(&one, 0);
    pack(&h, seen);
    for (int64_t i = first; i < end; i += BLOCK * GROUP)
        attend_block(&h, i, at_most(i + BLOCK * GROUP, end));
    for (int64_t i = first; i < end; i++)
        simd_bf16_narrow(one.out + i * one.ldo, a->headdim, out + i * a->ldo);
}

void SIMD_NAME(attention_prefill_bf16)(const void *operation)
{
    const struct prefill *p = operation;
    const struct attention *a = p->a;
    int64_t pieces = pieces_of(a, omp_get_num_threads());

#pragma omp for schedule(dynamic) nowait
    for (int64_t task = 0; task < a->batch * a->heads * pieces; task++)
        prefill_piece(p, task / pieces, piece_start(a, task % pieces, pieces),
                      piece_start(a, task % pieces + 1, pieces));
    team_meet();
}

/* A thread's part of the scratch. */
struct copies {
    float *scores, *block, *q, *sum, *summand;
};

/* Positions [first, first + rows) of a head of the cache to the block; asks for those that follow.
 */
static void take_block(const uint16_t *cache, const struct attention_decode_bf16 *a, int64_t first,
                       int64_t rows, float *block)
{
    for (int64_t i = 0; i < rows; i++) {
        const uint16_t *row = cache + (first + i) * a->ld;
        for (int64_t d = 0; d < a->headdim; d += 2 * LINE)
            __builtin_prefetch(row + AHEAD * a->ld + d);
        simd_bf16_widen(row, a->headdim, block + i * a->headdim);
    }
}

/* to[0..headdim) += weights of the block's positions . V */
static void add_block(const struct query *u, float *to)
{
    int64_t d = 0;

    for (; d + 4 * SIMD_WIDTH <= u->headdim; d += 4 * SIMD_WIDTH)
        weigh_columns(4, 0, u, 1, d);
    for (; d + SIMD_WIDTH <= u->headdim; d += SIMD_WIDTH)
        weigh_columns(1, 0, u, 1, d);
    if (d < u->headdim)
        weigh_columns(1, u->headdim - d, u, 1, d);
    for (d = 0; d < u->headdim; d += SIMD_WIDTH)
        simd_store_upto(to + d,
                        simd_load_upto(to + d, u->headdim - d) +
                            simd_load_upto(u->out + d, u->headdim - d),
                        u->headdim - d);
}

/* One query of one head; q is there, the result goes to c->sum. */
static void decode_head(const struct attention_decode_bf16 *a, const uint16_t *k, const uint16_t *v,
                        const struct copies *c)
{
    struct query u = { .q = c->q,
                       .k = c->block,
                       .v = c->block,
                       .ld = a->headdim,
                       .headdim = a->headdim,
                       .out = c->summand };
    float most = -INFINITY;

    for (int64_t j = 0; j < a->length; j += POSITIONS) {
        u.length = at_most(POSITIONS, a->length - j);
        u.scores = c->scores + j;
        take_block(k, a, j, u.length, c->block);
        most = fmaxf(most, scores(&u));
    }
    u.length = a->length;
    u.scores = c->scores;
    const simd_float scale = simd_set(1 / weights(&u, most));
    memset(c->sum, 0, (size_t)a->headdim * sizeof(*c->sum));
    for (int64_t j = 0; j < a->length; j += POSITIONS) {
        u.length = at_most(POSITIONS, a->length - j);
        u.scores = c->scores + j;
        take_block(v, a, j, u.length, c->block);
        add_block(&u, c->sum);
    }
    for (int64_t d = 0; d < a->headdim; d += SIMD_WIDTH)
        simd_store_upto(c->sum + d, simd_load_upto(c->sum + d, a->headdim - d) * scale,
                        a->headdim - d);
}

static struct copies copies_of(const struct attention_decode_bf16 *a)
{
    float *scratch = a->scratch + attention_decode_bf16_scratch(a->length, a->headdim, 1) *
                                      (size_t)omp_get_thread_num();
    const size_t row = decode_row(a->headdim);
    struct copies c = { .scores = scratch, .q = scratch + decode_row(a->length) };

    c.sum = c.q + row;
    c.summand = c.sum + row;
    c.block = c.summand + row;
    return c;
}

void SIMD_NAME(attention_decode_bf16)(const void *operation)
{
    const struct attention_decode_bf16 *a = operation;
    const struct copies c = copies_of(a);
    const size_t bytes = (size_t)a->headdim * sizeof(float);

#pragma omp for schedule(static) nowait
    for (int64_t task = 0; task < a->batch * a->heads; task++) {
        int64_t b = task / a->heads, head = task % a->heads * a->headdim;
        int64_t at = b * a->ld_sequence + head, q = b * a->ldq + head, out = b * a->ldo + head;
        if (a->type == DTYPE_BF16)
            simd_bf16_widen((const uint16_t *)a->q + q, a->headdim, c.q);
        else
            memcpy(c.q, (const float *)a->q + q, bytes);
        decode_head(a, a->k + at, a->v + at, &c);
        if (a->type == DTYPE_BF16)
            simd_bf16_narrow(c.sum, a->headdim, (uint16_t *)a->out + out);
        else
            memcpy((float *)a->out + out, c.sum, bytes);
    }
    team_meet();
}

#else

size_t attention_decode_bf16_scratch(int64_t length, int64_t headdim, int threads)
{
    return (size_t)threads * (decode_row(length) + (POSITIONS + 3) * decode_row(headdim));
}

void attention_decode_bf16_simd(const struct attention_decode_bf16 *a)
{
    double bytes = 4.0 * (double)(a->batch * a->heads * a->headdim) * (double)a->length;

    host_share(SIMD_CHOOSE_BF16(attention_decode_bf16), a, a->threads, bytes);
}

static size_t head_scratch(const struct call *call)
{
    return (size_t)host_threads(call) *
           attention_simd_scratch(call->shape.dim[1], call->shape.dim[3]);
}

/* That, and a head's queries, keys, values and outputs in fp32. */
static size_t prefill_floats(const struct call *call)
{
    size_t head = (size_t)call->shape.dim[1] * (size_t)call->shape.dim[3];

    return head_scratch(call) + 4 * head * (size_t)host_threads(call);
}

static int prefill_prepare(struct call *call, struct error *err)
{
    return host_state(call, prefill_floats(call), err);
}

static int64_t prefill_workspace(const struct call *call)
{
    return host_bytes(prefill_floats(call));
}

/* q, k and v lie beside each other as elements of two bytes. */
static void prefill_launch(const struct call *call)
{
    const uint16_t *qkv = call->tensor[ATTENTION_QKV].data;
    struct attention a = attention_of(call);
    const struct prefill p = { &a, (float *)call->state + head_scratch(call) };
    double pairs = (double)(a.batch * a.heads) * (double)a.seq * (double)a.seq;

    a.k = (const float *)(const void *)(qkv + a.ldo);
    a.v = (const float *)(const void *)(qkv + 2 * a.ldo);
    host_share(SIMD_CHOOSE_BF16(attention_prefill_bf16), &p, a.threads,
               pairs * (double)(a.headdim + 8));
}

static int decode_prepare(struct call *call, struct error *err)
{
    const struct shape *s = &call->shape;

    return host_state(call, attention_decode_bf16_scratch(s->dim[1], s->dim[3], host_threads(call)),
                      err);
}

static void decode_launch(const struct call *call)
{
    const struct attention_decode a = attention_decode_of(call);

    attention_decode_bf16_simd(&(struct attention_decode_bf16) {
        .batch = a.batch,
        .length = a.length,
        .heads = a.heads,
        .headdim = a.headdim,
        .type = DTYPE_BF16,
        .q = a.q,
        .ldq = a.ldq,
        .k = call->tensor[ATTENTION_DECODE_K].data,
        .v = call->tensor[ATTENTION_DECODE_V].data,
        .ld = a.ld,
        .ld_sequence = a.ld_sequence,
        .out = a.out,
        .ldo = a.ldo,
        .scratch = a.scratch,
        .threads = a.threads,
    });
}

#define SIMD(of, text, ready, run, needs)                                                          \
    {                                                                                              \
        .name = "simd_bf16", .summary = (text), .kernel = &(of), .device = DEVICE_CPU,             \
        .dtype = DTYPE_BF16, .math = MATH_BF16, .supports = simd_supports, .prepare = (ready),     \
        .launch = (run), .release = host_state_release, .workspace = (needs),                      \
    }

const struct variant attention_simd_bf16[] = {
    SIMD(attention_causal_kernel, "a head widened, then as simd; limit: FMA, exp", prefill_prepare,
         prefill_launch, prefill_workspace),
    SIMD(attention_full_kernel, "a head widened, then as simd; limit: FMA, exp", prefill_prepare,
         prefill_launch, prefill_workspace),
    SIMD(attention_decode_kernel,
         "64 positions widened at a time; limit: bandwidth of half a KV cache", decode_prepare,
         decode_launch, NULL),
    { .name = NULL },
};

#endif
