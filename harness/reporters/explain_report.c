/* SPDX-License-Identifier: MIT */
#include "reporters/explain_report.h"

#include "base/json.h"
#include "base/text.h"
#include "text/escape.h"

#include <math.h>

/* ---- words ---- */

static void add_share(const struct cause *cause, struct strbuf *out)
{
    double percent = 100 * cause->share;

    if (cause->by_elimination)
        strbuf_addf(out, percent > 99.5 ? "up to all of the change" : "up to %.0f %% of the change",
                    percent);
    else
        strbuf_addf(out, "%.0f %% of the change", percent);
    double low = fmin(100 * cause->share_of[0], 100), high = fmin(100 * cause->share_of[1], 100);
    if (isfinite(cause->share_of[0]) && high - low > 0.5)
        strbuf_addf(out, " (%.0f to %.0f %%)", low, high);
}

void explain_cause_words(const struct cause *cause, struct strbuf *out)
{
    char change[TEXT_UNIT_SIZE];

    strbuf_adds(out, cause->name);
    strbuf_adds(out, ": ");
    if (isfinite(cause->change))
        strbuf_addf(out, "%s, ", text_percent(cause->change, change));
    add_share(cause, out);
}

static const char *cause_evidence(const struct cause *cause)
{
    return cause->evidence ? cause->evidence : "";
}

static void add_effort(const struct explanation *e, struct strbuf *out)
{
    if (e->launches)
        strbuf_addf(out, "%zu pairs of launches with scopes on, %.0f s", e->launches, e->seconds);
}

static bool is_counted(const struct cause *cause)
{
    return cause->kind != CAUSE_UNKNOWN && !cause->is_doubted;
}

static void add_rank(const struct cause *cause, size_t place, struct strbuf *out)
{
    if (is_counted(cause))
        strbuf_addf(out, "%zu. ", place);
    else
        strbuf_adds(out, cause->is_doubted ? "-  doubted: " : "-  ");
}

/* ---- text ---- */

static void add_cause_text(const struct cause *cause, size_t place, struct strbuf *out)
{
    struct strbuf words;

    strbuf_init(&words);
    explain_cause_words(cause, &words);
    strbuf_adds(out, "    ");
    add_rank(cause, place, out);
    escape_plain(out, words.data);
    strbuf_addf(out, "\n       %s: ", cause_kind_name(cause->kind));
    escape_plain(out, cause_evidence(cause));
    strbuf_addc(out, '\n');
    strbuf_release(&words);
}

static void add_explained(const struct explanation *e,
                          void (*escape)(struct strbuf *out, const char *text), struct strbuf *out)
{
    escape(out, e->what ? e->what : e->key);
    if (!e->machine)
        return;
    strbuf_adds(out, " on ");
    escape(out, e->machine);
}

static void add_explanation_text(const struct explanation *e, struct strbuf *out)
{
    char change[TEXT_UNIT_SIZE];

    strbuf_adds(out, "  ");
    add_explained(e, escape_plain, out);
    if (isfinite(e->change.mid))
        strbuf_addf(out, ", %s", text_percent(expm1(e->change.mid), change));
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < e->causes.nr; i++)
        add_cause_text(&e->causes.items[i], i + 1, out);
    for (size_t i = 0; i < e->notes.nr; i++) {
        strbuf_adds(out, "    ");
        escape_plain(out, e->notes.items[i]);
        strbuf_addc(out, '\n');
    }
    if (e->launches) {
        strbuf_adds(out, "    ");
        add_effort(e, out);
        strbuf_addc(out, '\n');
    }
}

static void add_left_out(const struct explanations *e, struct strbuf *out)
{
    if (e->left_out)
        strbuf_addf(out, "%zu more got slower; the time of --explain-budget did not suffice\n",
                    e->left_out);
}

void explain_text(const struct explanations *e, struct strbuf *out)
{
    if (e->items.nr == 0)
        return;
    strbuf_adds(out, "\nWhy it got slower\n");
    for (size_t i = 0; i < e->items.nr; i++)
        add_explanation_text(&e->items.items[i], out);
    if (e->left_out)
        strbuf_adds(out, "  ");
    add_left_out(e, out);
}

/* ---- Markdown ---- */

static void add_cause_markdown(const struct cause *cause, size_t place, struct strbuf *out)
{
    struct strbuf words;

    strbuf_init(&words);
    explain_cause_words(cause, &words);
    if (is_counted(cause))
        strbuf_addf(out, "%zu. **", place);
    else
        strbuf_adds(out, cause->is_doubted ? "- doubted: **" : "- **");
    escape_markdown(out, words.data);
    strbuf_addf(out, "** (%s): ", cause_kind_name(cause->kind));
    escape_markdown(out, cause_evidence(cause));
    strbuf_addc(out, '\n');
    strbuf_release(&words);
}

static void add_explanation_markdown(const struct explanation *e, struct strbuf *out)
{
    char change[TEXT_UNIT_SIZE];

    add_explained(e, escape_markdown, out);
    if (isfinite(e->change.mid))
        strbuf_addf(out, ", %s", text_percent(expm1(e->change.mid), change));
    strbuf_adds(out, "\n\n");
    for (size_t i = 0; i < e->causes.nr; i++)
        add_cause_markdown(&e->causes.items[i], i + 1, out);
    for (size_t i = 0; i < e->notes.nr; i++) {
        strbuf_adds(out, "- ");
        escape_markdown(out, e->notes.items[i]);
        strbuf_addc(out, '\n');
    }
    strbuf_addc(out, '\n');
}

void explain_markdown(const struct explanations *e, size_t most, struct strbuf *out)
{
    size_t nr = e->items.nr < most ? e->items.nr : most;

    for (size_t i = 0; i < nr; i++)
        add_explanation_markdown(&e->items.items[i], out);
    if (nr < e->items.nr)
        strbuf_addf(out, "%zu more were explained, and are left out here.\n\n", e->items.nr - nr);
    add_left_out(e, out);
}

/* ---- JSON ---- */

static cJSON *cause_json(const struct cause *cause)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf words;

    strbuf_init(&words);
    explain_cause_words(cause, &words);
    json_add_string(json, "kind", cause_kind_name(cause->kind));
    json_add_string(json, "name", cause->name);
    json_add_string(json, "words", words.data);
    strbuf_release(&words);
    json_add_number(json, "change", cause->change);
    json_add_number(json, "share", cause->share);
    cJSON *interval = cJSON_AddObjectToObject(json, "interval");
    json_add_number(interval, "low", cause->share_of[0]);
    json_add_number(interval, "high", cause->share_of[1]);
    cJSON_AddBoolToObject(json, "by_elimination", cause->by_elimination);
    cJSON_AddBoolToObject(json, "doubted", cause->is_doubted);
    json_add_string(json, "evidence", cause_evidence(cause));
    return json;
}

static cJSON *explanation_json(const struct explanation *e)
{
    cJSON *json = cJSON_CreateObject(), *array;

    json_add_string(json, "key", e->key);
    json_add_string(json, "what", e->what);
    json_add_string(json, "machine", e->machine);
    json_add_number(json, "change", expm1(e->change.mid));
    json_add_int(json, "launches", (int64_t)e->launches);
    json_add_number(json, "seconds", e->seconds);
    array = cJSON_AddArrayToObject(json, "causes");
    for (size_t i = 0; i < e->causes.nr; i++)
        cJSON_AddItemToArray(array, cause_json(&e->causes.items[i]));
    json_add_strings(json, "notes", e->notes.items, e->notes.nr);
    return json;
}

cJSON *explain_json(const struct explanations *e)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < e->items.nr; i++)
        cJSON_AddItemToArray(array, explanation_json(&e->items.items[i]));
    return array;
}
