/* SPDX-License-Identifier: MIT */
#include "trend/trend.h"

#include "base/array.h"
#include "base/text.h"
#include "trend/mainline.h"
#include "trend/trend_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct metric *trend_metric(const char *id, struct error *err)
{
    const struct metric *metric = metric_find(id, err);

    if (metric && metric->direction == NO_DIRECTION) {
        error_set(err, "metric '%s' (%s) has no better and worse, so it cannot get worse",
                  metric->id, metric->label);
        return NULL;
    }
    return metric;
}

static struct changepoint_settings changepoint_settings(const struct trends *t)
{
    struct changepoint_settings s = CHANGEPOINT_DEFAULTS;

    s.level = t->settings.fdr;
    if (t->settings.min_segment)
        s.min_segment = t->settings.min_segment;
    return s;
}

/* A step in logs as a change for the worse, as a comparison tells what it could see: a rate falls.
 * More than the level itself: nobody knows. */
static double detectable_share(const struct trends *t, double logs)
{
    double sign = t->settings.metric->direction == HIGHER_IS_BETTER ? -1 : 1;

    return expm1(logs) > 1 ? NAN : fabs(expm1(sign * logs));
}

/* Steps and drift of one series, on the log scale. */
static int find_changes(const struct trends *t, struct trend *trend, struct changes *out,
                        struct error *err)
{
    struct changepoint_settings settings = changepoint_settings(t);
    const struct series *series = trend->series;
    double *logs = memory_zeroed(series->nr, sizeof(*logs));

    for (size_t i = 0; i < series->nr; i++)
        logs[i] = log(series->items[i].value);
    int rc = changes_find(logs, series->nr, &settings, out, err);
    /* At the level of one among all; the tests by ranks and likelihood make it 3 times in 4
     * (statistics_trend.c). */
    if (rc == 0)
        trend->detectable = detectable_share(
            t, changes_detectable(logs, series->nr, out, settings.level / (double)t->family));
    free(logs);
    return rc ? error_prefix(err, "%s", series->bench->key) : 0;
}

/* Each series by itself. They are independent, and there may be thousands. */
static int find_all(const struct trends *t, struct changes *all, struct error *err)
{
    int rc = 0;

#pragma omp parallel for schedule(dynamic, 16)
    for (size_t i = 0; i < t->nr; i++) {
        struct error own;
        if (t->items[i].kind == TREND_SHORT || find_changes(t, &t->items[i], &all[i], &own) == 0)
            continue;
#pragma omp critical
        {
            *err = own;
            rc = -1;
        }
    }
    return rc;
}

/* Benjamini and Hochberg: q of each p. Returns how many are selected. */
static size_t judge_family(const double *p, double *q, size_t nr, double fdr)
{
    size_t selected = 0;

    stats_fdr(p, q, nr);
    for (size_t i = 0; i < nr; i++)
        selected += q[i] <= fdr;
    return selected;
}

static bool is_worse(const struct trends *t, double change)
{
    return t->settings.metric->direction == HIGHER_IS_BETTER ? change < 0 : change > 0;
}

static struct interval ratio_interval(struct interval logs)
{
    return (struct interval) { expm1(logs.low), expm1(logs.high) };
}

/* The first point of the window that begins an epoch which the level before does not know. */
static size_t find_epoch(const struct series *s, size_t level_begin, size_t low, size_t high)
{
    for (size_t i = low; i <= high; i++) {
        bool known = s->items[i].epoch == s->items[i - 1].epoch;
        for (size_t k = level_begin; !known && k < low; k++)
            known = s->items[k].epoch == s->items[i].epoch;
        if (!known)
            return i;
    }
    return 0;
}

static struct trend_step make_step(const struct trends *t, const struct series *s,
                                   const struct changepoint *c, size_t level_begin)
{
    size_t low = c->low > 0 ? c->low : 1;
    size_t high = c->high < s->nr ? c->high : s->nr - 1;

    return (struct trend_step) {
        .index = c->index,
        .low = low,
        .high = high,
        .before = exp(c->before),
        .after = exp(c->after),
        .change = expm1(c->after - c->before),
        .interval = ratio_interval(c->change),
        .p = c->p,
        .worse = is_worse(t, c->after - c->before),
        .epoch = find_epoch(s, level_begin, low, high),
    };
}

/* A change, and the points of which one was seen by who accepts it. */
struct acceptable {
    double change;
    struct interval interval;
    size_t from, end;
};

static bool commit_within(const struct series *s, size_t from, size_t end, const char *commit)
{
    for (size_t i = from; i < end; i++)
        if (strcmp(s->items[i].commit, commit) == 0)
            return true;
    return false;
}

/* Of an acceptance that does not say when it was seen, only that it was there is known. */
static bool time_fits(const struct series *s, const struct acceptable *what,
                      const struct acceptance *a)
{
    int64_t from = s->items[what->from].time_ms;

    if (!a->seen_ms)
        return from <= a->accepted_ms;
    return from <= a->seen_ms && (what->end == s->nr || a->seen_ms < s->items[what->end].time_ms);
}

/* A commit names the change, unless it was measured without it, too: a machine changes as well, and
 * imported runs often have none. Then the time does. */
static bool place_fits(const struct series *s, const struct acceptable *what,
                       const struct acceptance *a)
{
    if (!commit_within(s, what->from, what->end, a->commit))
        return false;
    return !commit_within(s, 0, what->from, a->commit) || time_fits(s, what, a);
}

/* The near end of its interval is not beyond what was accepted. */
static bool size_fits(const struct acceptable *what, double accepted)
{
    bool up = what->change > 0;
    double near = up ? log1p(what->interval.low) : -log1p(what->interval.high);

    if (!isfinite(accepted) || (accepted > 0) != up) /* NaN: that it is broken was accepted */
        return false;
    return !(near > fabs(log1p(accepted)) + log1p(TREND_ACCEPT_MARGIN));
}

bool trend_card_within(const struct trend_card *card, double accepted)
{
    const struct acceptable what = { .change = card->change, .interval = card->interval };

    return size_fits(&what, accepted);
}

static const struct acceptance *find_acceptance(const struct trends *t, const struct series *s,
                                                const struct acceptable *what)
{
    for (size_t i = 0; i < t->settings.nr_accepted; i++) {
        const struct acceptance *a = &t->settings.accepted[i];
        if (strcmp(a->key, s->bench->key) == 0 && strcmp(a->metric, t->settings.metric->id) == 0 &&
            (!a->machine[0] || strcmp(a->machine, s->machine) == 0) && size_fits(what, a->change) &&
            place_fits(s, what, a))
            return a;
    }
    return NULL;
}

/* From the window on, before the next step. */
static struct acceptable acceptable_step(const struct trend_step *step, size_t level_end)
{
    size_t end = level_end > step->high ? level_end : step->high + 1;

    return (struct acceptable) { step->change, step->interval, step->low, end };
}

/* A step that was told stays, whatever the others of the family do since, while it stands. */
static void add_steps(struct trends *t, struct trend *trend, const struct changes *c,
                      const size_t *told)
{
    const struct series *s = trend->series;

    for (size_t i = 0; i < c->nr; i++) {
        size_t start = i ? c->items[i - 1].index : 0, known = told[c->items[i].id];
        size_t end = i + 1 < c->nr ? c->items[i + 1].index : s->nr;
        struct trend_span span = { start, c->items[i].index, end };
        if (!known)
            continue;
        if (!trend_was_large(s, &span, known, t->settings.delta)) {
            t->small++;
            trend->small++;
            continue;
        }
        struct trend_step step = make_step(t, s, &c->items[i], start);
        step.told = known;
        step.back = trend_undone(s, c, told, i, &step.left);
        struct acceptable what = acceptable_step(&step, end);
        step.accepted = find_acceptance(t, s, &what);
        *array_push(trend) = step;
        t->steps++;
        t->standing += step.worse && !step.back && !step.epoch && !step.accepted;
    }
}

/* What was told and does not stand. */
static void add_withdrawn(struct trends *t, struct trend *trend, const struct changes *c,
                          const size_t *told)
{
    const struct series *s = trend->series;
    size_t near = changepoint_settings(t).min_segment - 1;

    for (size_t i = 0; i < c->withdrawn.nr; i++) {
        const struct withdrawn_step *p = &c->withdrawn.items[i];
        struct trend_span span = { p->start, p->index, p->gone };
        if (!told[p->id] || !trend_was_large(s, &span, told[p->id], t->settings.delta))
            continue;
        *(struct trend_withdrawn *)array_push(&trend->withdrawn) = (struct trend_withdrawn) {
            .index = p->index,
            .low = p->index > near ? p->index - near : 1,
            .high = p->index + near < s->nr ? p->index + near : s->nr - 1,
            .told = told[p->id],
            .gone = p->gone,
            .before = exp(p->before),
            .after = exp(p->after),
            .change = expm1(p->after - p->before),
            .worse = is_worse(t, p->after - p->before),
            .why = p->why,
        };
        t->withdrawn++;
    }
}

/* A newest level that is shown by its series, and not by the family, or not sure enough yet. */
static void add_watch(struct trends *t, struct trend *trend, const struct changes *c,
                      const size_t *told, double q)
{
    const struct changepoint *last = c->nr ? &c->items[c->nr - 1] : NULL;
    struct watch w = { 0 };

    if (last && !told[last->id])
        w = (struct watch) { true, last->index, last->before, last->after, last->p };
    else if (c->watch.found && q <= t->settings.fdr)
        w = c->watch;
    double change = expm1(w.after - w.before);
    if (!w.found || fabs(change) < t->settings.delta)
        return;
    trend->watch = (struct trend_watch) {
        .found = true,
        .index = w.index,
        .before = exp(w.before),
        .after = exp(w.after),
        .change = change,
        .p = w.p,
        .worse = is_worse(t, change),
    };
    t->watched++;
}

/* Of the step that holds at a point; 1 without steps. */
static double level_at(const struct trend *trend, size_t point)
{
    double level = trend->nr ? trend->items[0].before : 1;

    for (size_t i = 0; i < trend->nr && trend->items[i].index <= point; i++)
        level = trend->items[i].after;
    return level;
}

/* The line that halves the points, at the drift's slope on the log scale. */
static double drift_middle(const struct trend *trend, double slope)
{
    const struct series *s = trend->series;
    double *rest = memory_zeroed(s->nr, sizeof(*rest));

    for (size_t i = 0; i < s->nr; i++)
        rest[i] = log(s->items[i].value / level_at(trend, i)) -
                  slope * ((double)i - (double)(s->nr - 1) / 2);
    double middle = stats_median(rest, s->nr);
    free(rest);
    return middle;
}

double trend_drift_at(const struct trend *trend, size_t point)
{
    double half = (double)(trend->series->nr - 1) / 2;
    double slope = log1p(trend->drift.total) / (2 * half);

    return level_at(trend, point) * exp(trend->drift.middle + slope * ((double)point - half));
}

static void add_drift(struct trends *t, struct trend *trend, const struct drift *d, double q)
{
    double intervals = (double)(trend->series->nr - 1);

    trend->drifts = true;
    trend->drift = (struct trend_drift) {
        .total = expm1(d->per_point * intervals),
        .middle = drift_middle(trend, d->per_point),
        .interval = { expm1(d->slope.low * intervals), expm1(d->slope.high * intervals) },
        .p = d->p,
        .q = q,
        .worse = is_worse(t, d->per_point),
    };
    struct acceptable what = { trend->drift.total, trend->drift.interval, 0, trend->series->nr };
    trend->drift.accepted = find_acceptance(t, trend->series, &what);
    t->drifts++;
}

static void add_modes(struct trends *t, struct trend *trend, const struct modes *m)
{
    if (!m->visits)
        return;
    trend->modes = (struct modes) { exp(m->low), exp(m->high), m->visits, m->usual };
    t->modes++;
}

struct families {
    double *step_p, *step_q, *drift_p, *drift_q, *watch_p, *watch_q;
};

static void decide_trends(struct trends *t, const struct changes *all, const struct families *f,
                          const struct trend_standing *standing)
{
    double fdr = t->settings.fdr;
    size_t steps = judge_family(f->step_p, f->step_q, t->nr, fdr);
    size_t drifts = judge_family(f->drift_p, f->drift_q, t->nr, fdr);

    judge_family(f->watch_p, f->watch_q, t->nr, fdr);
    if (t->family)
        t->chance = fdr * (fmax(1, (double)steps) + fmax(1, (double)drifts));
    for (size_t i = 0; i < t->nr; i++) {
        struct trend *trend = &t->items[i];
        trend->q = f->step_q[i];
        if (trend->hidden || trend->kind == TREND_SHORT)
            continue;
        add_modes(t, trend, &all[i].modes);
        add_steps(t, trend, &all[i], standing->told[i]);
        add_withdrawn(t, trend, &all[i], standing->told[i]);
        add_watch(t, trend, &all[i], standing->told[i], f->watch_q[i]);
        if (all[i].drift.found && f->drift_q[i] <= fdr)
            add_drift(t, trend, &all[i].drift, f->drift_q[i]);
        if (trend->nr || trend->drifts)
            trend->kind = TREND_MOVED;
        t->moved += trend->nr > 0;
    }
}

static void decide_all(struct trends *t, const struct changes *all)
{
    double *room = memory_zeroed(6 * t->nr + 1, sizeof(*room));
    struct families f = {
        room, room + t->nr, room + 2 * t->nr, room + 3 * t->nr, room + 4 * t->nr, room + 5 * t->nr
    };
    struct trend_standing standing;

    for (size_t i = 0; i < t->nr; i++) {
        struct trend *trend = &t->items[i];
        bool judged = trend->kind != TREND_SHORT;
        trend->p = judged ? all[i].p : NAN;
        trend->noise = judged ? all[i].noise : NAN;
        trend->correlation = judged ? all[i].correlation : NAN;
        f.step_p[i] = trend->p;
        f.drift_p[i] = judged ? (all[i].drift.found ? all[i].drift.p : 1) : NAN;
        f.watch_p[i] = judged ? (all[i].watch.found ? all[i].watch.p : 1) : NAN;
    }
    trend_standing_init(&standing, t, all);
    decide_trends(t, all, &f, &standing);
    trend_standing_release(&standing);
    free(room);
}

static int exit_status(const struct trends *t)
{
    if (t->standing)
        return EXIT_REGRESSION;
    return t->count[TREND_SHORT] == t->shown ? EXIT_UNDECIDED : EXIT_SAME;
}

static void choose_points(struct trends *t, const struct series_list *list)
{
    bool *merged = mainline_runs(t->records);

    t->searched = memory_zeroed(list->nr + 1, sizeof(*t->searched));
    for (size_t i = 0; i < list->nr; i++)
        t->searched[i] = mainline_points(&list->items[i], t->records, merged);
    for (size_t i = 0; i < t->records->nr_runs; i++)
        t->unmerged += !merged[i] && series_takes(&t->records->runs[i]);
    free(merged);
}

/* What has no logarithm: returns how many points go. */
static size_t leave_out_zeros(struct series *s)
{
    size_t all = s->nr;

    s->nr = 0;
    for (size_t i = 0; i < all; i++)
        if (s->items[i].value > 0)
            s->items[s->nr++] = s->items[i];
    return all - s->nr;
}

static void prepare_trends(struct trends *t, const struct series_list *list)
{
    choose_points(t, list);
    t->nr = list->nr;
    t->items = memory_zeroed(list->nr + 1, sizeof(*t->items));
    t->points_min = 2 * changepoint_settings(t).min_segment;
    for (size_t i = 0; i < list->nr; i++) {
        struct series *s = &t->searched[i];
        size_t left_out = leave_out_zeros(s);
        bool is_short = s->nr < t->points_min;
        t->items[i] = (struct trend) {
            .series = s,
            .left_out = left_out,
            .hidden =
                !text_filters_take(t->settings.filters, t->settings.nr_filters, s->bench->key),
            .kind = is_short ? TREND_SHORT : TREND_QUIET,
            .detectable = NAN,
        };
        t->family += !is_short;
        t->shown += !t->items[i].hidden;
        t->left_out += t->items[i].hidden ? 0 : left_out;
    }
}

int trends_find(const struct series_list *list, const struct records *records,
                const struct trend_settings *settings, struct trends *out, struct error *err)
{
    *out = (struct trends) { .settings = *settings, .records = records };
    prepare_trends(out, list);
    struct changes *all = memory_zeroed(list->nr + 1, sizeof(*all));
    int rc = find_all(out, all, err);
    if (rc == 0)
        decide_all(out, all);
    for (size_t i = 0; i < list->nr; i++)
        changes_release(&all[i]);
    free(all);
    for (size_t i = 0; i < out->nr; i++)
        out->count[out->items[i].kind] += !out->items[i].hidden;
    out->exit_status = exit_status(out);
    return rc;
}

void trends_release(struct trends *t)
{
    for (size_t i = 0; i < t->nr; i++) {
        free(t->items[i].items);
        array_release(&t->items[i].withdrawn);
        free(t->searched[i].items);
    }
    free(t->items);
    free(t->searched);
    *t = (struct trends) { 0 };
}
