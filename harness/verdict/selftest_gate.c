/* SPDX-License-Identifier: MIT */
/* What was counted, as an answer: the smallest change found, and whether a gate is carried. */
#include "verdict/selftest.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A share for each size planted. */
struct curve {
    double size[SELFTEST_SIZES_MAX], share[SELFTEST_SIZES_MAX], weight[SELFTEST_SIZES_MAX];
    size_t nr;
};

/* Neighbours out of order share their weighted mean, until none is. */
static void make_monotone(struct curve *c)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i + 1 < c->nr; i++) {
            if (c->share[i] <= c->share[i + 1])
                continue;
            double w = c->weight[i] + c->weight[i + 1];
            double mean = (c->share[i] * c->weight[i] + c->share[i + 1] * c->weight[i + 1]) / w;
            changed = c->share[i] - c->share[i + 1] > 1e-9;
            c->share[i] = c->share[i + 1] = mean;
        }
    }
}

/* Where a monotone curve reaches `share`; `before` if it starts there. */
static double crossing_size(const struct curve *c, double share, double before)
{
    if (c->nr == 0)
        return NAN;
    if (c->share[0] >= share)
        return before;
    for (size_t i = 1; i < c->nr; i++) {
        if (c->share[i] < share)
            continue;
        double part = (share - c->share[i - 1]) / (c->share[i] - c->share[i - 1]);
        return c->size[i - 1] * pow(c->size[i] / c->size[i - 1], part);
    }
    return INFINITY;
}

/* The shares found, with their limits. */
struct curves {
    struct curve middle, low, high;
};

static void add_share(struct curve *c, double size, double share, size_t of)
{
    c->size[c->nr] = size;
    c->weight[c->nr] = (double)of;
    c->share[c->nr++] = share;
}

static void make_curves(const struct selftest *t, struct curves *c)
{
    *c = (struct curves) { { .nr = 0 }, { .nr = 0 }, { .nr = 0 } };
    for (size_t i = 0; i < t->nr; i++) {
        struct selftest_rate found = t->tallies[i].found;
        double size = t->tallies[i].size;
        if (!(size > 0) || found.of == 0)
            continue;
        struct interval ci = selftest_interval(found);
        add_share(&c->middle, size, (double)found.hits / (double)found.of, found.of);
        add_share(&c->low, size, ci.low, found.of);
        add_share(&c->high, size, ci.high, found.of);
    }
    make_monotone(&c->middle);
    make_monotone(&c->low);
    make_monotone(&c->high);
}

double selftest_smallest(const struct selftest *t, struct interval *limits)
{
    struct curves c;

    make_curves(t, &c);
    if (limits)
        *limits = (struct interval) { crossing_size(&c.high, SELFTEST_POWER, 0),
                                      crossing_size(&c.low, SELFTEST_POWER, c.low.size[0]) };
    return crossing_size(&c.middle, SELFTEST_POWER, c.middle.size[0]);
}

/* Whole per cent, and the whole margin that noise needs. */
static int next_percent(double fraction)
{
    return (int)ceil(fraction * 100 - 1e-9);
}

static double as_percent(double fraction)
{
    return 100 * fraction;
}

/* "at most 80 launches a side" */
static const char *launches_words(const struct selftest *t, char text[48])
{
    snprintf(text, 48, "%s%d launch%s a side", selftest_interleaved(t) ? "at most " : "",
             t->launches, t->launches == 1 ? "" : "es");
    return text;
}

/* What a test shows of the smallest change found; the largest size planted where it is more. */
struct finding {
    bool planted;
    double tested;          /* by the shares found, or else what comparisons expect; NaN: nothing */
    double shown, possible; /* where the limits reach SELFTEST_LEAST and SELFTEST_MOST */
};

static struct finding find_smallest(const struct selftest *t)
{
    struct curves c;

    make_curves(t, &c);
    if (c.middle.nr == 0)
        return (struct finding) { false, t->visible, t->visible, t->visible };
    return (struct finding) {
        .planted = true,
        .tested = crossing_size(&c.middle, SELFTEST_POWER, c.middle.size[0]),
        .shown = crossing_size(&c.low, SELFTEST_LEAST, c.low.size[0]),
        .possible = crossing_size(&c.high, SELFTEST_MOST, 0),
    };
}

/* With a floor of `delta`, by a test with t->delta: is a change found that was `tested` there no
 * larger than twice the floor? Beyond the largest size planted, `tested` is more than that. */
static enum selftest_answer answer_of(const struct selftest *t, double tested, double delta)
{
    double more = delta - t->delta, most = 2 * delta + 1e-9;
    double least = isinf(tested) ? t->tallies[t->nr - 1].size : tested;

    if (tested + fmax(more, 0) <= most)
        return SELFTEST_CARRIES;
    return least + fmin(more, 0) > most ? SELFTEST_CANNOT : SELFTEST_UNKNOWN;
}

/* *few: the shares alone would answer, their limits leave it open. */
static enum selftest_answer judge_finding(const struct selftest *t, const struct finding *f,
                                          double delta, bool *few)
{
    enum selftest_answer answer =
        isnan(f->tested) ? SELFTEST_UNKNOWN : answer_of(t, f->tested, delta);
    double limit = answer == SELFTEST_CARRIES ? f->shown : f->possible;

    *few = answer != SELFTEST_UNKNOWN && answer_of(t, limit, delta) != answer;
    return *few ? SELFTEST_UNKNOWN : answer;
}

static size_t comparisons_of_a_size(const struct selftest *t)
{
    size_t most = 0;

    for (size_t i = 0; i < t->nr; i++)
        if (t->tallies[i].found.of > 0 && t->tallies[i].comparisons.of > most)
            most = t->tallies[i].comparisons.of;
    return most;
}

/* How many comparisons of each size would answer if the shares found stayed the same; 0: more than
 * anybody makes. */
static size_t comparisons_needed(const struct selftest *t, double delta)
{
    enum { COMPARISONS_MAX = 100 };
    size_t now = comparisons_of_a_size(t);

    for (size_t wanted = now + 1; now && wanted <= COMPARISONS_MAX; wanted++) {
        struct selftest more = *t;
        bool few;
        for (size_t i = 0; i < more.nr; i++) {
            struct selftest_rate *found = &more.tallies[i].found;
            found->hits = (found->hits * wanted + now / 2) / now;
            found->of = (found->of * wanted + now / 2) / now;
        }
        struct finding f = find_smallest(&more);
        if (judge_finding(&more, &f, delta, &few) != SELFTEST_UNKNOWN)
            return wanted;
    }
    return 0;
}

/* "This machine carries a gate of 3 %"; returns its length. */
static int say_answer(enum selftest_answer answer, double delta, char text[SELFTEST_TEXT_SIZE])
{
    static const char *const words[] = {
        [SELFTEST_CARRIES] = "This machine carries",
        [SELFTEST_CANNOT] = "This machine cannot carry",
        [SELFTEST_UNKNOWN] = "Nobody can tell whether this machine can carry",
    };

    return snprintf(text, SELFTEST_TEXT_SIZE, "%s a gate of %.3g %%", words[answer],
                    as_percent(delta));
}

/* The floor at which the same noise would do. */
static double floor_for(const struct selftest *t, double tested)
{
    return tested > 2 * t->delta ? tested - t->delta : tested / 2;
}

enum { FIGURE_SIZE = 32 };

/* "3.9", "39", "390": two digits that count, or whole ones. */
static const char *two_digits(double number, char text[FIGURE_SIZE])
{
    snprintf(text, FIGURE_SIZE, number < 9.95 ? "%.2g" : "%.0f", number);
    return text;
}

static void say_smallest(const struct selftest *t, const struct finding *f, double delta,
                         enum selftest_answer answer, char *text, size_t size)
{
    char side[48], smallest[FIGURE_SIZE];
    int length =
        snprintf(text, size, ": the smallest change that %s found 4 times in 5 is %s %%, with %s%s",
                 f->planted ? "is" : "should be", two_digits(as_percent(f->tested), smallest),
                 launches_words(t, side), answer == SELFTEST_CARRIES ? "." : "");

    if (answer == SELFTEST_CANNOT)
        snprintf(text + length, size - (size_t)length,
                 ", and may be %.3g %% at most. Use --delta %d%%, or more launches, and see "
                 "`harness doctor`.",
                 as_percent(2 * delta), next_percent(floor_for(t, f->tested)));
    if (answer == SELFTEST_UNKNOWN)
        snprintf(text + length, size - (size_t)length,
                 " and a floor of %.3g %%. Test with --delta %.3g%%.", as_percent(t->delta),
                 as_percent(delta));
}

static void say_few(const struct selftest *t, double delta, char *text, size_t size)
{
    size_t needed = comparisons_needed(t, delta), now = comparisons_of_a_size(t);

    if (needed)
        snprintf(text, size,
                 ": too few comparisons to tell, about %zu more of each size would do (--repeats "
                 "%zu).",
                 needed - now, needed);
    else
        snprintf(
            text, size,
            ": too few comparisons to tell, and what they found is so near to 4 in 5 that many "
            "more would be needed. Use more launches.");
}

enum selftest_answer selftest_gate(const struct selftest *t, double delta,
                                   char text[SELFTEST_TEXT_SIZE])
{
    struct finding f = find_smallest(t);
    bool few;
    enum selftest_answer answer = judge_finding(t, &f, delta, &few);
    int length = say_answer(answer, delta, text);
    char *rest = text + length, side[48];
    size_t size = (size_t)(SELFTEST_TEXT_SIZE - length);

    if (isnan(f.tested))
        snprintf(rest, size, ": no benchmark was judged.");
    else if (few)
        say_few(t, delta, rest, size);
    else if (!f.planted && f.tested >= SELFTEST_VISIBLE_MOST)
        snprintf(
            rest, size,
            ": the launches differ so much that not even a change of %.3g %% need be found, with "
            "%s. See `harness doctor`.",
            as_percent(SELFTEST_VISIBLE_MOST), launches_words(t, side));
    else if (isinf(f.tested))
        snprintf(
            rest, size,
            ": with a floor of %.3g %% and %s not even a change of %.3g %% is found 4 times in "
            "5. Use more launches or longer ones, and see `harness doctor`.",
            as_percent(t->delta), launches_words(t, side), as_percent(t->tallies[t->nr - 1].size));
    else
        say_smallest(t, &f, delta, answer, rest, size);
    return answer;
}
