/* SPDX-License-Identifier: MIT */
/* Features: U-06 (regressions against baselines), U-12 (`compare`): the three ways in which
 * launches hang together, by hand. Their rates are in tests/statistics. */
#include "testing.h"

#include "base/array.h"
#include "verdict/compare.h"
#include "verdict/compare_parts.h"

static struct benchmark_name names[64];

/* One benchmark whose launches are exp() of what is added to it, in ms. */
static void add(struct evidence_side *side, int run, double log_value)
{
    side->present = true;
    side->values = array_grow(side->values, side->nr, &side->capacity, sizeof(*side->values));
    side->values[side->nr++] =
        (struct evidence_value) { 1e6 * exp(log_value), run, 0, (double)NAN };
}

static struct compare_item *items_new(size_t nr, enum compare_design design)
{
    struct compare_item *items = memory_zeroed(nr, sizeof(*items));
    struct error err;

    for (size_t i = 0; i < nr; i++) {
        snprintf(names[i].key, sizeof(names[i].key), "gemm/n=%zu", i);
        items[i] = (struct compare_item) { &names[i], "m", false, metric_find("p50", &err),
                                           .evidence.design = design };
    }
    return items;
}

static struct comparison decide(struct compare_item *items, size_t nr, double delta)
{
    struct compare_settings settings = COMPARE_DEFAULTS;
    struct comparison c;
    struct error err;

    settings.delta = delta;
    assert_ok(compare_decide(items, nr, &settings, &c, &err), &err);
    return c;
}

/* Hardly any noise, one run a side: the larger the change, the surer; the p-value once lost all its
 * digits there, and +10 % (+8.3 to +11.7 %) was "one in 3 by chance". */
TEST(test_a_quiet_benchmark_alone)
{
    double before = 1;
    for (int percent = 2; percent <= 40; percent += 2) {
        struct compare_item *items = items_new(1, DESIGN_LAUNCHES);
        for (int i = 0; i < 4; i++) {
            add(&items->evidence.base, 0, 1e-7 * i);
            add(&items->evidence.head, 0, log1p(0.01 * percent) + 1e-7 * i);
        }
        struct comparison c = decide(items, 1, 0.03);
        assert_true(c.rows[0].p < before);
        assert_int_equal(c.rows[0].verdict, percent < 8 ? VERDICT_UNDECIDED : VERDICT_REGRESSED);
        before = c.rows[0].p;
        comparison_release(&c);
    }
}

/* Of 15 launches a side so many are half as slow again. Dealt to both sides they are drawn in; a
 * second mode of one side is not called the same, nor taken out of its number. */
TEST(test_wild_launches_of_one_side)
{
    enum { NR = 30, LAUNCHES = 15 };
    static const struct {
        int base, head;
        size_t wild; /* drawn in */
    } cases[] = {
        { 0, 0, 0 }, { 0, 2, 2 }, { 3, 3, 6 }, { 2, 4, 6 }, { 0, 6, 0 }, { 6, 0, 0 }, { 7, 7, 0 },
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct compare_item *items = items_new(NR, DESIGN_LAUNCHES);
        for (int i = 0; i < NR; i++)
            for (int j = 0; j < LAUNCHES; j++) {
                int at = (j * 4 + 3 * i) % LAUNCHES;
                double noise = 0.003 * (((j * 7 + i * 5) % LAUNCHES) / 7.0 - 1);
                double wild = log(1.5);
                add(&items[i].evidence.base, 0, noise + (!i && at < cases[k].base ? wild : 0));
                add(&items[i].evidence.head, 0, -noise + (!i && at < cases[k].head ? wild : 0));
            }
        struct comparison c = decide(items, NR, 0.03);
        bool even = cases[k].base + cases[k].head == (int)cases[k].wild;
        assert_int_equal(c.rows[0].wild, cases[k].wild);
        assert_int_equal(c.rows[0].verdict == VERDICT_SAME, even);
        assert_int_equal(c.rows[1].verdict, VERDICT_SAME);
        comparison_release(&c);
    }
}

/* Pairs of launches are looked at to find wild ones: of few all, of many a number that does not
 * grow. */
TEST(test_pairs_of_many_launches)
{
    enum { LAUNCHES = 20000 };
    struct compare_item *items = items_new(1, DESIGN_LAUNCHES);

    assert_int_equal(outliers_pairs(0), 0);
    assert_int_equal(outliers_pairs(3), 3);
    assert_int_equal(outliers_pairs(100), 4950);
    assert_true(outliers_pairs(LAUNCHES) <= 100000);
    assert_int_equal(outliers_pairs(LAUNCHES), outliers_pairs(2 * LAUNCHES));
    for (int i = 0; i < LAUNCHES; i++) {
        add(&items->evidence.base, 0, 0.001 * (i % 7));
        add(&items->evidence.head, 0, 0.5 + 0.001 * (i % 7));
    }
    items->evidence.head.values[LAUNCHES / 2].value *= 10;
    struct comparison c = decide(items, 1, 0.03);
    assert_int_equal(c.rows[0].verdict, VERDICT_REGRESSED);
    assert_int_equal(c.rows[0].wild, 1);
    comparison_release(&c);
}

/* Block b: base at -half and +half of it, head beside by `d`. */
static void add_block(struct compare_item *item, int block, double half, double d)
{
    add(&item->evidence.base, block, -half);
    add(&item->evidence.base, block, half);
    add(&item->evidence.head, block, d - half);
    add(&item->evidence.head, block, d + half);
}

TEST(test_blocks)
{
    const double d[] = { 0.09, 0.10, 0.11, 0.12 };
    struct compare_item *items = items_new(1, DESIGN_BLOCKS);
    for (int i = 0; i < 4; i++)
        add_block(items, i, 1e-5, d[i]);
    add(&items->evidence.base, 7, 0.5); /* a block without head does not count */
    struct comparison c = decide(items, 1, 0.03);
    const struct compare_row *row = &c.rows[0];
    double se = stats_sd(d, 4) / 2, se3 = stats_sd(d, 3) / sqrt(3);
    double now = 2 * 6 * stats_t_cdf(-0.105 / se, 3);
    double before = 2 * 2 * stats_t_cdf(-0.10 / se3, 2);
    assert_int_equal(row->looks, 2);
    assert_close(row->df, 3, 1e-9);
    assert_close(row->change, expm1(0.105), 1e-9);
    assert_close(row->p, fmin(now, before), 1e-9);
    double half = stats_t_quantile(1 - 0.05 / 6, 3) * se;
    assert_close(row->interval.low, expm1(0.105 - half), 1e-9);
    assert_close(row->interval.high, expm1(0.105 + half), 1e-9);
    assert_true(isnan(row->rank_p));
    assert_close(row->noise.launch, 1e-5 * sqrt(2), 1e-9);
    assert_close(row->noise.run, sqrt(4 * se * se - 2e-10), 1e-9);
    assert_int_equal(row->verdict, VERDICT_REGRESSED);
    assert_int_equal(evidence_blocks(&row->item->evidence), 4);
    comparison_release(&c);
}

/* Three blocks that agree by luck: their launches do not. */
TEST(test_blocks_and_their_launches)
{
    for (int lucky = 0; lucky < 2; lucky++) {
        struct compare_item *items = items_new(1, DESIGN_BLOCKS);
        for (int i = 0; i < 3; i++)
            add_block(items, i, lucky ? 0.05 : 0.0005, 0.05 + 0.0001 * i);
        struct comparison c = decide(items, 1, 0.01);
        assert_int_equal(c.rows[0].verdict, lucky ? VERDICT_UNDECIDED : VERDICT_REGRESSED);
        /* 6 degrees of freedom within sides and blocks, 2 from block to block. */
        assert_true(c.rows[0].df > (lucky ? 7 : 2) && c.rows[0].df <= 8);
        assert_true(lucky ? c.rows[0].p > 0.2 : c.rows[0].p < 1e-6);
        comparison_release(&c);
    }
}

/* What was named at one look stays named, though later blocks scatter. */
TEST(test_named_once)
{
    double p[2];
    for (int more = 0; more < 2; more++) {
        struct compare_item *items = items_new(1, DESIGN_BLOCKS);
        for (int i = 0; i < 5; i++)
            add_block(items, i, 1e-4, 0.1 + 0.001 * (i % 2));
        for (int i = 5; more && i < 8; i++)
            add_block(items, i, 1e-4, i % 2 ? 0.3 : 0.02);
        struct comparison c = decide(items, 1, 0.03);
        p[more] = c.rows[0].p;
        assert_int_equal(c.rows[0].verdict, VERDICT_REGRESSED);
        comparison_release(&c);
    }
    assert_true(p[1] <= p[0]);
}

TEST(test_two_blocks_are_too_few)
{
    struct compare_item *items = items_new(1, DESIGN_BLOCKS);
    for (int i = 0; i < 2; i++)
        add_block(items, i, 1e-4, 0.5);
    struct comparison c = decide(items, 1, 0.03);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    assert_string_equal(c.rows[0].why, "2 blocks with both sides; 3 are needed");
    comparison_release(&c);
}

/* Two launches of a side whose metric is 0 in the base. */
static void add_zeros(struct compare_item *item, int block)
{
    for (int launch = 0; launch < 2; launch++) {
        add(&item->evidence.base, block, 0);
        item->evidence.base.values[item->evidence.base.nr - 1].value = 0;
        add(&item->evidence.head, block, 0);
    }
}

static double harm_of(const struct comparison *c, const char *key)
{
    struct comparison_harms harms;

    comparison_harms_init(&harms, c);
    double harm = comparison_harm(&harms, key);
    comparison_harms_release(&harms);
    return harm;
}

/* Of all rows of a benchmark the worst that is undecided; in whatever order they stand. */
TEST(test_harm_by_key)
{
    static const struct {
        int name; /* which benchmark it is of */
        double d; /* by how much its head is slower */
        int blocks;
    } of[] = { { 3, 0.1, 2 }, { 1, -0.2, 2 }, { 3, 0.4, 2 }, { 2, 0.3, 5 }, { 3, -0.5, 2 } };
    enum { NR = sizeof(of) / sizeof(of[0]) };
    struct compare_item *items = items_new(NR, DESIGN_BLOCKS);

    for (int i = 0; i < NR; i++) {
        items[i].bench = &names[of[i].name];
        for (int block = 0; block < of[i].blocks; block++)
            add_block(&items[i], block, 1e-5, of[i].d);
    }
    struct comparison c = decide(items, NR, 0.03);
    assert_int_equal(c.rows[3].verdict, VERDICT_REGRESSED);
    assert_close(harm_of(&c, names[3].key), 0.4, 1e-9);
    assert_close(harm_of(&c, names[1].key), 0, 1e-12); /* it looks better */
    assert_true(harm_of(&c, names[2].key) < 0);        /* it is decided */
    assert_true(harm_of(&c, names[0].key) < 0);        /* there is none */
    assert_true(harm_of(&c, "") < 0 && harm_of(&c, "z") < 0);
    comparison_release(&c);
}

/* Two blocks have four launches a side, which are enough between runs alone. What is undecided
 * stays to be measured. */
TEST(test_zeros_need_three_blocks)
{
    for (int blocks = 1; blocks <= 3; blocks++) {
        struct compare_item *items = items_new(1, DESIGN_BLOCKS);
        for (int i = 0; i < blocks; i++)
            add_zeros(items, i);
        struct comparison c = decide(items, 1, 0.03);
        bool few = blocks < 3;
        assert_int_equal(c.rows[0].verdict, few ? VERDICT_UNDECIDED : VERDICT_REGRESSED);
        assert_has(c.rows[0].why,
                   few ? "with both sides; 3 are needed" : "0 in all launches of the base");
        assert_true((harm_of(&c, names[0].key) >= 0) == few);
        comparison_release(&c);
    }
}

/* What is told from zeros alone is in no family, and raises none of its numbers. */
TEST(test_zeros_are_no_alarms_of_the_family)
{
    enum { FAMILY = 10, ZEROS = 20 };

    for (int named = 0; named <= 3; named++) {
        struct compare_item *items = items_new(FAMILY + ZEROS, DESIGN_BLOCKS);
        for (int i = 0; i < FAMILY + ZEROS; i++)
            for (int block = 0; block < 5; block++)
                if (i < FAMILY)
                    add_block(&items[i], block, 1e-4, i < named ? 0.1 : 0);
                else
                    add_zeros(&items[i], block);
        struct comparison c = decide(items, FAMILY + ZEROS, 0.03);
        assert_int_equal(c.family, FAMILY);
        assert_int_equal(c.count[VERDICT_REGRESSED], ZEROS + named);
        assert_close(c.chance, 0.05 * (named > 1 ? named : 1), 1e-12);
        comparison_release(&c);
    }
}

/* Two runs of two and three launches against one of two: every number by hand. */
TEST(test_runs)
{
    struct compare_item *items = items_new(1, DESIGN_RUNS);
    add(&items->evidence.base, 0, 0.00);
    add(&items->evidence.base, 0, 0.02);
    add(&items->evidence.base, 3, 0.03);
    add(&items->evidence.base, 3, 0.04);
    add(&items->evidence.base, 3, 0.05);
    add(&items->evidence.head, 1, 0.10);
    add(&items->evidence.head, 1, 0.10);
    add(&items->evidence.head, 1, 0.16);
    struct comparison c = decide(items, 1, 0.03);
    const struct compare_row *row = &c.rows[0];
    /* Run means 0.01, 0.04 and 0.12; mean square between 2 x 0.015^2 with 1 degree of freedom. */
    double between = 2 * 0.015 * 0.015, se = sqrt(between * (0.5 + 1));
    double launch = (0.0002 + 0.0002 + 0.0024) / 5;
    assert_close(row->change, expm1(0.12 - 0.025), 1e-9);
    assert_close(row->base.value, 1e6 * exp(0.025), 1e-3);
    assert_close(row->df, 1, 1e-9);
    assert_close(row->p, 2 * stats_t_cdf(-0.095 / se, 1), 1e-9);
    assert_close(row->interval.high, expm1(0.095 + stats_t_quantile(0.95, 1) * se), 1e-9);
    assert_close(row->noise.launch, sqrt(launch), 1e-9);
    double share = (1.0 / 2 + 1.0 / 3 + 1.0 / 3) / 3;
    assert_close(row->noise.run, sqrt(between - launch * share), 1e-9);
    assert_int_equal(row->verdict, VERDICT_UNDECIDED);
    comparison_release(&c);
}

/* One run of the head against five of the base, however many launches it has. Runs that lack the
 * benchmark are none. */
TEST(test_runs_that_are_few)
{
    static const double runs[] = { -0.01, 0, 0.01, -0.005, 0.005 };
    static const int numbers[] = { 0, 1, 3, 4, 6 };
    struct compare_item *items = items_new(1, DESIGN_RUNS);
    bool said = false;

    for (int run = 0; run < 5; run++)
        for (int launch = 0; launch < 3; launch++)
            add(&items->evidence.base, numbers[run], runs[run]);
    for (int launch = 0; launch < 20; launch++)
        add(&items->evidence.head, 2, 0.02);
    struct comparison c = decide(items, 1, 0.03);
    assert_int_equal(evidence_runs(&c.rows[0].item->evidence.base), 5);
    assert_int_equal(evidence_runs(&c.rows[0].item->evidence.head), 1);
    assert_int_equal(c.rows[0].verdict, VERDICT_UNDECIDED);
    for (size_t i = 0; i < c.nr_notes; i++)
        said |= strstr(c.notes[i], " runs a side in place of 1 would tell") != NULL;
    assert_true(said);
    comparison_release(&c);
}

/* A night in which everything was slower tells of the machine: the family sees through it. */
TEST(test_runs_of_a_family)
{
    enum { NR = 20 };
    struct compare_item *items = items_new(NR, DESIGN_RUNS);
    const double night[] = { -0.02, 0.03, 0.00, -0.01 };
    for (int i = 0; i < NR; i++) {
        for (int run = 0; run < 4; run++)
            for (int launch = 0; launch < 3; launch++)
                add(&items[i].evidence.base, run,
                    night[run] + 0.001 * ((i * 7 + run * 3 + launch) % 5));
        for (int launch = 0; launch < 3; launch++)
            add(&items[i].evidence.head, 0, (i == 4 ? 0.1 : 0.02) + 0.001 * ((i + launch) % 4));
    }
    struct comparison c = decide(items, NR, 0.03);
    assert_int_equal(c.count[VERDICT_REGRESSED], 1);
    assert_int_equal(c.rows[4].verdict, VERDICT_REGRESSED);
    assert_true(c.rows[4].borrowed && c.rows[4].interval.low < 0.06); /* the nights still count */
    assert_true(c.rows[0].noise.run > 0.015 && c.rows[0].noise.run < 0.03);
    comparison_release(&c);
}

static const struct night {
    int run;
    double does;
} base_nights[] = { { 0, -0.02 }, { 2, 0.03 }, { 5, 0.01 } },
  head_nights[] = { { 1, 0.01 }, { 3, -0.01 } };

/* Two launches in each of these runs, whose numbers begin at `first`; one row alone may do
 * otherwise in one of them. */
static void add_nights(struct compare_item *item, int first, double share, double odd)
{
    for (int at = 0; at < 6; at++)
        add(&item->evidence.base, first + base_nights[at / 2].run,
            share * base_nights[at / 2].does + (at / 2 == 1 ? odd : 0));
    for (int at = 0; at < 4; at++)
        add(&item->evidence.head, first + head_nights[at / 2].run,
            share * head_nights[at / 2].does);
}

/* What a run does to all is the median over the rows, also where the numbers of runs have gaps, and
 * where one row alone does otherwise. Neither the memory of the same runs, which is the same
 * throughout, nor the runs of another machine, whose nights are half as wild, tell anything of it;
 * nor does it tell anything of them. */
TEST(test_what_a_run_does_to_all)
{
    enum { NR = 12, ALONE = 0, MEMORY, ANOTHER_MACHINE, CASES };
    double mean = 0.02 / 3, squares = 0;

    for (int run = 0; run < 3; run++)
        squares += pow(base_nights[run].does - mean, 2);
    squares += 2 * 0.01 * 0.01;
    double night = sqrt(squares / (5 - 2)); /* two means are known */
    for (int k = ALONE; k < CASES; k++) {
        size_t nr = k == ALONE ? NR : 2 * NR;
        struct compare_item *items = items_new(nr, DESIGN_RUNS);
        for (size_t i = 0; i < NR; i++)
            add_nights(&items[i], 0, 1, i == 0 ? 0.5 : 0);
        for (size_t i = NR; i < nr; i++) {
            items[i].metric = metric_find(k == MEMORY ? "memory" : "p50", NULL);
            items[i].machine = k == MEMORY ? "m" : "n";
            add_nights(&items[i], k == MEMORY ? 0 : 6, k == MEMORY ? 0 : 0.5, 0);
        }
        struct comparison c = decide(items, nr, 0.03);
        assert_close(c.rows[1].noise.run, night, 1e-9);
        for (size_t i = NR; i < nr; i++) {
            double width = c.rows[i].interval.high - c.rows[i].interval.low;
            assert_close(c.rows[i].noise.run, k == MEMORY ? 0 : 0.5 * night, 1e-9);
            assert_true(k == MEMORY ? width < 1e-4 : width > 0.02);
        }
        comparison_release(&c);
    }
}

/* 5 % on all of a large family is beyond what the floor lets the machine do, 2 % is not. */
TEST(test_what_all_share)
{
    static const double shifts[] = { 0.02, 0.05 };
    enum { NR = 12 };
    for (int s = 0; s < 2; s++) {
        struct compare_item *items = items_new(NR, DESIGN_LAUNCHES);
        for (int i = 0; i < NR; i++)
            for (int launch = 0; launch < 5; launch++) {
                add(&items[i].evidence.base, 0, 0.002 * ((i + 3 * launch) % 5));
                add(&items[i].evidence.head, 0, shifts[s] + 0.002 * ((2 * i + launch) % 5));
            }
        struct comparison c = decide(items, NR, 0.025);
        assert_int_equal(c.count[VERDICT_REGRESSED], s == 0 ? 0 : NR);
        assert_true(c.shifted);
        comparison_release(&c);
    }
}

/* As many of the rows changed as did not: the median of all lies in the gap, or jumps from one half
 * to the other with a single row. What changed is named all the same, and nothing else is. */
TEST(test_half_of_the_rows_changed)
{
    static const struct {
        size_t rows, changed;
        double percent, more; /* of the first that changed, and what each adds to the one before */
    } cases[] = {
        { 4, 2, 30, 0 },   { 10, 5, 20, 0 },  { 11, 5, 20, 0 },  { 11, 6, 20, 0 },
        { 20, 9, 10, 0 },  { 20, 10, 10, 0 }, { 20, 11, 10, 0 }, { 20, 10, 50, 0 },
        { 20, 10, -9, 0 }, { 20, 10, 10, 4 }, { 60, 30, 50, 0 },
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        size_t nr = cases[k].rows;
        struct compare_item *items = items_new(nr, DESIGN_LAUNCHES);
        for (size_t i = 0; i < nr; i++)
            for (size_t launch = 0; launch < 5; launch++) {
                double percent = cases[k].percent + cases[k].more * (double)i;
                double change = i < cases[k].changed ? log1p(0.01 * percent) : 0;
                add(&items[i].evidence.base, 0, 0.002 * (double)((i + 3 * launch) % 5));
                add(&items[i].evidence.head, 0, change + 0.002 * (double)((2 * i + launch) % 5));
            }
        struct comparison c = decide(items, nr, 0.03);
        enum verdict wanted = cases[k].percent > 0 ? VERDICT_REGRESSED : VERDICT_IMPROVED;
        for (size_t i = 0; i < nr; i++)
            if ((c.rows[i].verdict == wanted) != (i < cases[k].changed))
                fail_msg("%zu of %zu by %g %%: row %zu is %s", cases[k].changed, nr,
                         cases[k].percent, i, verdict_name(c.rows[i].verdict));
        assert_int_equal(c.count[VERDICT_REGRESSED] + c.count[VERDICT_IMPROVED], cases[k].changed);
        comparison_release(&c);
    }
}

/* Of two modes that no error can tell apart, the distance is chance: launches that are the same on
 * both sides, and those that the last bit of a logarithm moved, say as much of what lies between.
 */
TEST(test_modes_that_are_closer_than_the_errors)
{
    enum { NR = 6 };
    static const double moved[] = { 0, 1e-15, 1e-12, 1e-7 };
    double run = 0, p = 0;

    for (size_t k = 0; k < sizeof(moved) / sizeof(moved[0]); k++) {
        struct compare_item *items = items_new(NR, DESIGN_LAUNCHES);
        for (int i = 0; i < NR; i++)
            for (int launch = 0; launch < 5; launch++) {
                double at = 0.002 * (launch - 2), away = moved[k] * (i * 3 % 7 - 3);
                add(&items[i].evidence.base, 0, at);
                add(&items[i].evidence.head, 0, at + away + (i == 0 ? 0.09 : 0));
            }
        struct comparison c = decide(items, NR, 0.03);
        assert_int_equal(c.rows[0].verdict, VERDICT_REGRESSED);
        if (k > 0) {
            assert_close(c.rows[0].noise.run, run, 0.05 * run);
            assert_close(log(c.rows[0].p), log(p), 0.2);
        }
        run = c.rows[0].noise.run;
        p = c.rows[0].p;
        comparison_release(&c);
    }
}

/* Each row is in one of two modes in each run: about half of them moved, and as many one way as the
 * other. That is no change. */
TEST(test_modes_of_runs_are_no_changes)
{
    enum { NR = 20 };
    struct compare_item *items = items_new(NR, DESIGN_LAUNCHES);

    for (int i = 0; i < NR; i++)
        for (int launch = 0; launch < 5; launch++) {
            add(&items[i].evidence.base, 0, (i & 1 ? 0.06 : 0) + 0.002 * ((i + 3 * launch) % 5));
            add(&items[i].evidence.head, 0, (i & 2 ? 0.06 : 0) + 0.002 * ((2 * i + launch) % 5));
        }
    struct comparison c = decide(items, NR, 0.03);
    assert_int_equal(c.count[VERDICT_UNDECIDED], NR);
    comparison_release(&c);
}

RUN_TESTS(NULL, NULL)
