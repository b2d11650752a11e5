/* SPDX-License-Identifier: MIT */
/*
 * Features: U-07, U-12. A year of nights, each of which looks at all points so far: how often an
 * unchanged series is ever called, how long a step waits to be named, how often one that was named
 * is forgotten while its level stands.
 */
#include "simulation.h"
#include "testing.h"

#include "trend/changepoint.h"

#include <math.h>
#include <stdio.h>

enum { YEAR = 365, FIRST = 20, STEP_AT = 50, STEP_END = 150 };

static void draw(struct random *r, double serial, double *x, size_t n)
{
    double value = random_normal(r), fresh = sqrt(1 - serial * serial);

    for (size_t i = 0; i < n; i++) {
        x[i] = value;
        value = serial * value + fresh * random_normal(r);
    }
}

static struct changes find(const double *x, size_t n)
{
    static const struct changepoint_settings settings = CHANGEPOINT_DEFAULTS;
    struct changes c;
    struct error err;

    assert_int_equal(changes_find(x, n, &settings, &c, &err), 0);
    return c;
}

/* The last night tells of all before it: what was named is there or is counted as withdrawn
 * (test_prefixes_agree in test_changepoint.c). */
TEST(test_unchanged)
{
    static const struct {
        const char *name;
        double serial, bound;
    } kinds[] = { { "normal", 0, 0.05 }, { "AR(1) 0.3", 0.3, 0.1 } };
    size_t series = trials(1500);
    double x[YEAR];
    char what[96];
    for (size_t k = 0; k < 2; k++) {
        struct random r;
        size_t ever = 0;
        random_seed(&r, 900 + k);
        for (size_t i = 0; i < series; i++) {
            draw(&r, kinds[k].serial, x, YEAR);
            struct changes c = find(x, YEAR);
            ever += c.nr > 0 || c.withdrawn.nr > 0;
            changes_release(&c);
        }
        snprintf(what, sizeof(what), "%s: any step in any of %d nights", kinds[k].name, YEAR);
        assert_seen_at_most(what, ever, series, kinds[k].bound);
    }
}

/* What the nights said of a step. */
struct nights {
    size_t named; /* the first night that names it; 0: none */
    bool lost;    /* withdrawn, and not told again in the same night */
};

static bool is_step(size_t index, size_t named)
{
    return named > STEP_AT && index + 10 >= STEP_AT && index <= STEP_AT + 10;
}

static struct nights watch(const double *x)
{
    struct nights n = { 0 };
    struct changes c = find(x, STEP_END);
    size_t since = 0; /* the step that stands now was named with so many points */

    for (size_t k = 0; k < c.nr; k++)
        if (is_step(c.items[k].index, c.items[k].named))
            since = since && since < c.items[k].named ? since : c.items[k].named;
    n.named = since;
    for (size_t k = 0; k < c.withdrawn.nr; k++) {
        const struct withdrawn_step *p = &c.withdrawn.items[k];
        if (!is_step(p->index, p->named))
            continue;
        n.named = n.named && n.named < p->named ? n.named : p->named;
        n.lost |= !since || p->gone < since;
    }
    changes_release(&c);
    return n;
}

TEST(test_steps)
{
    static const struct {
        double size, by_6, by_12, lost; /* bounds: shares named by then, and forgotten */
    } rows[] = { { 2, 0.45, 0.85, 0.01 }, { 3, 0.9, 0.95, 0.01 }, { 5, 0.95, 0.95, 0.01 } };
    size_t series = trials(1000);
    double x[STEP_END];
    char what[96];
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        size_t by_6 = 0, by_12 = 0, lost = 0, delay = 0, ever = 0;
        struct random r;
        random_seed(&r, 920 + k);
        for (size_t i = 0; i < series; i++) {
            draw(&r, 0, x, STEP_END);
            for (size_t t = STEP_AT; t < STEP_END; t++)
                x[t] += rows[k].size;
            struct nights n = watch(x);
            by_6 += n.named && n.named <= STEP_AT + 6;
            by_12 += n.named && n.named <= STEP_AT + 12;
            ever += n.named > 0;
            lost += n.lost;
            delay += (n.named ? n.named : STEP_END) - STEP_AT;
        }
        printf("step of %g sd after %d nights: named after %.1f in the mean\n", rows[k].size,
               STEP_AT, (double)delay / (double)series);
        snprintf(what, sizeof(what), "... after 6 at most");
        assert_rate_at_least(what, by_6, series, rows[k].by_6);
        snprintf(what, sizeof(what), "... after 12 at most");
        assert_rate_at_least(what, by_12, series, rows[k].by_12);
        snprintf(what, sizeof(what), "... forgotten while it stands");
        assert_seen_at_most(what, lost, ever, rows[k].lost);
    }
}

/* Points that may be a new level are told of before they are enough. */
TEST(test_watch)
{
    size_t series = trials(400), told = 0, quiet = 0;
    struct random r;
    double x[STEP_AT + 3];
    random_seed(&r, 940);
    for (size_t i = 0; i < series; i++) {
        draw(&r, 0, x, STEP_AT + 3);
        struct changes c = find(x, STEP_AT + 3);
        quiet += c.watch.found;
        changes_release(&c);
        for (size_t t = STEP_AT; t < STEP_AT + 3; t++)
            x[t] += 3;
        c = find(x, STEP_AT + 3);
        told += c.nr > 0 || (c.watch.found && c.watch.index + 3 >= STEP_AT);
        changes_release(&c);
    }
    assert_rate_at_most("nothing changed, one night: watch", quiet, series, 0.05);
    assert_rate_at_least("3 points of 3 sd more: watch, or named", told, series, 0.9);
}

/* A step that would have been found 4 times in 5 is. */
TEST(test_detectable)
{
    static const size_t points[] = { 30, 50, 100, 300 };
    size_t series = trials(150);
    double x[300];
    char what[96];
    struct random r;
    random_seed(&r, 950);
    for (size_t k = 0; k < 4; k++) {
        size_t found = 0, n = points[k];
        for (size_t i = 0; i < series; i++) {
            draw(&r, 0, x, n);
            struct changes c = find(x, n);
            double size = c.detectable;
            changes_release(&c);
            for (size_t t = n - CHANGEPOINT_DETECTABLE_AFTER; t < n && isfinite(size); t++)
                x[t] += size;
            c = find(x, n);
            found += c.nr > 0;
            changes_release(&c);
        }
        snprintf(what, sizeof(what), "%zu points, 8 of them by what is said more: named", n);
        assert_rate_at_least(what, found, series, 0.75);
        assert_rate_at_most(what, found, series, 0.92);
    }
}

RUN_TESTS(NULL, NULL)
