/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. Interleaved launches with a look after every block: how often anything is
 * ever called changed where nothing is, at whichever look; drift of the machine over the
 * comparison; what is found, and after how many blocks.
 */
#include "base/memory.h"
#include "simulation.h"
#include "testing.h"

#include <stdlib.h>

enum { BLOCKS = 40 };

static struct simulation stream_of(enum noise_kind kind, double serial)
{
    return (struct simulation) {
        .kind = kind, .benchmarks = 1, .between = 0.01, .serial = serial, .blocks = BLOCKS
    };
}

/* The evidence after some blocks; its values stay with `all`. */
static struct comparison look(const struct compare_item *all, size_t nr, int blocks, double delta)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct compare_item *items = memory_zeroed(nr, sizeof(*items));
    struct comparison c;
    struct error err;

    settings.delta = delta;
    for (size_t i = 0; i < nr; i++) {
        items[i] = all[i];
        items[i].evidence.base.nr = items[i].evidence.head.nr = 2 * (size_t)blocks;
    }
    assert_ok(compare_decide(items, nr, &settings, &c, &err), &err);
    return c;
}

static void look_release(struct comparison *c)
{
    for (size_t i = 0; i < c->nr_items; i++)
        c->items[i].evidence.base.values = c->items[i].evidence.head.values = NULL;
    comparison_release(c);
}

static bool changed(enum verdict verdict)
{
    return verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
}

/* Looks after every block until the first benchmark is decided; how many blocks that took. */
static enum verdict first_decision(const struct simulation *s, const double *factors, double delta,
                                   struct random *r, size_t *blocks)
{
    struct compare_item *all = simulate_items(s, factors, r);
    enum verdict verdict = VERDICT_UNDECIDED;

    for (int n = 1; n <= s->blocks && verdict == VERDICT_UNDECIDED; n++) {
        struct comparison c = look(all, (size_t)s->benchmarks, n, delta);
        verdict = c.rows[0].verdict;
        *blocks += 1;
        look_release(&c);
    }
    compare_items_release(all, (size_t)s->benchmarks);
    return verdict;
}

/* A row remembers its earlier looks (what was named stays named, see test_looks_are_kept), so the
 * last one tells whether any look named it. No floor to hide behind. */
TEST(test_level)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    settings.delta = 1e-6;
    for (int kind = 0; kind < NOISE_MIXED; kind++) {
        for (int serial = 0; serial < 2; serial++) {
            struct simulation s = stream_of((enum noise_kind)kind, 0.5 * serial);
            size_t hits = 0, streams = trials(10000);
            struct random r;
            char what[96];
            random_seed(&r, 10 * (uint64_t)kind + (uint64_t)serial);
            for (size_t i = 0; i < streams; i++) {
                struct comparison c;
                simulate_decision(&s, NULL, &settings, &r, &c);
                hits += changed(c.rows[0].verdict);
                comparison_release(&c);
            }
            snprintf(what, sizeof(what), "%s%s, a look after each of %d blocks", noise_names[kind],
                     serial ? " AR(1) 0.5" : "", BLOCKS);
            assert_rate_at_most(what, hits, streams, 0.05);
        }
    }
}

TEST(test_looks_are_kept)
{
    struct simulation s = stream_of(NOISE_BIMODAL, 0);
    size_t named = 0;
    struct random r;
    random_seed(&r, 91);
    for (int i = 0; i < 400; i++) {
        struct compare_item *all = simulate_items(&s, (const double[]) { 1.012 }, &r);
        double before = 1;
        for (int n = 3; n <= BLOCKS; n++) {
            struct comparison c = look(all, 1, n, 1e-6);
            if (c.rows[0].worse) { /* p-values of one direction never rise */
                assert_true(c.rows[0].p <= before);
                before = c.rows[0].p;
            }
            named += n == BLOCKS && changed(c.rows[0].verdict);
            look_release(&c);
        }
        compare_items_release(all, 1);
    }
    assert_rate_at_least("1.2 % at 1 % noise, 40 blocks, no floor", named, 400, 0.9);
}

/* The fault that looks bring: the same t tests without paying for looks. */
TEST(test_unpaid_looks_alarm)
{
    struct simulation s = stream_of(NOISE_NORMAL, 0);
    size_t hits = 0, streams = 400;
    struct random r;
    random_seed(&r, 92);
    for (size_t i = 0; i < streams; i++) {
        struct compare_item *all = simulate_items(&s, NULL, &r);
        const struct evidence *e = &all->evidence;
        double d[BLOCKS];
        bool alarm = false;
        for (size_t n = 0; n < BLOCKS; n++) {
            d[n] = 0.5 * log(e->head.values[2 * n].value * e->head.values[2 * n + 1].value /
                             (e->base.values[2 * n].value * e->base.values[2 * n + 1].value));
            if (n < 2)
                continue;
            double size = (double)n + 1, t = stats_mean(d, n + 1) / stats_sd(d, n + 1) * sqrt(size);
            alarm |= 2 * stats_t_cdf(-fabs(t), size - 1) <= 0.05;
        }
        hits += alarm;
        compare_items_release(all, 1);
    }
    assert_rate_at_least("5 % at each look, not paid for", hits, streams, 0.2);
}

/* All gets slower by 5 % from the first block to the last. */
TEST(test_drift)
{
    size_t alarms = 0, found = 0, blocks = 0, n = trials(300);
    struct random r;
    random_seed(&r, 93);
    for (size_t i = 0; i < n; i++) {
        struct simulation s = stream_of((enum noise_kind)(i % NOISE_MIXED), 0);
        s.between = 0.005;
        s.drift = 0.05;
        alarms += changed(first_decision(&s, NULL, 0.01, &r, &blocks));
        found +=
            first_decision(&s, (const double[]) { 1.02 }, 0.01, &r, &blocks) == VERDICT_REGRESSED;
    }
    assert_rate_at_most("drift of 5 %, no change", alarms, n, 0.05);
    assert_rate_at_least("drift of 5 %, 2 % slower, floor 1 %", found, n, 0.95);
}

static void check_found(const char *what, double factor, double noise, int family,
                        enum verdict wanted, double bound)
{
    size_t hits = 0, blocks = 0, n = trials(family > 1 ? 60 : 300);
    double *factors = memory_zeroed((size_t)family, sizeof(*factors));
    struct random r;

    random_seed(&r, 94 + (uint64_t)family);
    for (int i = 0; i < family; i++)
        factors[i] = i ? 1 : factor;
    for (size_t i = 0; i < n; i++) {
        struct simulation s = stream_of((enum noise_kind)(i % NOISE_MIXED), 0);
        s.benchmarks = family;
        s.between = noise;
        hits += first_decision(&s, factors, 0.03, &r, &blocks) == wanted;
    }
    free(factors);
    assert_rate_at_least(what, hits, n, bound);
    print_message("    after %.1f blocks on average\n", (double)blocks / (double)n);
}

TEST(test_found)
{
    check_found("5 % slower, 1 % noise, alone", 1.05, 0.01, 1, VERDICT_REGRESSED, 0.95);
    check_found("5 % slower, 2 % noise, alone", 1.05, 0.02, 1, VERDICT_REGRESSED, 0.95);
    check_found("5 % slower, 2 % noise, one of 20", 1.05, 0.02, 20, VERDICT_REGRESSED, 0.95);
    check_found("no change, 1 % noise: same", 1, 0.01, 1, VERDICT_SAME, 0.95);
    check_found("no change, 2 % noise: same", 1, 0.02, 1, VERDICT_SAME, 0.95);
}

/* Stopping at the first verdict, where the truth lies just outside the floor. */
TEST(test_same_is_true)
{
    size_t same = 0, n = trials(2000), blocks = 0;
    struct random r;
    random_seed(&r, 95);
    for (size_t i = 0; i < n; i++) {
        struct simulation s = stream_of((enum noise_kind)(i % NOISE_MIXED), 0);
        s.blocks = 12;
        same += first_decision(&s, (const double[]) { i % 2 ? 1.0301 : 1 / 1.0301 }, 0.03, &r,
                               &blocks) == VERDICT_SAME;
    }
    assert_rate_at_most("3.01 % either way, ever called same", same, n, 0.05);
}

/* One launch of two a side and block, as imported pairs have it. */
static void keep_one_launch(struct evidence_side *side)
{
    for (size_t i = 0; i < side->nr; i += 2)
        side->values[i / 2] = side->values[i];
    side->nr /= 2;
}

/* Values of `steps` in the mean, to whole ones. */
static void round_values(struct evidence_side *side, double steps)
{
    for (size_t i = 0; i < side->nr; i++)
        side->values[i].value = round(side->values[i].value / 1e6 * steps);
}

/* Suites of rounded values: how many name anything, and how many of the first row's changes. */
static size_t rounded_suites(const struct simulation *s, double steps, bool pairs, size_t suites,
                             struct random *r, const double *factors, size_t *found)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    size_t alarms = 0;

    for (size_t i = 0; i < suites; i++) {
        struct compare_item *items = simulate_items(s, factors, r);
        struct comparison c;
        struct error err;
        for (int j = 0; j < s->benchmarks; j++) {
            struct evidence_side *sides[] = { &items[j].evidence.base, &items[j].evidence.head };
            for (size_t k = 0; k < 2; k++) {
                round_values(sides[k], steps);
                if (pairs)
                    keep_one_launch(sides[k]);
            }
        }
        assert_ok(compare_decide(items, (size_t)s->benchmarks, &settings, &c, &err), &err);
        *found += c.rows[0].verdict == VERDICT_REGRESSED;
        alarms += c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED] > 0;
        comparison_release(&c);
    }
    return alarms;
}

/* Differences that are exactly equal are none that are known exactly (before: 43 % of suites of
 * three pairs, 28 % of ten). */
TEST(test_rounded_values)
{
    static const struct {
        int rows, blocks;
        bool pairs;
        double steps, noise;
    } cases[] = {
        { 20, 3, true, 20.5, 0.017 },   { 20, 6, true, 20.5, 0.017 }, { 20, 10, true, 20, 0.05 },
        { 1, 3, true, 20.5, 0.017 },    { 20, 5, true, 100, 0.03 },   { 20, 3, false, 20.5, 0.017 },
        { 200, 3, false, 20.5, 0.017 },
    };
    struct random r;
    char what[96];

    random_seed(&r, 96);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simulation s = { .benchmarks = cases[i].rows,
                                .blocks = cases[i].blocks,
                                .between = cases[i].noise };
        size_t suites = trials(cases[i].rows > 100 ? 60 : 200), none = 0;
        size_t alarms = rounded_suites(&s, cases[i].steps, cases[i].pairs, suites, &r, NULL, &none);
        snprintf(what, sizeof(what), "%d rows of about %g steps, %d %s: alarm", cases[i].rows,
                 cases[i].steps, cases[i].blocks, cases[i].pairs ? "pairs" : "blocks");
        assert_rate_at_most(what, alarms, suites, 0.05);
    }
    struct simulation s = { .benchmarks = 20, .blocks = 10, .between = 0.03 };
    double factors[20] = { 1.2 };
    size_t found = 0, suites = trials(100);
    for (int i = 1; i < 20; i++)
        factors[i] = 1;
    rounded_suites(&s, 20, true, suites, &r, factors, &found);
    assert_rate_at_least("one of 20 slower by 20 %, 20 steps, 10 pairs: found", found, suites, 0.9);
}

RUN_TESTS(NULL, NULL)
