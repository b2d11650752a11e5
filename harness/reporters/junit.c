/* SPDX-License-Identifier: MIT */
#include "reporters/junit.h"

#include "base/memory.h"
#include "base/text.h"
#include "reporters/compare_words.h"
#include "text/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times are xs:decimal, which knows no exponent. Of a suite Jenkins allows milliseconds. */
enum { SECONDS_DIGITS = 9, SUITE_DIGITS = 3 };

enum result { PASSED, FAILURE, ERROR, SKIPPED };

static const char *const elements[] = {
    [FAILURE] = "failure", [ERROR] = "error", [SKIPPED] = "skipped"
};

/* Rows of one kernel: one suite. */
struct suite {
    const char *kernel;
    const struct compare_row **rows;
    size_t nr, number;
};

struct junit {
    const struct comparison *c;
    const struct junit_options *o;
    struct compare_several several; /* names say which */
    struct strbuf *out;
};

static enum result junit_result_of(const struct compare_row *row)
{
    switch (row->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_BROKEN:
        return row->accepted ? PASSED : FAILURE;
    case VERDICT_FAILING:
        return ERROR;
    case VERDICT_UNDECIDED:
    case VERDICT_MISSING:
        return SKIPPED;
    default:
        return PASSED;
    }
}

static double junit_seconds_of(const struct compare_row *row)
{
    bool time = row->item->metric->kind == METRIC_LATENCY && isfinite(row->head.value);

    return time ? row->head.value * 1e-9 : 0;
}

/* The key without its kernel; the whole key where there is nothing else. */
static const char *rest_of_key(const struct benchmark_name *bench)
{
    const char *key = bench->key, *kernel = bench->kernel;

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): arrays inside a struct */
    while (*kernel && *key == *kernel) {
        key++;
        kernel++;
    }
    return !*kernel && *key == '/' ? key + 1 : bench->key;
}

static void junit_name_of(const struct junit *j, const struct compare_row *row, struct strbuf *name)
{
    strbuf_clear(name);
    strbuf_adds(name, rest_of_key(row->item->bench));
    compare_add_which(&j->several, row, name);
}

/* name="..." with a space before it. An empty value would be no token: it becomes "-". */
static void junit_add_attribute(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, " %s=\"", name);
    escape_xml(out, value && *value ? value : "-");
    strbuf_addc(out, '"');
}

static void junit_add_property(struct strbuf *out, const char *name, const char *value)
{
    strbuf_adds(out, "      <property");
    junit_add_attribute(out, "name", name);
    junit_add_attribute(out, "value", value);
    strbuf_adds(out, "/>\n");
}

static void junit_add_row_property(const struct junit *j, const char *name, const char *what,
                                   const char *value)
{
    struct strbuf whole;

    if (!*value)
        return;
    strbuf_init(&whole);
    strbuf_addf(&whole, "%s: %s", name, what);
    junit_add_property(j->out, whole.data, value);
    strbuf_release(&whole);
}

static void junit_add_row_properties(const struct junit *j, const struct compare_row *row,
                                     const char *name)
{
    char text[QUANTITY_TEXT_SIZE];

    junit_add_row_property(j, name, "base", compare_value(row, row->base.value, text));
    junit_add_row_property(j, name, "head", compare_value(row, row->head.value, text));
    junit_add_row_property(j, name, "change", compare_change(row, text));
    junit_add_row_property(j, name, "interval", compare_interval(row, text));
}

static void junit_add_properties(const struct junit *j, const struct suite *s)
{
    const struct metric *metrics[COMPARE_METRICS_MAX];
    size_t nr = comparison_metrics(j->c, metrics);
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(j->out, "    <properties>\n");
    junit_add_property(j->out, "base", j->o->base_name);
    junit_add_property(j->out, "head", j->o->head_name);
    for (size_t i = 0; i < nr; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", metrics[i]->label);
    junit_add_property(j->out, "metric", text.data);
    strbuf_clear(&text);
    strbuf_addf(&text, "%.3g %%", j->c->settings.delta * 100);
    junit_add_property(j->out, "delta", text.data);
    for (size_t i = 0; i < s->nr; i++) {
        junit_name_of(j, s->rows[i], &text);
        junit_add_row_properties(j, s->rows[i], text.data);
    }
    strbuf_adds(j->out, "    </properties>\n");
    strbuf_release(&text);
}

/* "+12.0 % (+8.0 to +16.0 %), 1.000 ms -> 1.120 ms: slower", or why there is no such thing. */
static void junit_describe(const struct compare_row *row, struct strbuf *text)
{
    char change[QUANTITY_TEXT_SIZE], interval[QUANTITY_TEXT_SIZE];
    char base[QUANTITY_TEXT_SIZE], head[QUANTITY_TEXT_SIZE];

    strbuf_clear(text);
    strbuf_adds(text, verdict_word(row->verdict, row->item->metric));
    compare_interval(row, interval);
    if (*compare_change(row, change))
        strbuf_addf(text, ": %s%s%s%s, %s -> %s", change, *interval ? " (" : "", interval,
                    *interval ? ")" : "", compare_value(row, row->base.value, base),
                    compare_value(row, row->head.value, head));
    if (row->why[0])
        strbuf_addf(text, ": %s", row->why);
    if (row->accepted)
        strbuf_addf(text, "; accepted: %s", row->accepted);
}

static void junit_add_case(const struct junit *j, const struct suite *s,
                           const struct compare_row *row)
{
    enum result result = junit_result_of(row);
    struct strbuf name;

    strbuf_init(&name);
    junit_name_of(j, row, &name);
    strbuf_adds(j->out, "    <testcase");
    junit_add_attribute(j->out, "classname", s->kernel);
    junit_add_attribute(j->out, "name", name.data);
    strbuf_addf(j->out, " time=\"%.*f\"", SECONDS_DIGITS, junit_seconds_of(row));
    if (result == PASSED) {
        strbuf_adds(j->out, "/>\n");
    } else {
        strbuf_adds(j->out, ">\n");
        struct strbuf text;
        strbuf_init(&text);
        junit_describe(row, &text);
        strbuf_addf(j->out, "      <%s", elements[result]);
        if (result != SKIPPED) /* for which Ant's schema has none */
            junit_add_attribute(j->out, "type", verdict_name(row->verdict));
        junit_add_attribute(j->out, "message", text.data);
        strbuf_adds(j->out, "/>\n");
        strbuf_release(&text);
        strbuf_adds(j->out, "    </testcase>\n");
    }
    strbuf_release(&name);
}

static void junit_add_lines(const struct junit *j, const struct suite *s)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_adds(j->out, "    <system-out>");
    for (size_t i = 0; i < s->nr; i++) {
        junit_name_of(j, s->rows[i], &text);
        strbuf_adds(j->out, "- ");
        escape_xml(j->out, text.data);
        strbuf_adds(j->out, ": ");
        junit_describe(s->rows[i], &text);
        escape_xml(j->out, text.data);
        strbuf_addc(j->out, '\n');
    }
    strbuf_adds(j->out, "</system-out>\n    <system-err/>\n");
    strbuf_release(&text);
}

static void junit_add_suite(const struct junit *j, const struct suite *s)
{
    size_t count[SKIPPED + 1] = { 0 };
    double seconds = 0;

    for (size_t i = 0; i < s->nr; i++) {
        count[junit_result_of(s->rows[i])]++;
        seconds += junit_seconds_of(s->rows[i]);
    }
    strbuf_adds(j->out, "  <testsuite");
    junit_add_attribute(j->out, "name", s->kernel);
    junit_add_attribute(j->out, "package", "harness");
    strbuf_addf(j->out, " id=\"%zu\"", s->number);
    junit_add_attribute(j->out, "hostname",
                        j->o->machine && j->o->machine[0] ? j->o->machine : "unknown");
    /* "2026-11-21T09:54:00", as the schema wants it. */
    char when[TEXT_UNIT_SIZE];
    text_timestamp(j->o->measured_ms, when);
    strbuf_addf(j->out, " timestamp=\"%.10sT%.8s\"", when, when + 11);
    strbuf_addf(j->out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", s->nr,
                count[FAILURE], count[ERROR], count[SKIPPED]);
    strbuf_addf(j->out, " time=\"%.*f\">\n", SUITE_DIGITS, seconds);
    junit_add_properties(j, s);
    for (size_t i = 0; i < s->nr; i++)
        junit_add_case(j, s, s->rows[i]);
    junit_add_lines(j, s);
    strbuf_adds(j->out, "  </testsuite>\n");
}

/* Kernels in order of name; within one, rows as they come. */
static int junit_order_rows(const void *x, const void *y)
{
    const struct compare_row *const *a = x, *const *b = y;
    int order = strcmp((*a)->item->bench->kernel, (*b)->item->bench->kernel);

    return order ? order : (*a > *b) - (*a < *b); /* rows of one array */
}

void junit_write(const struct comparison *c, const struct junit_options *options,
                 struct strbuf *out)
{
    struct junit j = { c, options, compare_several(c), out };
    const size_t nr = c->nr;
    const struct compare_row **rows = memory_zeroed(nr + 1, sizeof(*rows));
    size_t number = 0;

    for (size_t i = 0; i < nr; i++)
        rows[i] = &c->rows[i];
    qsort(rows, nr, sizeof(*rows), junit_order_rows);
    strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t i = 0, end; i < nr; i = end) {
        const char *kernel = rows[i]->item->bench->kernel;
        for (end = i + 1; end < nr && strcmp(rows[end]->item->bench->kernel, kernel) == 0;)
            end++;
        struct suite suite = { kernel, &rows[i], end - i, number++ };
        junit_add_suite(&j, &suite);
    }
    strbuf_adds(out, "</testsuites>\n");
    free(rows);
}
