/* SPDX-License-Identifier: MIT */
#include "cli/render/selftest_report.h"

#include "base/text.h"
#include "text/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PERCENT_SIZE = TEXT_UNIT_SIZE };

static char *selftest_percent(double fraction, char text[PERCENT_SIZE])
{
    if (isnan(fraction))
        snprintf(text, PERCENT_SIZE, "n/a");
    else if (fraction >= 0 && fraction < 1e-4)
        snprintf(text, PERCENT_SIZE, "under 0.01 %%");
    else
        return text_about(fraction, 3, text);
    return text;
}

/* "3 of 4 (19 to 99 %)"; nothing where nothing was counted. */
static void selftest_rate_cell(struct table *t, enum table_tone tone, struct selftest_rate r)
{
    struct interval ci = selftest_interval(r);

    if (r.of == 0)
        table_cell(t, TABLE_PLAIN, "%s", "");
    else
        table_cell(t, tone, "%zu of %zu (%.0f to %.0f %%)", r.hits, r.of, 100 * ci.low,
                   100 * ci.high);
}

static void add_selftest_row(struct table *table, const struct selftest_tally *tally)
{
    char size[PERCENT_SIZE];
    bool alarms = tally->alarms.hits > 0;

    table_row(table);
    table_cell(table, TABLE_PLAIN, "%s",
               tally->size > 0 ? selftest_percent(tally->size, size) : "nothing");
    selftest_rate_cell(table, TABLE_PLAIN, tally->found);
    selftest_rate_cell(table, alarms ? TABLE_BAD : TABLE_PLAIN, tally->alarms);
    selftest_rate_cell(table, alarms ? TABLE_BAD : TABLE_PLAIN, tally->comparisons);
    table_cell(table, TABLE_PLAIN, "%zu", tally->same);
    table_cell(table, TABLE_PLAIN, "%zu", tally->undecided);
    if (tally->lost)
        table_cell(table, TABLE_BAD, "%zu", tally->lost);
}

static void add_selftest_noise(const struct selftest *t, struct strbuf *out)
{
    char launch[PERCENT_SIZE], between[PERCENT_SIZE], visible[PERCENT_SIZE];

    strbuf_addf(out, "Noise: %s from launch to launch", selftest_percent(t->launch_noise, launch));
    if (!isnan(t->run_noise))
        strbuf_addf(out, ", %s from %s beyond that", selftest_percent(t->run_noise, between),
                    selftest_interleaved(t) ? "block to block" : "run to run");
    strbuf_adds(out, " (medians).");
    if (t->visible < SELFTEST_VISIBLE_MOST) /* nor NaN */
        strbuf_addf(out, " From it a change of %s should be found 4 times in 5.",
                    selftest_percent(t->visible, visible));
    strbuf_addc(out, '\n');
}

/* "(95 %: 2.1 % to above 10 %)": beyond the sizes planted nothing is known. */
static void add_selftest_limits(const struct selftest *t, struct interval limits,
                                struct strbuf *out)
{
    char low[PERCENT_SIZE], high[PERCENT_SIZE];
    double first = t->tallies[0].size, last = t->tallies[t->nr - 1].size;

    strbuf_addf(out, " (95 %%: %s%s to %s%s).\n", limits.low > 0 ? "" : "under ",
                selftest_percent(isinf(limits.low) ? last
                                 : limits.low > 0  ? limits.low
                                                   : first,
                                 low),
                isinf(limits.high) ? "above " : "",
                selftest_percent(isinf(limits.high) ? last : limits.high, high));
}

static void add_selftest_smallest(const struct selftest *t, struct strbuf *out)
{
    struct interval limits;
    double smallest = selftest_smallest(t, &limits);
    char text[PERCENT_SIZE];

    if (isnan(smallest))
        return;
    if (isinf(smallest))
        strbuf_addf(out, "Planted changes found 4 times in 5: none, not even %s",
                    selftest_percent(t->tallies[t->nr - 1].size, text));
    else
        strbuf_addf(out, "Smallest planted change found 4 times in 5: %s%s, by the table",
                    selftest_percent(smallest, text),
                    smallest > t->tallies[0].size ? "" : " or less");
    add_selftest_limits(t, limits, out);
}

void selftest_report(const struct selftest *t, size_t width, bool colour, struct strbuf *out)
{
    static const struct table_column columns[] = {
        { "planted", TABLE_LEFT, TABLE_FIRM, 0 },
        { "found", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "false alarms", TABLE_RIGHT, TABLE_FIRM, 0 },
        { "comparisons with any", TABLE_RIGHT, TABLE_FIRM, 2 },
        { "same", TABLE_RIGHT, TABLE_FIRM, 4 },
        { "undecided", TABLE_RIGHT, TABLE_FIRM, 3 },
        { "lost", TABLE_RIGHT, TABLE_FIRM, 1 },
    };
    char text[SELFTEST_TEXT_SIZE], delta[PERCENT_SIZE];
    struct table table;

    strbuf_addf(out, "%s: %zu benchmark%s of %s, %s%d launch%s a side%s, floor %s\n\n",
                strncmp(t->kind, "aa", 2) == 0 ? "The same against itself" : "A planted slow-down",
                t->benchmarks, t->benchmarks == 1 ? "" : "s", t->what,
                selftest_interleaved(t) ? "at most " : "", t->launches,
                t->launches == 1 ? "" : "es", selftest_interleaved(t) ? " in turn" : "",
                selftest_percent(t->delta, delta));
    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < t->nr; i++)
        add_selftest_row(&table, &t->tallies[i]);
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addc(out, '\n');
    add_selftest_noise(t, out);
    add_selftest_smallest(t, out);
    selftest_gate(t, t->delta, text);
    strbuf_addf(out, "%s\n", text);
    if (!selftest_quiet(t))
        strbuf_addf(out, "False alarms come too often: of %zu comparisons %zu had one.\n",
                    selftest_total(t).comparisons.of, selftest_total(t).comparisons.hits);
}

/* ---- costs ---- */

static void add_cost_row(struct table *table, const struct selftest_cost *c,
                         const struct selftest_cost_row *row)
{
    char text[TEXT_UNIT_SIZE], delta[TEXT_UNIT_SIZE];
    bool called = row->real == VERDICT_REGRESSED;

    table_row(table);
    table_cell(table, TABLE_PLAIN, "%s", text_about(row->size, 3, text));
    table_cell(table, TABLE_PLAIN, "%s", text_about(row->delta, 3, delta));
    if (row->blocks) {
        table_cell(table, TABLE_PLAIN, "%d", row->blocks);
        table_cell(table, TABLE_PLAIN, "%s", text_time(1e9 * row->blocks * c->block_seconds, text));
    } else {
        table_cell(table, TABLE_BAD, "over %d", COST_BLOCKS_MAX);
        table_cell(table, TABLE_BAD, "over %s",
                   text_time(1e9 * COST_BLOCKS_MAX * c->block_seconds, text));
    }
    table_cell(table, TABLE_PLAIN, "%zu of %zu", row->alarms.hits, row->alarms.of);
    table_cell(table, called ? TABLE_PLAIN : TABLE_BAD, "%s in %s",
               called ? "called" : verdict_name(row->real),
               text_time(1e9 * row->real_seconds, text));
}

static void report_cost(const struct selftest_cost *c, size_t width, bool colour,
                        struct strbuf *out)
{
    static const struct table_column columns[] = {
        { .title = "planted" },
        { .title = "floor", .align = TABLE_RIGHT },
        { .title = "blocks", .align = TABLE_RIGHT },
        { .title = "time", .align = TABLE_RIGHT },
        { .title = "alarms", .align = TABLE_RIGHT },
        { .title = "one real comparison" },
    };
    char launch[TEXT_UNIT_SIZE], block[TEXT_UNIT_SIZE], noise[2][TEXT_UNIT_SIZE];
    struct table table;

    strbuf_addf(out,
                "%s: %s a launch, %d blocks of %s measured; %s from launch to launch, %s "
                "from block to block\n\n",
                c->key, text_time(c->ns, launch), c->blocks,
                text_time(1e9 * c->block_seconds, block), text_about(c->launch_noise, 2, noise[0]),
                text_about(c->block_noise, 2, noise[1]));
    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < c->nr; i++)
        add_cost_row(&table, c, &c->rows[i]);
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addc(out, '\n');
}

void costs_report(const struct selftest_cost *costs, size_t nr, size_t width, bool colour,
                  struct strbuf *out)
{
    for (size_t i = 0; i < nr; i++)
        report_cost(&costs[i], width, colour, out);
    strbuf_addf(
        out,
        "blocks, time: until 9 in 10 comparisons call the slow-down, and alarms: of as many "
        "with nothing planted, both from %d simulated comparisons that draw from the blocks "
        "measured; the last column was measured.\n",
        COSTS_TRIALS);
}

/* ---- placement ---- */

static void add_placement_row(struct table *table, const struct placement_part *p)
{
    char part[TEXT_UNIT_SIZE], low[TEXT_UNIT_SIZE], high[TEXT_UNIT_SIZE];

    table_row(table);
    table_cell(table, TABLE_PLAIN, "%s", p->key);
    table_cell(table, TABLE_PLAIN, "%s", text_about(p->fixed, 2, part));
    table_cell(table, TABLE_PLAIN, "%s", text_about(p->fresh, 2, part));
    text_about(p->part, 2, part);
    if (isfinite(p->limits.high))
        table_cell(table, TABLE_PLAIN, "%s (%s to %s)", part,
                   text_figures(100 * p->limits.low, 2, low), text_about(p->limits.high, 2, high));
    else
        table_cell(table, TABLE_PLAIN, "%s", part);
    if (placement_change(p) > 0)
        table_cell(table, TABLE_PLAIN, "below %s", text_about(placement_change(p), 2, part));
    else
        table_cell(table, TABLE_DIM, "nothing shown");
}

void placements_report(const struct placement_part *parts, size_t nr, size_t width, bool colour,
                       struct strbuf *out)
{
    static const struct table_column columns[] = {
        { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
        { "as always", TABLE_RIGHT, TABLE_FIRM, 3 },
        { "placed anew", TABLE_RIGHT, TABLE_FIRM, 2 },
        { "placement adds", TABLE_RIGHT, TABLE_FIRM, 1 },
        { "not called", TABLE_RIGHT, TABLE_FIRM, 0 },
    };
    struct table table;

    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < nr; i++)
        add_placement_row(&table, &parts[i]);
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addf(out,
                "\nLaunches differ by so much with everything where it always is, and with stack, "
                "heap and address space placed anew (within blocks, %zu launches a side). What "
                "the second has more is the placement's, with limits of 90 %%. `compare` calls no "
                "change of a benchmark below twice that, where it is shown.\n",
                nr ? parts[0].launches : 0);
}
