/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. False alarms: whole suites of 60 benchmarks, the same code on both sides,
 * from raw samples through the whole comparison. The share of suites in which any benchmark is
 * called changed stays at 5 % or less, whatever the noise looks like. statistics_family.c has more
 * kinds of it.
 */
#include "simulation.h"
#include "testing.h"

static size_t alarmed_suites(const struct simulation *s, double delta, uint64_t seed, size_t suites)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct random r;
    size_t alarmed = 0;

    settings.delta = delta;
    random_seed(&r, seed);
    for (size_t i = 0; i < suites; i++) {
        struct comparison c;
        simulate_comparison(s, NULL, &settings, &r, &c);
        assert_int_equal(c.family, s->benchmarks);
        alarmed += c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED] > 0;
        comparison_release(&c);
    }
    return alarmed;
}

/* Noise of a launch's median: 1 to 3 %, from within and between launches in ratio 0 to 2. */
static void check(int launches, enum noise_kind kind)
{
    static const struct {
        double within, between;
    } sizes[] = { { 0.03, 0 }, { 0.01, 0.01 }, { 0.01, 0.02 }, { 0.015, 0.03 }, { 0.03, 0.03 } };
    size_t alarmed = 0, n = 0, suites = trials(50);
    char what[96];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct simulation s = {
            .kind = kind,
            .benchmarks = 60,
            .launches = launches,
            .samples = 9,
            .within = sizes[i].within,
            .between = sizes[i].between,
        };
        size_t hits = alarmed_suites(&s, 0.03, 1000 * (uint64_t)launches + 10 * i + kind, suites);
        snprintf(what, sizeof(what), "%s, %d launches, within %g %%, between %g %%",
                 noise_names[kind], launches, 100 * s.within, 100 * s.between);
        assert_rate_at_most(what, hits, suites, 0.05);
        alarmed += hits;
        n += suites;
    }
    snprintf(what, sizeof(what), "%s, %d launches, all", noise_names[kind], launches);
    assert_rate_at_most(what, alarmed, n, 0.05);
}

TEST(test_three_launches)
{
    for (int kind = 0; kind < NOISE_KIND_NR; kind++)
        check(3, (enum noise_kind)kind);
}

TEST(test_five_launches)
{
    for (int kind = 0; kind < NOISE_KIND_NR; kind++)
        check(5, (enum noise_kind)kind);
}

/* Without a floor to hide behind: the p-values themselves keep the level. */
TEST(test_no_floor)
{
    size_t suites = trials(100);
    char what[96];
    for (int kind = 0; kind < NOISE_KIND_NR; kind++) {
        for (int launches = 3; launches <= 5; launches += 2) {
            struct simulation s = {
                .kind = (enum noise_kind)kind,
                .benchmarks = 60,
                .launches = launches,
                .samples = 9,
                .within = 0.01,
                .between = 0.02,
            };
            size_t hits = alarmed_suites(&s, 1e-6, 500 + 10 * (uint64_t)kind, suites);
            snprintf(what, sizeof(what), "%s, %d launches, no floor", noise_names[kind], launches);
            assert_rate_at_most(what, hits, suites, 0.05);
        }
    }
}

/* Two modes a factor of 1.9 apart, chosen by each launch: as seen on real machines. */
TEST(test_far_modes)
{
    size_t suites = trials(100);
    for (int launches = 3; launches <= 5; launches += 2) {
        struct simulation s = {
            .kind = NOISE_BIMODAL,
            .benchmarks = 60,
            .launches = launches,
            .samples = 9,
            .within = 0.01,
            .between = 0.32,
        };
        size_t hits = alarmed_suites(&s, 0.03, 900 + (uint64_t)launches, suites);
        assert_rate_at_most("modes a factor of 1.9 apart", hits, suites, 0.05);
    }
}

/* The test can fail: judged by the samples inside one launch, as if they were the evidence, almost
 * every suite has an alarm. */
TEST(test_samples_are_no_evidence)
{
    struct simulation s = { .kind = NOISE_NORMAL,
                            .benchmarks = 60,
                            .launches = 1,
                            .samples = 30,
                            .within = 0.02,
                            .between = 0.04 };
    size_t alarmed = 0, suites = 20;
    struct random r;
    random_seed(&r, 7);
    for (size_t i = 0; i < suites; i++) {
        struct records base, head;
        size_t alarms = 0;
        simulate(&s, NULL, &r, &base);
        simulate(&s, NULL, &r, &head);
        for (size_t j = 0; j < base.nr; j++) {
            double x[30], y[30];
            for (size_t k = 0; k < 30; k++) {
                x[k] = log((double)base.items[j].m.samples[k]);
                y[k] = log((double)head.items[j].m.samples[k]);
            }
            struct welch w = stats_welch(x, 30, y, 30);
            alarms += stats_t_cdf((log(1.03) - w.difference) / w.se, w.df) < 0.05 / 60;
        }
        alarmed += alarms > 0;
        records_release(&base);
        records_release(&head);
    }
    assert_rate_at_least("samples taken for evidence, 1 launch", alarmed, suites, 0.9);
}

RUN_TESTS(NULL, NULL)
