/* SPDX-License-Identifier: MIT */
/* What the nights said: when each step was named, how clear it became, and why it went. */
#include "base/array.h"
#include "trend/changepoint_parts.h"

#include <string.h>

const char *step_end_words(enum step_end why)
{
    static const char *const words[] = {
        [STEP_EXPLAINED] = "a slope, a curve or wilder noise explains the points better",
        [STEP_OVERTAKEN] = "the next step explains the points better",
        [STEP_MODES] = "it is a switch between two modes that come back",
        [STEP_BRIEF] = "it went back before it was sure",
    };

    return words[why];
}

/* Nights before `since` were told otherwise: nothing is told of them again. */
static void add_look(struct search_log *p, size_t id, size_t points, double value)
{
    if (points >= p->since)
        *(struct step_look *)array_push(&p->looks) = (struct step_look) { points, id, value };
}

static bool is_near(size_t a, size_t b, size_t least)
{
    return a < b + least && b < a + least;
}

/* A step that was withdrawn and is named again at its place is one, first named when it was. */
static void take_over(struct search_log *p, struct cut *cut, bool up, size_t least)
{
    for (size_t i = p->gone.nr; i-- > 0;) {
        struct withdrawn_step *gone = &p->gone.items[i];
        if (!is_near(gone->index, cut->index, least) || (gone->after > gone->before) != up)
            continue;
        cut->id = gone->id;
        cut->named = gone->named;
        memmove(gone, gone + 1, (p->gone.nr - i - 1) * sizeof(*gone));
        p->gone.nr--;
        return;
    }
}

static void tell_cut(struct search_log *p, struct cut *cut, size_t points, bool up, size_t least)
{
    cut->named = points;
    take_over(p, cut, up, least);
    add_look(p, cut->id, points, cut->p);
}

void log_name(struct search_log *p, struct cut *cut, size_t points, bool up, size_t least)
{
    cut->id = p->next++;
    cut->up = up;
    if (points >= p->since)
        tell_cut(p, cut, points, up, least);
}

void log_begin(struct search_log *p, struct cut_list *cuts, size_t least)
{
    for (size_t i = 0; i < cuts->nr; i++)
        if (!cuts->items[i].gone)
            tell_cut(p, &cuts->items[i], p->since, cuts->items[i].up, least);
}

void log_look(struct search_log *p, const struct cut *cut, size_t points)
{
    add_look(p, cut->id, points, cut->p);
}

/* Are the newest points where those before the step were? */
static bool was_brief(const double *x, size_t points, const struct withdrawn_step *gone)
{
    enum { FIRST = 4, NEWEST = 3 };

    if (points < gone->index + FIRST + NEWEST)
        return false;
    struct cut_list none = { 0 };
    double size = segment_level(x + gone->index, FIRST, &none, 0) - gone->before;
    double left = segment_level(x + points - NEWEST, NEWEST, &none, 0) - gone->before;
    return left / size <= 0.25;
}

void log_withdraw(struct search_log *p, const double *x, size_t points, const struct cut_list *cuts,
                  size_t i, enum step_end why)
{
    const struct cut *cut = &cuts->items[i];

    add_look(p, cut->id, points, 1);
    if (points < p->since || points <= cut->named) /* it was never told */
        return;
    struct withdrawn_step *gone = array_push(&p->gone);
    *gone = (struct withdrawn_step) {
        .id = cut->id,
        .start = segment_start(cuts, i),
        .index = cut->index,
        .named = cut->named,
        .gone = points,
        .before = segment_level(x, points, cuts, i),
        .after = segment_level(x, points, cuts, i + 1),
        .why = why,
    };
    if (why == STEP_EXPLAINED && was_brief(x, points, gone))
        gone->why = STEP_BRIEF;
}
