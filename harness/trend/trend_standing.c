/* SPDX-License-Identifier: MIT */
/* The nights of a whole history, one after the other: what each of them told, so that a later one
 * takes nothing back without a reason. A night is a time at which a series got a point. */
#include "trend/trend_parts.h"

#include "base/array.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* ---- which steps the family has selected ---- */

/* A look at a step, or where there is none, a series that became long enough to be judged. */
struct event {
    int64_t time_ms;
    size_t series;
    const struct step_look *look;
};

struct family {
    const struct trends *t;
    ARRAY(struct event) events;
    double **p;    /* of each step of each series, as of the night */
    size_t *nr;    /* steps of each series */
    double *least; /* scratch: the clearest of each series */
    size_t members;
};

static int by_night(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    if (a->series != b->series)
        return a->series < b->series ? -1 : 1;
    return (a->look > b->look) - (a->look < b->look); /* of one array, in order */
}

static void add_event(struct family *f, size_t series, size_t points, const struct step_look *look)
{
    int64_t time_ms = f->t->items[series].series->items[points - 1].time_ms;

    *(struct event *)array_push(&f->events) = (struct event) { time_ms, series, look };
}

static void family_init(struct family *f, const struct trends *t, const struct changes *all)
{
    *f = (struct family) { .t = t };
    f->p = memory_zeroed(t->nr + 1, sizeof(*f->p));
    f->nr = memory_zeroed(t->nr + 1, sizeof(*f->nr));
    f->least = memory_zeroed(t->nr + 1, sizeof(*f->least));
    for (size_t i = 0; i < t->nr; i++) {
        if (t->items[i].kind == TREND_SHORT)
            continue;
        add_event(f, i, t->points_min, NULL);
        for (size_t k = 0; k < all[i].looks.nr; k++) {
            const struct step_look *look = &all[i].looks.items[k];
            add_event(f, i, look->points, look);
            f->nr[i] = look->id + 1 > f->nr[i] ? look->id + 1 : f->nr[i];
        }
        f->p[i] = memory_zeroed(f->nr[i] + 1, sizeof(**f->p));
        for (size_t k = 0; k < f->nr[i]; k++)
            f->p[i][k] = 1;
    }
    if (f->events.nr)
        qsort(f->events.items, f->events.nr, sizeof(*f->events.items), by_night);
}

static void family_release(struct family *f)
{
    for (size_t i = 0; i < f->t->nr; i++)
        free(f->p[i]);
    free(f->p);
    free(f->nr);
    free(f->least);
    array_release(&f->events);
}

/* Largest p of a step that is told in this night: R fdr / m where Benjamini and Hochberg select R
 * of m series. */
static double told_below(struct family *f)
{
    double fdr = f->t->settings.fdr;
    size_t nr = 0, selected = 0;

    for (size_t i = 0; i < f->t->nr; i++) {
        double least = 1;
        for (size_t k = 0; k < f->nr[i]; k++)
            least = fmin(least, f->p[i][k]);
        if (least <= fdr)
            f->least[nr++] = least;
    }
    stats_sort(f->least, nr);
    for (size_t k = 0; k < nr; k++)
        if (f->least[k] * (double)f->members <= fdr * (double)(k + 1))
            selected = k + 1;
    return selected ? fdr * (double)selected / (double)f->members : -1;
}

static size_t points_at(const struct series *s, int64_t time_ms)
{
    size_t nr = s->nr;

    while (nr > 0 && s->items[nr - 1].time_ms > time_ms)
        nr--;
    return nr;
}

static void tell_family(struct family *f, int64_t time_ms, struct trend_standing *m)
{
    double limit = told_below(f);

    for (size_t i = 0; i < f->t->nr; i++)
        for (size_t k = 0; k < f->nr[i]; k++)
            if (!m->told[i][k] && f->p[i][k] <= limit)
                m->told[i][k] = points_at(f->t->items[i].series, time_ms);
}

void trend_standing_init(struct trend_standing *m, const struct trends *t,
                         const struct changes *all)
{
    struct family f;

    family_init(&f, t, all);
    *m = (struct trend_standing) { memory_zeroed(t->nr + 1, sizeof(*m->told)), t->nr };
    for (size_t i = 0; i < t->nr; i++)
        m->told[i] = memory_zeroed(f.nr[i] + 1, sizeof(**m->told));
    for (size_t i = 0; i < f.events.nr; i++) {
        const struct event *e = &f.events.items[i];
        if (e->look)
            f.p[e->series][e->look->id] = e->look->p;
        else
            f.members++;
        if (i + 1 == f.events.nr || e[1].time_ms != e->time_ms)
            tell_family(&f, e->time_ms, m);
    }
    family_release(&f);
}

void trend_standing_release(struct trend_standing *m)
{
    for (size_t i = 0; i < m->nr; i++)
        free(m->told[i]);
    free(m->told);
    *m = (struct trend_standing) { 0 };
}

/* ---- how large a step was, and what is left of it ---- */

static double level_of(const struct series *s, size_t from, size_t to)
{
    double *logs = memory_zeroed(to - from + 1, sizeof(*logs));

    for (size_t i = from; i < to; i++)
        logs[i - from] = log(s->items[i].value);
    double median = stats_median(logs, to - from);
    free(logs);
    return median;
}

/* The first night of a level that counts, and the one after a night: each at first, later ever more
 * rarely. They depend on nothing that comes later. */
static size_t first_night(const struct trend_span *span, size_t told)
{
    size_t first = told > span->index ? told : span->index + 1;

    return first < span->end ? first : span->end;
}

static size_t next_night(const struct trend_span *span, size_t night)
{
    enum { EACH = 64 };
    size_t age = night - span->index;

    return night + (age < EACH ? 1 : 2 * age / EACH);
}

bool trend_was_large(const struct series *s, const struct trend_span *span, size_t told,
                     double delta)
{
    double before = level_of(s, span->start, span->index);

    for (size_t night = first_night(span, told); night <= span->end;
         night = next_night(span, night))
        if (fabs(expm1(level_of(s, span->index, night) - before)) >= delta)
            return true;
    return false;
}

static struct trend_span span_of(const struct series *s, const struct changes *c, size_t i)
{
    return (struct trend_span) { i ? c->items[i - 1].index : 0, c->items[i].index,
                                 i + 1 < c->nr ? c->items[i + 1].index : s->nr };
}

/* It is undone when a quarter is left, and there again when more than half of it is: an estimate
 * that moves a little from night to night is no news. Values that come in units may make the levels
 * of a step the same by now: nothing can undo it then. */
size_t trend_undone(const struct series *s, const struct changes *c, const size_t *told, size_t i,
                    double *left)
{
    static const double undone = 0.25, again = 0.5;
    struct trend_span own = span_of(s, c, i);
    double before = level_of(s, own.start, own.index);
    double size = level_of(s, own.index, own.end) - before;
    size_t back = 0;

    *left = 1;
    for (size_t j = i + 1; j < c->nr; j++) {
        struct trend_span later = span_of(s, c, j);
        size_t known = told[c->items[j].id];
        for (size_t night = first_night(&later, known); known && night <= later.end;
             night = next_night(&later, night)) {
            *left = size != 0 ? (level_of(s, later.index, night) - before) / size : 1;
            back = *left <= undone && !back ? later.index : *left > again ? 0 : back;
        }
    }
    return back;
}
