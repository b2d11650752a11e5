/* SPDX-License-Identifier: MIT */
#include "output/chart_sequence.h"

#include "base/memory.h"
#include "output/textwidth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_SIZE = 12 };

static const struct group *group_of(const struct chart_samples *s, const struct chart_item *item)
{
    return &s->items.rows[item->run].groups.items[item->row];
}

static bool has_samples(const struct chart_samples *s, const struct chart_item *item,
                        const struct record *r)
{
    return &s->chart->records->runs[r->run] == item->of && r->m.outcome == OUTCOME_OK &&
           r->m.nr_samples > 0 && r->m.batch > 0;
}

bool sequence_keep_ordered(struct chart_samples *s)
{
    size_t kept = 0, all = s->items.nr;

    for (size_t i = 0; i < all; i++)
        if (!s->items.items[i].summary->m->thinned)
            s->items.items[kept++] = s->items.items[i];
    s->items.nr = kept;
    if (kept == 0)
        chart_absent(s->f,
                     "of %zu benchmark%s only summaries of the samples are kept (`harness history "
                     "prune`): the order in which they were measured is gone",
                     all, all == 1 ? "" : "s");
    return kept > 0;
}

double sequence_quantile(const struct sequence *sequence, size_t begin, size_t end, double p)
{
    double *part = memory_zeroed(end - begin + 1, sizeof(*part));
    size_t nr = 0;

    for (size_t i = begin; i < end; i++)
        if (isfinite(sequence->values[i]))
            part[nr++] = sequence->values[i];
    double value = stats_select_quantile(part, nr, p);
    free(part);
    return value;
}

static double interest_of(const struct sequence *sequence)
{
    enum { STRETCHES = 10 };
    double least = INFINITY, most = 0, median = sequence_quantile(sequence, 0, sequence->n, 0.5);

    for (size_t i = 0; i < STRETCHES; i++) {
        size_t begin = i * sequence->n / STRETCHES, end = (i + 1) * sequence->n / STRETCHES;
        double value = sequence_quantile(sequence, begin, end, 0.5);
        if (end - begin < 5 || !isfinite(value))
            continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    double moves = most > 0 ? (most - least) / median : 0;
    double tail = sequence_quantile(sequence, 0, sequence->n, 0.99) / median - 1;
    return moves + 0.25 * fmin(fmax(tail, 0), 4);
}

static void add_launch(struct sequence *sequence, const struct measurement *m,
                       struct sample_unit unit)
{
    sequence->starts[sequence->nr_launches++] = sequence->n;
    for (size_t i = 0; i < m->nr_samples; i++)
        sequence->values[sequence->n++] = sample_value(unit, (double)m->samples[i] / m->batch);
}

void sequence_init(struct sequence *sequence, const struct chart_samples *s,
                   const struct chart_item *item)
{
    const struct group *group = group_of(s, item);
    struct sample_unit unit = chart_samples_unit(s, item);

    *sequence = (struct sequence) { .item = item };
    sequence->starts = memory_zeroed(group->nr + 1, sizeof(*sequence->starts));
    sequence->values = memory_zeroed(item->summary->n + 1, sizeof(*sequence->values));
    for (size_t i = 0; i < group->nr; i++)
        if (has_samples(s, item, group->items[i]))
            add_launch(sequence, &group->items[i]->m, unit);
    sequence->starts[sequence->nr_launches] = sequence->n;
    sequence->interest = interest_of(sequence);
}

void sequence_release(struct sequence *sequence)
{
    free(sequence->values);
    free(sequence->starts);
}

static double launch_room(const struct sequence *sequence, double width, size_t k)
{
    double samples = (double)(sequence->starts[k + 1] - sequence->starts[k]);

    return width * samples / (double)sequence->n - 6;
}

/* What is too narrow for its number has no name and need not have room for one. */
static bool has_room_for_words(const struct sequence *sequence, double width)
{
    double number = text_width("00", TEXT_SIZE, false);
    double words = text_width("launch 00", TEXT_SIZE, false);

    for (size_t k = 0; k < sequence->nr_launches; k++) {
        double room = launch_room(sequence, width, k);
        if (room >= number && room < words)
            return false;
    }
    return true;
}

void sequence_launch_name(const struct sequence *sequence, double width, size_t k,
                          char name[SEQUENCE_NAME_SIZE])
{
    double room = launch_room(sequence, width, k);
    bool words = k == 0 || has_room_for_words(sequence, width);

    snprintf(name, SEQUENCE_NAME_SIZE, "launch %zu", k + 1);
    if (!words || text_width(name, TEXT_SIZE, false) > room)
        snprintf(name, SEQUENCE_NAME_SIZE, "%zu", k + 1);
    if (text_width(name, TEXT_SIZE, false) > room)
        name[0] = '\0';
}
