/* SPDX-License-Identifier: MIT */
#include "kernels/host.h"

#include "host/host_cache.h"
#include "host/host_memory.h"
#include "kernels/team.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

double host_epsilon(enum dtype dtype)
{
    return dtype == DTYPE_BF16 ? 0x1p-7 : dtype == DTYPE_FP16 ? 0x1p-10 : HOST_FP32_EPS;
}

double host_coarse_epsilon(enum dtype dtype, enum math math)
{
    if (dtype != DTYPE_FP32)
        return host_epsilon(dtype);
    return math == MATH_TF32 ? HOST_TF32_EPS : 0;
}

double host_few_values(double values)
{
    return 1 + 64 / (values * values);
}

int host_threads(const struct call *call)
{
    return call->device != NULL && call->device->threads > 0 ? call->device->threads : 1;
}

void host_share(host_share_fn *share, const void *operation, int threads, double work)
{
    const double grain = 65536;
    double worth = work / grain;

    if (worth < threads)
        threads = worth < 1 ? 1 : (int)worth;
    if (threads < 2)
        share(operation);
    else
        team_run(share, operation, threads, NULL);
}

bool host_beyond_caches(double bytes)
{
    /* A cache of a constant, which takes file reads to find out. */
    static _Atomic int64_t known = 0;
    int64_t last = atomic_load_explicit(&known, memory_order_relaxed);

    if (last == 0) {
        last = host_cache_bytes(3);
        if (last <= 0)
            last = (int64_t)32 << 20;
        atomic_store_explicit(&known, last, memory_order_relaxed);
    }
    return bytes > (double)last;
}

float *host_floats(size_t floats, struct error *err)
{
    enum { LINE = 64 };
    size_t lines = floats / 16 + 1; /* never 0 */
    void *memory = lines > SIZE_MAX / LINE ? NULL : host_memory_pages(lines * LINE);

    if (!memory)
        error_set(err, "no memory for %zu floats of working space", floats);
    return memory;
}

int64_t host_bytes(size_t floats)
{
    const size_t most = INT64_MAX / sizeof(float);

    return (int64_t)((floats < most ? floats : most) * sizeof(float));
}

int host_state(struct call *call, size_t floats, struct error *err)
{
    call->state = host_floats(floats, err);
    return call->state != NULL ? 0 : -1;
}

void host_state_release(struct call *call)
{
    free(call->state);
    call->state = NULL;
}

static int host_int_most(int bits)
{
    return (1 << (bits - 1)) - 1;
}

float host_int_scale(const float *row, int64_t n, int bits)
{
    float most = 0;

    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(row[i]));
    return most / (float)host_int_most(bits);
}

int host_int_round(float w, float scale, int bits)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 leaves the nearest integer in the low bits */
    const float most = (float)host_int_most(bits);
    float q = scale > 0 ? w / scale + magic - magic : 0;

    return (int)(q > most ? most : q < -most ? -most : q); /* of denormal scales it may be more */
}

void host_int_round_row(float *row, int64_t n, int bits)
{
    const float scale = host_int_scale(row, n, bits);

    for (int64_t i = 0; i < n; i++)
        row[i] = (float)host_int_round(row[i], scale, bits) * scale;
}

void host_doubles(const struct tensor *t, int64_t first, int64_t n, double *to)
{
    if (t->dtype == DTYPE_FP32) {
        const float *from = (const float *)t->data + first;
        for (int64_t i = 0; i < n; i++)
            to[i] = (double)from[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = tensor_get(t, first + i);
}

/* Eight partial sums: chains that do not wait for each other, and pairs for the vector unit. */
double host_dot(const double *a, const double *b, int64_t n)
{
    double sum[8] = { 0 };
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
