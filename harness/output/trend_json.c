/* SPDX-License-Identifier: MIT */
#include "output/trend_json.h"

#include "base/json.h"

#include <stdlib.h>

static void add_interval(cJSON *json, const char *key, const struct interval *interval)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);

    json_add_number(object, "low", interval->low);
    json_add_number(object, "high", interval->high);
}

static void add_run(cJSON *json, const char *key, const struct run *run)
{
    cJSON *object = cJSON_AddObjectToObject(json, key);

    json_add_int(object, "run", run->id);
    json_add_int(object, "time_ms", run->started_ms);
    json_add_string(object, "commit", run->build.commit);
    cJSON_AddBoolToObject(object, "dirty", run->build.dirty);
}

static cJSON *add_series(cJSON *array, const struct series *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddItemToArray(array, json);
    json_add_string(json, "key", s->bench->key);
    json_add_string(json, "machine", s->machine);
    json_add_int(json, "points", (int64_t)s->nr);
    return json;
}

static void add_evidence(cJSON *json, double p, double q)
{
    json_add_number(json, "p", p);
    json_add_number(json, "q", q);
}

static void add_modes(cJSON *json, const struct modes *modes)
{
    if (!modes->visits)
        return;
    cJSON *object = cJSON_AddObjectToObject(json, "modes");
    json_add_number(object, "low", modes->low);
    json_add_number(object, "high", modes->high);
    json_add_int(object, "visits", (int64_t)modes->visits);
    json_add_number(object, "points", modes->usual);
}

/* What a person reads beside a step. */
static void add_words(cJSON *json, const struct trends *t, const struct trend_row *row)
{
    struct strbuf text;

    strbuf_init(&text);
    trend_state(t, row->trend, row->step, &text);
    json_add_string(json, "state", text.data);
    strbuf_clear(&text);
    trend_surroundings(t, row->trend, row->step, &text);
    json_add_string(json, "surroundings", text.data);
    if (row->step->accepted)
        json_add_string(json, "accepted", row->step->accepted->reason);
    strbuf_release(&text);
}

static void add_step(cJSON *array, const struct trends *t, const struct trend_row *row)
{
    const struct trend_step *step = row->step;
    const struct series *s = row->trend->series;
    cJSON *json = add_series(array, s), *window;

    json_add_int(json, "time_ms", s->items[step->index].time_ms);
    json_add_int(json, "index", (int64_t)step->index);
    window = cJSON_AddArrayToObject(json, "interval");
    cJSON_AddItemToArray(window, cJSON_CreateNumber((double)step->low));
    cJSON_AddItemToArray(window, cJSON_CreateNumber((double)step->high));
    add_run(json, "good", trend_run_before(t, row->trend, step));
    add_run(json, "bad", trend_run_after(t, row->trend, step));
    json_add_number(json, "before", step->before);
    json_add_number(json, "after", step->after);
    json_add_number(json, "change", step->change);
    add_interval(json, "change_interval", &step->interval);
    cJSON_AddBoolToObject(json, "worse", step->worse);
    add_evidence(json, step->p, row->trend->q);
    if (step->back)
        add_run(json, "back", &t->records->runs[s->items[step->back].run]);
    add_words(json, t, row);
    add_modes(json, &row->trend->modes);
}

static void add_drift(cJSON *array, const struct trend *trend)
{
    cJSON *json = add_series(array, trend->series);

    json_add_number(json, "change", trend->drift.total);
    add_interval(json, "change_interval", &trend->drift.interval);
    cJSON_AddBoolToObject(json, "worse", trend->drift.worse);
    add_evidence(json, trend->drift.p, trend->drift.q);
}

static void add_quiet(cJSON *array, const struct trend *trend)
{
    cJSON *json = add_series(array, trend->series);

    json_add_number(json, "noise", trend->noise);
    json_add_number(json, "correlation", trend->correlation);
    add_evidence(json, trend->p, trend->q);
    add_modes(json, &trend->modes);
}

static void add_counts(cJSON *json, const struct trends *t)
{
    cJSON *counts = cJSON_AddObjectToObject(json, "counts");

    json_add_int(counts, "series", (int64_t)t->shown);
    json_add_int(counts, "short", (int64_t)t->count[TREND_SHORT]);
    json_add_int(counts, "quiet", (int64_t)t->count[TREND_QUIET]);
    json_add_int(counts, "moved", (int64_t)t->moved);
    json_add_int(counts, "steps", (int64_t)t->steps);
    json_add_int(counts, "standing", (int64_t)t->standing);
    json_add_int(counts, "drifts", (int64_t)t->drifts);
    json_add_int(counts, "modes", (int64_t)t->modes);
    json_add_int(counts, "small", (int64_t)t->small);
    json_add_int(counts, "unmerged", (int64_t)t->unmerged);
}

static void add_steps(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "steps");
    struct trend_row *rows = trends_newest(t);

    for (size_t i = 0; i < t->steps; i++)
        add_step(array, t, &rows[i]);
    free(rows);
}

static void add_remarks(cJSON *json, const struct trends *t)
{
    cJSON *array = cJSON_AddArrayToObject(json, "annotations");

    for (size_t i = t->records->nr_runs; i-- > 0;) {
        for (size_t k = 0; k < t->settings.nr_remarks; k++) {
            if (t->settings.remarks[k].run != t->records->runs[i].id)
                continue;
            cJSON *remark = cJSON_CreateObject();
            cJSON_AddItemToArray(array, remark);
            add_run(remark, "at", &t->records->runs[i]);
            json_add_string(remark, "text", t->settings.remarks[k].text);
        }
    }
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
    add_counts(json, t);
    add_steps(json, t);
    array = cJSON_AddArrayToObject(json, "drifts");
    for (size_t i = 0; i < t->nr; i++)
        if (t->items[i].drifts)
            add_drift(array, &t->items[i]);
    add_remarks(json, t);
    array = all ? cJSON_AddArrayToObject(json, "quiet") : NULL;
    for (size_t i = 0; all && i < t->nr; i++)
        if (!t->items[i].hidden && t->items[i].kind != TREND_MOVED)
            add_quiet(array, &t->items[i]);
    return json;
}
