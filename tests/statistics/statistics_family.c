/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. Suites of 200 benchmarks, the same code on both sides: the share of suites
 * in which anything at all is called regressed or improved, whatever the noise looks like, and
 * whatever lies between the runs of the two sides. Then that the verdicts hold one by one: coverage
 * of the intervals, and "same" where the truth lies outside the floor.
 */
#include "simulation.h"
#include "testing.h"

#include "base/memory.h"

enum { BENCHMARKS = 200 };

/* The kinds of noise, and two more: successive launches alike, successive samples alike. */
enum { SERIAL_LAUNCHES = NOISE_KIND_NR, SERIAL_SAMPLES, CASES };

static const char *case_name(int kind)
{
    return kind < NOISE_KIND_NR      ? noise_names[kind]
           : kind == SERIAL_LAUNCHES ? "AR(1) 0.5 of launches"
                                     : "AR(1) 0.5 of samples";
}

static struct simulation suite(int kind, int launches, double ratio)
{
    return (struct simulation) {
        .kind = kind < NOISE_KIND_NR ? (enum noise_kind)kind : NOISE_NORMAL,
        .benchmarks = BENCHMARKS,
        .launches = launches,
        .within = 0.01,
        .between = 0.01 * ratio,
        .serial = kind == SERIAL_LAUNCHES ? 0.5 : 0,
        .inner_serial = kind == SERIAL_SAMPLES ? 0.5 : 0,
    };
}

static size_t alarmed(const struct simulation *s, size_t suites, struct random *r)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    size_t hits = 0;

    for (size_t i = 0; i < suites; i++) {
        struct comparison c;
        simulate_decision(s, NULL, &settings, r, &c);
        assert_int_equal(c.family, s->benchmarks);
        hits += c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED] > 0;
        comparison_release(&c);
    }
    return hits;
}

/* Over the ratios of noise between launches to that within, and 3, 5, 10 launches a side. */
static void check(int kind, double between, size_t suites)
{
    static const double ratios[] = { 0, 0.5, 1, 2 };
    static const int launches[] = { 3, 5, 10 };
    size_t all = 0, n = 0;
    struct random r;
    char what[96];

    random_seed(&r, 100 * (uint64_t)kind + (uint64_t)(1000 * between));
    for (size_t l = 0; l < 3; l++) {
        size_t hits = 0;
        for (size_t i = 0; i < 4; i++) {
            struct simulation s = suite(kind, launches[l], ratios[i]);
            s.run_noise = between / sqrt(2); /* of one run: `between` lies between two */
            hits += alarmed(&s, suites, &r);
        }
        snprintf(what, sizeof(what), "%s, %d launches, %g %% between runs", case_name(kind),
                 launches[l], 100 * between);
        assert_rate_at_most(what, hits, 4 * suites, 0.05);
        all += hits;
        n += 4 * suites;
    }
    snprintf(what, sizeof(what), "%s, all", case_name(kind));
    assert_rate_at_most(what, all, n, 0.05);
}

TEST(test_alarms)
{
    for (int kind = 0; kind < CASES; kind++)
        check(kind, 0, trials(30));
}

/* Each benchmark was a little faster or slower in one run than in the other, for no reason. */
TEST(test_alarms_between_runs)
{
    for (int kind = 0; kind < CASES; kind++) {
        check(kind, 0.01, trials(20));
        check(kind, 0.03, trials(20));
    }
}

/* Several runs a side. `common`: what a run does to all benchmarks alike. */
TEST(test_alarms_of_several_runs)
{
    static const struct {
        int base, head;
        double run_noise, common;
    } rows[] = {
        { 2, 1, 0.01, 0 },    { 5, 1, 0.01, 0 },    { 3, 3, 0, 0 },       { 5, 5, 0.03, 0 },
        { 2, 1, 0.01, 0.02 }, { 5, 1, 0.01, 0.02 }, { 3, 3, 0.01, 0.05 },
    };
    struct random r;
    char what[96];
    random_seed(&r, 21);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t hits = 0, suites = trials(20);
        for (int kind = 0; kind < CASES; kind++) {
            struct simulation s = suite(kind, 5, 1);
            s.base_runs = rows[i].base;
            s.head_runs = rows[i].head;
            s.run_noise = rows[i].run_noise;
            s.common = rows[i].common;
            hits += alarmed(&s, suites, &r);
        }
        snprintf(what, sizeof(what), "%d runs and %d, own %g %%, common %g %%", rows[i].base,
                 rows[i].head, 100 * rows[i].run_noise, 100 * rows[i].common);
        assert_rate_at_most(what, hits, CASES * suites, 0.05);
    }
}

/* Each run is in one of two modes, 6 % apart, each benchmark by itself. */
static void add_run_modes(struct evidence_side *side, struct random *r)
{
    double factor = 1;

    for (size_t i = 0; i < side->nr; i++) {
        if (i == 0 || side->values[i].run != side->values[i - 1].run)
            factor = random_u64(r) >> 63 ? exp(0.06) : 1;
        side->values[i].value *= factor;
    }
}

/* What docs/statistics.md says of it: a benchmark alone knows of its runs only what they show, and
 * those of each side may be in one mode by chance. Of many benchmarks that is seen. */
TEST(test_modes_of_several_runs)
{
    static const struct {
        int benchmarks, runs;
        double bound;
    } rows[] = { { 1, 2, 1.0 / 8 }, { 1, 3, 0.05 }, { 5, 2, 0.49 }, { 12, 2, 0.05 } };
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct random r;
    char what[96];

    random_seed(&r, 22);
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        const struct simulation s = { .benchmarks = rows[k].benchmarks,
                                      .launches = 5,
                                      .between = 0.01,
                                      .base_runs = rows[k].runs,
                                      .head_runs = rows[k].runs };
        size_t alarmed = 0, suites = trials(400);
        for (size_t i = 0; i < suites; i++) {
            struct compare_item *items = simulate_items(&s, NULL, &r);
            struct comparison c;
            struct error err;
            for (int j = 0; j < s.benchmarks; j++) {
                add_run_modes(&items[j].evidence.base, &r);
                add_run_modes(&items[j].evidence.head, &r);
            }
            assert_ok(compare_decide(items, (size_t)s.benchmarks, &settings, &c, &err), &err);
            alarmed += c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED] > 0;
            comparison_release(&c);
        }
        snprintf(what, sizeof(what), "%d in two modes, %d runs a side: alarm", s.benchmarks,
                 rows[k].runs);
        assert_rate_at_most(what, alarmed, suites, rows[k].bound);
    }
}

/* ---- one benchmark at a time ---- */

/* One in ten has a true change of a little more than the floor, to either side. */
static void tally(const struct simulation *s, size_t suites, uint64_t seed, size_t *covered,
                  size_t *same)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    double factors[BENCHMARKS];
    struct random r;

    random_seed(&r, seed);
    for (int j = 0; j < s->benchmarks; j++)
        factors[j] = j % 10 ? 1 : j % 20 ? 1.0301 : 1 / 1.0301;
    for (size_t i = 0; i < suites; i++) {
        struct comparison c;
        simulate_decision(s, factors, &settings, &r, &c);
        for (int j = 0; j < s->benchmarks; j++) {
            const struct compare_row *row = &c.rows[j];
            double change = factors[j] - 1;
            *covered += row->interval.low <= change && change <= row->interval.high;
            *same += j % 10 == 0 && row->verdict == VERDICT_SAME;
        }
        comparison_release(&c);
    }
}

static void check_rows(const char *design, struct simulation s, uint64_t seed)
{
    char what[96];

    for (int kind = 0; kind < NOISE_MIXED; kind++) {
        size_t suites = trials(40), covered = 0, same = 0;
        size_t n = suites * (size_t)s.benchmarks;
        s.kind = (enum noise_kind)kind;
        tally(&s, suites, seed + (uint64_t)kind, &covered, &same);
        snprintf(what, sizeof(what), "%s, %s: the 90 %% interval holds the truth", design,
                 noise_names[kind]);
        assert_rate_at_least(what, covered, n, 0.9);
        snprintf(what, sizeof(what), "%s, %s: wrongly same", design, noise_names[kind]);
        assert_rate_at_most(what, same, n / 10, 0.05);
    }
}

TEST(test_rows)
{
    struct simulation s = suite(NOISE_NORMAL, 5, 1);
    s.within = 0.003;
    check_rows("5 launches", s, 31);
    s.launches = 10;
    check_rows("10 launches", s, 41);
    s.launches = 5;
    s.run_noise = 0.005;
    check_rows("5 launches, 0.7 % between runs", s, 51);
    s.base_runs = 4;
    s.head_runs = 2;
    check_rows("4 runs and 2", s, 61);
    s.run_noise = 0;
    s.blocks = 5;
    s.benchmarks = 50;
    check_rows("5 blocks", s, 71);
}

/* What all runs do to all benchmarks is known from few runs, and so the interval says. */
TEST(test_common_part_is_covered)
{
    size_t covered = 0, same = 0, suites = trials(800);
    struct simulation s = {
        .benchmarks = 20,
        .launches = 5,
        .between = 0.003,
        .run_noise = 0.003,
        .common = 0.02,
        .base_runs = 4,
        .head_runs = 2,
    };
    tally(&s, suites, 81, &covered, &same);
    /* The rows of one suite stand and fall together: count suites. */
    assert_rate_at_least("4 runs and 2, common 2 %: covered", covered / 20, suites, 0.9);
    assert_rate_at_most("4 runs and 2, common 2 %: wrongly same", same / 2, suites, 0.05);
}

/* The same benchmarks on each class of machines, which have runs of their own. */
static struct compare_item *on_classes(const struct simulation *s, int classes, struct random *r)
{
    static const char names[][4] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l" };
    size_t nr = (size_t)s->benchmarks;
    struct compare_item *all = memory_zeroed(nr * (size_t)classes, sizeof(*all));

    for (int class = 0; class < classes; class ++) {
        struct compare_item *items = simulate_items(s, NULL, r);
        for (size_t i = 0; i < nr; i++) {
            struct evidence *e = &items[i].evidence;
            items[i].machine = names[class];
            for (size_t j = 0; j < e->base.nr; j++)
                e->base.values[j].run += class * s->base_runs;
            for (size_t j = 0; j < e->head.nr; j++)
                e->head.values[j].run += class * s->head_runs;
        }
        memcpy(all + nr * (size_t) class, items, nr * sizeof(*items));
        free(items);
    }
    return all;
}

/* What the runs of one class have in common says nothing of those of another: not how much it is,
 * nor whether it was for the worse. */
TEST(test_several_runs_on_several_machines)
{
    static const struct {
        int classes, benchmarks, base, head;
    } rows[] = { { 2, 12, 2, 2 }, { 2, 12, 4, 2 }, { 2, 6, 2, 2 }, { 12, 1, 2, 2 } };
    struct random r;
    char what[96];

    random_seed(&r, 85);
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        const struct simulation s = {
            .benchmarks = rows[k].benchmarks,
            .launches = 5,
            .between = 0.003,
            .run_noise = 0.003,
            .common = 0.02,
            .base_runs = rows[k].base,
            .head_runs = rows[k].head,
        };
        size_t covered = 0, alarmed = 0, suites = trials(400);
        size_t nr = (size_t)(rows[k].classes * rows[k].benchmarks);
        for (size_t i = 0; i < suites; i++) {
            struct compare_settings settings = COMPARE_DEFAULTS;
            struct comparison c;
            struct error err;
            assert_ok(compare_decide(on_classes(&s, rows[k].classes, &r), nr, &settings, &c, &err),
                      &err);
            alarmed += c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED] > 0;
            for (size_t j = 0; j < nr; j++)
                covered += c.rows[j].interval.low <= 0 && 0 <= c.rows[j].interval.high;
            comparison_release(&c);
        }
        snprintf(what, sizeof(what), "%d benchmarks on %d classes, %d runs and %d",
                 rows[k].benchmarks, rows[k].classes, rows[k].base, rows[k].head);
        assert_rate_at_most(what, alarmed, suites, 0.05);
        /* The rows of a class stand and fall together: count suites. */
        assert_rate_at_least("... the 90 % interval holds the truth", covered / nr, suites, 0.9);
    }
}

/* Times, and the memory of the same runs behind them. */
static struct compare_item *times_and_memory(const struct simulation *time,
                                             const struct simulation *memory,
                                             const double *memory_factors, struct random *r)
{
    size_t nr = (size_t)time->benchmarks, more = (size_t)memory->benchmarks;
    struct compare_item *items = simulate_items(time, NULL, r);
    struct compare_item *counted = simulate_items(memory, memory_factors, r);

    items = memory_resize(items, nr + more, sizeof(*items));
    memcpy(items + nr, counted, more * sizeof(*items));
    free(counted);
    for (size_t i = nr; i < nr + more; i++)
        items[i].metric = metric_find("memory", NULL);
    return items;
}

/* A run that is slower takes no more memory. So its times do not widen the intervals of memory, of
 * which 3 % more is found, nor hide it where there is one such row alone; and many rows of memory
 * do not make the times look steadier than they are. */
TEST(test_what_a_run_does_is_of_one_metric)
{
    enum { TIMES = 12, MEMORY = 12 };
    static const char *const metrics[] = { "p50", "memory", NULL };
    static const int sizes[] = { MEMORY, 1 };
    double factors[MEMORY] = { 1.03 };
    struct simulation time = {
        .benchmarks = TIMES,
        .launches = 5,
        .between = 0.003,
        .run_noise = 0.003,
        .common = 0.03,
        .base_runs = 4,
        .head_runs = 2,
    };
    struct simulation memory = time;
    struct random r;

    memory.between = memory.run_noise = 0.0005;
    memory.common = 0;
    for (int j = 1; j < MEMORY; j++)
        factors[j] = 1;
    random_seed(&r, 83);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        size_t covered = 0, alarmed = 0, found = 0, suites = trials(400);
        memory.benchmarks = sizes[k];
        for (size_t i = 0; i < suites; i++) {
            struct compare_settings settings = COMPARE_DEFAULTS;
            struct comparison c;
            struct error err;
            settings.metrics = metrics;
            assert_ok(compare_decide(times_and_memory(&time, &memory, factors, &r),
                                     (size_t)(TIMES + sizes[k]), &settings, &c, &err),
                      &err);
            found += c.rows[TIMES].verdict == VERDICT_REGRESSED;
            alarmed += c.count[VERDICT_IMPROVED] + c.count[VERDICT_REGRESSED] >
                       (c.rows[TIMES].verdict == VERDICT_REGRESSED);
            for (int j = 0; j < TIMES; j++)
                covered += c.rows[j].interval.low <= 0 && 0 <= c.rows[j].interval.high;
            comparison_release(&c);
        }
        /* The rows of one suite stand and fall together: count suites. */
        assert_rate_at_least("4 runs and 2, times beside memory: covered", covered / TIMES, suites,
                             0.9);
        assert_rate_at_most("4 runs and 2, times beside memory: alarm", alarmed, suites, 0.05);
        assert_rate_at_least("4 runs and 2, 3 % more memory: found", found, suites, 0.99);
    }
}

RUN_TESTS(NULL, NULL)
