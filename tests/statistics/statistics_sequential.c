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

RUN_TESTS(NULL, NULL)
