/* SPDX-License-Identifier: MIT */
/* The overview as data: every sentence and number is made, and the page puts them in their places.
 */
#include "page/page_parts.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "overview/overview.h"
#include "reporters/trend/step_line.h"

#include <stdio.h>
#include <stdlib.h>

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

/* "3 runs", or whose launches they are. */
static void overview_line_ends(const struct overview_change *change, struct step_line *line,
                               char ends[3][TEXT_UNIT_SIZE])
{
    if (change->launches) {
        line->first = "launches of the base";
        line->last = "launches of the head";
        return;
    }
    line->first = step_line_day(change->points[0].run->started_ms, ends[0]);
    line->last = step_line_day(change->points[change->nr_points - 1].run->started_ms, ends[1]);
    snprintf(ends[2], TEXT_UNIT_SIZE, "%zu runs", change->nr_points);
    line->middle = ends[2];
}

/* A step that is older than the points: their level is the one after it. */
static double overview_level_before(const struct overview_change *change)
{
    return change->step || change->source == OVERVIEW_DRIFT ? change->before : change->after;
}

static cJSON *overview_line_json(const struct overview_change *change,
                                 const struct chart_metric *metric)
{
    double *values = memory_zeroed(change->nr_points, sizeof(*values));
    char ends[3][TEXT_UNIT_SIZE];
    struct step_line line = {
        .values = values,
        .nr = change->nr_points,
        .at = change->step,
        .to = change->nr_points,
        .before = overview_level_before(change),
        .after = change->after,
        .factor = 1,
        .metric = metric,
        .apart = change->launches,
    };

    for (size_t i = 0; i < change->nr_points; i++)
        values[i] = change->points[i].value;
    overview_line_ends(change, &line, ends);
    cJSON *json = step_line_json(&line);
    free(values);
    return json;
}

static cJSON *overview_change_json(const struct overview_change *change)
{
    struct chart_metric metric = chart_metric_of(change->metric);
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "title", change->title);
    cJSON_AddStringToObject(json, "text", change->values);
    json_add_string(json, "since", change->since);
    json_add_string(json, "note", change->note);
    cJSON_AddStringToObject(json, "key", change->bench->key);
    cJSON_AddBoolToObject(json, "worse", change->worse);
    if (change->nr_points)
        cJSON_AddItemToObject(json, "line", overview_line_json(change, &metric));
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
