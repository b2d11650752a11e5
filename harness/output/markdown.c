/* SPDX-License-Identifier: MIT */
#include "output/markdown.h"

#include "base/text.h"
#include "output/escape.h"
#include "output/rates.h"
#include "output/run_rows.h"
#include "output/table.h"

#include <math.h>

static const struct table_column columns[] = {
    { "benchmark", TABLE_LEFT, false }, { "batch", TABLE_RIGHT, false },
    { "seq", TABLE_RIGHT, false },      { "mean ± sd", TABLE_RIGHT, false },
    { "p50", TABLE_RIGHT, false },      { "K tokens/s", TABLE_RIGHT, false },
    { "GFLOP/s", TABLE_RIGHT, false },  { "outcome", TABLE_LEFT, false },
};

static void add_dim(struct table *t, const struct benchmark_name *name, const char *dim)
{
    int64_t value = benchmark_name_dim(name, dim, -1);

    if (value < 0)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, TABLE_PLAIN, "%lld", (long long)value);
}

static void add_number(struct table *t, double value, double factor)
{
    if (isfinite(value) && value > 0)
        table_cell(t, TABLE_PLAIN, "%.2f", value / factor);
    else
        table_cell(t, TABLE_PLAIN, "%s", "");
}

/* Both in the unit of the mean. */
static void add_mean(struct table *t, const struct summary *s)
{
    struct unit unit = unit_for(QUANTITY_TIME, "", s->mean);

    if (!s->n)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else if (isfinite(s->sd))
        table_cell(t, TABLE_PLAIN, "%.2f ± %.2f %s", s->mean / unit.factor, s->sd / unit.factor,
                   unit.name);
    else
        table_cell(t, TABLE_PLAIN, "%.2f %s", s->mean / unit.factor, unit.name);
}

static void add_row(struct table *t, const struct run_rows *rows, size_t i)
{
    const struct run_row *row = &rows->items[i];
    char text[QUANTITY_TEXT_SIZE];
    double p50 = metric_get("p50", &row->summary, &rows->context).value;

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", rows->labels[i]);
    add_dim(t, row->bench, "batch");
    add_dim(t, row->bench, "seq");
    add_mean(t, &row->summary);
    table_cell(t, TABLE_PLAIN, "%s",
               isfinite(p50) ? quantity_text(QUANTITY_TIME, "", p50, text) : "");
    add_number(t, metric_get("tokens", &row->summary, &rows->context).value, 1000);
    add_number(t, metric_get("gflops", &row->summary, &rows->context).value, 1);
    table_cell(t, TABLE_PLAIN, "%s", outcome_name(row->outcome));
}

static void add_environment(const struct run *run, struct strbuf *out)
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
static size_t best_row(const struct run_rows *rows, const char *metric, bool lowest)
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

static void add_best(const struct run_rows *rows, const char *metric, bool lowest,
                     const char *words, struct strbuf *out)
{
    size_t best = best_row(rows, metric, lowest);
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

static void add_failures(const struct run_rows *rows, struct strbuf *out)
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
    add_environment(&records->runs[run], out);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < rows.nr; i++)
        add_row(&t, &rows, i);
    table_markdown(&t, out);
    strbuf_addc(out, '\n');
    add_best(&rows, "p50", true, "Fastest (lowest median latency)", out);
    add_best(&rows, "tokens", false, "Best throughput (at the median)", out);
    add_best(&rows, "gflops", false, "Highest compute rate (at the median)", out);
    add_failures(&rows, out);
    table_release(&t);
    run_rows_release(&rows);
}
