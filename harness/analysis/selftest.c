/* SPDX-License-Identifier: MIT */
#include "analysis/selftest.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

void selftest_begin(struct selftest_builder *b, struct selftest *t)
{
    *b = (struct selftest_builder) { .result = t };
    t->nr = 0;
    t->launch_noise = t->occasion_noise = t->visible = NAN;
}

/* The tally of a size, in the order of sizes; NULL where there is no more room. */
static struct selftest_tally *tally_of(struct selftest *t, double size)
{
    size_t at = 0;

    while (at < t->nr && t->tallies[at].size < size)
        at++;
    if (at < t->nr && t->tallies[at].size == size)
        return &t->tallies[at];
    if (t->nr == SELFTEST_SIZES_MAX)
        return NULL;
    memmove(&t->tallies[at + 1], &t->tallies[at], (t->nr - at) * sizeof(*t->tallies));
    t->tallies[at] = (struct selftest_tally) { .size = size };
    t->nr++;
    return &t->tallies[at];
}

static bool is_in(const char *key, const char *const *keys, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool judged(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED ||
           row->verdict == VERDICT_SAME || row->verdict == VERDICT_UNDECIDED;
}

/* Whether it is an alarm where there should be none. */
static bool count_row(struct selftest_tally *tally, const struct compare_row *row, bool planted)
{
    bool slower = row->verdict == VERDICT_REGRESSED;
    bool alarm = slower || row->verdict == VERDICT_IMPROVED;

    if (!judged(row)) {
        tally->lost++;
        return false;
    }
    if (planted) {
        tally->found.of++;
        tally->found.hits += slower;
        return false;
    }
    tally->alarms.of++;
    tally->alarms.hits += alarm;
    tally->same += row->verdict == VERDICT_SAME;
    tally->undecided += row->verdict == VERDICT_UNDECIDED;
    return alarm;
}

int selftest_count(struct selftest_builder *b, const struct comparison *c, double size,
                   const char *const *planted, size_t nr, struct error *err)
{
    struct selftest_tally *tally = tally_of(b->result, size);
    bool alarm = false;

    if (!tally)
        return error_set(err, "a self-test can plant at most %d sizes", SELFTEST_SIZES_MAX);
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        bool is_planted = is_in(row->item->bench->key, planted, nr);
        alarm |= count_row(tally, row, is_planted);
        if (isfinite(row->noise.launch))
            *array_push(&b->launch) = row->noise.launch;
        if (isfinite(row->noise.occasion))
            *array_push(&b->occasion) = row->noise.occasion;
        if (isfinite(row->detectable) && !is_planted)
            *array_push(&b->visible) = row->detectable;
    }
    if (isfinite(c->occasion)) /* where rows cannot tell, the family may */
        *array_push(&b->occasion) = c->occasion;
    tally->comparisons.of++;
    tally->comparisons.hits += alarm;
    return 0;
}

void selftest_end(struct selftest_builder *b)
{
    struct selftest *t = b->result;

    t->launch_noise = stats_median(b->launch.items, b->launch.nr);
    t->occasion_noise = stats_median(b->occasion.items, b->occasion.nr);
    t->visible = stats_median(b->visible.items, b->visible.nr);
    array_release(&b->launch);
    array_release(&b->occasion);
    array_release(&b->visible);
}

struct interval selftest_interval(struct selftest_rate r)
{
    if (r.of == 0)
        return (struct interval) { 0, 1 };
    return stats_proportion_interval(r.hits, r.of, CONFIDENCE);
}

static void add_rate(struct selftest_rate *to, struct selftest_rate from)
{
    to->hits += from.hits;
    to->of += from.of;
}

struct selftest_tally selftest_total(const struct selftest *t)
{
    struct selftest_tally total = { .size = NAN };

    for (size_t i = 0; i < t->nr; i++) {
        const struct selftest_tally *tally = &t->tallies[i];
        add_rate(&total.comparisons, tally->comparisons);
        add_rate(&total.found, tally->found);
        add_rate(&total.alarms, tally->alarms);
        total.same += tally->same;
        total.undecided += tally->undecided;
        total.lost += tally->lost;
    }
    return total;
}

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

/* Where the curve reaches SELFTEST_POWER; `before` if it starts there. */
static double crossing(struct curve *c, double before)
{
    make_monotone(c);
    if (c->nr == 0)
        return NAN;
    if (c->share[0] >= SELFTEST_POWER)
        return before;
    for (size_t i = 1; i < c->nr; i++) {
        if (c->share[i] < SELFTEST_POWER)
            continue;
        double part = (SELFTEST_POWER - c->share[i - 1]) / (c->share[i] - c->share[i - 1]);
        return c->size[i - 1] * pow(c->size[i] / c->size[i - 1], part);
    }
    return INFINITY;
}

double selftest_smallest(const struct selftest *t, struct interval *limits)
{
    struct curve middle = { .nr = 0 }, low = { .nr = 0 }, high = { .nr = 0 };

    for (size_t i = 0; i < t->nr; i++) {
        struct selftest_rate found = t->tallies[i].found;
        if (!(t->tallies[i].size > 0) || found.of == 0)
            continue;
        struct interval ci = selftest_interval(found);
        const double shares[] = { (double)found.hits / (double)found.of, ci.low, ci.high };
        struct curve *const curves[] = { &middle, &low, &high };
        for (int j = 0; j < 3; j++) {
            struct curve *c = curves[j];
            c->size[c->nr] = t->tallies[i].size;
            c->weight[c->nr] = (double)found.of;
            c->share[c->nr++] = shares[j];
        }
    }
    if (limits)
        *limits = (struct interval) { crossing(&high, 0), crossing(&low, middle.size[0]) };
    return crossing(&middle, middle.size[0]);
}

bool selftest_quiet(const struct selftest *t)
{
    return selftest_interval(selftest_total(t).comparisons).low <= SELFTEST_ALARMS;
}

/* Whole per cent, and the whole margin that noise needs. */
static int next_percent(double fraction)
{
    return (int)ceil(fraction * 100 - 1e-9);
}

static double percent(double fraction)
{
    return 100 * fraction;
}

bool selftest_interleaved(const struct selftest *t)
{
    return strstr(t->kind, "-ab") != NULL;
}

/* "at most 80 launches a side" */
static const char *launches(const struct selftest *t, char text[48])
{
    snprintf(text, 48, "%s%d launches a side", selftest_interleaved(t) ? "at most " : "",
             t->launches);
    return text;
}

/* What is known of the smallest change found with a floor of `delta`, from a test with t->delta. */
static struct interval smallest_at(const struct selftest *t, double tested, double delta)
{
    double more = delta - t->delta;

    return (struct interval) { tested + fmin(more, 0), tested + fmax(more, 0) };
}

static enum selftest_answer answer_of(struct interval smallest, double delta)
{
    double most = 2 * delta + 1e-9;

    return smallest.high <= most ? SELFTEST_CARRIES
           : smallest.low > most ? SELFTEST_CANNOT
                                 : SELFTEST_UNKNOWN;
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
                    percent(delta));
}

/* The floor at which the same noise would do. */
static double floor_for(const struct selftest *t, double tested)
{
    return tested > 2 * t->delta ? tested - t->delta : tested / 2;
}

static void say_smallest(const struct selftest *t, double tested, bool planted, double delta,
                         enum selftest_answer answer, char *text, size_t size)
{
    char side[48];
    int length = snprintf(text, size,
                          ": the smallest change that %s found 4 times in 5 is %.2g %%, with %s%s",
                          planted ? "is" : "should be", percent(tested), launches(t, side),
                          answer == SELFTEST_CARRIES ? "." : "");

    if (answer == SELFTEST_CANNOT)
        snprintf(text + length, size - (size_t)length,
                 ", and may be %.3g %% at most. Use --delta %d%%, or more launches, and see "
                 "`harness doctor`.",
                 percent(2 * delta), next_percent(floor_for(t, tested)));
    if (answer == SELFTEST_UNKNOWN)
        snprintf(text + length, size - (size_t)length,
                 " and a floor of %.3g %%. Test with --delta %.3g%%.", percent(t->delta),
                 percent(delta));
}

enum selftest_answer selftest_gate(const struct selftest *t, double delta,
                                   char text[SELFTEST_TEXT_SIZE])
{
    double smallest = selftest_smallest(t, NULL);
    bool planted = !isnan(smallest);
    double tested = planted ? smallest : t->visible;
    double least = isinf(tested) ? t->tallies[t->nr - 1].size : tested; /* it is more than that */
    struct interval known = smallest_at(t, least, delta);

    known.high = isinf(tested) ? INFINITY : known.high;
    enum selftest_answer answer = isnan(tested) ? SELFTEST_UNKNOWN : answer_of(known, delta);
    int length = say_answer(answer, delta, text);
    char *rest = text + length, side[48];
    size_t size = (size_t)(SELFTEST_TEXT_SIZE - length);

    if (isnan(tested))
        snprintf(rest, size, ": no benchmark was judged.");
    else if (isinf(tested))
        snprintf(
            rest, size,
            ": with a floor of %.3g %% and %s not even a change of %.3g %% is found 4 times in "
            "5. Use more launches or longer ones, and see `harness doctor`.",
            percent(t->delta), launches(t, side), percent(least));
    else
        say_smallest(t, tested, planted, delta, answer, rest, size);
    return answer;
}

bool selftest_warning(const char *result, double delta, char text[SELFTEST_TEXT_SIZE])
{
    struct error ignored;
    struct selftest t;
    cJSON *json = json_parse(result, strlen(result), "self-test", &ignored);
    bool warns = json && selftest_from_json(json, &t, &ignored) == 0 &&
                 selftest_gate(&t, delta, text) == SELFTEST_CANNOT;

    cJSON_Delete(json);
    return warns;
}
