/* SPDX-License-Identifier: MIT */
#include "cli/selftest_report.h"

#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERCENT_SIZE = 32 };

static char *percent(double fraction, char text[PERCENT_SIZE])
{
    if (isnan(fraction))
        snprintf(text, PERCENT_SIZE, "n/a");
    else if (fraction >= 0 && fraction < 1e-4)
        snprintf(text, PERCENT_SIZE, "under 0.01 %%");
    else
        snprintf(text, PERCENT_SIZE, "%.3g %%", 100 * fraction);
    return text;
}

/* "3 of 4 (19 to 99 %)"; nothing where nothing was counted. */
static void rate_cell(struct table *t, enum table_tone tone, struct selftest_rate r)
{
    struct interval ci = selftest_interval(r);

    if (r.of == 0)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, tone, "%zu of %zu (%.0f to %.0f %%)", r.hits, r.of, 100 * ci.low,
                   100 * ci.high);
}

static void add_row(struct table *table, const struct selftest_tally *tally)
{
    char size[PERCENT_SIZE];
    bool alarms = tally->alarms.hits > 0;

    table_row(table);
    table_cell(table, TABLE_PLAIN, "%s", tally->size > 0 ? percent(tally->size, size) : "nothing");
    rate_cell(table, TABLE_PLAIN, tally->found);
    rate_cell(table, alarms ? TABLE_BAD : TABLE_PLAIN, tally->alarms);
    rate_cell(table, alarms ? TABLE_BAD : TABLE_PLAIN, tally->comparisons);
    table_cell(table, TABLE_PLAIN, "%zu", tally->same);
    table_cell(table, TABLE_PLAIN, "%zu", tally->undecided);
    if (tally->lost)
        table_cell(table, TABLE_BAD, "%zu", tally->lost);
}

static void add_noise(const struct selftest *t, struct strbuf *out)
{
    char launch[PERCENT_SIZE], occasion[PERCENT_SIZE], visible[PERCENT_SIZE];

    strbuf_addf(out, "Noise: %s from launch to launch", percent(t->launch_noise, launch));
    if (!isnan(t->occasion_noise))
        strbuf_addf(out, ", %s from %s beyond that", percent(t->occasion_noise, occasion),
                    selftest_interleaved(t) ? "block to block" : "run to run");
    strbuf_adds(out, " (medians).");
    if (!isnan(t->visible))
        strbuf_addf(out, " From it a change of %s should be found 4 times in 5.",
                    percent(t->visible, visible));
    strbuf_addc(out, '\n');
}

/* "(95 %: 2.1 % to above 10 %)": beyond the sizes planted nothing is known. */
static void add_limits(const struct selftest *t, struct interval limits, struct strbuf *out)
{
    char low[PERCENT_SIZE], high[PERCENT_SIZE];
    double first = t->tallies[0].size, last = t->tallies[t->nr - 1].size;

    strbuf_addf(out, " (95 %%: %s%s to %s%s).\n", limits.low > 0 ? "" : "under ",
                percent(isinf(limits.low) ? last
                        : limits.low > 0  ? limits.low
                                          : first,
                        low),
                isinf(limits.high) ? "above " : "",
                percent(isinf(limits.high) ? last : limits.high, high));
}

static void add_smallest(const struct selftest *t, struct strbuf *out)
{
    struct interval limits;
    double smallest = selftest_smallest(t, &limits);
    char text[PERCENT_SIZE];

    if (isnan(smallest))
        return;
    if (isinf(smallest))
        strbuf_addf(out, "Planted changes found 4 times in 5: none, not even %s",
                    percent(t->tallies[t->nr - 1].size, text));
    else
        strbuf_addf(out, "Smallest planted change found 4 times in 5: %s%s, by the table",
                    percent(smallest, text), smallest > t->tallies[0].size ? "" : " or less");
    add_limits(t, limits, out);
}

void selftest_report(const struct selftest *t, size_t width, bool colour, struct strbuf *out)
{
    static const struct table_column columns[] = {
        { .title = "planted" },
        { .title = "found", .align = TABLE_RIGHT },
        { .title = "false alarms", .align = TABLE_RIGHT },
        { .title = "comparisons with any", .align = TABLE_RIGHT },
        { .title = "same", .align = TABLE_RIGHT },
        { .title = "undecided", .align = TABLE_RIGHT },
        { .title = "lost", .align = TABLE_RIGHT },
    };
    char text[SELFTEST_TEXT_SIZE], delta[PERCENT_SIZE];
    struct table table;

    strbuf_addf(out, "%s: %zu benchmark%s of %s, %s%d launch%s a side%s, floor %s\n\n",
                strncmp(t->kind, "aa", 2) == 0 ? "The same against itself" : "A planted slow-down",
                t->benchmarks, t->benchmarks == 1 ? "" : "s", t->what,
                selftest_interleaved(t) ? "at most " : "", t->launches,
                t->launches == 1 ? "" : "es", selftest_interleaved(t) ? " in turn" : "",
                percent(t->delta, delta));
    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < t->nr; i++)
        add_row(&table, &t->tallies[i]);
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addc(out, '\n');
    add_noise(t, out);
    add_smallest(t, out);
    selftest_gate(t, t->delta, text);
    strbuf_addf(out, "%s\n", text);
    if (!selftest_quiet(t))
        strbuf_addf(out, "False alarms come too often: of %zu comparisons %zu had one.\n",
                    selftest_total(t).comparisons.of, selftest_total(t).comparisons.hits);
}
