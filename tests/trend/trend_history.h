/* SPDX-License-Identifier: MIT */
/* Histories of nights with a known course, and what `harness trend` finds in them. */
#ifndef TESTS_TREND_TREND_HISTORY_H
#define TESTS_TREND_TREND_HISTORY_H

#include "analysis_fixture.h"
#include "testing.h"

#include "base/text.h"
#include "stats/random.h"
#include "trend/trend.h"
#include "trend/trend_parts.h"

#define KEY   "gemm/linear/simd/fp32/batch=4,seq=64/cpu-2t/warm"
#define NIGHT (INT64_C(24) * 3600 * 1000)
#define START INT64_C(1790000000000) /* 2026-09-21 */

enum { RUNS = 40, AT = 25 };

/* One history and what is found in it. */
struct history {
    struct records records;
    struct series_list list;
    struct trend_settings settings;
    struct trends found;
    struct random random;
};

static inline void history_init(struct history *h, size_t runs, uint64_t seed)
{
    *h = (struct history) { .settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 } };
    random_seed(&h->random, seed);
    for (size_t i = 0; i < runs; i++) {
        struct run *run = fixture_run(&h->records, "m", START + (int64_t)i * NIGHT);
        snprintf(run->build.commit, sizeof(run->build.commit), "%07zx%033d", i + 1, 0);
        snprintf(run->build.compiler, sizeof(run->build.compiler), "gcc 12");
        run->id = (int64_t)i + 1;
    }
}

/* One measurement of each run: levels[k] from run from[k] on, with 0.5 % of noise. */
static inline void add_levels(struct history *h, const char *key, const double *levels,
                              const int *from, int nr)
{
    for (size_t i = 0, k = 0; i < h->records.nr_runs; i++) {
        while ((int)k + 1 < nr && (size_t)from[k + 1] <= i)
            k++;
        double ns = levels[k] * (1 + 0.005 * random_normal(&h->random));
        fixture_add(&h->records, 0, key, ns, 3);
        h->records.items[h->records.nr - 1].run = (int)i;
    }
}

static inline void add_step(struct history *h, const char *key, double before, double after)
{
    add_levels(h, key, (const double[]) { before, after }, (const int[]) { 0, AT }, 2);
}

static inline void find(struct history *h)
{
    struct error err;

    trends_release(&h->found);
    series_list_release(&h->list);
    series_list_init(&h->list, &h->records);
    assert_ok(trends_find(&h->list, &h->records, &h->settings, &h->found, &err), &err);
}

static inline void history_release(struct history *h)
{
    trends_release(&h->found);
    series_list_release(&h->list);
    records_release(&h->records);
}

/* The only step there is. */
static inline const struct trend_step *only_step(const struct history *h)
{
    assert_int_equal(h->found.steps, 1);
    struct trend_row *rows = trends_newest(&h->found);
    const struct trend_step *step = rows[0].step;
    free(rows);
    return step;
}

static inline void check_words(const struct history *h, const struct trend_step *step,
                               const char *commits, const char *state, const char *note)
{
    struct strbuf text;

    strbuf_init(&text);
    if (commits) {
        trend_commits(&h->found, &h->found.items[0], step, &text);
        assert_string_equal(text.data, commits);
        strbuf_clear(&text);
    }
    trend_state(&h->found, &h->found.items[0], step, &text);
    assert_string_equal(text.data, state);
    strbuf_clear(&text);
    trend_note(&h->found, &h->found.items[0], step, &text);
    assert_string_equal(text.data, note);
    strbuf_release(&text);
}

static inline void set_compiler(struct history *h, size_t run, const char *name)
{
    struct build *b = &h->records.runs[run].build;

    snprintf(b->compiler, sizeof(b->compiler), "%s", name);
}

#define HISTORY_TEST(name) TEST_WITH_A(name, struct history, h, history_release)

#endif
