/* SPDX-License-Identifier: MIT */
#include "reporters/commands_report.h"

#include "base/text.h"
#include "reporters/compare_words.h"
#include "text/escape.h"
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

/* "1.24x", "12x", "0.031x" */
static const char *ratio_times(double ratio, char text[RATIO_SIZE])
{
    if (ratio < 0.1)
        snprintf(text, RATIO_SIZE, "%.2gx", ratio);
    else
        snprintf(text, RATIO_SIZE, "%.*fx", ratio < 10 ? 2 : ratio < 100 ? 1 : 0, ratio);
    return text;
}

static void add_ratio_limit(double ratio, struct strbuf *out)
{
    char text[RATIO_SIZE];

    if (!isfinite(ratio)) {
        strbuf_adds(out, "any");
        return;
    }
    ratio_times(ratio, text);
    strbuf_add(out, text, strlen(text) - 1);
}

static bool is_time(const struct compare_row *row)
{
    return row->item->metric->kind == METRIC_LATENCY;
}

/* Of a time it is the larger over the smaller, and a word says which is which. */
static bool is_turned(const struct compare_row *row)
{
    return is_time(row) && row->change < 0;
}

/* "1.24x slower", as the change of a time says; "0.81x" */
static void add_ratio(const struct compare_row *row, struct strbuf *out)
{
    double ratio = 1 + row->change;
    char text[RATIO_SIZE];

    strbuf_adds(out, ratio_times(is_turned(row) ? 1 / ratio : ratio, text));
    if (is_time(row))
        strbuf_addf(out, " %s", row->worse ? "slower" : "faster");
}

/* " (1.20 to 1.28)", in the direction of add_ratio(). */
static void add_ratio_interval(const struct compare_row *row, struct strbuf *out)
{
    double low = 1 + row->interval.low, high = 1 + row->interval.high;
    bool turned = is_turned(row);

    if (!isfinite(low))
        return;
    strbuf_adds(out, " (");
    add_ratio_limit(turned ? 1 / high : low, out);
    strbuf_adds(out, " to ");
    add_ratio_limit(turned ? 1 / low : high, out);
    strbuf_adds(out, ")");
}

static void add_command_name(const struct commands_report *r, size_t command, struct strbuf *out)
{
    char *name = shorten_text(r->commands[command].name, NAME_SHOWN);

    escape_plain(out, name); /* with --shell it may have lines, and anything else */
    free(name);
}

/* "threads=2: " */
static void add_command_setting(const struct command_result *result, struct strbuf *out)
{
    if (!result->setting[0])
        return;
    escape_plain(out, result->setting);
    strbuf_adds(out, ": ");
}

static void add_change(const struct commands_report *r, const struct compare_row *row,
                       struct strbuf *out)
{
    strbuf_adds(out, is_time(row) ? " is " : " has ");
    add_ratio(row, out);
    if (is_time(row))
        strbuf_adds(out, " than ");
    else
        strbuf_addf(out, " the %s of ", row->item->metric->label);
    add_command_name(r, 0, out);
    add_ratio_interval(row, out);
    if (!is_time(row))
        strbuf_adds(out, row->worse ? ": worse" : ": better");
}

static void add_same(const struct commands_report *r, const struct compare_row *row,
                     struct strbuf *out)
{
    char share[TEXT_UNIT_SIZE], range[QUANTITY_TEXT_SIZE];

    if (is_time(row))
        strbuf_adds(out, " takes as long as ");
    else
        strbuf_addf(out, " has the same %s as ", row->item->metric->label);
    add_command_name(r, 0, out);
    strbuf_addf(out, ", within %s (%s)", text_share(row->delta, share),
                compare_interval(row, range));
}

static void add_undecided(const struct commands_report *r, const struct compare_row *row,
                          struct strbuf *out)
{
    strbuf_adds(out, " cannot be told from ");
    add_command_name(r, 0, out);
    if (!is_time(row))
        strbuf_addf(out, " by its %s", row->item->metric->label);
    if (isfinite(row->change)) {
        strbuf_adds(out, " yet: ");
        add_ratio(row, out);
        add_ratio_interval(row, out);
    }
    strbuf_adds(out, row->why[0] ? "; " : "");
    escape_plain(out, row->why);
}

void commands_report_sentence(const struct commands_report *r, const struct command_result *result,
                              const struct compare_row *row, struct strbuf *out)
{
    add_command_setting(result, out);
    add_command_name(r, result->command, out);
    switch (row->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_IMPROVED:
        add_change(r, row, out);
        return;
    case VERDICT_SAME:
        add_same(r, row, out);
        return;
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
        strbuf_adds(out, " failed: ");
        escape_plain(out, result->message ? result->message : row->why);
        return;
    default:
        add_undecided(r, row, out);
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
    add_command_setting(result, out);
    add_command_name(r, result->command, out);
    strbuf_adds(out, result->outcome == OUTCOME_WRONG ? " was wrong: " : " failed: ");
    escape_plain(out, result->message ? result->message : outcome_name(result->outcome));
    strbuf_addc(out, '\n');
}

/* ---- the table ---- */

enum {
    COLUMN_VALUES = 4,
    TITLE_SIZE = NUMBER_NAME_SIZE + NUMBER_UNIT_SIZE + 32
}; /* numbers stand there */

static const struct table_column usual_columns[] = {
    { "", TABLE_LEFT, TABLE_FIRM, 0 },           { "command", TABLE_LEFT, TABLE_NAME, 0 },
    { "parameters", TABLE_LEFT, TABLE_NAME, 0 }, { "median", TABLE_RIGHT, TABLE_FIRM, 0 },
    { "least", TABLE_RIGHT, TABLE_FIRM, 5 },     { "most", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "user", TABLE_RIGHT, TABLE_FIRM, 3 },      { "system", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "memory", TABLE_RIGHT, TABLE_FIRM, 2 },    { "runs", TABLE_RIGHT, TABLE_FIRM, 4 },
};

/* With a column for each number that they print, and one for each metric that is compared. */
struct commands_table {
    struct table t;
    struct table_column columns[TABLE_COLUMNS_MAX];
    size_t nr_columns;
    char titles[TABLE_COLUMNS_MAX][TITLE_SIZE]; /* of those */
    size_t nr_numbers;
};

static char *add_column(struct commands_table *w, const struct table_column *column)
{
    char *title = w->titles[w->nr_columns];

    w->columns[w->nr_columns] = *column;
    snprintf(title, TITLE_SIZE, "%s", column->title);
    w->columns[w->nr_columns++].title = title;
    return title;
}

static void add_number_columns(const struct commands_report *r, size_t most,
                               struct commands_table *w)
{
    static const struct table_column column = { "", TABLE_RIGHT, TABLE_FIRM, 1 };

    w->nr_numbers = r->nr_numbers < most ? r->nr_numbers : most;
    for (size_t n = 0; n < w->nr_numbers; n++) {
        const struct number_kind *kind = r->numbers[n];
        char *title = add_column(w, &column);
        if (kind->unit[0])
            snprintf(title, TITLE_SIZE, "%s (%s)", kind->name, kind->unit);
        else
            snprintf(title, TITLE_SIZE, "%s", kind->name);
    }
}

static void add_verdict_columns(const struct commands_report *r, struct commands_table *w)
{
    static const struct table_column column = { "against the first", TABLE_LEFT, TABLE_FIRM, 1 };

    if (r->nr_metrics <= 1)
        add_column(w, &column);
    for (size_t m = 0; r->nr_metrics > 1 && m < r->nr_metrics; m++)
        snprintf(add_column(w, &column), TITLE_SIZE, "%s against the first", r->metrics[m]->label);
}

static void make_columns(const struct commands_report *r, struct commands_table *w)
{
    const size_t usual = sizeof(usual_columns) / sizeof(usual_columns[0]);

    w->nr_columns = 0;
    for (size_t i = 0; i < usual; i++) {
        if (i == COLUMN_VALUES)
            add_number_columns(r, TABLE_COLUMNS_MAX - usual - COMPARE_METRICS_MAX, w);
        add_column(w, &usual_columns[i]);
    }
    add_verdict_columns(r, w);
}

/* In a pipe, too, a line ends some time. */
static void add_command_cell(const struct commands_report *r, size_t command, struct table *t)
{
    char *name = shorten_text(r->commands[command].name, NAME_LISTED);

    table_cell(t, TABLE_PLAIN, "%s", name);
    free(name);
}

static void add_quantity_cell(struct table *t, enum quantity quantity, const char *base,
                              double value)
{
    char text[QUANTITY_TEXT_SIZE];

    if (isfinite(value))
        table_cell(t, TABLE_PLAIN, "%s", quantity_text(quantity, base, value, text));
    else
        table_empty(t);
}

static void add_time_cell(struct table *t, double ns)
{
    add_quantity_cell(t, QUANTITY_TIME, "", ns);
}

static void add_verdict_cell(struct table *t, const struct command_result *result,
                             const struct compare_row *row)
{
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

/* The worst of its metrics is what the line is marked by. */
static const struct compare_row *worst_row(const struct command_result *result)
{
    const struct compare_row *worst = NULL;

    for (size_t i = 0; i < COMPARE_METRICS_MAX; i++)
        if (result->rows[i] && (!worst || result->rows[i]->verdict < worst->verdict))
            worst = result->rows[i];
    return worst;
}

static void add_sign_cell(struct table *t, const struct command_result *result)
{
    const struct compare_row *row = worst_row(result);
    const struct verdict_look *look = row ? verdict_look(row->verdict) : NULL;

    if (look)
        table_cell(t, look->tone, "%s", look->sign);
    else
        table_empty(t);
}

static void fill_commands(const struct commands_report *r, struct commands_table *w)
{
    struct table *t = &w->t;

    make_columns(r, w);
    table_init(t, w->columns, w->nr_columns);
    for (size_t i = 0; i < r->nr; i++) {
        const struct command_result *result = &r->results[i];
        table_row(t);
        add_sign_cell(t, result);
        add_command_cell(r, result->command, t);
        table_cell(t, TABLE_PLAIN, "%s", result->setting);
        add_time_cell(t, result->median);
        for (size_t n = 0; n < w->nr_numbers; n++)
            add_quantity_cell(t, QUANTITY_PLAIN, "", result->numbers[n]);
        add_time_cell(t, result->min);
        add_time_cell(t, result->max);
        add_time_cell(t, result->user_ms * 1e6);
        add_time_cell(t, result->system_ms * 1e6);
        add_quantity_cell(t, QUANTITY_BYTES, "B", result->rss);
        table_cell(t, TABLE_PLAIN, "%zu", result->runs);
        for (size_t m = 0; m < (r->nr_metrics ? r->nr_metrics : 1); m++)
            add_verdict_cell(t, result, result->rows[m]);
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

/* Its rows that have sentences: one that failed has no other. Returns how many. */
static size_t list_told(const struct command_result *result,
                        const struct compare_row *told[COMPARE_METRICS_MAX])
{
    size_t nr = 0;

    for (size_t m = 0; m < COMPARE_METRICS_MAX && !is_failed(result); m++)
        if (result->rows[m])
            told[nr++] = result->rows[m];
    return nr;
}

static void add_sentences(const struct commands_report *r, struct strbuf *out)
{
    const struct compare_row *told[COMPARE_METRICS_MAX];
    size_t left = 0;

    for (size_t i = 0; i < r->nr; i++) {
        left += list_told(&r->results[i], told);
        if (is_failed(&r->results[i]))
            add_failure(r, &r->results[i], out);
    }
    for (size_t i = 0; i < r->nr; i++) {
        size_t nr = list_told(&r->results[i], told);
        for (size_t m = 0; m < nr; m++) {
            commands_report_sentence(r, &r->results[i], told[m], out);
            if (--left == 0)
                add_seconds(r, out);
            strbuf_addc(out, '\n');
        }
    }
}

/* Where there is a value, and so more of them may tell. */
static bool is_undecided(const struct command_result *result)
{
    const struct compare_row *told[COMPARE_METRICS_MAX];
    size_t nr = list_told(result, told);

    for (size_t m = 0; m < nr; m++)
        if (told[m]->verdict == VERDICT_UNDECIDED &&
            told[m]->base.launches + told[m]->head.launches > 0)
            return true;
    return false;
}

/* What limits the answer, and what may be done about it. */
static void add_advice(const struct commands_report *r, struct strbuf *out)
{
    bool failed = false, undecided = false, brief = false;

    for (size_t i = 0; i < r->nr; i++) {
        const struct command_result *result = &r->results[i];
        failed |= result->outcome == OUTCOME_FAILED;
        undecided |= is_undecided(result);
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
    if (r->shell && brief) {
        strbuf_adds(out, "The start of ");
        escape_plain(out, r->shell);
        strbuf_adds(out,
                    " is part of these times, about a millisecond: without --shell it is "
                    "not.\n");
    }
}

void commands_report_text(const struct commands_report *r, size_t width, bool colour,
                          struct strbuf *out)
{
    struct commands_table w;

    fill_commands(r, &w);
    table_text(&w.t, width, colour, out);
    table_release(&w.t);
    strbuf_addc(out, '\n');
    add_sentences(r, out);
    add_advice(r, out);
}

/* A list with an item a line, and nothing in it is Markdown. */
static void add_list(char *lines, struct strbuf *out)
{
    char *rest = lines;

    for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n")) {
        strbuf_adds(out, "- ");
        escape_markdown(out, line);
        strbuf_addc(out, '\n');
    }
}

void commands_report_markdown(const struct commands_report *r, struct strbuf *out)
{
    struct commands_table w;
    struct strbuf text;

    fill_commands(r, &w);
    table_markdown(&w.t, out);
    table_release(&w.t);
    strbuf_addc(out, '\n');
    strbuf_init(&text);
    add_sentences(r, &text);
    add_list(text.data, out);
    strbuf_release(&text);
}
