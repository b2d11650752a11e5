/* SPDX-License-Identifier: MIT */
/*
 * Features: U-12. Rates of the search for change points: false alarms on series in which nothing
 * changed, steps found and where, intervals that hold the truth, ramps that are no steps.
 */
#include "simulation.h"
#include "testing.h"

#include "trend/changepoint_parts.h"

#include <math.h>
#include <stdio.h>

enum { LONGEST = 2000 };

/* Draws a series; a and b are whatever its kind needs. */
typedef void draw_fn(struct random *r, double *x, size_t n, double a, double b);

/* AR(1) of sd 1 with correlation a. */
static void draw_serial(struct random *r, double *x, size_t n, double a, double b)
{
    double value = random_normal(r), fresh = sqrt(1 - a * a);
    (void)b;
    for (size_t i = 0; i < n; i++) {
        x[i] = value;
        value = a * value + fresh * random_normal(r);
    }
}

static void draw_lognormal(struct random *r, double *x, size_t n, double a, double b)
{
    (void)b;
    for (size_t i = 0; i < n; i++)
        x[i] = exp(a * random_normal(r));
}

/* AR(1) of correlation a, and white noise with the share b of the variance. */
static void draw_mixed(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, a, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = sqrt(1 - b) * x[i] + sqrt(b) * random_normal(r);
}

/* A share a of the points in a second mode; noise b inside the modes. */
static void draw_bimodal(struct random *r, double *x, size_t n, double a, double b)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (random_uniform(r) < a ? 25.4 : 13.2) + b * random_normal(r);
}

/* The same with a chance a of a switch at each point. */
static void draw_persistent(struct random *r, double *x, size_t n, double a, double b)
{
    bool second = random_uniform(r) < 0.5;
    for (size_t i = 0; i < n; i++) {
        x[i] = (second ? 25.4 : 13.2) + b * random_normal(r);
        second = second != (random_uniform(r) < a);
    }
}

static void draw_heavy(struct random *r, double *x, size_t n, double a, double b)
{
    (void)a;
    (void)b;
    for (size_t i = 0; i < n; i++)
        x[i] = noise_draw(r, NOISE_HEAVY);
}

static void draw_rounded(struct random *r, double *x, size_t n, double a, double b)
{
    (void)b;
    for (size_t i = 0; i < n; i++)
        x[i] = round(a * random_normal(r));
}

/* The second half has a times the sd of the first. */
static void draw_wilder(struct random *r, double *x, size_t n, double a, double b)
{
    (void)b;
    for (size_t i = 0; i < n; i++)
        x[i] = random_normal(r) * (i < n / 2 ? 1 : a);
}

/* The last point alone is a sigma away. */
static void draw_last_out(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, 0, b);
    x[n - 1] += a;
}

/* b points in a row, a third along the series, are disturbed by a on average. */
static void draw_burst(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, 0, 0);
    for (size_t i = n / 3; i < n / 3 + (size_t)b; i++)
        x[i] += a * (0.5 + random_uniform(r));
}

static void draw_ramp(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, 0, b);
    for (size_t i = 0; i < n; i++)
        x[i] += a * (double)i / (double)n;
}

/* Flat up to the share b of the series, then up by a. */
static void draw_late_ramp(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] += a * fmax(0, (double)i / (double)n - b) / (1 - b);
}

/* b periods of a cosine of height a. */
static void draw_cosine(struct random *r, double *x, size_t n, double a, double b)
{
    draw_serial(r, x, n, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] += a * cos(2 * acos(-1) * b * (double)i / (double)n);
}

/* Nine points in ten are one value; the others are normal, or a up or down. */
static void draw_ties(struct random *r, double *x, size_t n, double a, double b)
{
    (void)b;
    for (size_t i = 0; i < n; i++) {
        bool other = random_uniform(r) < 0.1;
        double off = a > 0 ? (random_uniform(r) < 0.5 ? a : -a) : random_normal(r);
        x[i] = 100 + (other ? off : 0);
    }
}

/* A random walk with steps of sd a, and white noise. */
static void draw_walk(struct random *r, double *x, size_t n, double a, double b)
{
    double level = 0;
    (void)b;
    for (size_t i = 0; i < n; i++) {
        x[i] = level + random_normal(r);
        level += a * random_normal(r);
    }
}

/* Fractional noise of order a (Granger and Joyeux 1980), from 500 points before it on. */
static void draw_fractional(struct random *r, double *x, size_t n, double a, double b)
{
    enum { BEFORE = 500 };
    double fresh[BEFORE + LONGEST];
    (void)b;
    for (size_t i = 0; i < BEFORE + n; i++)
        fresh[i] = random_normal(r);
    for (size_t i = 0; i < n; i++) {
        double weight = 1, sum = 0;
        for (size_t k = 0; k <= BEFORE; k++) {
            sum += weight * fresh[BEFORE + i - k];
            weight *= ((double)k + a) / ((double)k + 1);
        }
        x[i] = sum;
    }
}

struct kind {
    const char *name;
    draw_fn *draw;
    double a, b;
};

static struct changes find_at(const double *x, size_t n, double level)
{
    struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    struct changes c;
    struct error err;

    settings.level = level;
    assert_int_equal(changes_find(x, n, &settings, &c, &err), 0);
    return c;
}

static struct changes find(const double *x, size_t n)
{
    return find_at(x, n, 0.05);
}

struct counts {
    size_t alarms, clear, drifts, modes;
};

static struct counts count(const struct kind *kind, size_t n, size_t series, uint64_t seed)
{
    struct counts counts = { 0 };
    struct random r;
    double x[LONGEST];

    random_seed(&r, seed);
    for (size_t i = 0; i < series; i++) {
        kind->draw(&r, x, n, kind->a, kind->b);
        struct changes c = find(x, n);
        counts.alarms += c.nr > 0;
        counts.clear += c.p <= 0.01;
        counts.drifts += c.drift.found;
        counts.modes += c.modes.visits > 0;
        changes_release(&c);
    }
    return counts;
}

static void check_quiet(const struct kind *kind, size_t n, size_t series, bool drifts)
{
    struct counts counts = count(kind, n, series, 100 * n + (uint64_t)kind->name[0]);
    char what[96];

    snprintf(what, sizeof(what), "%s, n %zu: any step", kind->name, n);
    assert_rate_at_most(what, counts.alarms, series, 0.05);
    snprintf(what, sizeof(what), "%s, n %zu: p at most 0.01", kind->name, n);
    assert_rate_at_most(what, counts.clear, series, 0.01);
    snprintf(what, sizeof(what), "%s, n %zu: drift", kind->name, n);
    if (!drifts)
        assert_rate_at_most(what, counts.drifts, series, 0.05);
}

static const size_t lengths[] = { 30, 100, 300 };

TEST(test_null_series)
{
    static const struct kind kinds[] = {
        { "normal", draw_serial, 0, 0 },           { "AR(1) 0.5", draw_serial, 0.5, 0 },
        { "lognormal", draw_lognormal, 1, 0 },     { "two modes", draw_bimodal, 0.5, 0.5 },
        { "a rare mode", draw_bimodal, 0.2, 0.1 }, { "t with 3 df", draw_heavy, 0, 0 },
        { "few values", draw_rounded, 0.4, 0 },    { "wilder later", draw_wilder, 3, 0 },
        { "last point out", draw_last_out, 5, 0 },
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        for (size_t i = 0; i < 3; i++)
            check_quiet(&kinds[k], lengths[i], trials(i == 2 ? 150 : 400), false);
}

/* P(p <= a) <= a, as far as the tail can be simulated here. */
TEST(test_p_is_honest)
{
    static const struct kind kinds[] = { { "normal", draw_serial, 0, 0 },
                                         { "AR(1) 0.5", draw_serial, 0.5, 0 } };
    static const double levels[] = { 0.05, 0.01, 0.001 };
    char what[96];
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 3; i++) {
            size_t series = trials(i == 0 ? 2500 : i == 1 ? 600 : 150), hits[3] = { 0 };
            struct random r;
            double x[LONGEST];
            random_seed(&r, 4100 + 10 * i + k);
            for (size_t t = 0; t < series; t++) {
                kinds[k].draw(&r, x, lengths[i], kinds[k].a, kinds[k].b);
                struct changes c = find(x, lengths[i]);
                for (size_t a = 0; a < 3; a++)
                    hits[a] += c.p <= levels[a];
                changes_release(&c);
            }
            for (size_t a = 0; a < 3; a++) {
                snprintf(what, sizeof(what), "%s, n %zu: p at most %g", kinds[k].name, lengths[i],
                         levels[a]);
                assert_rate_at_most(what, hits[a], series, levels[a]);
            }
        }
}

/* The same of the test by ranks alone, where all orders are alike: whatever the noise. */
TEST(test_ranks_are_honest)
{
    static const size_t points[] = { 14, 20, 30, 60, 100, 300 };
    static const double levels[] = { 0.05, 0.01, 0.001, 0.0001 };
    size_t order[LONGEST], orders = trials(20000);
    double x[LONGEST], ranks[LONGEST];
    char what[96];
    struct random r;
    random_seed(&r, 4200);
    for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
        size_t hits[4] = { 0 };
        for (size_t t = 0; t < orders; t++) {
            random_permutation(&r, order, points[i]);
            for (size_t k = 0; k < points[i]; k++)
                x[order[k]] = (double)k;
            double p = scan_ranks(x, order, points[i], 5, ranks).p;
            for (size_t a = 0; a < 4; a++)
                hits[a] += p <= levels[a];
        }
        for (size_t a = 0; a < 4; a++) {
            snprintf(what, sizeof(what), "ranks of %zu points: p at most %g", points[i], levels[a]);
            assert_rate_at_most(what, hits[a], orders, levels[a]);
        }
    }
}

/* What the rule cannot tell from a step (changepoint.c): the bounds are what it reaches, so that
 * nothing makes it worse unseen. Of gradual series and of noise with a long memory a step is named
 * while only a part of them is there, and is withdrawn when they show: with 30 points there was no
 * time for that. */
TEST(test_limits)
{
    static const struct {
        struct kind kind;
        size_t n;
        double bound;
    } cases[] = {
        { { "long memory beside white noise", draw_mixed, 0.9, 0.5 }, 60, 0.22 },
        { { "long memory beside white noise", draw_mixed, 0.9, 0.5 }, 100, 0.25 },
        { { "long memory beside white noise", draw_mixed, 0.9, 0.5 }, 300, 0.12 },
        { { "longer memory", draw_mixed, 0.95, 0.5 }, 300, 0.22 },
        { { "a random walk beside white noise", draw_walk, 0.1, 0 }, 100, 0.1 },
        { { "a random walk beside white noise", draw_walk, 0.1, 0 }, 300, 0.25 },
        { { "long memory, d = 0.3", draw_fractional, 0.3, 0 }, 100, 0.13 },
        { { "long memory, d = 0.3", draw_fractional, 0.3, 0 }, 300, 0.13 },
        { { "modes that last 20 points, which count as levels", draw_persistent, 0.05, 0.5 },
          300,
          0.5 },
        { { "ramp of 3 sigma", draw_ramp, 3, 0 }, 30, 0.3 },
        { { "many cosines", draw_cosine, 2, 5.25 }, 300, 0.16 },
        { { "late ramp of 6 sigma", draw_late_ramp, 6, 0.5 }, 30, 0.58 },
        { { "later ramp of 6 sigma", draw_late_ramp, 6, 0.6 }, 30, 0.68 },
        { { "later ramp of 10 sigma", draw_late_ramp, 10, 0.6 }, 30, 0.05 },
    };
    size_t series = trials(300);
    char what[96];
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct counts counts = count(&cases[k].kind, cases[k].n, series, 4300 + k);
        snprintf(what, sizeof(what), "%s, n %zu: any step", cases[k].kind.name, cases[k].n);
        assert_rate_at_most(what, counts.alarms, series, cases[k].bound);
    }
}

/* Two modes that come back. Sixty points hold six visits of ten, which is too few for most: no rule
 * tells one or two switches from steps. */
TEST(test_modes)
{
    static const struct {
        double usual; /* points of a visit */
        size_t n;
        double bound, said;
    } rows[] = {
        { 3, 60, 0.05, 0.9 }, { 3, 365, 0.05, 0.9 }, { 10, 100, 0.15, 0.9 }, { 10, 300, 0.15, 0.9 }
    };
    size_t series = trials(400);
    char what[96];
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        struct kind kind = { "modes", draw_persistent, 1 / rows[k].usual, 0.5 };
        struct counts counts = count(&kind, rows[k].n, series, 4400 + k);
        snprintf(what, sizeof(what), "modes that last %g points, n %zu: any step", rows[k].usual,
                 rows[k].n);
        assert_seen_at_most(what, counts.alarms, series, rows[k].bound);
        assert_seen_at_least("... two modes are said", counts.modes, series, rows[k].said);
    }
    struct kind few = { "modes", draw_persistent, 0.1, 0.5 };
    struct counts counts = count(&few, 60, series, 4410);
    assert_rate_at_most("modes that last 10 points, n 60 (15 % not reached)", counts.alarms, series,
                        0.25);
}

/* Rounded values, of which nearly all are the same. */
TEST(test_ties)
{
    static const struct kind kinds[] = { { "90 % one value, others normal", draw_ties, 0, 0 },
                                         { "90 % one value, others +-1", draw_ties, 1, 0 } };
    size_t series = trials(100);
    char what[96];
    for (size_t k = 0; k < 2; k++)
        for (size_t n = 1000; n <= 2000; n += 1000) {
            struct counts counts = count(&kinds[k], n, series, 4500 + k + n);
            snprintf(what, sizeof(what), "%s, n %zu: any step", kinds[k].name, n);
            assert_seen_at_most(what, counts.alarms, series, 0.05);
        }
}

/* These need some length to show themselves: thirty points of AR(1) 0.9 are mostly one slow move.
 */
TEST(test_persistent_noise)
{
    static const struct kind kinds[] = {
        { "AR(1) 0.7", draw_serial, 0.7, 0 },
        { "AR(1) 0.9", draw_serial, 0.9, 0 },
        { "quick modes", draw_persistent, 0.3, 0.5 },
    };
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        for (size_t n = 100; n <= 300; n += 200) {
            struct counts counts = count(&kinds[k], n, trials(400), 3 + n);
            assert_rate_at_most(kinds[k].name, counts.alarms, trials(400), 0.06);
        }
}

TEST(test_gradual_series)
{
    static const struct kind kinds[] = {
        { "ramp of 2 sigma", draw_ramp, 2, 0 },
        { "ramp of 3 sigma", draw_ramp, 3, 0 },
        { "ramp of 6 sigma", draw_ramp, 6, 0 },
        { "ramp of 10 sigma", draw_ramp, 10, 0 },
        { "ramp of 50 sigma", draw_ramp, 50, 0 },
        { "late ramp of 6 sigma", draw_late_ramp, 6, 0.5 },
        { "later ramp of 10 sigma", draw_late_ramp, 10, 0.6 },
        { "cosine", draw_cosine, 1, 1.6 },
        { "many cosines", draw_cosine, 2, 5.25 },
    };
    size_t series = trials(200);
    char what[96];
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        for (size_t i = 1; i < 3; i++) {
            struct counts counts = count(&kinds[k], lengths[i], series, 7 + k);
            snprintf(what, sizeof(what), "%s, n %zu: any step", kinds[k].name, lengths[i]);
            if (kinds[k].draw != draw_cosine || i == 1) /* longer waves: see test_limits */
                assert_rate_at_most(what, counts.alarms, series, 0.05);
            snprintf(what, sizeof(what), "%s, n %zu: drift", kinds[k].name, lengths[i]);
            if (kinds[k].draw == draw_ramp)
                assert_rate_at_least(what, counts.drifts, series, kinds[k].a < 3 ? 0.85 : 0.95);
        }
}

/* Thirty points of noise cannot tell a small ramp from a small step. */
TEST(test_short_ramps)
{
    static const struct kind kinds[] = {
        { "ramp of 6 sigma", draw_ramp, 6, 0 },
        { "ramp of 10 sigma", draw_ramp, 10, 0 },
        { "ramp of 30 sigma", draw_ramp, 30, 0 },
    };
    size_t series = trials(300);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        struct counts counts = count(&kinds[k], 30, series, 70 + k);
        assert_rate_at_most(kinds[k].name, counts.alarms, series, 0.05);
        assert_rate_at_least("... is drift", counts.drifts, series, 0.95);
    }
}

TEST(test_bursts)
{
    static const struct kind burst = { "burst", draw_burst, 8, 4 };
    size_t series = trials(300);
    for (size_t i = 0; i < 3; i++) {
        struct counts counts = count(&burst, lengths[i], series, 40 + i);
        assert_rate_at_most("four disturbed points in a row", counts.alarms, series, 0.05);
    }
}

struct hits {
    size_t found, extra, placed, sized;
    size_t clear; /* series with p below `clear_p` */
};

static const double clear_p = 1e-5;

/* A step of `size` sigma after `before` points of noise with correlation `serial`. */
static struct hits count_steps(size_t before, size_t after, double size, double serial,
                               size_t series, uint64_t seed)
{
    struct hits hits = { 0 };
    struct random r;
    double x[LONGEST];
    size_t n = before + after;

    random_seed(&r, seed);
    for (size_t i = 0; i < series; i++) {
        draw_serial(&r, x, n, serial, 0);
        for (size_t t = before; t < n; t++)
            x[t] += size;
        struct changes c = find(x, n);
        hits.clear += c.p <= clear_p;
        for (size_t k = 0; k < c.nr; k++) {
            const struct changepoint *s = &c.items[k];
            if (s->index + 3 < before || s->index > before + 3) {
                hits.extra++;
                continue;
            }
            hits.found++;
            hits.placed += s->low <= before && before <= s->high;
            hits.sized += s->change.low <= size && size <= s->change.high;
        }
        changes_release(&c);
    }
    return hits;
}

/* How the levels of a long history follow one another. */
enum history { WANDERING, AND_BACK, TWO_LEVELS, STAIRCASE, HISTORIES };

static double next_level(struct random *r, enum history history, double level, double least)
{
    double size = history == TWO_LEVELS ? least : least * (1 + random_uniform(r));
    bool down = history == WANDERING ? random_uniform(r) < 0.5 : history != STAIRCASE && level > 0;

    return down ? (history == WANDERING ? level - size : 0) : level + size;
}

/* `steps` levels of `length` points each behind the first, at least `least` sigma apart. */
static size_t draw_history(struct random *r, enum history history, size_t steps, size_t length,
                           double least, double *x)
{
    double level = 0;

    for (size_t i = 0; i < (steps + 1) * length; i++) {
        if (i > 0 && i % length == 0)
            level = next_level(r, history, level, least);
        x[i] = level + random_normal(r);
    }
    return (steps + 1) * length;
}

struct named {
    size_t named, extra, none;
};

static struct named count_named(enum history history, size_t steps, size_t length, size_t series,
                                uint64_t seed)
{
    struct named counts = { 0 };
    struct random r;
    double x[LONGEST];

    random_seed(&r, seed);
    for (size_t i = 0; i < series; i++) {
        struct changes c = find(x, draw_history(&r, history, steps, length, 4, x));
        for (size_t k = 0; k < c.nr; k++) {
            size_t near = (c.items[k].index + length / 2) / length * length;
            bool right = near > 0 && c.items[k].index + 3 >= near && c.items[k].index <= near + 3;
            counts.named += right;
            counts.extra += !right;
        }
        counts.none += c.nr == 0;
        changes_release(&c);
    }
    return counts;
}

/* Years of nights: steps of at least 4 sigma, whether levels come back or not. */
TEST(test_long_histories)
{
    static const char *const names[HISTORIES] = { "wandering", "up and back", "between two levels",
                                                  "a staircase" };
    static const size_t steps[] = { 4, 9, 19 }, length[] = { 30, 60, 100 };
    size_t series = trials(20);
    char what[96];
    for (enum history h = 0; h < HISTORIES; h++) {
        size_t all = 0, none = 0;
        for (size_t i = 0; i < 9; i++) {
            struct named c = count_named(h, steps[i / 3], length[i % 3], series, 3000 + 10 * h + i);
            snprintf(what, sizeof(what), "%s, %zu steps, levels of %zu points: named", names[h],
                     steps[i / 3], length[i % 3]);
            assert_seen_at_least(what, c.named, series * steps[i / 3], 0.95);
            assert_rate_at_most("... another step", c.extra, series * steps[i / 3], 0.01);
            all += series;
            none += c.none;
        }
        snprintf(what, sizeof(what), "%s: no step named", names[h]);
        assert_seen_at_most(what, none, all, 0.01);
    }
}

TEST(test_a_fresh_step)
{
    static const size_t before[] = { 20, 25, 30, 40, 50, 60, 70, 80, 100, 200, 300 };
    size_t series = trials(500);
    char what[96];
    for (size_t k = 0; k < sizeof(before) / sizeof(*before); k++) {
        struct hits hits = count_steps(before[k], 8, 3, 0, series, 900 + k);
        snprintf(what, sizeof(what), "step of 3 sigma, 8 points after %zu: found", before[k]);
        assert_rate_at_least(what, hits.found, series, 0.95);
        assert_rate_at_most("... another step", hits.extra, series, 0.05);
    }
}

TEST(test_power)
{
    size_t series = trials(300);
    struct hits hits = count_steps(50, 50, 2, 0, series, 1);
    assert_rate_at_least("step of 2 sigma amid 100 points", hits.found, series, 0.85);
    hits = count_steps(50, 50, 3, 0.5, series, 2);
    assert_rate_at_least("step of 3 sigma in AR(1) 0.5", hits.found, series, 0.85);
    hits = count_steps(50, 5, 5, 0, series, 3);
    assert_rate_at_least("step of 5 sigma, 5 points after it", hits.found, series, 0.95);
}

/* A step of two sigma in the middle of few points: named, or at least not called a drift. */
TEST(test_few_points)
{
    static const struct {
        size_t n;
        double named;
    } rows[] = { { 20, 0.4 }, { 50, 0.9 } };
    size_t series = trials(1000);
    double x[50];
    char what[96];
    for (size_t k = 0; k < 2; k++) {
        size_t n = rows[k].n, named = 0, drift = 0;
        struct random r;
        random_seed(&r, 960 + k);
        for (size_t i = 0; i < series; i++) {
            draw_serial(&r, x, n, 0, 0);
            for (size_t t = n / 2; t < n; t++)
                x[t] += 2;
            struct changes c = find(x, n);
            named += c.nr > 0;
            drift += c.nr == 0 && c.drift.found;
            changes_release(&c);
        }
        snprintf(what, sizeof(what), "step of 2 sigma amid %zu points%s", n,
                 n == 20 ? " (65 % not reached)" : "");
        assert_seen_at_least(what, named, series, rows[k].named);
        assert_seen_at_most("... called drift only", drift, series, 0.05);
    }
}

/* Shares of a step of three sigma at the end of 50 points that are named, and of years in which an
 * unchanged series of correlation 0.3 is. */
static struct hits count_price(double level, size_t newest, size_t series)
{
    enum { POINTS = 50, YEAR = 365 };
    struct hits hits = { 0 };
    struct random r;
    double x[YEAR];

    random_seed(&r, 970 + newest);
    for (size_t i = 0; i < series; i++) {
        draw_serial(&r, x, POINTS, 0, 0);
        for (size_t t = POINTS - newest; t < POINTS; t++)
            x[t] += 3;
        struct changes c = find_at(x, POINTS, level);
        hits.found += c.nr > 0 && c.items[c.nr - 1].index + 3 >= POINTS - newest;
        changes_release(&c);
        draw_serial(&r, x, YEAR, 0.3, 0);
        c = find_at(x, YEAR, level);
        hits.extra += c.nr + c.withdrawn.nr > 0;
        changes_release(&c);
    }
    return hits;
}

/* Five points say enough in 87 %. What 95 % would cost: the whole price of the nights. */
TEST(test_newest_points)
{
    size_t series = trials(1000), fewer = trials(300);
    struct hits hits = count_price(0.05, 6, fewer);
    assert_rate_at_least("step of 3 sigma, the newest 6 of 50 points", hits.found, fewer, 0.95);
    hits = count_price(0.05, 5, series);
    assert_rate_at_least("... the newest 5 (95 % not reached)", hits.found, series, 0.85);
    assert_seen_at_most("... a year of AR(1) 0.3, unchanged", hits.extra, series, 0.1);
    for (double level = 0.1; level <= 0.2; level *= 2) {
        hits = count_price(level, 5, fewer);
        print_message("the same at the level %g %%: %.1f %%, and %.1f %% of the years (%zu)\n",
                      100 * level, 100 * (double)hits.found / (double)fewer,
                      100 * (double)hits.extra / (double)fewer, fewer);
    }
}

/* A family of hundreds of series needs small p-values after few nights. */
TEST(test_clear_steps)
{
    size_t series = trials(300);
    struct hits hits = count_steps(32, 8, 10, 0, series, 20);
    assert_rate_at_least("step of 10 sigma, 8 of 40 points: p under 1e-5", hits.clear, series, 0.8);
    assert_rate_at_least("... found", hits.found, series, 0.99);
    hits = count_steps(52, 8, 100, 0, series, 21);
    assert_rate_at_least("step of 100 sigma, 8 of 60 points: p under 1e-5", hits.clear, series,
                         0.85);
    assert_rate_at_least("... found", hits.found, series, 0.99);
    assert_rate_at_most("... another step", hits.extra, series, 0.02);
}

/* Among the steps that were found, as a reader sees them. */
TEST(test_intervals)
{
    static const struct {
        size_t before, after;
        double size, serial;
    } cases[] = { { 20, 8, 3, 0 },      { 50, 8, 3, 0 },    { 50, 50, 2, 0 },
                  { 150, 150, 1.5, 0 }, { 50, 50, 4, 0.5 }, { 100, 100, 3, 0.5 } };
    size_t series = trials(500);
    char what[96];
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct hits hits = count_steps(cases[k].before, cases[k].after, cases[k].size,
                                       cases[k].serial, series, 50 + k);
        snprintf(what, sizeof(what), "%zu + %zu points, %g sigma, AR %g: position", cases[k].before,
                 cases[k].after, cases[k].size, cases[k].serial);
        assert_rate_at_least(what, hits.placed, hits.found, 0.93);
        assert_rate_at_least("... size", hits.sized, hits.found, 0.93);
    }
}

/* Slope intervals hold the slope, among the drifts that were found. */
TEST(test_drift_interval)
{
    size_t series = trials(300), held = 0, found = 0;
    struct random r;
    double x[LONGEST];
    random_seed(&r, 77);
    for (size_t i = 0; i < series; i++) {
        draw_ramp(&r, x, 100, 6, 0);
        struct changes c = find(x, 100);
        found += c.drift.found;
        held += c.drift.found && c.drift.slope.low <= 0.06 && 0.06 <= c.drift.slope.high;
        changes_release(&c);
    }
    assert_rate_at_least("interval of a slope", held, found, 0.93);
}

RUN_TESTS(NULL, NULL)
