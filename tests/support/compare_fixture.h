/* SPDX-License-Identifier: MIT */
/* Hand-made pairs of records for the tests of comparisons. */
#ifndef HARNESS_TESTS_COMPARE_FIXTURE_H
#define HARNESS_TESTS_COMPARE_FIXTURE_H

#include "analysis_fixture.h"
#include "verdict/compare.h"

#include <stdio.h>

#define A "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"
#define B "gemm/linear/simd/fp32/batch=16,seq=64/cpu-2t/warm"
#define C "layernorm/simd/fp32/rows=64/cpu-2t/warm"

static const double steady[] = { 1000000, 1001000, 999000, 1000500, 999500 };
static const double slower[] = { 1100000, 1101000, 1099000, 1100500, 1099500 };

struct pair {
    struct records base, head;
};

static inline struct pair pair_new(const char *base_class, const char *head_class)
{
    struct pair p = { 0 };

    fixture_run(&p.base, base_class, 1);
    fixture_run(&p.head, head_class, 2);
    return p;
}

enum { FILLERS = 12 };

/* Benchmarks that did not change, behind the others: a family that tells what runs differ by. */
__attribute__((unused)) static inline void pair_fill(struct pair *p)
{
    for (int i = 0; i < FILLERS; i++) {
        char key[64];
        snprintf(key, sizeof(key), "zz/fill/simd/fp32/rows=%d/cpu-2t/warm", i + 1);
        fixture_launches(&p->base, key, steady, 5);
        fixture_launches(&p->head, key, steady, 5);
    }
}

static inline struct comparison compare(struct pair *p, const struct compare_settings *settings)
{
    struct comparison c;
    struct error err;

    assert_ok(compare_run(&p->base, &p->head, settings, &c, &err), &err);
    return c;
}

/* Does a note say so? */
static inline bool noted(const struct comparison *c, const char *words)
{
    for (size_t i = 0; i < c->nr_notes; i++)
        if (strstr(c->notes[i], words))
            return true;
    return false;
}

static inline void pair_release(struct pair *p, struct comparison *c)
{
    comparison_release(c);
    records_release(&p->base);
    records_release(&p->head);
}

static const struct compare_settings defaults = COMPARE_DEFAULTS;

#endif
