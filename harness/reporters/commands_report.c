/* SPDX-License-Identifier: MIT */
#include "reporters/commands_report.h"

#include "base/json.h"
#include "base/text.h"
#include "reporters/compare_json.h"
#include "reporters/compare_words.h"
#include "text/shorten.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters of a command in a sentence and in the table; JSON has all. */
enum { NAME_SHOWN = 40, NAME_LISTED = 120, RATIO_SIZE = 32 };

/* A shell's start takes about a millisecond: of shorter commands than this it is a part. */
#define SHELL_MATTERS 20e6

void commands_report_release(struct commands_report *r)
{
    for (size_t i = 0; i < r->nr_commands; i++) {
        free(r->commands[i].name);
        string_list_release(&r->commands[i].argv);
    }
    for (size_t i = 0; i < r->nr; i++) {
        free(r->results[i].setting);
        free(r->results[i].message);
    }
    free(r->commands);
    free(r->results);
    *r = (struct commands_report) { .commands = NULL };
}

/* ---- sentences ---- */

/* "1.24x", "12x": of a factor of 1 or more. */
static const char *ratio_times(double ratio, char text[RATIO_SIZE])
{
    snprintf(text, RATIO_SIZE, "%.*fx", ratio < 10 ? 2 : ratio < 100 ? 1 : 0, ratio);
    return text;
}

static void add_ratio_limit(double ratio, struct strbuf *out)
{
    if (isfinite(ratio))
        strbuf_addf(out, "%.*f", ratio < 10 ? 2 : ratio < 100 ? 1 : 0, ratio);
    else
        strbuf_adds(out, "any");
}

/* "1.24x slower", as the change of a time says. */
static void add_ratio(const struct compare_row *row, struct strbuf *out)
{
    double ratio = 1 + row->change;
    char text[RATIO_SIZE];

    strbuf_addf(out, "%s %s", ratio_times(ratio < 1 ? 1 / ratio : ratio, text),
                row->worse ? "slower" : "faster");
}

/* " (1.20 to 1.28)", in the direction of add_ratio(). */
static void add_ratio_interval(const struct compare_row *row, struct strbuf *out)
{
    double low = 1 + row->interval.low, high = 1 + row->interval.high;
    bool less = row->change < 0;

    if (!isfinite(low))
        return;
    strbuf_adds(out, " (");
    add_ratio_limit(less ? 1 / high : low, out);
    strbuf_adds(out, " to ");
    add_ratio_limit(less ? 1 / low : high, out);
    strbuf_adds(out, ")");
}

static void add_command_name(const struct commands_report *r, size_t command, struct strbuf *out)
{
    char *name = shorten_text(r->commands[command].name, NAME_SHOWN);

    strbuf_adds(out, name);
    free(name);
}

static void add_same(const struct commands_report *r, const struct command_result *result,
                     struct strbuf *out)
{
    char share[TEXT_UNIT_SIZE], range[QUANTITY_TEXT_SIZE];

    strbuf_adds(out, " takes as long as ");
    add_command_name(r, 0, out);
    strbuf_addf(out, ", within %s (%s)", text_share(result->row->delta, share),
                compare_interval(result->row, range));
}

static void add_undecided(const struct commands_report *r, const struct command_result *result,
                          struct strbuf *out)
{
    strbuf_adds(out, " cannot be told from ");
    add_command_name(r, 0, out);
    if (isfinite(result->row->change)) {
        strbuf_adds(out, " yet: ");
        add_ratio(result->row, out);
        add_ratio_interval(result->row, out);
    }
    if (result->row->why[0])
        strbuf_addf(out, "; %s", result->row->why);
}

void commands_report_sentence(const struct commands_report *r, const struct command_result *result,
                              struct strbuf *out)
{
    const struct compare_row *row = result->row;

    if (result->setting[0])
        strbuf_addf(out, "%s: ", result->setting);
    add_command_name(r, result->command, out);
    switch (row->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_IMPROVED:
        strbuf_adds(out, " is ");
        add_ratio(row, out);
        strbuf_adds(out, " than ");
        add_command_name(r, 0, out);
        add_ratio_interval(row, out);
        return;
    case VERDICT_SAME:
        add_same(r, result, out);
        return;
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
        strbuf_addf(out, " failed: %s", result->message ? result->message : row->why);
        return;
    default:
        add_undecided(r, result, out);
        return;
    }
}

static bool is_failed(const struct command_result *result)
{
    return result->outcome != OUTCOME_OK;
}

/* Of the first command there is no row; of one that failed before all was measured neither. */
static void add_failure(const struct commands_report *r, const struct command_result *result,
                        struct strbuf *out)
{
    if (result->setting[0])
        strbuf_addf(out, "%s: ", result->setting);
    add_command_name(r, result->command, out);
    strbuf_addf(out, " %s: %s\n", result->outcome == OUTCOME_WRONG ? "was wrong" : "failed",
                result->message ? result->message : outcome_name(result->outcome));
}

/* ---- the table ---- */

static const struct table_column columns[] = {
    { "", TABLE_LEFT, TABLE_FIRM, 0 },
    { "command", TABLE_LEFT, TABLE_NAME, 0 },
    { "parameters", TABLE_LEFT, TABLE_NAME, 0 },
    { "median", TABLE_RIGHT, TABLE_FIRM, 0 },
    { "least", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "most", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "user", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "system", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "memory", TABLE_RIGHT, TABLE_FIRM, 2 },
    { "runs", TABLE_RIGHT, TABLE_FIRM, 4 },
    { "against the first", TABLE_LEFT, TABLE_FIRM, 1 },
};

/* In a pipe, too, a line ends some time. */
static void add_command_cell(const struct commands_report *r, size_t command, struct table *t)
{
    char *name = shorten_text(r->commands[command].name, NAME_LISTED);

    table_cell(t, TABLE_PLAIN, "%s", name);
    free(name);
}

static void add_time_cell(struct table *t, double ns)
{
    char text[QUANTITY_TEXT_SIZE];

    if (isfinite(ns))
        table_cell(t, TABLE_PLAIN, "%s", quantity_text(QUANTITY_TIME, "", ns, text));
    else
        table_empty(t);
}

static void add_verdict_cell(struct table *t, const struct command_result *result)
{
    const struct compare_row *row = result->row;
    struct strbuf text;

    strbuf_init(&text);
    if (is_failed(result)) {
        table_cell(t, TABLE_BAD, "%s", outcome_name(result->outcome));
    } else if (row && row->verdict == VERDICT_SAME) {
        table_cell(t, verdict_look(row->verdict)->tone, "the same");
    } else if (row && isfinite(row->change)) {
        add_ratio(row, &text);
        add_ratio_interval(row, &text);
        table_cell(t, verdict_look(row->verdict)->tone, "%s%s", text.data,
                   row->verdict == VERDICT_UNDECIDED ? "?" : "");
    } else {
        table_empty(t);
    }
    strbuf_release(&text);
}

static void fill_commands(const struct commands_report *r, struct table *t)
{
    char text[QUANTITY_TEXT_SIZE];

    table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < r->nr; i++) {
        const struct command_result *result = &r->results[i];
        table_row(t);
        if (result->row)
            table_cell(t, verdict_look(result->row->verdict)->tone, "%s",
                       verdict_look(result->row->verdict)->sign);
        else
            table_empty(t);
        add_command_cell(r, result->command, t);
        table_cell(t, TABLE_PLAIN, "%s", result->setting);
        add_time_cell(t, result->median);
        add_time_cell(t, result->min);
        add_time_cell(t, result->max);
        add_time_cell(t, result->user_ms * 1e6);
        add_time_cell(t, result->system_ms * 1e6);
        if (isfinite(result->rss))
            table_cell(t, TABLE_PLAIN, "%s", quantity_text(QUANTITY_BYTES, "B", result->rss, text));
        else
            table_empty(t);
        table_cell(t, TABLE_PLAIN, "%zu", result->runs);
        add_verdict_cell(t, result);
    }
}

/* ---- the text ---- */

static void add_seconds(const struct commands_report *r, struct strbuf *out)
{
    if (r->seconds < 60)
        strbuf_addf(out, ", %.0f s of measuring", fmax(r->seconds, 1));
    else
        strbuf_addf(out, ", %.0f:%02.0f of measuring", floor(r->seconds / 60),
                    floor(fmod(r->seconds, 60)));
}

/* One that failed has no other sentence. */
static bool has_sentence(const struct command_result *result)
{
    return result->row && !is_failed(result);
}

static void add_sentences(const struct commands_report *r, struct strbuf *out)
{
    size_t left = 0;

    for (size_t i = 0; i < r->nr; i++) {
        left += has_sentence(&r->results[i]);
        if (is_failed(&r->results[i]))
            add_failure(r, &r->results[i], out);
    }
    for (size_t i = 0; i < r->nr; i++) {
        if (!has_sentence(&r->results[i]))
            continue;
        commands_report_sentence(r, &r->results[i], out);
        if (--left == 0)
            add_seconds(r, out);
        strbuf_addc(out, '\n');
    }
}

/* What limits the answer, and what may be done about it. */
static void add_advice(const struct commands_report *r, struct strbuf *out)
{
    bool failed = false, undecided = false, brief = false;

    for (size_t i = 0; i < r->nr; i++) {
        const struct command_result *result = &r->results[i];
        failed |= result->outcome == OUTCOME_FAILED;
        undecided |= has_sentence(result) && result->row->verdict == VERDICT_UNDECIDED;
        brief |= result->median < SHELL_MATTERS;
    }
    if (failed)
        strbuf_adds(out,
                    "Other exit statuses than 0 are taken with --ignore-status or "
                    "--ignore-codes LIST.\n");
    if (undecided)
        strbuf_adds(out,
                    "What is undecided may be told with a larger --budget, on a quieter "
                    "machine, or with a larger --delta.\n");
    if (r->shell && brief)
        strbuf_addf(out,
                    "The start of %s is part of these times, about a millisecond: without "
                    "--shell it is not.\n",
                    r->shell);
}

void commands_report_text(const struct commands_report *r, size_t width, bool colour,
                          struct strbuf *out)
{
    struct table t;

    fill_commands(r, &t);
    table_text(&t, width, colour, out);
    table_release(&t);
    strbuf_addc(out, '\n');
    add_sentences(r, out);
    add_advice(r, out);
}

void commands_report_markdown(const struct commands_report *r, struct strbuf *out)
{
    struct table t;
    struct strbuf text;

    fill_commands(r, &t);
    table_markdown(&t, out);
    table_release(&t);
    strbuf_addc(out, '\n');
    strbuf_init(&text);
    add_sentences(r, &text);
    for (const char *p = text.data; *p; p++) { /* a list, and nothing in it is Markdown */
        if (p == text.data || p[-1] == '\n')
            strbuf_adds(out, "- ");
        if (strchr("\\`*_{}[]<>#|!", *p))
            strbuf_addc(out, '\\');
        strbuf_addc(out, *p);
    }
    strbuf_release(&text);
}

/* ---- JSON ---- */

static cJSON *result_to_json(const struct commands_report *r, const struct command_result *result)
{
    cJSON *json = cJSON_CreateObject();
    struct strbuf sentence;

    json_add_int(json, "command", (int64_t)result->command);
    json_add_string(json, "setting", result->setting);
    json_add_string(json, "key", result->key);
    if (result->run)
        json_add_int(json, "run", result->run);
    cJSON_AddStringToObject(json, "outcome", outcome_name(result->outcome));
    json_add_string(json, "message", result->message);
    json_add_int(json, "runs", (int64_t)result->runs);
    json_add_number(json, "median_ns", result->median);
    json_add_number(json, "mean_ns", result->mean);
    json_add_number(json, "min_ns", result->min);
    json_add_number(json, "max_ns", result->max);
    json_add_number(json, "user_ms", result->user_ms);
    json_add_number(json, "system_ms", result->system_ms);
    json_add_number(json, "max_rss_bytes", result->rss);
    if (!result->row)
        return json;
    strbuf_init(&sentence);
    commands_report_sentence(r, result, &sentence);
    json_add_string(json, "sentence", sentence.data);
    strbuf_release(&sentence);
    cJSON_AddItemToObject(json, "comparison", compare_row_to_json(result->row));
    return json;
}

cJSON *commands_report_json(const struct commands_report *r)
{
    cJSON *json = cJSON_CreateObject(), *array;

    cJSON_AddNumberToObject(json, "schema_version", 1);
    json_add_string(json, "metric", r->metric);
    json_add_number(json, "delta", r->delta);
    json_add_number(json, "fdr", r->q);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_number(json, "seconds", r->seconds);
    json_add_string(json, "end", r->end);
    json_add_int(json, "exit_status", r->exit_status);
    array = cJSON_AddArrayToObject(json, "commands");
    for (size_t i = 0; i < r->nr_commands; i++) {
        cJSON *command = cJSON_CreateObject(), *argv;
        json_add_string(command, "name", r->commands[i].name);
        argv = cJSON_AddArrayToObject(command, "argv");
        for (size_t j = 0; j < r->commands[i].argv.nr; j++)
            cJSON_AddItemToArray(argv, cJSON_CreateString(r->commands[i].argv.items[j]));
        cJSON_AddItemToArray(array, command);
    }
    array = cJSON_AddArrayToObject(json, "results");
    for (size_t i = 0; i < r->nr; i++)
        cJSON_AddItemToArray(array, result_to_json(r, &r->results[i]));
    return json;
}
