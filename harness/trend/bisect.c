/* SPDX-License-Identifier: MIT */
#include "trend/bisect.h"

#include "base/array.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Places that cannot be told apart: after `before` up to `last`. Either end can be measured. */
struct cell {
    size_t before, last;
};

enum bisect_answer bisect_read(const struct compare_row *row, double floor)
{
    switch (row->verdict) {
    case VERDICT_BROKEN:
        return BISECT_WORSE;
    case VERDICT_REGRESSED:
        return fabs(log1p(row->change)) >= log1p(floor) ? BISECT_WORSE : BISECT_UNTOLD;
    case VERDICT_SAME:
    case VERDICT_IMPROVED:
    case VERDICT_FIXED:
        return BISECT_NOT_WORSE;
    default:
        return BISECT_UNTOLD;
    }
}

void bisect_init(struct bisect *b, size_t nr, const struct bisect_settings *settings)
{
    *b = (struct bisect) { .nr = nr, .settings = *settings };
    b->unbuilt = memory_zeroed(nr + 1, sizeof(*b->unbuilt));
    b->share = memory_zeroed(nr + 2, sizeof(*b->share));
    for (size_t i = 1; i <= nr; i++)
        b->share[i] = (1 - BISECT_DOUBT) / (double)nr;
    b->share[nr + 1] = BISECT_DOUBT;
}

void bisect_release(struct bisect *b)
{
    free(b->unbuilt);
    free(b->share);
    array_release(&b->steps);
    *b = (struct bisect) { 0 };
}

static size_t count_answers(const struct bisect *b, struct bisect_question q,
                            enum bisect_answer answer)
{
    size_t nr = 0;

    for (size_t i = 0; i < b->steps.nr; i++)
        nr += b->steps.items[i].question.from == q.from && b->steps.items[i].question.to == q.to &&
              b->steps.items[i].answer == answer;
    return nr;
}

static size_t count_told(const struct bisect *b, struct bisect_question q)
{
    return count_answers(b, q, BISECT_WORSE) + count_answers(b, q, BISECT_NOT_WORSE);
}

static bool can_ask(const struct bisect *b, struct bisect_question q)
{
    bool first = q.from == 0 && q.to == b->nr;
    size_t tries = first ? BISECT_UNTOLD_FIRST : BISECT_UNTOLD_MAX;

    return !b->unbuilt[q.from] && !b->unbuilt[q.to] && count_told(b, q) < BISECT_TOLD_MAX &&
           count_answers(b, q, BISECT_UNTOLD) < tries;
}

/* Nothing is known and nothing will be known of this place. */
static bool is_unknowable(const struct bisect *b, size_t place)
{
    struct bisect_question q = { 0, place };

    return b->unbuilt[place] ||
           (count_told(b, q) == 0 && count_answers(b, q, BISECT_UNTOLD) >= BISECT_UNTOLD_MAX);
}

/* The cell that begins after `before`. */
static struct cell cell_after(const struct bisect *b, size_t before)
{
    size_t last = before + 1;

    while (last < b->nr && is_unknowable(b, last))
        last++;
    return (struct cell) { before, last };
}

static double share_of(const struct bisect *b, size_t before, size_t last)
{
    double sum = 0;

    for (size_t i = before + 1; i <= last; i++)
        sum += b->share[i];
    return sum;
}

static double binary_entropy(double p)
{
    return p > 0 && p < 1 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;
}

/* Bits that an answer is expected to bring where "yes" has the probability `yes`. */
static double expected_bits(const struct bisect *b, struct bisect_question q, double yes)
{
    const struct bisect_settings *s = &b->settings;
    double worse = yes * (1 - s->missed) + (1 - yes) * s->false_alarm;
    double all = binary_entropy(worse) - yes * binary_entropy(s->missed) -
                 (1 - yes) * binary_entropy(s->false_alarm);

    return ldexp(all, -(int)count_answers(b, q, BISECT_UNTOLD));
}

struct choice_so_far {
    struct bisect_question question;
    double bits;
};

static void consider_question(const struct bisect *b, struct bisect_question q, double yes,
                              struct choice_so_far *best)
{
    double value = can_ask(b, q) ? expected_bits(b, q, yes) : 0;

    if (value <= best->bits * (1 + 1e-9)) /* of equals the first, whatever the rounding */
        return;
    *best = (struct choice_so_far) { q, value };
}

/* The most telling question of all; false if there is none. */
static bool choose_question(const struct bisect *b, struct bisect_question *question)
{
    struct choice_so_far best = { .bits = 0 };
    double below = 0;

    for (size_t before = 0; before < b->nr;) {
        struct cell cell = cell_after(b, before);
        double share = share_of(b, cell.before, cell.last);
        below += share;
        consider_question(b, (struct bisect_question) { 0, cell.last }, below, &best);
        if (share >= 0.5)
            consider_question(b, (struct bisect_question) { cell.before, cell.last }, share, &best);
        before = cell.last;
    }
    *question = best.question;
    return best.bits > 0;
}

struct bisect_range bisect_range(const struct bisect *b)
{
    struct bisect_range best = { 1, b->nr, share_of(b, 0, b->nr) };
    size_t from = 0;
    double share = 0;

    for (size_t before = 0; before < b->nr;) {
        struct cell end = cell_after(b, before);
        share += share_of(b, end.before, end.last);
        before = end.last;
        for (;;) { /* as many cells off the front as can be spared */
            size_t front = cell_after(b, from).last;
            double rest = share - share_of(b, from, front);
            if (front >= end.last || rest < b->settings.confidence)
                break;
            from = front;
            share = rest;
        }
        size_t length = end.last - from, shortest = best.last - best.first + 1;
        if (share >= b->settings.confidence &&
            (length < shortest || (length == shortest && share > best.confidence)))
            best = (struct bisect_range) { from + 1, end.last, share };
    }
    return best;
}

double bisect_left(const struct bisect *b)
{
    double all = share_of(b, 0, b->nr), sum = 0;

    for (size_t i = 1; i <= b->nr; i++) {
        double share = b->share[i] / all;
        sum -= share > 0 ? share * log2(share) : 0;
    }
    return exp2(sum);
}

/* The range is one cell, and its end was found worse than what is before it, or that cannot be
 * asked. Otherwise, where it is one cell, that is the question. */
static bool is_settled(const struct bisect *b, const struct bisect_range *range,
                       struct bisect_question *question, bool *one_cell)
{
    struct bisect_question q = { range->first - 1, range->last };

    *one_cell = cell_after(b, q.from).last == q.to && range->confidence >= b->settings.confidence;
    *question = q;
    return *one_cell && (count_answers(b, q, BISECT_WORSE) > 0 || !can_ask(b, q));
}

enum bisect_state bisect_next(const struct bisect *b, struct bisect_question *question)
{
    struct bisect_question whole = { 0, b->nr };
    struct bisect_range range = bisect_range(b);
    bool one_cell;

    if (count_told(b, whole) == 0) {
        *question = whole;
        return can_ask(b, whole) ? BISECT_ASK : BISECT_STUCK;
    }
    if (b->share[b->nr + 1] >= b->settings.confidence)
        return BISECT_NOTHING;
    if (is_settled(b, &range, question, &one_cell))
        return BISECT_FOUND;
    if (one_cell)
        return BISECT_ASK;
    return choose_question(b, question) ? BISECT_ASK : BISECT_STUCK;
}

/* How likely this answer is if `yes`, that is, if the culprit lies between the two places. */
static double answer_likelihood(const struct bisect_settings *s, enum bisect_answer answer,
                                bool yes)
{
    double worse = yes ? 1 - s->missed : s->false_alarm;

    return answer == BISECT_WORSE ? worse : 1 - worse;
}

void bisect_tell(struct bisect *b, struct bisect_question question, enum bisect_answer answer)
{
    struct bisect_step *step = array_push(&b->steps);
    double sum = 0;

    *step = (struct bisect_step) { question, answer };
    if (answer == BISECT_UNTOLD)
        return;
    for (size_t i = 1; i <= b->nr + 1; i++) {
        bool yes = i > question.from && i <= question.to;
        b->share[i] *= answer_likelihood(&b->settings, answer, yes);
        sum += b->share[i];
    }
    for (size_t i = 1; i <= b->nr + 1; i++)
        b->share[i] /= sum;
}

void bisect_unbuilt(struct bisect *b, size_t place)
{
    b->unbuilt[place] = true;
}
