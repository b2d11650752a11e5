/* SPDX-License-Identifier: MIT */
/*
 * The answer of a profile as the page shows it: which operation takes the time and how near it
 * comes to its roof. Sentences, cards and lists; all words are made here, and functions append.
 */
#include "page/page_parts.h"

#include "base/json.h"
#include "base/memory.h"
#include "chart/base/profile_data.h"
#include "chart/profile/profile_base.h"
#include "text/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 5 };
/* Parts of the time below this are no sentence. */
static const double least_part = 0.0005;
static const double least_cost = 0.001;
/* Beyond this the work, the time or the roof is wrong: advice says so, a headline keeps silent. */
static const double believable = 1.1;
/* Nested scopes have roofs of their own. */
static const double leaf_share = 0.9;
/* From here on a GPU's idle time belongs into the first sentence. */
static const double idle_share = 0.2;

/* An operation and its part of the time that counts. */
struct ranked_row {
    const struct prof_row *row;
    double ns, share;
};

enum ranked_by {
    RANKED_BY_SELF,   /* own time on the main thread: nothing ran on a GPU */
    RANKED_BY_GPU,    /* time on GPUs of the work that the scope started */
    RANKED_BY_KERNEL, /* own time on a stream: no scope is known to have started it */
};

struct ranked {
    struct ranked_row *items; /* the longest first, none of no time; owned */
    size_t nr;
    enum ranked_by by;
};

static char *profile_time_text(double ns, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_TIME, "", ns, text);
}

static char *profile_share_text(double share, char text[QUANTITY_TEXT_SIZE])
{
    return quantity_text(QUANTITY_SHARE, "", share, text);
}

/* ---- which operations ---- */

/* Work on a GPU is known by the slices of its streams, or by marks of the scopes alone. */
static enum ranked_by ranked_by_of(const struct profile_data *data)
{
    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        if (row->side == PROF_HOST && timeline_row_works(row) && row->gpu + row->transfer > 0)
            return RANKED_BY_GPU;
    }
    return data->rows.total[PROF_DEVICE] ? RANKED_BY_KERNEL : RANKED_BY_SELF;
}

/* Calls of the runtime have no part in what they started: their scope has it. */
static bool profile_is_call_row(const struct prof_row *row)
{
    return !strcmp(row->category, PROF_RUNTIME_CALLS) || !strcmp(row->category, PROF_DRIVER_CALLS);
}

static double ranked_ns(const struct profile_data *data, const struct prof_row *row,
                        enum ranked_by by)
{
    const struct timeline_typical *typical = &data->found.typical;

    if (row->side != (by == RANKED_BY_KERNEL ? PROF_DEVICE : PROF_HOST))
        return 0;
    if (by != RANKED_BY_GPU)
        return timeline_typical_self(typical, row);
    return timeline_row_works(row) && !profile_is_call_row(row) ? timeline_typical_gpu(typical, row)
                                                                : 0;
}

static int ranked_order(const void *x, const void *y)
{
    const struct ranked_row *a = x, *b = y;

    return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns) : strcmp(a->row->name, b->row->name);
}

/* All of what is ranked, and what has no place in it. */
static double ranked_whole_ns(const struct profile_data *data, const struct ranked *ranked)
{
    double whole = ranked->by == RANKED_BY_SELF ? data->found.typical.host_ns
                                                : (double)data->rows.total[PROF_DEVICE];

    for (size_t i = 0;
         ranked->by == RANKED_BY_GPU && !data->rows.total[PROF_DEVICE] && i < ranked->nr; i++)
        whole += ranked->items[i].ns;
    return whole;
}

static void ranked_init(struct ranked *ranked, const struct profile_data *data)
{
    *ranked = (struct ranked) { .by = ranked_by_of(data) };
    ranked->items = memory_zeroed(data->rows.nr_rows + 1, sizeof(*ranked->items));
    for (size_t i = 0; i < data->rows.nr_rows; i++) {
        const struct prof_row *row = &data->rows.rows[i];
        double ns = ranked_ns(data, row, ranked->by);
        if (ns > 0)
            ranked->items[ranked->nr++] = (struct ranked_row) { row, ns, 0 };
    }
    double whole = ranked_whole_ns(data, ranked);
    for (size_t i = 0; i < ranked->nr; i++)
        ranked->items[i].share = ranked->items[i].ns / whole;
    qsort(ranked->items, ranked->nr, sizeof(*ranked->items), ranked_order);
}

static void ranked_release(struct ranked *ranked)
{
    free(ranked->items);
    *ranked = (struct ranked) { .nr = 0 };
}

/* "own time on the main thread", ... */
static const char *ranked_by_words(enum ranked_by by)
{
    static const char *const words[] = {
        [RANKED_BY_SELF] = "own time on the main thread",
        [RANKED_BY_GPU] = "time on the GPU of the work they started",
        [RANKED_BY_KERNEL] = "own time on the GPU",
    };

    return words[by];
}

/* ---- one profile ---- */

/* What all of it is called: by its iterations where it has nothing else. */
static const char *profile_whole_name(const struct profile_data *data)
{
    const struct timeline_layers *l = &data->found.layers;

    return l->nr_iterations > 0 && l->nr_iterations == data->outer ? l->iteration : data->name;
}

static bool profile_roof(const struct profile_data *data, const struct prof_row *row,
                         struct timeline_roof *roof)
{
    *roof = timeline_row_roof(&data->found, &data->facts.roofs, row);
    return roof->bound != TIMELINE_UNBOUND && roof->fraction <= believable &&
           (row->gpu > 0 || (double)row->self >= leaf_share * (double)row->total);
}

static void profile_add_roof(const struct profile_data *data, const struct prof_row *row,
                             const char *before, struct strbuf *out)
{
    struct timeline_roof roof;

    if (profile_roof(data, row, &roof))
        strbuf_addf(out, "%s%.0f %% of the %s", before, 100 * roof.fraction, roof.name);
}

static void profile_add_idle(const struct profile_data *data, struct strbuf *out)
{
    const struct timeline_split *s = &data->found.split;
    char share[QUANTITY_TEXT_SIZE];
    double idle = 0;

    for (int part = PART_LAUNCH; s->device >= 0 && part <= PART_OTHER_WAIT; part++)
        idle += timeline_part_share(s, (enum timeline_part)part);
    if (idle >= idle_share)
        strbuf_addf(out, "; the GPU is idle for %s of the time", profile_share_text(idle, share));
}

/* "head takes 65.5 % of gpt/nano/prefill and runs at 93 % of the FMA roof." */
static void profile_headline(const struct profile_data *data, const struct ranked *ranked,
                             struct strbuf *out)
{
    const char *whole = profile_whole_name(data);
    char share[QUANTITY_TEXT_SIZE], shown[KERNEL_NAME_SIZE];

    if (!ranked->nr) {
        strbuf_addf(out, "Nothing was recorded in %.160s that took any time.", data->name);
        return;
    }
    const struct ranked_row *worst = &ranked->items[0];
    bool is_whole = !strcmp(worst->row->name, whole) && ranked->by == RANKED_BY_SELF;
    if (is_whole && ranked->nr == 1) {
        strbuf_addf(out, "%.160s is one operation: nothing inside it was recorded", whole);
        profile_add_roof(data, worst->row, "; it runs at ", out);
    } else if (is_whole) {
        strbuf_addf(out, "%s of %.160s is in none of its operations",
                    profile_share_text(worst->share, share), whole);
    } else {
        strbuf_addf(out, "%.160s takes %s of %s%.160s",
                    profile_shown_name(worst->row->side, worst->row->name, shown),
                    profile_share_text(worst->share, share),
                    ranked->by == RANKED_BY_SELF ? "" : "the GPU's time in ", whole);
        profile_add_roof(data, worst->row, " and runs at ", out);
    }
    profile_add_idle(data, out);
    strbuf_addc(out, '.');
}

/* "30 iterations of 54.2 ms (median); their operations cover 99.8 %; the last of 3 launches.";
 * nothing without iterations. */
static void profile_iterations_words(const struct profile_data *data, struct strbuf *out)
{
    const struct timeline_layers *l = &data->found.layers;
    double covered = timeline_covered(l);
    char text[QUANTITY_TEXT_SIZE];
    bool one = l->nr_iterations == 1;

    if (!l->nr_iterations)
        return;
    strbuf_addf(out, "%zu iteration%s of %s%s", l->nr_iterations, one ? "" : "s",
                profile_time_text(timeline_iteration_median(l), text), one ? "" : " (median)");
    if (isfinite(covered))
        strbuf_addf(out, "; the operations cover %s", profile_share_text(covered, text));
    if (data->facts.launches > 1)
        strbuf_addf(out, "; the last of %d launches", data->facts.launches);
    strbuf_addc(out, '.');
}

static void profile_add_rate(double work, double ns, const char *base, struct strbuf *out)
{
    char text[QUANTITY_TEXT_SIZE];

    if (work > 0 && ns > 0)
        strbuf_addf(out, ", %s", quantity_text(QUANTITY_RATE, base, work / ns * 1e9, text));
}

/* "35.2 ms, 65.5 % of the time, 30 calls, median 1.17 ms, 41.2 GFLOP/s, 93 % of the FMA roof" */
static void profile_row_words(const struct profile_data *data, const struct ranked_row *item,
                              enum ranked_by by, struct strbuf *out)
{
    const struct prof_row *row = item->row;
    char text[QUANTITY_TEXT_SIZE], share[QUANTITY_TEXT_SIZE], median[QUANTITY_TEXT_SIZE];

    strbuf_addf(out, "%s, %s of the time, %zu call%s", profile_time_text(item->ns, text),
                profile_share_text(item->share, share), row->calls, row->calls == 1 ? "" : "s");
    if (row->calls > 1 && by == RANKED_BY_GPU)
        strbuf_addf(out, " of %s (mean)", profile_time_text(item->ns / (double)row->calls, median));
    else if (row->calls > 1)
        strbuf_addf(out, " of %s (median)", profile_time_text((double)row->p50, median));
    profile_add_rate(row->flops, timeline_row_ns(&data->found, row), "FLOP/s", out);
    profile_add_rate((double)row->bytes, timeline_row_ns(&data->found, row), "B/s", out);
    profile_add_roof(data, row, ", ", out);
    if (row->memory_peak > 0)
        strbuf_addf(out, ", peak memory %s",
                    quantity_text(QUANTITY_BYTES, "", (double)row->memory_peak, text));
}

/* ---- as JSON ---- */

static void profile_add_card(cJSON *cards, const char *label, const char *value)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "label", label);
    cJSON_AddStringToObject(json, "value", value);
    cJSON_AddItemToArray(cards, json);
}

static void profile_add_count(cJSON *cards, const char *label, size_t count)
{
    char text[32];

    snprintf(text, sizeof(text), "%zu", count);
    profile_add_card(cards, label, text);
}

/* Host and device work at the same time: their times are never added up. */
static void profile_add_cards(const struct profile_data *data, cJSON *json)
{
    cJSON *cards = cJSON_AddArrayToObject(json, "cards");
    const struct prof_summary *rows = &data->rows;
    enum prof_side side = rows->total[PROF_HOST] ? PROF_HOST : PROF_DEVICE;
    double total = (double)rows->total[side], calls = (double)rows->calls[side];
    const struct timeline_layers *layers = &data->found.layers;
    double cost = data->facts.cost.on * (double)prof_summary_scopes(rows);
    char text[QUANTITY_TEXT_SIZE];

    profile_add_count(cards, "operations recorded",
                      rows->calls[PROF_HOST] + rows->calls[PROF_DEVICE]);
    profile_add_count(cards, "different operations", rows->nr_rows);
    profile_add_card(cards, side == PROF_HOST ? "total time" : "total time on the GPU",
                     quantity_text(QUANTITY_TIME, "", total, text));
    if (side == PROF_HOST && rows->total[PROF_DEVICE])
        profile_add_card(cards, "on the GPU",
                         quantity_text(QUANTITY_TIME, "", (double)rows->total[PROF_DEVICE], text));
    if (calls > 0)
        profile_add_card(cards, "own time of a call, on average",
                         quantity_text(QUANTITY_TIME, "", total / calls, text));
    if (layers->nr_iterations > 0) {
        profile_add_count(cards, "iterations", layers->nr_iterations);
        profile_add_card(cards, "median iteration",
                         quantity_text(QUANTITY_TIME, "", timeline_iteration_median(layers), text));
    }
    if (cost > 0 && rows->total[PROF_HOST] > 0)
        profile_add_card(
            cards, "of the time went into recording",
            cost < least_cost * (double)rows->total[PROF_HOST]
                ? "< 0.1 %"
                : quantity_text(QUANTITY_SHARE, "", cost / (double)rows->total[PROF_HOST], text));
}

static void profile_add_top(const struct profile_data *data, const struct ranked *ranked,
                            cJSON *json)
{
    cJSON *top = cJSON_AddArrayToObject(json, "top");
    char shown[KERNEL_NAME_SIZE];
    struct strbuf words;

    strbuf_init(&words);
    cJSON_AddStringToObject(json, "top_by", ranked_by_words(ranked->by));
    for (size_t i = 0; i < ranked->nr && i < TOP; i++) {
        profile_row_words(data, &ranked->items[i], ranked->by, &words);
        const struct prof_row *row = ranked->items[i].row;
        page_add_operation(top, profile_shown_name(row->side, row->name, shown), &words);
    }
    strbuf_release(&words);
}

static void profile_add_split(const struct timeline_split *split, cJSON *json)
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

static const char *profile_rule_words(const char *rule)
{
    const char *words = "", *name;
    double ignored;

    for (size_t i = 0; (name = timeline_advice_rule(i, &words, &ignored)); i++)
        if (name == rule)
            return words;
    return "";
}

static void profile_add_advice(const struct advice_list *list, cJSON *json)
{
    cJSON *array = cJSON_AddArrayToObject(json, "advice");
    char evidence[256];

    for (size_t i = 0; i < list->nr; i++) {
        const struct advice *a = &list->items[i];
        cJSON *one = cJSON_CreateObject();
        snprintf(evidence, sizeof(evidence), "%s: %.3g, told from %.3g on (rule %s)",
                 profile_rule_words(a->rule), a->value, a->threshold, a->rule);
        cJSON_AddStringToObject(one, "text", a->text);
        cJSON_AddStringToObject(one, "evidence", evidence);
        cJSON_AddItemToArray(array, one);
    }
}

/* One profile: its headline goes where the caller wants it. */
static void profile_add_one(const struct profile_data *data, const struct ranked *ranked,
                            cJSON *json, cJSON *sentences)
{
    struct strbuf text;

    strbuf_init(&text);
    profile_iterations_words(data, &text);
    page_add_words(sentences, &text);
    if (data->other_threads) {
        strbuf_addf(&text, "Of %zu threads this is the main one, whose time a caller waits for%s.",
                    data->other_threads + 1,
                    data->helped ? ", with the backward passes that another one ran for it" : "");
        page_add_words(sentences, &text);
    }
    profile_add_cards(data, json);
    profile_add_top(data, ranked, json);
    profile_add_split(&data->found.split, json);
    profile_add_advice(&data->found.advice, json);
    cJSON_AddItemToObject(json, "operations", page_profile_operations(data));
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
        page_profile_difference(view, &headline, json, sentences);
    cJSON_AddStringToObject(json, "headline", headline.data);
    cJSON_AddItemToObject(json, "words", sentences);
    if (ranked.nr)
        profile_add_one(data, &ranked, json, sentences);
    ranked_release(&ranked);
    strbuf_release(&headline);
    return json;
}
