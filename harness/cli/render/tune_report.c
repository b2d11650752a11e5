/* SPDX-License-Identifier: MIT */
#include "cli/render/tune_report.h"

#include "base/text.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <math.h>
#include <stdlib.h>

static const struct table_column race_columns[] = {
    { "setting", TABLE_LEFT, TABLE_NAME, 0 }, { "p50", TABLE_RIGHT, TABLE_FIRM, 1 },
    { "slower", TABLE_RIGHT, TABLE_FIRM, 2 }, { "interval", TABLE_LEFT, TABLE_FIRM, 4 },
    { "rounds", TABLE_RIGHT, TABLE_FIRM, 3 }, { "", TABLE_LEFT, TABLE_PROSE, 0 },
};

static const struct table_column kept_columns[] = {
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 }, { "setting", TABLE_LEFT, TABLE_FIRM, 0 },
    { "of", TABLE_LEFT, TABLE_FIRM, 2 },        { "found", TABLE_LEFT, TABLE_FIRM, 3 },
    { "", TABLE_LEFT, TABLE_PROSE, 1 },
};

enum {
    RACE_COLUMNS = sizeof(race_columns) / sizeof(race_columns[0]),
    KEPT_COLUMNS = sizeof(kept_columns) / sizeof(kept_columns[0]),
};

/* ---- the order of rows: the fastest first, those that are out last ---- */

struct tune_row {
    size_t which;
    double time; /* over the leader's; infinite: none */
};

static int order_tune_rows(const void *a, const void *b)
{
    const struct tune_row *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->which < y->which ? -1 : 1;
}

static struct tune_row *sort_runners(const struct tuning_race *r)
{
    struct tune_row *rows = memory_zeroed(r->runners.nr + 1, sizeof(*rows));

    for (size_t i = 0; i < r->runners.nr; i++) {
        const struct race_runner *x = &r->race.runners[i];
        rows[i] = (struct tune_row) { i, isnan(x->behind) ? INFINITY : x->behind };
        if (x->state == RACE_LEADS)
            rows[i].time = -INFINITY;
    }
    qsort(rows, r->runners.nr, sizeof(*rows), order_tune_rows);
    return rows;
}

/* What was right before says in which round it was not. */
static void out_cell(struct table *t, const struct race_runner *x,
                     const struct tuning_runner *runner)
{
    const char *outcome = outcome_name(runner->outcome);
    const char *message = runner->message ? runner->message : "";

    if (x->rounds)
        table_cell(t, TABLE_BAD, "%s in round %zu: %s", outcome, x->left, message);
    else
        table_cell(t, TABLE_BAD, "%s: %s", outcome, message);
}

static void fate_cell(struct table *t, const struct tuning_race *r, size_t which)
{
    const struct race_runner *x = &r->race.runners[which];
    const struct tuning_runner *runner = &r->runners.items[which];
    char share[TEXT_UNIT_SIZE];

    switch (x->state) {
    case RACE_LEADS:
        table_cell(t, TABLE_GOOD, r->race.decided ? "fastest" : "fastest so far");
        break;
    case RACE_SLOWER:
        table_cell(t, TABLE_DIM, "slower, out in round %zu", x->left);
        break;
    case RACE_WITHIN:
        table_cell(t, TABLE_DIM, "as good within %s, out in round %zu",
                   text_about(r->race.rule.tolerance, 2, share), x->left);
        break;
    case RACE_OUT:
        out_cell(t, x, runner);
        break;
    default:
        table_cell(t, TABLE_PLAIN, "not told from the fastest");
    }
}

static void add_runner_row(struct table *t, const struct tuning_race *r, size_t which)
{
    const struct race_runner *x = &r->race.runners[which];
    double time = tuning_time(r, which);
    char text[TEXT_UNIT_SIZE];
    bool leads = x->state == RACE_LEADS;

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%s", r->runners.items[which].setting);
    table_cell(t, TABLE_PLAIN, "%s", isnan(time) ? "" : text_time(time, text));
    table_cell(t, TABLE_PLAIN, "%s",
               isnan(x->behind) || leads ? "" : text_percent(x->behind, text));
    if (leads)
        table_empty(t);
    else
        table_interval(t, &x->interval);
    table_cell(t, TABLE_PLAIN, "%zu", x->rounds);
    fate_cell(t, r, which);
}

static void add_verdict(const struct tuning_race *r, struct strbuf *out)
{
    double most = tuning_at_most(r);
    char share[TEXT_UNIT_SIZE], day[TEXT_UNIT_SIZE];

    terminal_add(out, "%s: ", r->bench.key);
    if (!tuning_race_has_winner(r)) {
        strbuf_adds(out, r->race.rounds ? "no setting is right\n" : "not measured\n");
        return;
    }
    terminal_add(out, "%s, %s %zu round%s", r->runners.items[r->race.leader].setting,
                 r->race.decided ? "decided in" : "not decided in", r->race.rounds,
                 r->race.rounds == 1 ? "" : "s");
    if (isnan(most))
        strbuf_adds(out, "; how much better another may be is not known");
    else
        strbuf_addf(out, "; no other is better by more than %s", text_about(most, 2, share));
    if (r->stands)
        terminal_add(out, "; %s stays kept, which was decided on %.10s", r->stands,
                     text_timestamp(r->stands_ms, day));
    strbuf_addc(out, '\n');
}

static void add_race(const struct tuning_race *r, size_t width, bool colour, struct strbuf *out)
{
    struct tune_row *rows = sort_runners(r);
    struct table t;

    add_verdict(r, out);
    table_init(&t, race_columns, RACE_COLUMNS);
    for (size_t i = 0; i < r->runners.nr; i++)
        add_runner_row(&t, r, rows[i].which);
    table_text(&t, width, colour, out);
    table_release(&t);
    free(rows);
    strbuf_addc(out, '\n');
}

/* Against as many rounds of all of them. */
static void add_cost(const struct tuning *t, struct strbuf *out)
{
    double all = 0;

    for (size_t i = 0; i < t->races.nr; i++)
        all += (double)(race_count(&t->races.items[i].race) * t->races.items[i].race.rounds);
    strbuf_addf(
        out, "%zu measurements in %.1f s; all right settings in every round would have been %.0f\n",
        t->measured, t->seconds, all);
}

void tune_report(const struct tuning *t, size_t width, bool colour, struct strbuf *out)
{
    for (size_t i = 0; i < t->races.nr; i++)
        add_race(&t->races.items[i], width, colour, out);
    add_cost(t, out);
}

void tune_report_kept(const struct store_tuned_list *kept, size_t width, bool colour,
                      struct strbuf *out)
{
    struct table t;

    table_init(&t, kept_columns, KEPT_COLUMNS);
    for (size_t i = 0; i < kept->nr; i++) {
        const struct store_tuned *k = &kept->items[i];
        char day[TEXT_UNIT_SIZE];
        table_row(&t);
        table_cell(&t, TABLE_PLAIN, "%s", k->key);
        table_cell(&t, TABLE_PLAIN, "%s", k->setting);
        table_cell(&t, TABLE_PLAIN, "%s %.8s", k->code, k->digest);
        table_cell(&t, TABLE_PLAIN, "%.10s", text_timestamp(k->tuned_ms, day));
        table_cell(&t, TABLE_DIM, "%s", k->decided ? "" : "not decided");
    }
    table_text(&t, width, colour, out);
    table_release(&t);
}
