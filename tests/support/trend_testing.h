/* SPDX-License-Identifier: MIT */
/* A history with a step, a quiet series and a drift, as tests of what is shown of trends need it.
 */
#ifndef HARNESS_TESTS_TREND_TESTING_H
#define HARNESS_TESTS_TREND_TESTING_H

#include "testing.h"

#include "output_records.h"

#include "trend/trend.h"

#include <stdio.h>
#include <string.h>

#define SLOWER "gemm/nn/simd/fp32/batch=1,seq=8/cpu-4t/warm"
#define QUIET  "gemm/nn/simd/fp32/batch=2,seq=8/cpu-4t/warm"
#define RAMP   "gemm/nn/simd/fp32/batch=3,seq=8/cpu-4t/warm"

enum { RUNS = 60, AT = 40 };

struct made {
    struct records records;
    struct series_list list;
    struct trends trends;
    struct acceptance accepted;
};

/* On the first run of the step's new level, on one that is not there, and two on one run. */
static const struct trend_annotation annotations[] = {
    { 3, "early <b> | words" },
    { AT + 1, "new BIOS" },
    { 9999, "of another machine" },
    { 3, "and more" },
};

static inline void add(struct records *r, int run, const char *key, double ns)
{
    made_measurement(r, run, 0, key, ns, 0.002, 9, (uint64_t)r->nr + 1);
}

/* A step of 8 %, a quiet series, and a ramp of 12 %. */
static inline void made_init(struct made *made)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct random random;
    struct error err;

    memset(made, 0, sizeof(*made));
    random_seed(&random, 3);
    for (int i = 0; i < RUNS; i++) {
        char commit[16];
        snprintf(commit, sizeof(commit), "%07x", 0xabc0001 + i);
        int run = made_run(&made->records, i, commit, "gcc");
        double noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, SLOWER, 2e5 * (i < AT ? 1 : 1.08) * noise);
        noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, QUIET, 4e5 * noise);
        noise = 1 + 0.004 * random_normal(&random);
        add(&made->records, run, RAMP, 6e5 * (1 + 0.12 * i / (RUNS - 1)) * noise);
    }
    made->accepted = (struct acceptance) {
        .key = SLOWER,
        .metric = "p50",
        .machine = "",
        .commit = made->records.runs[AT + 2].build.commit,
        .change = 0.08,
        .reason = "checks <bounds> | now",
    };
    settings.accepted = &made->accepted;
    settings.nr_accepted = 1;
    settings.annotations = annotations;
    settings.nr_annotations = 4;
    series_list_init(&made->list, &made->records);
    assert_ok(trends_find(&made->list, &made->records, &settings, &made->trends, &err), &err);
    assert_int_equal(made->trends.steps, 1);
    assert_int_equal(made->trends.drifts, 1);
}

static inline void made_release(struct made *made)
{
    trends_release(&made->trends);
    series_list_release(&made->list);
    records_release(&made->records);
}

static inline void check_lines(const char *text, const char *const *lines)
{
    for (; *lines; lines++)
        if (!strstr(text, *lines))
            fail_msg("\"%s\" is not in:\n%s", *lines, text);
}

#define MADE_TEST(name) TEST_WITH_A(name, struct made, made, made_release)

/* Who knows all commits, and a forge that shows them. */
static inline const char *address_here(void *context, const char *commit)
{
    (void)context;
    return strcmp(commit, "abc0001") == 0 ? NULL : "https://forge.example/o/n/commit/";
}

static inline bool leads_here(void *context, const char *good, const char *bad)
{
    (void)context;
    return strcmp(good, bad) < 0;
}

static inline bool measures_here(const struct benchmark_name *bench)
{
    return strcmp(bench->kernel, "gemm/nn") == 0;
}

static const struct trend_repository repository = { NULL, address_here, leads_here, measures_here };

#endif
