/* SPDX-License-Identifier: MIT */
#include "reporters/run_table.h"

#include "base/memory.h"
#include "base/text.h"
#include "core/device_label.h"
#include "metrics/label.h"
#include "metrics/roofline.h"
#include "metrics/run_rows.h"
#include "reporters/number_table.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/ticks.h"
#include "verdict/machine_probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rate that says most about a benchmark: tokens/s for models, else GFLOP/s, else GB/s; at the
 * median time. "" where there is none. */
static const char *rate_text(const struct summary *summary, const struct metric_context *context,
                             char text[QUANTITY_TEXT_SIZE])
{
    static const struct {
        const char *metric, *base;
        double factor;
    } rows[] = { { "tokens", " tokens/s", 1 }, { "gflops", "FLOP/s", 1e9 }, { "gbs", "B/s", 1e9 } };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = metric_get(rows[i].metric, summary, context).value * rows[i].factor;
        if (isfinite(value) && value > 0)
            return quantity_text(QUANTITY_RATE, rows[i].base, value, text);
    }
    text[0] = '\0';
    return text;
}

static const struct table_column columns[] = {
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 }, { "outcome", TABLE_LEFT, TABLE_FIRM, 2 },
    { "p50", TABLE_RIGHT, TABLE_FIRM, 0 },      { "±95 %", TABLE_RIGHT, TABLE_FIRM, 3 },
    { "p5", TABLE_RIGHT, TABLE_FIRM, 9 },       { "p95", TABLE_RIGHT, TABLE_FIRM, 7 },
    { "p99", TABLE_RIGHT, TABLE_FIRM, 6 },      { "rate", TABLE_RIGHT, TABLE_FIRM, 4 },
    { "of roof", TABLE_RIGHT, TABLE_FIRM, 5 },  { "bound", TABLE_LEFT, TABLE_FIRM, 8 },
    { "error", TABLE_RIGHT, TABLE_FIRM, 10 },   { "n", TABLE_RIGHT, TABLE_FIRM, 11 },
    { "why", TABLE_LEFT, TABLE_PROSE, 1 },
};

/* Marks that were used, to be explained below the table. */
struct marks {
    bool few, above;
};

static void run_table_add_time(struct table *t, const char *metric, const struct run_row *row,
                               const struct metric_context *context, struct marks *marks)
{
    /* analyzer: gcc 12 does not see that a struct is returned whole */
    struct metric_value v = metric_get(metric, &row->summary, context);
    char text[QUANTITY_TEXT_SIZE];

    if (!isfinite(v.value)) {
        table_empty(t);
        return;
    }
    marks->few |= v.few;
    table_cell(t, v.few ? TABLE_DIM : TABLE_PLAIN, "%s%s",
               quantity_text(QUANTITY_TIME, "", v.value, text), v.few ? "*" : "");
}

static void run_table_add_roof(struct table *t, const struct run_row *row,
                               const struct metric_context *context, struct marks *marks)
{
    struct metric_value p50 = metric_get("p50", &row->summary, context);
    struct binding_roof roof;

    binding_roof_of(row->summary.m, p50.value, context, &roof);
    if (!isfinite(roof.fraction)) {
        table_empty(t);
    } else {
        table_cell(t, roof.above_roof ? TABLE_BAD : TABLE_PLAIN, "%.0f %%%s", roof.fraction * 100,
                   roof.above_roof ? "!" : "");
        marks->above |= roof.above_roof;
    }
    table_cell(t, TABLE_PLAIN, "%s", bound_name(roof.bound));
}

static void run_table_add_row(struct table *t, const struct run_rows *rows, size_t i,
                              struct marks *marks)
{
    const struct run_row *row = &rows->items[i];
    const struct metric_context *context = &rows->context;
    struct metric_value p50 = metric_get("p50", &row->summary, context);
    char rate[QUANTITY_TEXT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", rows->labels[i]);
    const char *name = outcome_name(row->outcome);
    if (row->failures && row->failures < row->launches)
        table_cell(t, TABLE_BAD, "%s %zu/%zu", name, row->failures, row->launches);
    else
        table_cell(t,
                   row->outcome == OUTCOME_OK            ? TABLE_GOOD
                   : row->outcome == OUTCOME_UNSUPPORTED ? TABLE_DIM
                                                         : TABLE_BAD,
                   "%s", name);
    run_table_add_time(t, "p50", row, context, marks);
    /* Half the width of the interval, relative to the value. */
    double half = (p50.interval.high - p50.interval.low) / 2 / p50.value;
    char text[TEXT_UNIT_SIZE];
    if (half > 1) /* launches that disagree by more than that need no digits */
        table_cell(t, TABLE_DIM, "> 100 %%");
    else if (isfinite(half))
        table_cell(t, TABLE_DIM, "%s", text_share(half, text));
    else
        table_empty(t);
    run_table_add_time(t, "p5", row, context, marks);
    run_table_add_time(t, "p95", row, context, marks);
    run_table_add_time(t, "p99", row, context, marks);
    table_cell(t, TABLE_PLAIN, "%s", rate_text(&row->summary, context, rate));
    run_table_add_roof(t, row, context, marks);
    if (isfinite(row->summary.m->max_error) && row->summary.m->max_error > 0)
        table_cell(t, TABLE_PLAIN, "%.1e", row->summary.m->max_error);
    else
        table_empty(t);
    if (row->summary.n)
        table_cell(t, TABLE_DIM, "%zu", row->summary.n);
    else
        table_empty(t);
    table_cell(t, TABLE_PLAIN, "%s", row->message ? row->message : "");
}

static void run_table_add_common(const struct run_rows *rows, char *common, size_t size)
{
    const struct benchmark_name **names = memory_zeroed(rows->nr + 1, sizeof(*names));

    for (size_t i = 0; i < rows->nr; i++)
        names[i] = rows->items[i].bench;
    labels_common(names, rows->nr, common, size);
    free(names);
}

/* Whether something of the run was measured with a thread on every processor. */
static bool takes_all(const struct records *records, int run)
{
    int all = records->runs[run].machine.threads;

    for (size_t i = 0; i < records->nr && all > 1; i++)
        if (records->items[i].run == run &&
            device_label_of(records->items[i].m.bench.device).threads == all)
            return true;
    return false;
}

/* Why launches may have taken longer than they were to. A team that takes all processors waits for
 * whoever else wants one; one case in five is more than the system's own work. */
static void run_table_add_repeats(const struct records *records, int run, struct strbuf *out)
{
    struct machine_probe_repeats r;

    machine_probe_repeats_count(records, run, &r);
    if (r.repeated + r.left == 0)
        return;
    strbuf_adds(out, "disturbed by other programs or the host: ");
    machine_probe_repeats_words(&r, out);
    strbuf_addc(out, '\n');
    if (5 * (r.repeated + r.left) > r.measured && takes_all(records, run))
        strbuf_addf(out,
                    "teams took all %d processors of a machine that is not theirs alone: "
                    "--device cpu:free leaves one to the others\n",
                    records->runs[run].machine.threads);
}

/* What stands in the times of functions of Python beside their work. */
static void run_table_add_calls(const struct run_rows *rows, struct strbuf *out)
{
    double least = INFINITY, most = 0;
    size_t copies = 0, nr = 0;
    char from[TEXT_UNIT_SIZE], to[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < rows->nr; i++) {
        const struct measurement *m = rows->items[i].summary.m;
        double empty = m ? measurement_telemetry(m, TELEMETRY_EMPTY_CALL) : NAN;
        if (isnan(empty))
            continue;
        least = fmin(least, empty);
        most = fmax(most, empty);
        copies += measurement_telemetry(m, TELEMETRY_COPY_TIMED) == 1;
        nr++;
    }
    if (nr == 0)
        return;
    text_time(least, from);
    text_time(most, to);
    strbuf_addf(out,
                "a call of a Python function that does nothing takes %s%s%s, which is in the "
                "times (telemetry " TELEMETRY_EMPTY_CALL ")\n",
                from, strcmp(from, to) ? " to " : "", strcmp(from, to) ? to : "");
    if (copies > 0)
        strbuf_addf(out,
                    "%zu of %zu return what is no array yet: copying it is in the times, too\n",
                    copies, nr);
}

static void run_table_fill(struct table *t, const struct run_rows *rows, struct marks *marks)
{
    table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < rows->nr; i++)
        run_table_add_row(t, rows, i, marks);
}

void run_table(const struct records *records, int run, const struct run_table_options *options,
               struct strbuf *out)
{
    struct marks marks = { false, false };
    struct run_rows rows;
    struct table t;
    char common[512];

    run = run < 0 ? run_newest(records) : run;
    run_rows_init(&rows, records, run);
    run_rows_name(&rows);
    if (!rows.nr) {
        strbuf_adds(out, "nothing was measured\n");
        goto out;
    }
    run_table_fill(&t, &rows, &marks);
    run_table_add_common(&rows, common, sizeof(common));
    if (common[0])
        strbuf_addf(out, "all: %s\n", common);
    table_text(&t, options->width, options->colour, out);
    number_table(&rows, options, out);
    if (marks.few)
        strbuf_addf(out,
                    "* too few samples to carry this percentile (p99 needs %zu): read it as \"at "
                    "least about\"\n",
                    stats_quantile_needs(0.99, 0.95));
    if (marks.above)
        strbuf_adds(out,
                    "! above the measured roof: the work model or the roof is wrong, "
                    "find out which\n");
    run_table_add_calls(&rows, out);
    run_conditions(records, run, out);
    run_table_add_repeats(records, run, out);
    /* One in twenty may be chance: a probe is 3 ms of a machine that others use, too. */
    struct slow_machine d;
    machine_probe_find_slow(records, run, &d);
    char worst[TEXT_UNIT_SIZE];
    if (20 * d.disturbed > d.probed)
        strbuf_addf(out,
                    "the machine was slower beside %zu of %zu measurements, up to %s times: "
                    "measure again, or read them with that in mind (telemetry " TELEMETRY_MACHINE
                    ")\n",
                    d.disturbed, d.probed, text_figures(d.worst, 2, worst));
    table_release(&t);
out:
    run_rows_release(&rows);
}

void run_table_markdown(const struct records *records, int run, struct strbuf *out)
{
    struct marks marks = { false, false };
    struct run_rows rows;
    struct table t;

    run_rows_init(&rows, records, run < 0 ? run_newest(records) : run);
    run_rows_name(&rows);
    if (rows.nr) {
        run_table_fill(&t, &rows, &marks);
        table_markdown(&t, out);
        table_release(&t);
        number_table_markdown(&rows, out);
    } else {
        strbuf_adds(out, "Nothing was measured.\n");
    }
    run_rows_release(&rows);
}

/* ---- the report ---- */

static const struct table_column report_columns[] = {
    { .title = "benchmark" },
    { .title = "batch", .align = TABLE_RIGHT },
    { .title = "seq", .align = TABLE_RIGHT },
    { .title = "mean ± sd", .align = TABLE_RIGHT },
    { .title = "min", .align = TABLE_RIGHT },
    { .title = "p50", .align = TABLE_RIGHT },
    { .title = "p95", .align = TABLE_RIGHT },
    { .title = "p99", .align = TABLE_RIGHT },
    { .title = "max", .align = TABLE_RIGHT },
    { .title = "token rate", .align = TABLE_RIGHT },
    { .title = "compute rate", .align = TABLE_RIGHT },
    { .title = "outcome" },
};

static void run_table_add_dim(struct table *t, const struct benchmark_name *name, const char *dim)
{
    int64_t value = benchmark_name_dim(name, dim, -1);

    if (value < 0)
        table_empty(t);
    else
        table_cell(t, TABLE_PLAIN, "%lld", (long long)value);
}

static void run_table_add_rate(struct table *t, double value, const char *base)
{
    char text[QUANTITY_TEXT_SIZE];

    if (isfinite(value) && value > 0)
        table_cell(t, TABLE_PLAIN, "%s", quantity_text(QUANTITY_RATE, base, value, text));
    else
        table_empty(t);
}

/* Also of a summary by another program, which says its mean and has one sample, its median. Both in
 * the unit of the mean. */
static void report_add_mean(struct table *t, const struct run_rows *rows, const struct run_row *row)
{
    double mean = metric_get("mean", &row->summary, &rows->context).value;
    double sd = metric_get("sd", &row->summary, &rows->context).value;
    struct unit unit = unit_for(QUANTITY_TIME, "", mean);

    if (!isfinite(mean))
        table_empty(t);
    else if (isfinite(sd))
        table_cell(t, TABLE_PLAIN, "%.2f ± %.2f %s", mean / unit.factor, sd / unit.factor,
                   unit.name);
    else
        table_cell(t, TABLE_PLAIN, "%.2f %s", mean / unit.factor, unit.name);
}

/* A percentile that its samples do not carry is absent. */
static void report_add_time(struct table *t, const struct run_rows *rows, const struct run_row *row,
                            const char *metric)
{
    struct metric_value value = metric_get(metric, &row->summary, &rows->context);
    char text[QUANTITY_TEXT_SIZE];

    if (!isfinite(value.value) || (value.few && strcmp(metric, "p50") != 0))
        table_empty(t);
    else
        table_cell(t, TABLE_PLAIN, "%s", quantity_text(QUANTITY_TIME, "", value.value, text));
}

static void report_add_row(struct table *t, const struct run_rows *rows, size_t i)
{
    static const char *const times[] = { "min", "p50", "p95", "p99", "max" };
    const struct run_row *row = &rows->items[i];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", rows->labels[i]);
    run_table_add_dim(t, row->bench, "batch");
    run_table_add_dim(t, row->bench, "seq");
    report_add_mean(t, rows, row);
    for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
        report_add_time(t, rows, row, times[k]);
    run_table_add_rate(t, metric_get("tokens", &row->summary, &rows->context).value, " tokens/s");
    run_table_add_rate(t, metric_get("gflops", &row->summary, &rows->context).value * 1e9,
                       "FLOP/s");
    table_cell(t, TABLE_PLAIN, "%s", outcome_name(row->outcome));
}

static void run_table_add_environment(const struct run *run, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    strbuf_adds(out, "Machine: ");
    escape_markdown(out, run->machine.cpu[0] ? run->machine.cpu : "unknown");
    if (run->machine.gpu[0]) {
        strbuf_adds(out, ", ");
        escape_markdown(out, run->machine.gpu);
    }
    if (run->build.commit[0]) {
        strbuf_adds(out, " · commit ");
        escape_markdown(out, run->build.commit);
        strbuf_adds(out, run->build.dirty ? " (dirty)" : "");
    }
    strbuf_addf(out, " · %s\n\n", text_timestamp(run->started_ms, when));
}

/* The row where the metric is lowest or highest, or rows->nr. */
static size_t run_table_best_row(const struct run_rows *rows, const char *metric, bool lowest)
{
    size_t best = rows->nr;
    double best_value = NAN;

    for (size_t i = 0; i < rows->nr; i++) {
        double value = metric_get(metric, &rows->items[i].summary, &rows->context).value;
        if (!isfinite(value) || rows->items[i].outcome != OUTCOME_OK)
            continue; /* what was WRONG once wins nothing */
        if (best == rows->nr || (lowest ? value < best_value : value > best_value)) {
            best = i;
            best_value = value;
        }
    }
    return best;
}

static void run_table_add_best(const struct run_rows *rows, const char *metric, bool lowest,
                               const char *words, struct strbuf *out)
{
    size_t best = run_table_best_row(rows, metric, lowest);
    char text[QUANTITY_TEXT_SIZE];

    if (best == rows->nr)
        return;
    double value = metric_get(metric, &rows->items[best].summary, &rows->context).value;
    strbuf_addf(out, "- %s: ", words);
    escape_markdown(out, rows->labels[best]);
    if (lowest)
        quantity_text(QUANTITY_TIME, "", value, text);
    else if (metric[0] == 't')
        quantity_text(QUANTITY_RATE, " tokens/s", value, text);
    else
        quantity_text(QUANTITY_RATE, "FLOP/s", value * 1e9, text);
    strbuf_addf(out, ", %s\n", text);
}

static void run_table_add_failures(const struct run_rows *rows, struct strbuf *out)
{
    for (size_t i = 0; i < rows->nr; i++) {
        const struct run_row *row = &rows->items[i];
        if (row->outcome == OUTCOME_OK)
            continue;
        strbuf_addf(out, "- %s: ", outcome_name(row->outcome));
        escape_markdown(out, rows->labels[i]);
        strbuf_adds(out, row->message ? ": " : "");
        escape_markdown(out, row->message ? row->message : "");
        strbuf_addc(out, '\n');
    }
}

void markdown_report(const struct records *records, int run, struct strbuf *out)
{
    struct run_rows rows;
    struct table t;

    run = run < 0 ? run_newest(records) : run;
    run_rows_init(&rows, records, run);
    run_rows_name(&rows);
    if (!rows.nr) {
        strbuf_adds(out, "Nothing was measured.\n");
        run_rows_release(&rows);
        return;
    }
    run_table_add_environment(&records->runs[run], out);
    table_init(&t, report_columns, sizeof(report_columns) / sizeof(report_columns[0]));
    for (size_t i = 0; i < rows.nr; i++)
        report_add_row(&t, &rows, i);
    table_markdown(&t, out);
    strbuf_addc(out, '\n');
    run_table_add_best(&rows, "p50", true, "Fastest (lowest median latency)", out);
    run_table_add_best(&rows, "tokens", false, "Best throughput (at the median)", out);
    run_table_add_best(&rows, "gflops", false, "Highest compute rate (at the median)", out);
    run_table_add_failures(&rows, out);
    table_release(&t);
    run_rows_release(&rows);
}
