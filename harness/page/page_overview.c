/* SPDX-License-Identifier: MIT */
/* The overview as data: every sentence and number is made, and the page puts them in their places.
 */
#include "page/page_parts.h"

#include "base/json.h"
#include "overview/overview.h"

#include <stdio.h>

static void overview_add_tone(cJSON *json, enum overview_tone tone)
{
    cJSON_AddStringToObject(json, "tone", overview_tone_name(tone));
}

static cJSON *overview_score_json(const struct overview_score *score)
{
    cJSON *json = cJSON_CreateObject();
    char text[QUANTITY_TEXT_SIZE], words[2 * NAME_SIZE];

    cJSON_AddStringToObject(json, "name", score->name);
    cJSON_AddStringToObject(json, "kernel", score->kernel);
    if (score->model)
        cJSON_AddStringToObject(json, "model", score->model->name);
    cJSON_AddStringToObject(json, "best", overview_size_text(score, words, sizeof(words)));
    json_add_number(json, "roof", score->roof);
    cJSON_AddStringToObject(json, "roof_text", overview_roof_text(score, text));
    cJSON_AddStringToObject(json, "vendor_text", overview_vendor_text(score, text));
    json_add_string(json, "vendor", score->vendor_name);
    cJSON_AddBoolToObject(json, "behind", score->vendor < 1);
    cJSON_AddStringToObject(json, "past_text", overview_past_text(score, text));
    cJSON_AddStringToObject(json, "past_tone", overview_tone_name(overview_past_tone(score)));
    return json;
}

static void overview_add_points(const struct overview_change *change, cJSON *json)
{
    cJSON *runs = cJSON_AddArrayToObject(json, "runs");
    cJSON *values = cJSON_AddArrayToObject(json, "values");

    for (size_t i = 0; i < change->nr_points; i++) {
        const struct overview_point *point = &change->points[i];
        struct cJSON *run = point->run ? cJSON_CreateObject() : cJSON_CreateNull();
        char number[32];
        if (point->run) {
            json_add_int(run, "started_ms", point->run->started_ms);
            json_add_string(run, "commit", point->run->build.commit);
        }
        cJSON_AddItemToArray(runs, run);
        snprintf(number, sizeof(number), "%.5g", point->value);
        cJSON_AddItemToArray(values, cJSON_CreateRaw(number));
    }
}

static cJSON *overview_change_json(const struct overview_change *change)
{
    static const char *const sources[] = {
        [OVERVIEW_COMPARED] = "comparison", [OVERVIEW_STEP] = "step", [OVERVIEW_DRIFT] = "drift"
    };
    struct chart_metric metric = chart_metric_of(change->metric);
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "title", change->title);
    cJSON_AddStringToObject(json, "text", change->values);
    json_add_string(json, "since", change->since);
    json_add_string(json, "note", change->note);
    cJSON_AddStringToObject(json, "key", change->bench->key);
    cJSON_AddStringToObject(json, "source", sources[change->source]);
    cJSON_AddBoolToObject(json, "worse", change->worse);
    cJSON_AddStringToObject(json, "quantity", quantity_name(metric.quantity));
    cJSON_AddStringToObject(json, "base", metric.base);
    json_add_number(json, "before", change->before);
    json_add_number(json, "after", change->after);
    json_add_int(json, "step", (int64_t)change->step);
    cJSON_AddBoolToObject(json, "launches", change->launches);
    overview_add_points(change, json);
    return json;
}

cJSON *page_overview(const struct page *page)
{
    struct overview overview;
    cJSON *json = cJSON_CreateObject();

    view_overview(page->view, &overview);
    overview_add_tone(json, overview.tone);
    cJSON_AddStringToObject(json, "sign", overview_sign(overview.tone));
    cJSON_AddStringToObject(json, "verdict", overview.verdict);
    json_add_string(json, "counts", overview.counts);
    json_add_string(json, "past", overview.past);
    if (overview.change.found)
        cJSON_AddItemToObject(json, "change", overview_change_json(&overview.change));
    cJSON *scores = cJSON_AddArrayToObject(json, "scores");
    for (size_t i = 0; i < overview.nr_scores; i++)
        cJSON_AddItemToArray(scores, overview_score_json(&overview.scores[i]));
    json_add_string(json, "vendor", overview_vendor(&overview));
    json_add_int(json, "scores_left_out", (int64_t)overview.scores_left_out);
    if (overview_past_ms(&overview))
        json_add_int(json, "past_ms", overview_past_ms(&overview));
    cJSON *facts = cJSON_AddArrayToObject(json, "machine");
    for (size_t i = 0; i < overview.nr_facts; i++) {
        cJSON *fact = cJSON_CreateObject();
        cJSON_AddStringToObject(fact, "name", overview.facts[i].name);
        cJSON_AddStringToObject(fact, "text", overview.facts[i].text);
        overview_add_tone(fact, overview.facts[i].tone);
        cJSON_AddItemToArray(facts, fact);
    }
    overview_release(&overview);
    return json;
}
