/* SPDX-License-Identifier: MIT */
/* The answer of a profile as the page shows it: sentences, cards, lists; all words are made here.
 */
#include "view/page_parts.h"

#include "base/json.h"
#include "output/ticks.h"
#include "view/profile_answer.h"

#include <stdio.h>

enum { TOP = 5 };
/* Parts of the time below this are no sentence. */
static const double least_part = 0.0005;
static const double least_cost = 0.001;

/* Takes what the text has and leaves it empty. */
static void add_words(cJSON *array, struct strbuf *text)
{
    if (text->length)
        cJSON_AddItemToArray(array, cJSON_CreateString(text->data));
    strbuf_clear(text);
}

static void add_card(cJSON *cards, const char *label, const char *value)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "label", label);
    cJSON_AddStringToObject(json, "value", value);
    cJSON_AddItemToArray(cards, json);
}

static void add_count(cJSON *cards, const char *label, size_t count)
{
    char text[32];

    snprintf(text, sizeof(text), "%zu", count);
    add_card(cards, label, text);
}

/* Host and device work at the same time: their times are never added up. */
static void add_cards(const struct profile_data *data, cJSON *json)
{
    cJSON *cards = cJSON_AddArrayToObject(json, "cards");
    const struct prof_summary *rows = &data->rows;
    enum prof_side side = rows->total[PROF_HOST] ? PROF_HOST : PROF_DEVICE;
    double total = (double)rows->total[side], calls = (double)rows->calls[side];
    const struct timeline_layers *layers = &data->found.layers;
    double cost = data->facts.cost.on * (double)rows->calls[PROF_HOST];
    char text[QUANTITY_TEXT_SIZE];

    add_count(cards, "operations recorded", rows->calls[PROF_HOST] + rows->calls[PROF_DEVICE]);
    add_count(cards, "different operations", rows->nr_rows);
    add_card(cards, side == PROF_HOST ? "total time" : "total time on the GPU",
             quantity_text(QUANTITY_TIME, "", total, text));
    if (side == PROF_HOST && rows->total[PROF_DEVICE])
        add_card(cards, "on the GPU",
                 quantity_text(QUANTITY_TIME, "", (double)rows->total[PROF_DEVICE], text));
    if (calls > 0)
        add_card(cards, "own time of a call, on average",
                 quantity_text(QUANTITY_TIME, "", total / calls, text));
    if (layers->nr_iterations > 0) {
        add_count(cards, "iterations", layers->nr_iterations);
        add_card(cards, "median iteration",
                 quantity_text(QUANTITY_TIME, "", timeline_iteration_median(layers), text));
    }
    if (cost > 0 && rows->total[PROF_HOST] > 0)
        add_card(
            cards, "of the time went into recording",
            cost < least_cost * (double)rows->total[PROF_HOST]
                ? "< 0.1 %"
                : quantity_text(QUANTITY_SHARE, "", cost / (double)rows->total[PROF_HOST], text));
}

static void add_operation(cJSON *array, const char *name, struct strbuf *words)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "operation", name);
    cJSON_AddStringToObject(json, "words", words->data);
    cJSON_AddItemToArray(array, json);
    strbuf_clear(words);
}

static void add_top(const struct profile_data *data, const struct ranked *ranked, cJSON *json)
{
    cJSON *top = cJSON_AddArrayToObject(json, "top");
    struct strbuf words;

    strbuf_init(&words);
    cJSON_AddStringToObject(json, "top_by", ranked_by_words(ranked->by));
    for (size_t i = 0; i < ranked->nr && i < TOP; i++) {
        profile_row_words(data, &ranked->items[i], &words);
        add_operation(top, ranked->items[i].row->name, &words);
    }
    strbuf_release(&words);
}

static void add_split(const struct timeline_split *split, cJSON *json)
{
    char text[QUANTITY_TEXT_SIZE], title[QUANTITY_TEXT_SIZE + 40];
    cJSON *whole, *parts;

    if (split->span <= 0)
        return;
    quantity_text(QUANTITY_TIME, "", (double)split->span, text);
    if (split->device < 0)
        snprintf(title, sizeof(title), "The main thread's %s", text);
    else
        snprintf(title, sizeof(title), "GPU %d's %s", split->device, text);
    whole = cJSON_AddObjectToObject(json, "split");
    cJSON_AddStringToObject(whole, "title", title);
    parts = cJSON_AddArrayToObject(whole, "parts");
    for (int i = 0; i < PART_NR; i++) {
        enum timeline_part part = (enum timeline_part)i;
        double share = timeline_part_share(split, part);
        if (share < least_part)
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", timeline_part_name(part));
        cJSON_AddStringToObject(one, "share", quantity_text(QUANTITY_SHARE, "", share, text));
        cJSON_AddStringToObject(one, "words", timeline_part_words(part));
        cJSON_AddItemToArray(parts, one);
    }
}

static const char *looks_at(const char *rule)
{
    const char *words = "", *name;
    double ignored;

    for (size_t i = 0; (name = timeline_advice_rule(i, &words, &ignored)); i++)
        if (name == rule)
            return words;
    return "";
}

static void add_advice(const struct advice_list *list, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "advice");
    char evidence[256];

    for (size_t i = 0; i < list->nr; i++) {
        const struct advice *a = &list->items[i];
        cJSON *one = cJSON_CreateObject();
        snprintf(evidence, sizeof(evidence), "%s: %.3g, told from %.3g on (rule %s)",
                 looks_at(a->rule), a->value, a->threshold, a->rule);
        cJSON_AddStringToObject(one, "text", a->text);
        cJSON_AddStringToObject(one, "evidence", evidence);
        cJSON_AddItemToArray(array, one);
    }
}

/* One profile: its headline goes where the caller wants it. */
static void add_one(const struct profile_data *data, const struct ranked *ranked, cJSON *json,
                    cJSON *sentences)
{
    struct strbuf text;

    strbuf_init(&text);
    profile_iterations_words(data, &text);
    add_words(sentences, &text);
    if (data->other_threads) {
        strbuf_addf(&text, "Of %zu threads this is the main one, whose time a caller waits for.",
                    data->other_threads + 1);
        add_words(sentences, &text);
    }
    add_cards(data, json);
    add_top(data, ranked, json);
    add_split(&data->found.split, json);
    add_advice(&data->found.advice, json);
    strbuf_release(&text);
}

static void add_changes(const struct timeline_diff *diff, cJSON *json)
{
    cJSON *changes = cJSON_AddArrayToObject(json, "changes");
    enum prof_side side = profile_change_side(diff);
    struct strbuf words;

    strbuf_init(&words);
    for (size_t i = 0; i < diff->nr_rows && cJSON_GetArraySize(changes) < TOP; i++) {
        const struct diff_row *row = &diff->rows[i];
        if (row->side != side || row->change == 0)
            continue;
        profile_change_words(row, &words);
        add_operation(changes, row->name, &words);
    }
    strbuf_release(&words);
}

/* The change is the answer then, and what takes the time the first sentence behind it. */
static void add_difference(const struct view *view, struct strbuf *headline, cJSON *json,
                           cJSON *sentences)
{
    const struct profile_data *before = view->profile_base, *after = view->profile;
    struct timeline_diff diff;
    struct strbuf text;
    struct error err;

    cJSON_AddStringToObject(json, "base", before->name);
    if (timeline_diff(&before->trace, &after->trace, NULL, &diff, &err))
        return;
    strbuf_init(&text);
    profile_totals_words(&diff, before->name, after->name, &text);
    add_words(sentences, &text);
    strbuf_adds(&text,
                "One pair of profiles shows no noise: whether this is more than chance "
                "launches tell (harness compare).");
    add_words(sentences, &text);
    add_words(sentences, headline);
    profile_change_headline(&diff, headline);
    add_changes(&diff, json);
    timeline_diff_release(&diff);
    strbuf_release(&text);
}

struct cJSON *page_profile(const struct view *view)
{
    const struct profile_data *data = view->profile;
    struct strbuf headline;
    struct ranked ranked;

    if (!data)
        return NULL;
    cJSON *json = cJSON_CreateObject(), *sentences = cJSON_CreateArray();
    strbuf_init(&headline);
    ranked_init(&ranked, data);
    cJSON_AddStringToObject(json, "name", data->name);
    json_add_string(json, "benchmark", data->facts.benchmark);
    profile_headline(data, &ranked, &headline);
    if (view->profile_base)
        add_difference(view, &headline, json, sentences);
    cJSON_AddStringToObject(json, "headline", headline.data);
    cJSON_AddItemToObject(json, "words", sentences);
    if (ranked.nr)
        add_one(data, &ranked, json, sentences);
    ranked_release(&ranked);
    strbuf_release(&headline);
    return json;
}
