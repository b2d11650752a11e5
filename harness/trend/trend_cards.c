/* SPDX-License-Identifier: MIT */
/* Steps and drifts in the order in which somebody should look at them. */
#include "trend/trend.h"

#include "base/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

const char *trend_rank_name(enum trend_rank rank)
{
    static const char *const names[] = {
        [TREND_REGRESSION] = "regression",
        [TREND_ENVIRONMENT] = "surroundings",
        [TREND_IMPROVEMENT] = "improvement",
        [TREND_ACCEPTED] = "accepted",
        [TREND_GONE] = "gone",
    };

    return names[rank];
}

const struct acceptance *trend_card_acceptance(const struct trend_card *card)
{
    return card->step ? card->step->accepted : card->trend->drift.accepted;
}

struct acceptance trend_card_accept(const struct trends *t, const struct trend_card *card)
{
    const struct series *series = card->trend->series;
    const struct series_point *seen = &series->items[card->high];

    return (struct acceptance) {
        .key = (char *)series->bench->key,
        .metric = (char *)t->settings.metric->id,
        .machine = (char *)series->machine,
        .commit = (char *)seen->commit,
        .change = card->change,
        .seen_ms = seen->time_ms,
    };
}

static enum trend_rank rank_of_drift(const struct trend_drift *drift)
{
    if (drift->accepted)
        return TREND_ACCEPTED;
    return drift->worse ? TREND_REGRESSION : TREND_IMPROVEMENT;
}

static enum trend_rank rank_of_step(const struct trend_step *step)
{
    if (step->back)
        return TREND_GONE;
    if (step->accepted)
        return TREND_ACCEPTED;
    if (!step->worse)
        return TREND_IMPROVEMENT;
    return step->epoch ? TREND_ENVIRONMENT : TREND_REGRESSION;
}

static struct trend_card card_of_step(const struct trend *trend, const struct trend_step *step)
{
    double there = step->back ? 1 : fabs(step->left);

    return (struct trend_card) {
        .trend = trend,
        .step = step,
        .rank = rank_of_step(step),
        .worse = step->worse,
        .before = step->before,
        .after = step->after,
        .change = step->change,
        .interval = step->interval,
        .p = step->p,
        .low = step->low,
        .high = step->high,
        .weight = fabs(log1p(step->change)) * there,
    };
}

static struct trend_card card_of_drift(const struct trend *trend)
{
    const struct trend_drift *drift = &trend->drift;
    double after = trend_drift_at(trend, trend->series->nr - 1);

    return (struct trend_card) {
        .trend = trend,
        .rank = rank_of_drift(drift),
        .worse = drift->worse,
        .before = after / (1 + drift->total),
        .after = after,
        .change = drift->total,
        .interval = drift->interval,
        .p = drift->p,
        .low = 1,
        .high = trend->series->nr - 1,
        .weight = fabs(log1p(drift->total)),
    };
}

static int64_t time_of_card(const struct trend_card *card)
{
    return card->trend->series->items[card->step ? card->step->index : card->high].time_ms;
}

static int order_cards(const void *x, const void *y)
{
    const struct trend_card *a = x, *b = y;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (time_of_card(a) != time_of_card(b))
        return time_of_card(a) > time_of_card(b) ? -1 : 1;
    if (a->trend != b->trend) /* of one array, in reading order */
        return a->trend < b->trend ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

struct trend_card *trends_cards(const struct trends *t, size_t *nr)
{
    struct trend_card *cards = memory_zeroed(t->steps + t->drifts + 1, sizeof(*cards));

    *nr = 0;
    for (size_t i = 0; i < t->nr; i++) {
        const struct trend *trend = &t->items[i];
        for (size_t k = 0; k < trend->nr; k++)
            cards[(*nr)++] = card_of_step(trend, &trend->items[k]);
        if (trend->drifts)
            cards[(*nr)++] = card_of_drift(trend);
    }
    if (*nr)
        qsort(cards, *nr, sizeof(*cards), order_cards);
    return cards;
}

const struct run *trend_card_good(const struct trends *t, const struct trend_card *card)
{
    return trend_point_run(t, card->trend, card->low - 1);
}

const struct run *trend_card_bad(const struct trends *t, const struct trend_card *card)
{
    return trend_point_run(t, card->trend, card->high);
}

/* ---- the line ---- */

/* Points [begin, end) as `columns` medians. */
static void add_columns(struct trend_line *line, const struct series *s, size_t begin, size_t end,
                        size_t columns)
{
    double *values = memory_zeroed(end - begin + 1, sizeof(*values));

    for (size_t i = 0; i < columns; i++) {
        size_t from = begin + (end - begin) * i / columns;
        size_t to = begin + (end - begin) * (i + 1) / columns;
        for (size_t k = from; k < to; k++)
            values[k - from] = s->items[k].value;
        line->values[line->nr++] = stats_median(values, to - from);
    }
    free(values);
}

/* Of `most` columns those for the first `part` points of n: at least one, and one is left. */
static size_t columns_for(size_t part, size_t n, size_t most)
{
    size_t columns = (most * part + n / 2) / n;

    if (columns >= most)
        columns = most - 1;
    return columns ? columns : 1;
}

/* Where the levels on both sides of a step begin and end. */
static void find_levels(const struct trend_card *card, size_t *from, size_t *to)
{
    const struct trend *trend = card->trend;
    size_t nth = (size_t)(card->step - trend->items);

    *from = nth ? trend->items[nth - 1].index : 0;
    *to = nth + 1 < trend->nr ? trend->items[nth + 1].index : trend->series->nr;
}

void trend_line_init(struct trend_line *line, const struct trend_card *card, size_t most)
{
    const struct series *s = card->trend->series;
    size_t columns = s->nr < most ? s->nr : most, from, to;

    *line = (struct trend_line) { .values = memory_zeroed(columns + 1, sizeof(double)) };
    if (!card->step) {
        add_columns(line, s, 0, s->nr, columns);
        line->to = line->nr;
        return;
    }
    line->at = columns_for(card->step->index, s->nr, columns);
    add_columns(line, s, 0, card->step->index, line->at);
    add_columns(line, s, card->step->index, s->nr, columns - line->at);
    find_levels(card, &from, &to);
    line->from = line->at * from / card->step->index;
    line->to =
        line->at + (columns - line->at) * (to - card->step->index) / (s->nr - card->step->index);
}

void trend_line_release(struct trend_line *line)
{
    free(line->values);
    *line = (struct trend_line) { 0 };
}
