/* SPDX-License-Identifier: MIT */
/* The table, column by column: as text at once, because a tree of some hundred thousand numbers is
 * slow to make and to print. */
#include "page/page.h"
#include "page/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_number(struct strbuf *out, double value)
{
    if (isfinite(value))
        strbuf_addf(out, "%.5g", value);
    else
        strbuf_adds(out, "null");
}

/* A row of the table. */
struct table_row {
    size_t run;
    int benchmark;
    const struct run_value *value;
};

struct table_rows {
    struct table_row *items;
    size_t nr;
};

static void table_rows_of(const struct page *page, struct table_rows *rows)
{
    size_t most = 0;

    for (size_t i = 0; i < page->nr_runs; i++)
        most += page->runs[i].values->nr;
    *rows = (struct table_rows) { .items = memory_zeroed(most + 1, sizeof(struct table_row)) };
    for (size_t i = 0; i < page->nr_runs; i++) {
        const struct run_values *values = page->runs[i].values;
        for (size_t k = 0; k < values->nr; k++) {
            int benchmark = page_find_benchmark(page, values->items[k].key);
            if (benchmark >= 0)
                rows->items[rows->nr++] = (struct table_row) { i, benchmark, &values->items[k] };
        }
    }
}

enum column { COLUMN_RUN, COLUMN_BENCHMARK, COLUMN_LAUNCHES, COLUMN_OUTCOME, COLUMN_N, COLUMN_NR };

static void table_add_cell(const struct table_row *row, enum column column, struct strbuf *out)
{
    const struct run_value *v = row->value;
    const size_t numbers[] = { [COLUMN_RUN] = row->run,
                               [COLUMN_BENCHMARK] = (size_t)row->benchmark,
                               [COLUMN_LAUNCHES] = v->launches,
                               [COLUMN_N] = v->n };

    if (column == COLUMN_OUTCOME)
        strbuf_addf(out, "\"%s\"", outcome_name(v->outcome));
    else
        strbuf_addf(out, "%zu", numbers[column]);
}

/* The first value of a benchmark, 0 where there is none yet, and what one is in its fifth digit. */
struct table_first {
    double value, step;
};

/* Steps would say a smaller number with fewer than five digits, and one that is far larger at more
 * length than it has itself. */
static bool table_is_far(double value, const struct table_first *first)
{
    return fabs(value) < 1e4 * first->step || fabs(value) >= 1e10 * first->step;
}

/* The first value of a benchmark stands there as it is, all others as whole steps from it: numbers
 * that differ by noise are short, and a long history of them has room in a file. What is far from
 * the first is a text, which tells it from steps. */
static void table_add_value(struct strbuf *out, double value, struct table_first *first)
{
    char text[32];

    if (!isfinite(value) || first->value == 0) {
        page_number(out, value);
        if (!isfinite(value) || value == 0)
            return;
        snprintf(text, sizeof(text), "%.4e", value);
        first->value = strtod(text, NULL);
        first->step = pow(10, atoi(strchr(text, 'e') + 1) - 4);
    } else if (table_is_far(value, first)) {
        strbuf_addf(out, "\"%.5g\"", value + 0.0);
    } else {
        strbuf_addf(out, "%.0f", rint((value - first->value) / first->step) + 0.0);
    }
}

static void table_add_metric(const struct table_rows *rows, size_t nr_benchmarks, size_t metric,
                             struct strbuf *out)
{
    struct table_first *firsts = memory_zeroed(nr_benchmarks + 1, sizeof(*firsts));

    json_take_script(cJSON_CreateString(metric_at(metric)->id), out);
    strbuf_adds(out, ":[");
    for (size_t i = 0; i < rows->nr; i++) {
        strbuf_adds(out, i ? "," : "");
        table_add_value(out, run_value_of(rows->items[i].value, metric),
                        &firsts[rows->items[i].benchmark]);
    }
    strbuf_addc(out, ']');
    free(firsts);
}

void page_table(const struct page *page, struct strbuf *out)
{
    static const char *const columns[COLUMN_NR] = { "run", "benchmark", "launches", "outcome",
                                                    "n" };
    const char *comma = "";
    struct table_rows rows;

    table_rows_of(page, &rows);
    strbuf_addc(out, '{');
    for (size_t c = 0; c < COLUMN_NR; c++) {
        strbuf_addf(out, "\"%s\":[", columns[c]);
        for (size_t i = 0; i < rows.nr; i++) {
            strbuf_adds(out, i ? "," : "");
            table_add_cell(&rows.items[i], (enum column)c, out);
        }
        strbuf_adds(out, "],");
    }
    strbuf_adds(out, "\"columns\":{");
    for (size_t m = 0; m < page->nr_metrics; m++) {
        if (!page->has[m])
            continue;
        strbuf_adds(out, comma);
        table_add_metric(&rows, page->nr_benchmarks, m, out);
        comma = ",";
    }
    strbuf_adds(out, "}}");
    free(rows.items);
}
