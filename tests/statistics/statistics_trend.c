/* SPDX-License-Identifier: MIT */
/*
 * Features: U-07, U-11, S0-29. How often `harness trend` is wrong over a whole history of many
 * series: any step named where nothing changed, false steps among those named, and steps found.
 */
#include "simulation.h"
#include "testing.h"

#include "analysis/trend.h"
#include "base/memory.h"

#include <stdlib.h>

enum { SERIES = 50, POINTS = 60, AT = 40, PLANTED = 5 };

/* A family of series with noise of 1 %; the first `PLANTED` have a step if `step` is not 0. */
struct family {
    enum noise_kind kind;
    double serial; /* correlation of neighbouring points, AR(1) */
    double step;   /* in sd of the noise, on the log scale */
};

static void make_series(const struct family *f, bool planted, struct random *r,
                        struct series_point *points)
{
    double noise = noise_draw(r, f->kind), fresh = sqrt(1 - f->serial * f->serial);

    for (size_t i = 0; i < POINTS; i++) {
        if (i > 0)
            noise = f->serial * noise + fresh * noise_draw(r, f->kind);
        double level = planted && i >= AT ? f->step : 0;
        points[i] = (struct series_point) { .time_ms = (int64_t)i, .commit = "" };
        points[i].value = 1e5 * exp(0.01 * (level + noise));
    }
}

struct counts {
    size_t alarms;       /* families with a step where there is none */
    size_t wrong, named; /* steps */
    double share_wrong;  /* sum over the families of wrong / named */
    size_t found;        /* planted steps found within 3 points */
};

static void judge(const struct series_list *list, double step, struct counts *c)
{
    struct trend_settings settings = { .metric = metric_find("p50", NULL), .fdr = 0.05 };
    struct records nothing = { 0 };
    struct trends t;
    struct error err;
    size_t wrong = 0;

    assert_ok(trends_find(list, &nothing, &settings, &t, &err), &err);
    for (size_t i = 0; i < t.nr; i++) {
        bool found = false;
        for (size_t k = 0; k < t.items[i].nr; k++) {
            const struct trend_step *s = &t.items[i].items[k];
            bool right = step != 0 && i < PLANTED && s->index + 3 >= AT && s->index <= AT + 3;
            wrong += !right;
            found |= right;
        }
        c->found += found;
    }
    c->alarms += wrong > 0;
    c->wrong += wrong;
    c->named += t.steps;
    c->share_wrong += t.steps ? (double)wrong / (double)t.steps : 0;
    trends_release(&t);
}

static struct counts run(const struct family *f, size_t families, uint64_t seed)
{
    static struct benchmark_name name;
    struct series_point *points = memory_zeroed((size_t)SERIES * POINTS, sizeof(*points));
    struct series series[SERIES];
    struct series_list list = { .items = series, .nr = SERIES };
    struct counts c = { 0 };
    struct random r;

    random_seed(&r, seed);
    for (size_t i = 0; i < families; i++) {
        for (size_t k = 0; k < SERIES; k++) {
            series[k] = (struct series) { &name, "m", points + k * POINTS, POINTS, POINTS };
            make_series(f, f->step != 0 && k < PLANTED, &r, series[k].items);
        }
        judge(&list, f->step, &c);
    }
    free(points);
    return c;
}

static void test_nothing_changed(void **state)
{
    static const struct family families[] = {
        { NOISE_NORMAL, 0, 0 },  { NOISE_NORMAL, 0.5, 0 }, { NOISE_LOGNORMAL, 0, 0 },
        { NOISE_BIMODAL, 0, 0 }, { NOISE_HEAVY, 0, 0 },
    };
    size_t nr = trials(150);
    (void)state;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        struct counts c = run(&families[i], nr, 40 + i);
        char what[96];
        snprintf(what, sizeof(what), "50 series, nothing changed, %s%s: any step",
                 noise_names[families[i].kind], families[i].serial > 0 ? ", AR(1) 0.5" : "");
        assert_rate_at_most(what, c.alarms, nr, 0.05);
    }
}

static void test_planted(void **state)
{
    static const struct family family = { NOISE_NORMAL, 0, 4 };
    size_t nr = trials(60);
    struct counts c = run(&family, nr, 50);
    (void)state;
    printf("5 steps of 4 sd in 50 series: %.1f %% of the steps named are false (bound 10 %%)\n",
           100 * c.share_wrong / (double)nr);
    assert_true(c.share_wrong / (double)nr <= 0.10);
    assert_rate_at_least("5 steps of 4 sd in 50 series: found within 3 points", c.found,
                         nr * PLANTED, 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_changed),
        cmocka_unit_test(test_planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
