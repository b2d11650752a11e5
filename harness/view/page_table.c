/* SPDX-License-Identifier: MIT */
/* The table, column by column: as text at once, because a tree of some hundred thousand numbers is
 * slow to make and to print. */
#include "view/page.h"
#include "view/page_parts.h"

#include <math.h>
#include <stdlib.h>

void page_number(struct strbuf *out, double value)
{
    if (isfinite(value))
        strbuf_addf(out, "%.5g", value);
    else
        strbuf_adds(out, "null");
}

/* A row of the table. */
struct row {
    size_t run;
    int benchmark;
    const struct run_value *value;
};

struct rows {
    struct row *items;
    size_t nr;
};

static void collect(const struct page *page, struct rows *rows)
{
    size_t most = 0;

    for (size_t i = 0; i < page->nr_runs; i++)
        most += page->runs[i].values->nr;
    *rows = (struct rows) { .items = memory_zeroed(most + 1, sizeof(struct row)) };
    for (size_t i = 0; i < page->nr_runs; i++) {
        const struct run_values *values = page->runs[i].values;
        for (size_t k = 0; k < values->nr; k++) {
            int benchmark = page_find_benchmark(page, values->items[k].key);
            if (benchmark >= 0)
                rows->items[rows->nr++] = (struct row) { i, benchmark, &values->items[k] };
        }
    }
}

typedef void cell_fn(struct strbuf *out, const struct row *row);

static void add_run(struct strbuf *out, const struct row *row)
{
    strbuf_addf(out, "%zu", row->run);
}

static void add_benchmark(struct strbuf *out, const struct row *row)
{
    strbuf_addf(out, "%d", row->benchmark);
}

static void add_launches(struct strbuf *out, const struct row *row)
{
    strbuf_addf(out, "%zu", row->value->launches);
}

static void add_outcome(struct strbuf *out, const struct row *row)
{
    strbuf_addf(out, "\"%s\"", outcome_name(row->value->outcome));
}

static void add_n(struct strbuf *out, const struct row *row)
{
    strbuf_addf(out, "%zu", row->value->n);
}

static void add_metric(const struct rows *rows, size_t metric, struct strbuf *out)
{
    strbuf_addf(out, "\"%s\":[", metric_at(metric)->id);
    for (size_t i = 0; i < rows->nr; i++) {
        strbuf_adds(out, i ? "," : "");
        page_number(out, rows->items[i].value->values[metric]);
    }
    strbuf_addc(out, ']');
}

void page_table(const struct page *page, struct strbuf *out)
{
    static const struct {
        const char *name;
        cell_fn *cell;
    } columns[] = {
        { "run", add_run },
        { "benchmark", add_benchmark },
        { "launches", add_launches },
        { "outcome", add_outcome },
        { "n", add_n },
    };
    const char *comma = "";
    struct rows rows;

    collect(page, &rows);
    strbuf_addc(out, '{');
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
        strbuf_addf(out, "\"%s\":[", columns[c].name);
        for (size_t i = 0; i < rows.nr; i++) {
            strbuf_adds(out, i ? "," : "");
            columns[c].cell(out, &rows.items[i]);
        }
        strbuf_adds(out, "],");
    }
    strbuf_adds(out, "\"columns\":{");
    for (size_t m = 0; metric_at(m); m++) {
        if (!page->has[m])
            continue;
        strbuf_adds(out, comma);
        add_metric(&rows, m, out);
        comma = ",";
    }
    strbuf_adds(out, "}}");
    free(rows.items);
}
