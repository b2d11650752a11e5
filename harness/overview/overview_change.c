/* SPDX-License-Identifier: MIT */
/* The change that matters most, with its history: since when, and by which commit. */
#include "base/array.h"
#include "base/text.h"
#include "metrics/label.h"
#include "overview/overview_parts.h"
#include "reporters/compare_words.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGE_POINTS = 400, CHANGE_COMMIT = 7 };

/* Steps whose first run began in (after_ms, until_ms]. */
struct change_span {
    int64_t after_ms, until_ms;
};

static const struct change_span change_ever = { INT64_MIN, INT64_MAX };

/* The worst step of a series that stands, with nothing to excuse it; NULL: none does. */
static const struct trend_step *change_standing(const struct overview_making *m,
                                                const struct trend *trend, struct change_span span)
{
    const struct trend_step *worst = NULL;

    for (size_t i = 0; i < trend->nr; i++) {
        const struct trend_step *step = &trend->items[i];
        int64_t ms = trend_point_run(m->input->trends, trend, step->index)->started_ms;
        bool stands = step->worse && !step->back && !step->accepted && !step->epoch;
        if (stands && ms > span.after_ms && ms <= span.until_ms &&
            (!worst || fabs(log1p(step->change)) > fabs(log1p(worst->change))))
            worst = step;
    }
    return worst;
}

/* What came after the head is no part of its picture. */
static struct change_span change_until_head(const struct overview_making *m)
{
    return (struct change_span) { INT64_MIN, m->head->started_ms };
}

/* Only what came between its sides can have made the change of a comparison. */
static struct change_span change_of_sides(const struct overview_making *m)
{
    struct change_span span = change_until_head(m);

    if (m->input->base)
        span.after_ms = m->input->base->started_ms;
    return span;
}

static bool change_drifts_worse(const struct trend *trend)
{
    return trend->drifts && trend->drift.worse;
}

/* With nothing to excuse it. */
static bool change_drift_stands(const struct trend *trend)
{
    return change_drifts_worse(trend) && !trend->drift.accepted;
}

size_t overview_count_slower(const struct overview_making *m)
{
    size_t nr = 0;

    for (size_t i = 0; i < m->nr_trends; i++)
        nr += change_standing(m, m->trends[i], change_ever) || change_drift_stands(m->trends[i]);
    return nr;
}

/* ---- which one ---- */

/* A candidate, and how much it weighs: the log of the factor. */
struct change_pick {
    const struct compare_row *row;
    const struct trend *trend;
    const struct trend_step *step; /* NULL with a trend: its drift */
    double weight;
};

static void change_pick_row(const struct overview_making *m, enum verdict verdict,
                            struct change_pick *pick)
{
    const struct comparison *c = m->input->comparison;

    for (size_t i = 0; c && i < c->nr; i++) {
        const struct compare_row *row = &c->rows[i];
        double weight = fabs(log1p(row->change));
        if (row->verdict == verdict && !row->accepted && isfinite(weight) && weight > pick->weight)
            *pick = (struct change_pick) { .row = row, .weight = weight };
    }
}

static void change_pick_trend(const struct overview_making *m, struct change_span span,
                              struct change_pick *pick)
{
    for (size_t i = 0; i < m->nr_trends; i++) {
        const struct trend *trend = m->trends[i];
        const struct trend_step *step = change_standing(m, trend, span);
        double stepped = step ? fabs(log1p(step->change)) : 0;
        double drifted = change_drift_stands(trend) ? fabs(log1p(trend->drift.total)) : 0;
        if (fmax(stepped, drifted) > pick->weight)
            *pick = (struct change_pick) { .trend = trend,
                                           .step = stepped >= drifted ? step : NULL,
                                           .weight = fmax(stepped, drifted) };
    }
}

/* What the comparison calls slower comes first: it is what was asked. */
static struct change_pick change_pick_worst(const struct overview_making *m)
{
    struct change_pick pick = { 0 };

    change_pick_row(m, VERDICT_REGRESSED, &pick);
    if (!pick.row)
        change_pick_trend(m, change_until_head(m), &pick);
    if (!pick.row && !pick.trend)
        change_pick_row(m, VERDICT_IMPROVED, &pick);
    return pick;
}

/* All that is known by this kernel's name: in the run, or of several runs in the comparison. */
static size_t change_names_of(const struct overview_making *m, const char *kernel,
                              const struct benchmark_name **names)
{
    const struct comparison *c = m->input->comparison;
    size_t nr = 0;

    for (size_t i = 0; i < m->rows.nr; i++)
        if (strcmp(m->rows.items[i].bench->kernel, kernel) == 0)
            names[nr++] = m->rows.items[i].bench;
    for (size_t i = 0; c && i < c->nr; i++)
        if (strcmp(c->rows[i].item->bench->kernel, kernel) == 0 &&
            !overview_row_of(m, c->rows[i].item->bench->key))
            names[nr++] = c->rows[i].item->bench;
    return nr;
}

/* "gemm/linear simd batch=4": what tells it from the others of its kernel, behind the kernel's
 * name. free() it. */
static char *change_label(const struct overview_making *m, const struct benchmark_name *bench)
{
    size_t most = m->rows.nr + (m->input->comparison ? m->input->comparison->nr : 0);
    const struct benchmark_name **names = memory_zeroed(most + 1, sizeof(*names));
    size_t nr = change_names_of(m, bench->kernel, names), own = 0;
    struct strbuf label;

    while (own < nr && strcmp(names[own]->key, bench->key) != 0)
        own++;
    char **labels = labels_create(names, nr);
    strbuf_init(&label);
    if (own == nr || (nr > 1 && strcmp(labels[own], bench->key) == 0))
        strbuf_adds(&label, bench->key);
    else
        strbuf_addf(&label, "%s%s%s", bench->kernel, nr > 1 ? " " : "", nr > 1 ? labels[own] : "");
    labels_free(labels, nr);
    free(names);
    return strbuf_detach(&label);
}

/* Of all that stand slower over the history, the one that moved the most, as a part of a sentence.
 */
void overview_say_slowest(const struct overview_making *m, struct strbuf *out)
{
    struct change_pick pick = { 0 };
    char share[TEXT_UNIT_SIZE];

    change_pick_trend(m, change_ever, &pick);
    if (!pick.trend)
        return;
    char *label = change_label(m, pick.trend->series->bench);
    double change = pick.step ? pick.step->change : pick.trend->drift.total;
    strbuf_addf(out, "; the most %s, by %s%s", label, text_percent_size(change, share),
                pick.step ? "" : ", little by little");
    free(label);
}

/* ---- its words ---- */

static void change_add_commit(const struct run *run, struct strbuf *out)
{
    strbuf_addf(out, "%.*s%s", CHANGE_COMMIT, run->build.commit[0] ? run->build.commit : "?",
                run->build.dirty ? "+" : "");
}

/* "since 2026-10-12, after 3f2a91c, by 9be01aa" */
static void change_say_since(struct overview_change *change)
{
    struct strbuf out;
    char when[TEXT_UNIT_SIZE];
    const struct run *from = change->from, *to = change->to;

    strbuf_init(&out);
    if (to && change->source == OVERVIEW_DRIFT) {
        strbuf_addf(&out, "little by little from %.10s", text_timestamp(from->started_ms, when));
        strbuf_addf(&out, " to %.10s", text_timestamp(to->started_ms, when));
    } else if (to) {
        strbuf_addf(&out, "since %.10s", text_timestamp(to->started_ms, when));
    }
    if (to && to->build.commit[0]) {
        bool same = from && strcmp(from->build.commit, to->build.commit) == 0;
        strbuf_adds(&out, same || !from ? ", commit " : ", commits ");
        if (from && !same) {
            change_add_commit(from, &out);
            strbuf_adds(&out, "..");
        }
        change_add_commit(to, &out);
    }
    change->since = strbuf_detach(&out);
}

static void change_say_title(struct overview_change *change)
{
    char words[QUANTITY_TEXT_SIZE];
    struct strbuf out;

    strbuf_init(&out);
    strbuf_addf(&out, "%s: %s", change->label,
                compare_change_words(change->change,
                                     change->worse ? VERDICT_REGRESSED : VERDICT_IMPROVED,
                                     change->metric, words));
    change->title = strbuf_detach(&out);
}

static void change_say_values(struct overview_change *change)
{
    struct chart_metric metric = chart_metric_of(change->metric);
    char before[QUANTITY_TEXT_SIZE], after[QUANTITY_TEXT_SIZE], range[TEXT_UNIT_SIZE];
    struct strbuf out;

    strbuf_init(&out);
    strbuf_addf(&out, "%s → %s", chart_text(&metric, change->before, before),
                chart_text(&metric, change->after, after));
    if (isfinite(change->interval.low) && isfinite(change->interval.high))
        strbuf_addf(&out, " (%s)",
                    text_percent_range(change->interval.low, change->interval.high, range));
    change->values = strbuf_detach(&out);
}

/* ---- its points ---- */

static struct overview_point *change_push(struct overview_change *change)
{
    return &change->points[change->nr_points++];
}

/* The newest runs of the series, and the head where it is none of them. */
static void change_add_series(const struct overview_making *m, const struct trend *trend,
                              struct overview_change *change)
{
    const struct trends *t = m->input->trends;
    const struct series *s = trend->series;
    size_t first = s->nr > CHANGE_POINTS ? s->nr - CHANGE_POINTS : 0, step = change->step;
    bool ends = s->nr && strcmp(trend_point_run(t, trend, s->nr - 1)->uuid, m->head->uuid) == 0;

    change->points = memory_zeroed(s->nr - first + 1, sizeof(*change->points));
    for (size_t i = first; i < s->nr; i++) {
        const struct run *run = trend_point_run(t, trend, i);
        if (run->started_ms > m->head->started_ms)
            break;
        *change_push(change) = (struct overview_point) {
            .run = run,
            .value = s->items[i].value,
            .head = strcmp(run->uuid, m->head->uuid) == 0,
            .after = step && i >= step,
        };
    }
    change->step = step > first ? step - first : 0;
    const struct run_row *row = overview_row_of(m, change->bench->key);
    if (!ends && row && row->summary.n &&
        !(change->nr_points && change->points[change->nr_points - 1].head))
        *change_push(change) = (struct overview_point) {
            .run = m->head,
            .value = metric_get("p50", &row->summary, NULL).value,
            .head = true,
            .after = true,
        };
}

static void change_add_side(const struct evidence_side *side, double factor, bool head,
                            struct overview_change *change)
{
    for (size_t i = 0; i < side->nr; i++)
        *change_push(change) = (struct overview_point) {
            .value = side->values[i].value * factor,
            .head = head,
            .after = head,
        };
}

/* Without a history the launches of both sides are what there is to see. */
static void change_add_launches(const struct compare_row *row, struct overview_change *change)
{
    const struct evidence *e = &row->item->evidence;
    double factor = chart_metric_of(row->item->metric).factor;

    change->points = memory_zeroed(e->base.nr + e->head.nr + 1, sizeof(*change->points));
    change_add_side(&e->base, factor, false, change);
    change->step = change->nr_points;
    change_add_side(&e->head, factor, true, change);
    change->launches = true;
}

/* ---- together ---- */

static void change_of_step(const struct overview_making *m, const struct trend *trend,
                           const struct trend_step *step, struct overview_change *change)
{
    struct strbuf note;

    change->source = OVERVIEW_STEP;
    change->step = step->index;
    change->from = trend_run_before(m->input->trends, trend, step);
    change->to = trend_run_after(m->input->trends, trend, step);
    strbuf_init(&note);
    trend_note(m->input->trends, trend, step, &note);
    change->note = strbuf_detach(&note);
}

static void change_of_drift(const struct overview_making *m, const struct trend *trend,
                            struct overview_change *change)
{
    change->source = OVERVIEW_DRIFT;
    change->from = trend_point_run(m->input->trends, trend, 0);
    change->to = trend_point_run(m->input->trends, trend, trend->series->nr - 1);
}

static void change_from_trend(const struct overview_making *m, const struct change_pick *pick,
                              struct overview_change *change)
{
    const struct series *s = pick->trend->series;

    change->bench = s->bench;
    change->metric = m->input->trends->settings.metric;
    change->worse = true;
    if (pick->step) {
        change->before = pick->step->before;
        change->after = pick->step->after;
        change->change = pick->step->change;
        change->interval = pick->step->interval;
        change_of_step(m, pick->trend, pick->step, change);
    } else {
        change->change = pick->trend->drift.total;
        change->interval = pick->trend->drift.interval;
        change->after = trend_drift_at(pick->trend, s->nr - 1);
        change->before = change->after / (1 + change->change);
        change_of_drift(m, pick->trend, change);
    }
    change_add_series(m, pick->trend, change);
}

/* Where the search tells no step: the first of the last runs that all lie nearer to the head's
 * level than to the base's. What was measured between base and head narrows down which commit it
 * was; the base itself, change->from, did not have it yet. */
static void change_narrow(struct overview_change *change)
{
    double middle = sqrt(change->before * change->after);
    int64_t base_ms = change->from ? change->from->started_ms : INT64_MIN;
    size_t at = change->nr_points - 1;

    while (at > 1 && change->points[at - 1].run->started_ms > base_ms &&
           (change->points[at - 1].value > middle) == (change->after > middle))
        at--;
    change->step = at;
    for (size_t i = at; i < change->nr_points; i++)
        change->points[i].after = true;
    if (change->points[at - 1].run->started_ms > base_ms)
        change->from = change->points[at - 1].run;
    change->to = change->points[at].run;
}

/* Measured in turn, the sides are no stretches of a history: no run between them changed anything.
 */
static bool change_is_interleaved(const struct overview_making *m)
{
    const struct records *head = m->input->head;

    for (size_t i = 0; head && m->input->base && i < head->nr_runs; i++)
        if (head->runs[i].started_ms < m->input->base->started_ms)
            return true;
    return false;
}

/* A drift from base to head: what lies before the base is no part of it. */
static void change_drop_older(const struct run *base, struct overview_change *change)
{
    size_t older = 0;

    while (older + 2 < change->nr_points &&
           change->points[older].run->started_ms < base->started_ms)
        older++;
    change->nr_points -= older;
    memmove(change->points, change->points + older, change->nr_points * sizeof(*change->points));
}

static void change_from_row(const struct overview_making *m, const struct compare_row *row,
                            struct overview_change *change)
{
    const struct trend *trend =
        run_is_on(m->head, row->item->machine) ? overview_trend_of(m, row->item->bench->key) : NULL;
    const struct trend_step *step =
        trend && row->worse ? change_standing(m, trend, change_of_sides(m)) : NULL;
    double factor = chart_metric_of(row->item->metric).factor;

    change->bench = row->item->bench;
    change->metric = row->item->metric;
    change->source = OVERVIEW_COMPARED;
    change->before = row->base.value * factor;
    change->after = row->head.value * factor;
    change->change = row->change;
    change->interval = row->interval;
    change->worse = row->worse;
    change->from = m->input->base;
    change->to = m->head;
    if (!trend || trend->series->nr < 3 || strcmp(row->item->metric->id, "p50") != 0 ||
        change_is_interleaved(m)) {
        change_add_launches(row, change);
        return;
    }
    if (step)
        change_of_step(m, trend, step, change);
    else if (row->worse && change_drifts_worse(trend))
        change->source = OVERVIEW_DRIFT;
    change_add_series(m, trend, change);
    if (change->source == OVERVIEW_DRIFT && change->from)
        change_drop_older(change->from, change);
    else if (!change->step && change->nr_points > 1)
        change_narrow(change);
}

/* Where there are several machine classes: "gemm/nn simd on epyc". */
static void change_name_machine(const struct overview_making *m, const struct compare_row *row,
                                struct overview_change *change)
{
    const struct compare_several several = { .machines =
                                                 compare_several(m->input->comparison).machines };
    struct strbuf label;

    strbuf_init(&label);
    strbuf_adds(&label, change->label);
    compare_add_which(&several, row, &label);
    free(change->label);
    change->label = strbuf_detach(&label);
}

void overview_find_change(struct overview_making *m)
{
    struct overview_change *change = &m->out->change;
    struct change_pick pick = change_pick_worst(m);

    if (!pick.row && !pick.trend)
        return;
    *change = (struct overview_change) { .found = true };
    if (pick.row)
        change_from_row(m, pick.row, change);
    else
        change_from_trend(m, &pick, change);
    change->label = change_label(m, change->bench);
    if (pick.row)
        change_name_machine(m, pick.row, change);
    change_say_title(change);
    change_say_values(change);
    change_say_since(change);
    if (!change->note)
        change->note = memory_string("");
}
