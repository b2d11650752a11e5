/* SPDX-License-Identifier: MIT */
#include "reporters/ctest.h"

#include "base/text.h"
#include "metrics/group.h"
#include "metrics/metric.h"
#include "text/escape.h"

#include <math.h>

static void ctest_add_number(struct strbuf *out, const char *what, const char *key,
                             const char *unit, double value)
{
    if (!isfinite(value)) /* no number is no element: CDash would draw it as 0 */
        return;
    strbuf_addf(out, "<CTestMeasurement type=\"numeric/double\" name=\"%s ", what);
    escape_xml(out, key);
    strbuf_addf(out, " (%s)\">%.10g</CTestMeasurement>\n", unit, value);
}

static void ctest_add_percentiles(const struct group *g, struct strbuf *out)
{
    static const char *const percentiles[] = { "p50", "p95", "p99" };
    struct summary s;

    summary_init(&s, g->items, g->nr);
    for (size_t i = 0; s.n > 0 && i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        struct metric_value v = metric_get(percentiles[i], &s, NULL);
        bool median = i == 0; /* what is judged, however few samples it is of */
        if (median || !v.few)
            ctest_add_number(out, percentiles[i], g->bench->key, "ns", v.value);
    }
    summary_release(&s);
}

static void ctest_add_change(const struct compare_row *row, struct strbuf *out)
{
    struct strbuf what;

    strbuf_init(&what);
    strbuf_addf(&what, "change %s", row->item->metric->id);
    ctest_add_number(out, what.data, row->item->bench->key, "%", 100 * row->change);
    strbuf_release(&what);
}

void ctest_write(const struct records *head, const struct comparison *c,
                 const struct ctest_options *options, struct strbuf *out)
{
    struct groups groups;

    groups_init(&groups, head, false);
    for (size_t i = 0; i < groups.nr; i++)
        if (text_filters_take(options->filters, options->nr_filters, groups.items[i].bench->key))
            ctest_add_percentiles(&groups.items[i], out);
    groups_release(&groups);
    for (size_t i = 0; c && i < c->nr; i++)
        if (text_filters_take(options->filters, options->nr_filters, c->rows[i].item->bench->key))
            ctest_add_change(&c->rows[i], out);
}
