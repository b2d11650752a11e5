/* SPDX-License-Identifier: MIT */
#include "verdict/selftest.h"

#include "core/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

void selftest_begin(struct selftest_builder *b, struct selftest *t)
{
    *b = (struct selftest_builder) { .result = t };
    t->nr = 0;
    t->launch_noise = t->run_noise = t->visible = NAN;
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

static bool is_judged(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_IMPROVED ||
           row->verdict == VERDICT_SAME || row->verdict == VERDICT_UNDECIDED;
}

/* Whether it is an alarm where there should be none. */
static bool count_row(struct selftest_tally *tally, const struct compare_row *row, bool planted)
{
    bool slower = row->verdict == VERDICT_REGRESSED;
    bool alarm = slower || row->verdict == VERDICT_IMPROVED;

    if (!is_judged(row)) {
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
        bool is_planted = name_find(planted, nr, row->item->bench->key) >= 0;
        alarm |= count_row(tally, row, is_planted);
        if (isfinite(row->noise.launch))
            *array_push(&b->launch) = row->noise.launch;
        if (isfinite(row->noise.run))
            *array_push(&b->run) = row->noise.run;
        if (!isnan(row->detectable) && !is_planted)
            *array_push(&b->visible) = fmin(row->detectable, SELFTEST_VISIBLE_MOST);
    }
    if (isfinite(c->run_noise)) /* where rows cannot tell, the family may */
        *array_push(&b->run) = c->run_noise;
    tally->comparisons.of++;
    tally->comparisons.hits += alarm;
    return 0;
}

void selftest_end(struct selftest_builder *b)
{
    struct selftest *t = b->result;

    t->launch_noise = stats_median(b->launch.items, b->launch.nr);
    t->run_noise = stats_median(b->run.items, b->run.nr);
    t->visible = stats_median(b->visible.items, b->visible.nr);
    array_release(&b->launch);
    array_release(&b->run);
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

bool selftest_quiet(const struct selftest *t)
{
    return selftest_interval(selftest_total(t).comparisons).low <= SELFTEST_ALARMS;
}

bool selftest_tells(const struct selftest *t)
{
    struct selftest_tally total = selftest_total(t);

    return total.found.of + total.alarms.of > 0;
}

bool selftest_interleaved(const struct selftest *t)
{
    return strstr(t->kind, "-ab") != NULL;
}
