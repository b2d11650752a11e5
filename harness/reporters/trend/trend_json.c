/* SPDX-License-Identifier: MIT */
#include "reporters/trend/trend_json.h"

#include "base/json.h"
#include "base/text.h"
#include "chart/base/chart_base.h"
#include "metrics/epoch.h"
#include "reporters/trend/step_line.h"
#include "reporters/trend/trend_cards.h"
#include "reporters/trend/trend_command.h"

#include <stdlib.h>
#include <string.h>

static void trend_json_add_interval(cJSON *json, const char *key, const struct interval *interval)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);

    json_add_number(object, "low", interval->low);
    json_add_number(object, "high", interval->high);
}

static void trend_json_add_run(cJSON *json, const char *key, const struct run *run)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);

    json_add_int(object, "run", run->id);
    json_add_int(object, "time_ms", run->started_ms);
    json_add_string(object, "commit", run->build.commit);
    cJSON_AddBoolToObject(object, "dirty", run->build.dirty);
}

/* A run beside a change: with the page of its commit, where one is known. */
static void trend_json_add_end(cJSON *json, const char *key, const struct trends *t,
                               const struct run *run)
{
    const struct trend_repository *repository = t->settings.repository;
    const char *address = NULL;
    struct strbuf whole;

    trend_json_add_run(json, key, run);
    if (repository && run->build.commit[0])
        address = repository->address(repository->context, run->build.commit);
    if (!address)
        return;
    strbuf_init(&whole);
    strbuf_addf(&whole, "%s%s", address, run->build.commit);
    json_add_string(cJSON_GetObjectItemCaseSensitive(json, key), "address", whole.data);
    strbuf_release(&whole);
}

static cJSON *trend_json_add_series(cJSON *array, const struct trend *trend)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddItemToArray(array, json);
    json_add_string(json, "key", trend->series->bench->key);
    json_add_string(json, "machine", trend->series->machine);
    json_add_int(json, "points", (int64_t)trend->series->nr);
    if (trend->left_out)
        json_add_int(json, "left_out", (int64_t)trend->left_out);
    return json;
}

static cJSON *trend_json_add_place(cJSON *array, const struct trend *trend, size_t index)
{
    cJSON *json = trend_json_add_series(array, trend);

    json_add_int(json, "time_ms", trend->series->items[index].time_ms);
    json_add_int(json, "index", (int64_t)index);
    return json;
}

static void trend_json_add_levels(cJSON *json, double before, double after, double change,
                                  bool worse)
{
    json_add_number(json, "before", before);
    json_add_number(json, "after", after);
    json_add_number(json, "change", change);
    cJSON_AddBoolToObject(json, "worse", worse);
}

static void trend_json_add_evidence(cJSON *json, double p, double q)
{
    json_add_number(json, "p", p);
    json_add_number(json, "q", q);
}

static void trend_json_add_modes(cJSON *json, const struct modes *modes)
{
    if (!modes->visits)
        return;
    cJSON *object = cJSON_AddObjectToObject(json, "modes");
    json_add_number(object, "low", modes->low);
    json_add_number(object, "high", modes->high);
    json_add_int(object, "visits", (int64_t)modes->visits);
    json_add_number(object, "points", modes->usual);
}

static void trend_json_add_accepted(cJSON *json, const struct acceptance *accepted)
{
    json_add_string(json, "accepted", accepted->reason);
    json_add_string(json, "accepted_by", accepted->author);
    json_add_int(json, "accepted_ms", accepted->accepted_ms);
}

static void trend_json_add_step(cJSON *array, const struct trends *t, const struct trend_row *row)
{
    const struct trend_step *step = row->step;
    const struct series *s = row->trend->series;
    cJSON *json = trend_json_add_place(array, row->trend, step->index), *window;

    window = cJSON_AddArrayToObject(json, "interval");
    cJSON_AddItemToArray(window, cJSON_CreateNumber((double)step->low));
    cJSON_AddItemToArray(window, cJSON_CreateNumber((double)step->high));
    trend_json_add_end(json, "good", t, trend_run_before(t, row->trend, step));
    trend_json_add_end(json, "bad", t, trend_run_after(t, row->trend, step));
    trend_json_add_levels(json, step->before, step->after, step->change, step->worse);
    trend_json_add_interval(json, "change_interval", &step->interval);
    trend_json_add_run(json, "told", trend_point_run(t, row->trend, step->told - 1));
    trend_json_add_evidence(json, step->p, row->trend->q);
    if (step->back)
        trend_json_add_run(json, "back", &t->records->runs[s->items[step->back].run]);
    /* What a person reads beside a step. */
    struct strbuf text;
    strbuf_init(&text);
    trend_state(t, row->trend, row->step, &text);
    json_add_string(json, "state", text.data);
    strbuf_clear(&text);
    trend_environment(t, row->trend, row->step, &text);
    json_add_string(json, "surroundings", text.data);
    if (row->step->accepted)
        trend_json_add_accepted(json, row->step->accepted);
    strbuf_release(&text);
    trend_json_add_modes(json, &row->trend->modes);
}

static void trend_json_add_withdrawn(cJSON *array, const struct trends *t,
                                     const struct trend *trend, const struct trend_withdrawn *step)
{
    cJSON *json = trend_json_add_place(array, trend, step->index);
    struct strbuf text;

    trend_json_add_run(json, "good", trend_point_run(t, trend, step->low - 1));
    trend_json_add_run(json, "bad", trend_point_run(t, trend, step->high));
    trend_json_add_levels(json, step->before, step->after, step->change, step->worse);
    trend_json_add_run(json, "told", trend_point_run(t, trend, step->told - 1));
    trend_json_add_run(json, "gone", trend_point_run(t, trend, step->gone - 1));
    strbuf_init(&text);
    trend_withdrawn_state(t, trend, step, &text);
    json_add_string(json, "state", text.data);
    strbuf_release(&text);
}

static void trend_json_add_watch(cJSON *array, const struct trends *t, const struct trend *trend)
{
    const struct trend_watch *w = &trend->watch;
    cJSON *json = trend_json_add_place(array, trend, w->index);

    trend_json_add_run(json, "good", trend_point_run(t, trend, w->index - 1));
    trend_json_add_run(json, "bad", trend_point_run(t, trend, w->index));
    trend_json_add_levels(json, w->before, w->after, w->change, w->worse);
    json_add_number(json, "p", w->p);
}

static void trend_json_add_drift(cJSON *array, const struct trends *t, const struct trend *trend)
{
    cJSON *json = trend_json_add_series(array, trend);
    size_t last = trend->series->nr - 1;
    double after = trend_drift_at(trend, last);

    trend_json_add_end(json, "good", t, trend_point_run(t, trend, 0));
    trend_json_add_end(json, "bad", t, trend_point_run(t, trend, last));
    json_add_number(json, "before", after / (1 + trend->drift.total));
    json_add_number(json, "after", after);
    json_add_number(json, "change", trend->drift.total);
    trend_json_add_interval(json, "change_interval", &trend->drift.interval);
    cJSON_AddBoolToObject(json, "worse", trend->drift.worse);
    trend_json_add_evidence(json, trend->drift.p, trend->drift.q);
    if (trend->drift.accepted)
        trend_json_add_accepted(json, trend->drift.accepted);
}

static void trend_json_add_quiet(cJSON *array, const struct trend *trend)
{
    cJSON *json = trend_json_add_series(array, trend);

    json_add_number(json, "noise", trend->noise);
    json_add_number(json, "correlation", trend->correlation);
    json_add_number(json, "could_see", trend->detectable);
    trend_json_add_evidence(json, trend->p, trend->q);
    trend_json_add_modes(json, &trend->modes);
}

static void trend_json_add_counts(cJSON *json, const struct trends *t)
{
    cJSON *counts = cJSON_AddObjectToObject(json, "counts");

    json_add_int(counts, "series", (int64_t)t->shown);
    json_add_int(counts, "short", (int64_t)t->count[TREND_SHORT]);
    json_add_int(counts, "quiet", (int64_t)t->count[TREND_QUIET]);
    json_add_int(counts, "moved", (int64_t)t->moved);
    json_add_int(counts, "steps", (int64_t)t->steps);
    json_add_int(counts, "standing", (int64_t)t->standing);
    json_add_int(counts, "withdrawn", (int64_t)t->withdrawn);
    json_add_int(counts, "watch", (int64_t)t->watched);
    json_add_int(counts, "drifts", (int64_t)t->drifts);
    json_add_int(counts, "modes", (int64_t)t->modes);
    json_add_int(counts, "small", (int64_t)t->small);
    json_add_int(counts, "unmerged", (int64_t)t->unmerged);
    json_add_int(counts, "left_out", (int64_t)t->left_out);
}

static void trend_json_add_steps(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "steps");
    struct trend_row *rows = trends_newest(t);

    for (size_t i = 0; i < t->steps; i++)
        trend_json_add_step(array, t, &rows[i]);
    free(rows);
}

static void trend_json_add_withdrawn_steps(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "withdrawn");

    for (size_t i = 0; i < t->nr; i++)
        for (size_t k = 0; k < t->items[i].withdrawn.nr; k++)
            trend_json_add_withdrawn(array, t, &t->items[i], &t->items[i].withdrawn.items[k]);
}

static void trend_json_add_watches(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "watch");

    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].watch.found)
            trend_json_add_watch(array, t, &t->items[i]);
}

static void trend_json_add_annotations(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "annotations");

    for (size_t i = t->records->nr_runs; i-- > 0;) {
        for (size_t k = 0; k < t->settings.nr_annotations; k++) {
            if (t->settings.annotations[k].run != t->records->runs[i].id)
                continue;
            cJSON *annotation = cJSON_CreateObject();
            cJSON_AddItemToArray(array, annotation);
            trend_json_add_run(annotation, "at", &t->records->runs[i]);
            json_add_string(annotation, "text", t->settings.annotations[k].text);
        }
    }
}

/* ---- cards ---- */

/* Of the most cards that have a line, and columns of one. */
enum { LINES_MAX = 100, LINE_COLUMNS = 120 };

static void trend_json_add_line(cJSON *json, const struct trends *t, const struct trend_card *card)
{
    const struct series *s = card->trend->series;
    struct chart_metric metric = chart_metric_of(t->settings.metric);
    char first[TEXT_UNIT_SIZE], last[TEXT_UNIT_SIZE];
    struct trend_line line;

    trend_line_init(&line, card, LINE_COLUMNS);
    struct step_line picture = {
        .values = line.values,
        .nr = line.nr,
        .from = line.from,
        .at = line.at,
        .to = line.to,
        .before = card->before,
        .after = card->after,
        .factor = metric.factor,
        .metric = &metric,
        .first = step_line_day(s->items[0].time_ms, first),
        .last = step_line_day(s->items[s->nr - 1].time_ms, last),
    };
    cJSON_AddItemToObject(json, "line", step_line_json(&picture));
    trend_line_release(&line);
}

static void trend_json_take_difference(void *context, const char *name, const char *from,
                                       const char *to)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddItemToArray(context, json);
    json_add_string(json, "name", name);
    json_add_string(json, "from", from);
    json_add_string(json, "to", to);
}

static void trend_json_add_command(cJSON *json, const struct trends *t,
                                   const struct trend_card *card)
{
    struct trend_command command;

    trend_command_make(t, card, &command);
    if (command.text.length) {
        json_add_string(json, "command", command.text.data);
        json_add_string(json, "purpose", command.purpose);
    } else {
        json_add_string(json, "no_command", command.reason);
    }
    trend_command_release(&command);
}

/* The words that a person reads. */
static void trend_json_add_words(cJSON *json, const struct trends *t, const struct trend_card *card)
{
    void (*const words[])(const struct trends *, const struct trend_card *, struct strbuf *) = {
        trend_card_title, trend_card_evidence, trend_card_when,
        trend_card_state, trend_card_accepted, trend_card_doubts,
    };
    static const char *const names[] = {
        "title", "evidence", "when", "state", "accepted", "doubts"
    };
    struct strbuf text;

    strbuf_init(&text);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        strbuf_clear(&text);
        words[i](t, card, &text);
        json_add_string(json, names[i], text.data);
    }
    strbuf_release(&text);
}

/* Its place among the steps or drifts, as they are written. */
static size_t trend_json_place(const struct trends *t, const struct trend_card *card,
                               const struct trend_row *rows)
{
    size_t place = 0;

    if (card->step) {
        while (rows[place].step != card->step)
            place++;
        return place;
    }
    for (size_t i = 0; &t->items[i] != card->trend; i++)
        place += t->items[i].drifts;
    return place;
}

static void trend_json_add_cards(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "cards");
    struct trend_row *rows = trends_newest(t);
    size_t nr;
    struct trend_card *cards = trends_cards(t, &nr);

    for (size_t i = 0; i < nr; i++) {
        cJSON *card = cJSON_CreateObject();
        cJSON_AddItemToArray(array, card);
        json_add_string(card, "kind", cards[i].step ? "step" : "drift");
        json_add_int(card, "nth", (int64_t)trend_json_place(t, &cards[i], rows));
        json_add_string(card, "key", cards[i].trend->series->bench->key);
        json_add_string(card, "machine", cards[i].trend->series->machine);
        json_add_string(card, "rank", trend_rank_name(cards[i].rank));
        cJSON_AddBoolToObject(card, "worse", cards[i].worse);
        trend_json_add_end(card, "good", t, trend_card_good(t, &cards[i]));
        trend_json_add_end(card, "bad", t, trend_card_bad(t, &cards[i]));
        trend_json_add_words(card, t, &cards[i]);
        epoch_each_difference(trend_card_good(t, &cards[i]), trend_card_bad(t, &cards[i]),
                              trend_json_take_difference,
                              cJSON_AddArrayToObject(card, "differences"));
        trend_json_add_command(card, t, &cards[i]);
        if (i < LINES_MAX)
            trend_json_add_line(card, t, &cards[i]);
    }
    free(cards);
    free(rows);
}

cJSON *trends_to_json(const struct trends *t, bool all)
{
    cJSON *json = cJSON_CreateObject(), *array;

    cJSON_AddNumberToObject(json, "schema_version", 1);
    json_add_string(json, "metric", t->settings.metric->id);
    json_add_number(json, "fdr", t->settings.fdr);
    json_add_number(json, "delta", t->settings.delta);
    json_add_int(json, "family", (int64_t)t->family);
    json_add_number(json, "chance", t->chance);
    json_add_int(json, "exit_status", t->exit_status);
    trend_json_add_counts(json, t);
    trend_json_add_steps(json, t);
    trend_json_add_withdrawn_steps(json, t);
    trend_json_add_watches(json, t);
    array = cJSON_AddArrayToObject(json, "drifts");
    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].drifts)
            trend_json_add_drift(array, t, &t->items[i]);
    trend_json_add_cards(json, t);
    trend_json_add_annotations(json, t);
    array = all ? cJSON_AddArrayToObject(json, "quiet") : NULL;
    for (size_t i = 0; all && i < t->nr; i++)
        if (!t->items[i].hidden && t->items[i].kind != TREND_MOVED)
            trend_json_add_quiet(array, &t->items[i]);
    return json;
}
