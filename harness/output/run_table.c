/* SPDX-License-Identifier: MIT */
#include "output/run_table.h"

#include "analysis/disturbance.h"
#include "analysis/label.h"
#include "analysis/roofline.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/rates.h"
#include "output/run_rows.h"
#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column columns[] = {
    { "benchmark", TABLE_LEFT, true }, { "outcome", TABLE_LEFT, false },
    { "p50", TABLE_RIGHT, false },     { "±95 %", TABLE_RIGHT, false },
    { "p5", TABLE_RIGHT, false },      { "p95", TABLE_RIGHT, false },
    { "p99", TABLE_RIGHT, false },     { "rate", TABLE_RIGHT, false },
    { "of roof", TABLE_RIGHT, false }, { "bound", TABLE_LEFT, false },
    { "error", TABLE_RIGHT, false },   { "n", TABLE_RIGHT, false },
    { "why", TABLE_LEFT, true },
};

/* Marks that were used, to be explained below the table. */
struct marks {
    bool few, above;
};

static void add_time(struct table *t, const char *metric, const struct run_row *row,
                     const struct metric_context *context, struct marks *marks)
{
    /* analyzer: gcc 12 does not see that a struct is returned whole */
    struct metric_value v = metric_get(metric, &row->summary, context);
    char text[QUANTITY_TEXT_SIZE];

    if (!isfinite(v.value)) {
        table_cell(t, TABLE_PLAIN, "%s", "");
        return;
    }
    marks->few |= v.few;
    table_cell(t, v.few ? TABLE_DIM : TABLE_PLAIN, "%s%s",
               quantity_text(QUANTITY_TIME, "", v.value, text), v.few ? "*" : "");
}

/* Half the width of the interval, relative to the value. */
static void add_interval(struct table *t, const struct metric_value *v)
{
    double half = (v->interval.high - v->interval.low) / 2 / v->value;
    char text[TEXT_UNIT_SIZE];

    if (half > 1) /* launches that disagree by more than that need no digits */
        table_cell(t, TABLE_DIM, "> 100 %%");
    else if (isfinite(half))
        table_cell(t, TABLE_DIM, "%s", text_share(half, text));
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
}

static void add_roof(struct table *t, const struct run_row *row,
                     const struct metric_context *context, struct marks *marks)
{
    struct metric_value p50 = metric_get("p50", &row->summary, context);
    struct roof roof;

    roof_of(row->summary.m, p50.value, context, &roof);
    if (!isfinite(roof.fraction)) {
        table_cell(t, TABLE_PLAIN, "%s", "");
    } else {
        table_cell(t, roof.above_roof ? TABLE_BAD : TABLE_PLAIN, "%.0f %%%s", roof.fraction * 100,
                   roof.above_roof ? "!" : "");
        marks->above |= roof.above_roof;
    }
    table_cell(t, TABLE_PLAIN, "%s", bound_name(roof.bound));
}

static void add_outcome(struct table *t, const struct run_row *row)
{
    const char *name = outcome_name(row->outcome);

    if (row->failures && row->failures < row->launches)
        table_cell(t, TABLE_BAD, "%s %zu/%zu", name, row->failures, row->launches);
    else
        table_cell(t,
                   row->outcome == OUTCOME_OK            ? TABLE_GOOD
                   : row->outcome == OUTCOME_UNSUPPORTED ? TABLE_DIM
                                                         : TABLE_BAD,
                   "%s", name);
}

static void add_row(struct table *t, const struct run_rows *rows, size_t i, struct marks *marks)
{
    const struct run_row *row = &rows->items[i];
    const struct metric_context *context = &rows->context;
    struct metric_value p50 = metric_get("p50", &row->summary, context);
    char rate[QUANTITY_TEXT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", rows->labels[i]);
    add_outcome(t, row);
    add_time(t, "p50", row, context, marks);
    add_interval(t, &p50);
    add_time(t, "p5", row, context, marks);
    add_time(t, "p95", row, context, marks);
    add_time(t, "p99", row, context, marks);
    table_cell(t, TABLE_PLAIN, "%s", rate_text(&row->summary, context, rate));
    add_roof(t, row, context, marks);
    if (isfinite(row->summary.m->max_error) && row->summary.m->max_error > 0)
        table_cell(t, TABLE_PLAIN, "%.1e", row->summary.m->max_error);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
    if (row->summary.n)
        table_cell(t, TABLE_DIM, "%zu", row->summary.n);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
    table_cell(t, TABLE_PLAIN, "%s", row->message ? row->message : "");
}

static void add_common(const struct run_rows *rows, char *common, size_t size)
{
    const struct benchmark_name **names = memory_zeroed(rows->nr + 1, sizeof(*names));

    for (size_t i = 0; i < rows->nr; i++)
        names[i] = rows->items[i].bench;
    labels_common(names, rows->nr, common, size);
    free(names);
}

/* One in twenty may be chance: a probe is 3 ms of a machine that others use, too. */
static void add_disturbance(const struct records *records, int run, struct strbuf *out)
{
    struct disturbance d;

    disturbance_find(records, run, &d);
    if (20 * d.disturbed > d.probed)
        strbuf_addf(out,
                    "the machine was slower beside %zu of %zu measurements, up to %.2g times: "
                    "measure again, or read them with that in mind (telemetry probe_ns)\n",
                    d.disturbed, d.probed, d.worst);
}

/* Whether something of the run was measured with a thread on every processor. */
static bool takes_all(const struct records *records, int run)
{
    char label[32];

    snprintf(label, sizeof(label), "cpu-%dt", records->runs[run].machine.threads);
    for (size_t i = 0; i < records->nr; i++)
        if (records->items[i].run == run && strcmp(records->items[i].m.bench.device, label) == 0)
            return records->runs[run].machine.threads > 1;
    return false;
}

/* Why launches may have taken longer than they were to. A team that takes all processors waits for
 * whoever else wants one; one case in five is more than the system's own work. */
static void add_repeats(const struct records *records, int run, struct strbuf *out)
{
    struct disturbance_repeats r;

    disturbance_repeats_count(records, run, &r);
    if (r.repeated + r.left == 0)
        return;
    strbuf_adds(out, "disturbed by other programs or the host: ");
    disturbance_repeats_words(&r, out);
    strbuf_addc(out, '\n');
    if (5 * (r.repeated + r.left) > r.measured && takes_all(records, run))
        strbuf_addf(out,
                    "teams took all %d processors of a machine that is not theirs alone: "
                    "--device cpu:free leaves one to the others\n",
                    records->runs[run].machine.threads);
}

static void add_footnotes(const struct marks *marks, struct strbuf *out)
{
    if (marks->few)
        strbuf_addf(out,
                    "* too few samples to carry this percentile (p99 needs %zu): read it as \"at "
                    "least about\"\n",
                    stats_quantile_needs(0.99, 0.95));
    if (marks->above)
        strbuf_adds(out,
                    "! above the measured roof: the work model or the ceiling is wrong, "
                    "find out which\n");
}

static void fill(struct table *t, const struct run_rows *rows, struct marks *marks)
{
    table_init(t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < rows->nr; i++)
        add_row(t, rows, i, marks);
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
    fill(&t, &rows, &marks);
    add_common(&rows, common, sizeof(common));
    if (common[0])
        strbuf_addf(out, "all: %s\n", common);
    table_text(&t, options->width, options->colour, out);
    add_footnotes(&marks, out);
    add_repeats(records, run, out);
    add_disturbance(records, run, out);
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
        fill(&t, &rows, &marks);
        table_markdown(&t, out);
        table_release(&t);
    } else {
        strbuf_adds(out, "Nothing was measured.\n");
    }
    run_rows_release(&rows);
}
