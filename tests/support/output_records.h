/* SPDX-License-Identifier: MIT */
/* Seeded records for the tests of figures and tables: kernels and models with plausible work, times
 * and tails, the same on every machine. */
#ifndef HARNESS_TESTS_OUTPUT_RECORDS_H
#define HARNESS_TESTS_OUTPUT_RECORDS_H

#include "base/array.h"
#include "base/memory.h"
#include "core/record.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct made_model {
    const char *name;
    int layers, heads, width, block;
    const char *kernels[2];
};

#define MADE_MODEL(name_, ...)                                                                     \
    {                                                                                              \
        name_, __VA_ARGS__,                                                                        \
        {                                                                                          \
            "gpt/" name_ "/prefill", "gpt/" name_ "/decode"                                        \
        }                                                                                          \
    }

static const struct made_model made_models[] = {
    MADE_MODEL("nano", 3, 3, 48, 128),         MADE_MODEL("micro", 4, 4, 128, 256),
    MADE_MODEL("mini", 6, 6, 192, 256),        MADE_MODEL("tile-small", 4, 4, 64, 128),
    MADE_MODEL("tile-medium", 6, 4, 128, 256), MADE_MODEL("tile-large", 8, 8, 256, 512),
};

enum { MADE_MODELS = sizeof(made_models) / sizeof(made_models[0]) };

static inline int made_run(struct records *r, int nth, const char *commit, const char *compiler)
{
    struct run *run = records_add_run(r);

    run->id = nth + 1;
    snprintf(run->uuid, sizeof(run->uuid), "00000000-0000-4000-8000-%012d", nth);
    run->started_ms = 1790000000000 + nth * INT64_C(86400000);
    run->ended_ms = run->started_ms + 60000;
    snprintf(run->suite, sizeof(run->suite), "quick");
    snprintf(run->machine.id, sizeof(run->machine.id), "0123456789abcdef");
    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "made-4c-avx512");
    snprintf(run->machine.cpu, sizeof(run->machine.cpu), "Made-up CPU, 4 cores");
    snprintf(run->machine.isa, sizeof(run->machine.isa), "avx512");
    run->machine.cores = run->machine.threads = 4;
    run->machine.l1d = 32 << 10;
    run->machine.l2 = 1 << 20;
    run->machine.l3 = 32 << 20;
    run->machine.l3_shared_by = 4;
    snprintf(run->build.version, sizeof(run->build.version), "0.1.0");
    snprintf(run->build.commit, sizeof(run->build.commit), "%s", commit);
    snprintf(run->build.branch, sizeof(run->build.branch), "main");
    snprintf(run->build.compiler, sizeof(run->build.compiler), "%s", compiler);
    return (int)r->nr_runs - 1;
}

static inline void made_roof(struct records *r, const char *name, const char *unit, double value,
                             double spec)
{
    struct roof *c;

    r->roofs = array_grow(r->roofs, r->nr_roofs, &r->roofs_capacity, sizeof(*r->roofs));
    c = &r->roofs[r->nr_roofs++];
    snprintf(c->name, sizeof(c->name), "%s", name);
    snprintf(c->device, sizeof(c->device), "cpu-4t");
    snprintf(c->unit, sizeof(c->unit), "%s", unit);
    c->value = value;
    c->low = value * 0.98;
    c->high = value * 1.02;
    c->spec = spec;
}

static inline void made_roofs(struct records *r)
{
    made_roof(r, "bandwidth.L1", "B/s", 900e9, 0);
    made_roof(r, "bandwidth.L2", "B/s", 400e9, 0);
    made_roof(r, "bandwidth.L3", "B/s", 120e9, 0);
    made_roof(r, "bandwidth.dram", "B/s", 38e9, 51.2e9);
    made_roof(r, "flops.fp32", "FLOP/s", 420e9, 0);
    made_roof(r, "overhead.launch", "ns", 900, 0);
}

/* Roughly normal, by sums alone, so that no library's rounding shows in golden files. */
static inline double made_noise(struct random *random)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += random_uniform(random) - 0.5;
    return sum * 1.7;
}

/* One measurement with `n` samples at and above `ns`, some of them far out. */
static inline struct measurement *made_measurement(struct records *r, int run, int launch,
                                                   const char *key, double ns, double spread,
                                                   size_t n, uint64_t seed)
{
    struct measurement *m = &records_add(r, run, launch)->m;
    struct random random;
    struct error err;

    random_seed(&random, seed);
    if (benchmark_name_parse(key, &m->bench, &err))
        snprintf(m->bench.key, sizeof(m->bench.key), "broken");
    m->tokens = legacy_tokens(&m->bench);
    m->outcome = OUTCOME_OK;
    m->max_error = 2.1e-7;
    m->tolerance = 1e-5;
    m->checked = 1;
    m->batch = 1;
    m->nr_samples = n;
    m->samples = n ? memory_zeroed(n, sizeof(*m->samples)) : NULL;
    m->stop = STOP_PRECISION;
    m->started_ms = r->runs[run].started_ms;
    snprintf(m->clock, sizeof(m->clock), "CLOCK_MONOTONIC_RAW");
    double shift = 1 + 0.004 * made_noise(&random);
    for (size_t i = 0; i < n; i++) {
        double tail = random_uniform(&random) < 0.03 ? 1 + random_uniform(&random) : 1;
        double noise = 1 + spread * fabs(made_noise(&random));
        m->samples[i] = (uint64_t)llround(ns * shift * tail * noise);
    }
    return m;
}

static inline void made_work(struct measurement *m, double flops, double bytes)
{
    m->flops = flops;
    m->bytes = bytes;
    m->footprint = (int64_t)bytes;
}

static inline uint64_t made_seed(int run, int launch, int nth)
{
    return (uint64_t)run * 1000003 + (uint64_t)launch * 10007 + (uint64_t)nth;
}

/* The six models, prefill, `slow` times slower than usual. */
static inline void made_add_models(struct records *r, int run, int launches, int batch, int seq,
                                   double slow)
{
    for (int launch = 0; launch < launches; launch++) {
        for (int i = 0; i < MADE_MODELS; i++) {
            const struct made_model *model = &made_models[i];
            double tokens = batch * seq, width = model->width;
            double parameters = 12.0 * model->layers * width * width;
            double flops = tokens * (2 * parameters + 2 * width * 50257);
            char key[KEY_SIZE];
            snprintf(key, sizeof(key), "gpt/%s/prefill/simd/fp32/batch=%d,seq=%d/cpu-4t/warm",
                     model->name, batch, seq);
            struct measurement *m =
                made_measurement(r, run, launch, key, slow * (flops / 190.0 + 30000), 0.02, 120,
                                 made_seed(run, launch, i * 100 + batch + seq));
            made_work(m, flops, 4 * (parameters + 50257 * width + tokens * 50257));
        }
    }
}

static inline struct measurement *made_failure(struct records *r, int run, int launch,
                                               const char *key, enum outcome outcome,
                                               const char *message)
{
    struct measurement *m = made_measurement(r, run, launch, key, 0, 0, 0, 1);

    m->outcome = outcome;
    m->message = memory_string(message);
    m->max_error = outcome == OUTCOME_WRONG ? 0.5 : NAN;
    return m;
}

/* Thirty kernels with long keys; the nth takes slow[nth % 8] times as long as usual. */
static inline void made_add_kernels(struct records *r, int run, int launches, const double *slow)
{
    static const char *const variants[] = { "naive", "simd", "openblas" };
    static const double rates[] = { 9, 210, 260 }; /* FLOP/ns */
    static const int sites[][2] = { { 768, 256 }, { 256, 256 }, { 1024, 256 }, { 256, 1024 } };

    for (int launch = 0; launch < launches; launch++) {
        int nth = 0;
        for (int batch = 1; batch <= 4; batch *= 4) {
            for (int site = 0; site < 4; site++) {
                for (int v = 0; v < 3; v++, nth++) {
                    double n = sites[site][0], k = sites[site][1], rows = batch * 64;
                    char key[KEY_SIZE];
                    snprintf(key, sizeof(key),
                             "gemm/linear/%s/fp32/batch=%d,seq=64,n=%.0f,k=%.0f/"
                             "cpu-4t/warm",
                             variants[v], batch, n, k);
                    struct measurement *m = made_measurement(
                        r, run, launch, key, slow[nth % 8] * (2 * rows * n * k / rates[v] + 1500),
                        0.03, 150, made_seed(run, launch, nth));
                    made_work(m, 2 * rows * n * k, 4 * (rows * (n + k) + n * k));
                    m->vendor = v == 2;
                }
            }
        }
        static const char *const others[] = {
            "layernorm/plain/simd/fp32/batch=4,seq=64,width=256/cpu-4t/warm",
            "layernorm/residual/simd/fp32/batch=4,seq=64,width=256/cpu-4t/warm",
            "pointwise/gelu/simd/fp32/batch=4,seq=64,width=1024/cpu-4t/warm",
            "pointwise/bias_gelu/simd/fp32/batch=4,seq=64,width=1024/cpu-4t/cold",
            "attention/causal/simd/fp32/batch=4,seq=64,heads=8,headdim=32/cpu-4t/warm",
            "attention/full/simd/fp32/batch=4,seq=64,heads=8,headdim=32/cpu-4t/warm",
        };
        for (int i = 0; i < 6; i++, nth++) {
            double bytes = i < 2 ? 524288 : i < 4 ? 2097152 : 1048576;
            double flops = i < 2 ? 65536 * 8 : i < 4 ? 262144 * 9 : 8.4e6;
            struct measurement *m = made_measurement(r, run, launch, others[i],
                                                     slow[nth % 8] * (flops / 60 + bytes / 45),
                                                     0.05, 150, made_seed(run, launch, nth));
            made_work(m, flops, bytes);
        }
    }
}

#endif
