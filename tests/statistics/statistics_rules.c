/* SPDX-License-Identifier: MIT */
/*
 * Features: U-06, U-12. What other tools' rules need, and get wrong, on the same numbers as ours:
 * launches of one program (tests/statistics/launches), drawn with replacement, with a slow-down put
 * on one side. The rules are written anew from what their documentation says:
 *
 *   benchstat  Mann and Whitney's test of `go test -count 10`, 5 %: ten repetitions of one process
 *              a side (golang.org/x/perf/benchstat)
 *   criterion  100 samples of one process a side; the means differ at 5 %, and the 95 % interval of
 *              their ratio lies beyond 1 % (its book, "Analysis process"); here by Welch's t, where
 *              criterion draws the distribution, and with the 20 samples that there are
 *   gbench     Mann and Whitney's test of the repetitions of one process a side, 5 %
 *              (tools/gbench/report.py), with 20 of them
 *
 * How many launches each of them needs until it finds 9 of 10 slow-downs, where it keeps to 5 % of
 * comparisons of a program with itself, is counted, too.
 *
 * Their fault is the same: the repetitions share a process, so what differs from process to process
 * is called a change. So benchstat's test is here with ten processes a side, too.
 */
#include "simulation.h"
#include "testing.h"

#include "base/array.h"
#include "stats/stats.h"
#include "verdict/selftest_cost.h"

#include <stdlib.h>

enum { SAMPLES = 20, LAUNCHES_MOST = 64, KERNELS = 3, TRIALS = 1000 };
enum { LAUNCHES = 2 }; /* of a side in a block */

struct kernel_launches {
    char name[40];
    double samples[LAUNCHES_MOST][SAMPLES];
    size_t nr;
};

static struct kernel_launches kernels[KERNELS];

/* A line is a launch; those of a kernel stand together. */
static int load(void **state)
{
    FILE *file = fopen(HARNESS_SOURCE_DIR "/tests/statistics/launches/launches.txt", "r");
    struct kernel_launches *k = NULL;
    size_t nr = 0;
    char name[40];
    int launch;

    (void)state;
    if (!file)
        return -1;
    while (fscanf(file, "%39s %d", name, &launch) == 2) {
        if (!k || strcmp(k->name, name) != 0) {
            assert_true(nr < KERNELS);
            k = &kernels[nr++];
            snprintf(k->name, sizeof(k->name), "%s", name);
        }
        assert_true(k->nr < LAUNCHES_MOST);
        for (int i = 0; i < SAMPLES; i++)
            assert_int_equal(fscanf(file, "%lf", &k->samples[k->nr][i]), 1);
        k->nr++;
    }
    fclose(file);
    return nr == KERNELS ? 0 : -1;
}

static const double *draw(const struct kernel_launches *k, struct random *r)
{
    return k->samples[random_below(r, k->nr)];
}

static double median_of(const double *samples)
{
    double sorted[SAMPLES];

    memcpy(sorted, samples, sizeof(sorted));
    return stats_median(sorted, SAMPLES);
}

static void slower(const double *from, size_t nr, double factor, double *to)
{
    for (size_t i = 0; i < nr; i++)
        to[i] = factor * from[i];
}

/* Each says whether it calls the head, `factor` times as slow, changed. */
typedef bool rule_fn(const struct kernel_launches *k, double factor, struct random *r);

static bool u_test(const struct kernel_launches *k, double factor, size_t nr, struct random *r)
{
    const double *base = draw(k, r);
    double head[SAMPLES];

    slower(draw(k, r), nr, factor, head);
    return stats_mann_whitney(base, nr, head, nr) < 0.05;
}

static bool benchstat(const struct kernel_launches *k, double factor, struct random *r)
{
    return u_test(k, factor, 10, r);
}

static bool gbench(const struct kernel_launches *k, double factor, struct random *r)
{
    return u_test(k, factor, SAMPLES, r);
}

static bool criterion(const struct kernel_launches *k, double factor, struct random *r)
{
    const double *base = draw(k, r);
    double head[SAMPLES], mean = stats_mean(base, SAMPLES);

    slower(draw(k, r), SAMPLES, factor, head);
    struct welch w = stats_welch(base, SAMPLES, head, SAMPLES);
    double half = w.se * stats_t_quantile(0.975, w.df);
    return w.difference - half > 0.01 * mean || w.difference + half < -0.01 * mean;
}

static bool benchstat_processes(const struct kernel_launches *k, double factor, struct random *r)
{
    double base[10], head[10];

    for (int i = 0; i < 10; i++) {
        base[i] = median_of(draw(k, r));
        head[i] = factor * median_of(draw(k, r));
    }
    return stats_mann_whitney(base, 10, head, 10) < 0.05;
}

static void add(struct evidence_side *side, double value, int block)
{
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] =
        (struct evidence_value) { .value = value, .run = block, .probe = NAN };
}

/* Ours: so many blocks, with a floor of half a per cent. */
static bool blocks_rule(const struct kernel_launches *k, double factor, int blocks,
                        struct random *r)
{
    static const struct benchmark_name nameless;
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct compare_item *item = memory_zeroed(1, sizeof(*item));
    struct comparison c;
    struct error err;

    settings.delta = 0.005;
    *item = (struct compare_item) { .bench = &nameless,
                                    .machine = "",
                                    .metric = metric_find("p50", &err) };
    item->evidence.design = DESIGN_BLOCKS;
    item->evidence.base.present = item->evidence.head.present = true;
    for (int i = 0; i < blocks * LAUNCHES; i++) {
        add(&item->evidence.base, median_of(draw(k, r)), i / LAUNCHES);
        add(&item->evidence.head, factor * median_of(draw(k, r)), i / LAUNCHES);
    }
    assert_ok(compare_decide(item, 1, &settings, &c, &err), &err);
    enum verdict v = c.rows[0].verdict;
    comparison_release(&c);
    return v == VERDICT_REGRESSED || v == VERDICT_IMPROVED;
}

static bool five_blocks(const struct kernel_launches *k, double factor, struct random *r)
{
    return blocks_rule(k, factor, 5, r);
}

static bool twenty_blocks(const struct kernel_launches *k, double factor, struct random *r)
{
    return blocks_rule(k, factor, 20, r);
}

static const struct {
    const char *name;
    rule_fn *rule;
    int processes; /* that it needs, both sides together */
    bool shares;   /* a process */
} rules[] = {
    { "benchstat, count 10", benchstat, 2, true },
    { "criterion", criterion, 2, true },
    { "gbench, 20 repetitions", gbench, 2, true },
    { "benchstat, 10 processes", benchstat_processes, 20, false },
    { "blocks, 5", five_blocks, 20, false },
    { "blocks, 20", twenty_blocks, 80, false },
};

static size_t called(rule_fn *rule, const struct kernel_launches *k, double factor, size_t n,
                     uint64_t seed)
{
    struct random r;
    size_t hits = 0;

    random_seed(&r, seed);
    for (size_t i = 0; i < n; i++)
        hits += rule(k, factor, &r);
    return hits;
}

/* Rules whose unit is the process hold their 5 %, those that share one are far from it. */
TEST(test_rules_on_the_same_numbers)
{
    static const double sizes[] = { 0, 0.01, 0.02, 0.05, 0.1 };
    size_t n = trials(TRIALS);

    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        printf("%-24s %2d processes:", rules[i].name, rules[i].processes);
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            printf("  %g %%", 100 * sizes[s]);
            for (size_t k = 0; k < KERNELS; k++) {
                size_t hits = called(rules[i].rule, &kernels[k], 1 + sizes[s], n, 10 * i + k);
                printf(" %.1f", 100 * (double)hits / (double)n);
                if (s > 0)
                    continue;
                if (rules[i].shares)
                    assert_true(stats_proportion_interval(hits, n, 0.998).low > 0.05);
                else
                    assert_true(stats_proportion_interval(hits, n, 0.998).low <= 0.05);
            }
        }
        printf("\n");
    }
}

/* ---- launches until 9 of 10 are found ---- */

enum { SIDE_MOST = 200, COST_BLOCKS = 100, COST_TRIALS = 100 };

static const double cost_sizes[] = { 0.01, 0.02, 0.05, 0.1 };
enum { SIZES = sizeof(cost_sizes) / sizeof(*cost_sizes) };

/* Does Mann and Whitney's test over `n` processes a side call it? */
static bool u_test_processes(const struct kernel_launches *k, double factor, int n,
                             struct random *r)
{
    double base[SIDE_MOST], head[SIDE_MOST];

    for (int i = 0; i < n; i++) {
        base[i] = median_of(draw(k, r));
        head[i] = factor * median_of(draw(k, r));
    }
    return stats_mann_whitney(base, (size_t)n, head, (size_t)n) < 0.05;
}

/* Launches of both sides, the first of a ladder that finds 9 of 10; 0: not even the last. */
static int u_test_needs(const struct kernel_launches *k, double size, size_t n, struct random *r)
{
    for (int side = 4; side <= SIDE_MOST; side += side / 4) {
        size_t hits = 0;
        for (size_t i = 0; i < n; i++)
            hits += u_test_processes(k, 1 + size, side, r);
        if (10 * hits >= 9 * n)
            return 2 * side;
    }
    return 0;
}

static int blocks_need(const struct kernel_launches *k, double size, size_t n, struct random *r,
                       struct selftest_rate *alarms)
{
    struct evidence e = { .design = DESIGN_BLOCKS };
    struct selftest_cost_row row;
    struct error err;

    for (int i = 0; i < COST_BLOCKS * LAUNCHES; i++) {
        add(&e.base, median_of(draw(k, r)), i / LAUNCHES);
        add(&e.head, median_of(draw(k, r)), i / LAUNCHES);
    }
    assert_ok(selftest_cost_simulate(&e, size, n, r, &row, &err), &err);
    *alarms = row.alarms;
    free(e.base.values);
    free(e.head.values);
    return row.blocks * 2 * LAUNCHES;
}

static void print_need(int launches)
{
    if (launches > 0)
        printf(" %d", launches);
    else
        printf(" more");
}

/* Those that share a process find what is not there, and more of the same does not mend it: never.
 * The others hold their 5 % at any number, so it can be asked what they need. */
TEST(test_launches_until_found)
{
    size_t n = trials(COST_TRIALS);
    struct random r;

    random_seed(&r, 77);
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rules[i].shares)
            printf("%-24s never\n", rules[i].name);
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t s = 0; s < SIZES; s++) {
            struct selftest_rate alarms;
            printf("%s, %g %%: U test over processes", kernels[k].name, 100 * cost_sizes[s]);
            print_need(u_test_needs(&kernels[k], cost_sizes[s], 2 * n, &r));
            printf(", blocks");
            print_need(blocks_need(&kernels[k], cost_sizes[s], n, &r, &alarms));
            printf(" (alarms %d of %d)\n", (int)alarms.hits, (int)alarms.of);
            assert_true(selftest_interval(alarms).low <= 0.05);
        }
}

RUN_TESTS(load, NULL)
