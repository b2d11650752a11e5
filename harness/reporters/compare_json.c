/* SPDX-License-Identifier: MIT */
#include "reporters/compare_json.h"

#include "base/json.h"

static void compare_json_add_side(cJSON *row, const char *name, const struct compare_side *side)
{
    cJSON *json = cJSON_AddObjectToObject(row, name);

    json_add_number(json, "value", side->value);
    json_add_int(json, "launches", (int64_t)side->launches);
    json_add_int(json, "failures", (int64_t)side->failures);
    cJSON_AddStringToObject(json, "outcome", outcome_name(side->outcome));
    json_add_number(json, "spread", side->spread);
    json_add_string(json, "message", side->message);
}

cJSON *compare_row_to_json(const struct compare_row *row)
{
    cJSON *json = cJSON_CreateObject(), *interval;

    cJSON_AddStringToObject(json, "key", row->item->bench->key);
    json_add_string(json, "machine", row->item->machine);
    cJSON_AddStringToObject(json, "verdict", verdict_name(row->verdict));
    json_add_string(json, "metric", row->item->metric->id);
    json_add_number(json, "delta", row->delta);
    json_add_string(json, "why", row->why);
    json_add_string(json, "accepted", row->accepted);
    json_add_number(json, "change", row->change);
    cJSON_AddBoolToObject(json, "worse", row->worse);
    interval = cJSON_AddObjectToObject(json, "interval");
    json_add_number(interval, "low", row->interval.low);
    json_add_number(interval, "high", row->interval.high);
    json_add_number(json, "p", row->p);
    json_add_number(json, "q", row->q);
    json_add_number(json, "rank_p", row->rank_p);
    json_add_number(json, "df", row->df);
    /* How the data was taken, and its noise by where it comes from. */
    cJSON *noise = cJSON_AddObjectToObject(json, "noise");
    json_add_number(noise, "within", row->noise.within);
    json_add_number(noise, "launch", row->noise.launch);
    json_add_number(noise, "occasion", row->noise.run);
    json_add_number(noise, "placement", row->noise.placement);
    json_add_string(json, "design", compare_design_name(row->item->evidence.design));
    json_add_int(json, "looks", row->looks);
    if (row->item->evidence.design == DESIGN_BLOCKS)
        json_add_int(json, "blocks", (int64_t)evidence_blocks(&row->item->evidence));
    json_add_number(json, "probe", row->probe);
    json_add_number(json, "detectable", row->detectable);
    compare_json_add_side(json, "base", &row->base);
    compare_json_add_side(json, "head", &row->head);
    return json;
}

static void compare_json_add_metrics(cJSON *json, const struct comparison *c)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(c, metrics);

    json_add_string(json, "metric", nr > 0 ? metrics[0]->id : NULL);
    cJSON *array = cJSON_AddArrayToObject(json, "metrics");
    for (size_t i = 0; i < nr; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(metrics[i]->id));
}

cJSON *compare_to_json(const struct comparison *c, const char *base, const char *head)
{
    cJSON *json = cJSON_CreateObject(), *array;

    cJSON_AddNumberToObject(json, "schema_version", 1);
    json_add_string(json, "base", base);
    json_add_string(json, "head", head);
    compare_json_add_metrics(json, c);
    json_add_number(json, "delta", c->settings.delta);
    json_add_number(json, "fdr", c->settings.q);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_int(json, "family", (int64_t)c->family);
    json_add_number(json, "chance", c->chance);
    json_add_int(json, "exit_status", c->exit_status);
    json_add_int(json, "accepted", (int64_t)c->accepted);
    json_add_number(json, "common_shift", c->common_shift);
    json_add_number(json, "probe_shift", c->probe_shift);
    json_add_number(json, "occasion", c->run_noise);
    json_add_number(json, "serial", c->serial);
    array = cJSON_AddObjectToObject(json, "counts");
    for (int v = 0; v < VERDICT_NR; v++)
        json_add_int(array, verdict_name((enum verdict)v), (int64_t)c->count[v]);
    json_add_strings(json, "notes", c->notes, c->nr_notes);
    array = cJSON_AddArrayToObject(json, "rows");
    for (size_t i = 0; i < c->nr; i++)
        cJSON_AddItemToArray(array, compare_row_to_json(&c->rows[i]));
    return json;
}
