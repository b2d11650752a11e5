/* SPDX-License-Identifier: MIT */
#include "cli/selftest_costs.h"

#include "base/text.h"
#include "cli/ab.h"
#include "cli/terminal.h"
#include "output/table.h"

#include <math.h>
#include <stdio.h>

/* One benchmark of the choice, alone: its comparison is a family of one. */
struct alone {
    const struct trials *t;
    struct choice choice; /* the list is borrowed */
    struct random random;
};

static int run_blocks(struct alone *a, double size, struct ab_session *s, struct error *err)
{
    const struct trials *t = a->t;
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "base" },
                  [AB_HEAD] = { .name = "head", .plant = size > 0 ? &size : NULL } },
        .choice = &a->choice,
        .store = t->store,
        .compare = t->compare,
        .label = "selftest cost",
        .budget = t->budget > 0 ? t->budget : COSTS_BUDGET,
        .blocks_max = size > 0 ? COST_BLOCKS_MAX : COSTS_BLOCKS,
        .case_timeout = t->case_timeout,
        .memory_limit = t->memory_limit,
        .once = t->once,
        .whole = !(size > 0),
        .silent = true,
        .interrupted = t->interrupted,
    };

    r.compare.delta = size > 0 ? size / 2 : r.compare.delta;
    int rc = ab_session_run(&r, s, err);
    if (rc == 0 && s->end == AB_INTERRUPTED)
        rc = error_set(err, "interrupted");
    if (rc == 0 && (s->comparison.nr != 1 || s->comparison.rows[0].head.failures > 0 ||
                    s->comparison.rows[0].base.failures > 0))
        rc = error_set(err, "%s cannot be measured", a->choice.list.items[0].variant->kernel->name);
    return rc;
}

/* What one real comparison took. */
static int measure_size(struct alone *a, struct selftest_cost_row *row, struct error *err)
{
    struct ab_session s = { .blocks = 0 };
    int rc = run_blocks(a, row->size, &s, err);

    if (rc == 0) {
        row->real = s.comparison.rows[0].verdict;
        row->real_blocks = s.blocks;
        row->real_seconds = s.seconds;
    }
    ab_session_release(&s);
    return rc;
}

static int measure_sizes(struct alone *a, const struct evidence *e, struct selftest_cost *c,
                         struct error *err)
{
    const struct trials *t = a->t;

    for (size_t i = 0; i < t->nr_sizes; i++) {
        struct selftest_cost_row *row = &c->rows[c->nr++];
        if (selftest_cost_simulate(e, t->sizes[i], COSTS_TRIALS, &a->random, row, err) ||
            measure_size(a, row, err))
            return -1;
    }
    return 0;
}

static int measure_one(struct alone *a, struct selftest_cost *c, struct error *err)
{
    struct ab_session s = { .blocks = 0 };
    struct benchmark_name name;

    *c = (struct selftest_cost) { .nr = 0 };
    benchmark_name_of(&a->choice.list.items[0], &a->choice.device, &name);
    snprintf(c->key, sizeof(c->key), "%s", name.key);
    terminal_note("%s: blocks of the same against itself\n", c->key);
    int rc = run_blocks(a, 0, &s, err);
    if (rc == 0)
        rc = selftest_cost_measure(&s.comparison.items[0].evidence, s.seconds, c, err);
    if (rc == 0)
        rc = measure_sizes(a, &s.comparison.items[0].evidence, c, err);
    ab_session_release(&s);
    return rc ? error_prefix(err, "%s", c->key) : 0;
}

int costs_measure(const struct trials *t, struct selftest_cost *out, struct error *err)
{
    for (size_t i = 0; i < t->choice->list.nr; i++) {
        struct alone a = { .t = t, .choice = *t->choice };
        a.choice.list.items = t->choice->list.items + i;
        a.choice.list.nr = 1;
        random_seed(&a.random, t->seed + i);
        if (measure_one(&a, &out[i], err))
            return -1;
    }
    return 0;
}

/* ---- words ---- */

static void add_row(struct table *table, const struct selftest_cost *c,
                    const struct selftest_cost_row *row)
{
    char text[TEXT_UNIT_SIZE];
    bool called = row->real == VERDICT_REGRESSED;

    table_row(table);
    table_cell(table, TABLE_PLAIN, "%.3g %%", 100 * row->size);
    table_cell(table, TABLE_PLAIN, "%.3g %%", 100 * row->delta);
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

static void report_one(const struct selftest_cost *c, size_t width, bool colour, struct strbuf *out)
{
    static const struct table_column columns[] = {
        { .title = "planted" },
        { .title = "floor", .align = TABLE_RIGHT },
        { .title = "blocks", .align = TABLE_RIGHT },
        { .title = "time", .align = TABLE_RIGHT },
        { .title = "alarms", .align = TABLE_RIGHT },
        { .title = "one real comparison" },
    };
    char launch[TEXT_UNIT_SIZE], block[TEXT_UNIT_SIZE];
    struct table table;

    strbuf_addf(out,
                "%s: %s a launch, %d blocks of %s measured; %.2g %% from launch to launch, %.2g %% "
                "from block to block\n\n",
                c->key, text_time(c->ns, launch), c->blocks,
                text_time(1e9 * c->block_seconds, block), 100 * c->launch_noise,
                100 * c->block_noise);
    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < c->nr; i++)
        add_row(&table, c, &c->rows[i]);
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addc(out, '\n');
}

void costs_report(const struct selftest_cost *costs, size_t nr, size_t width, bool colour,
                  struct strbuf *out)
{
    for (size_t i = 0; i < nr; i++)
        report_one(&costs[i], width, colour, out);
    strbuf_addf(
        out,
        "blocks, time: until 9 in 10 comparisons call the slow-down, and alarms: of as many "
        "with nothing planted, both from %d simulated comparisons that draw from the blocks "
        "measured; the last column was measured.\n",
        COSTS_TRIALS);
}

bool costs_fine(const struct selftest_cost *costs, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        for (size_t j = 0; j < costs[i].nr; j++) {
            const struct selftest_cost_row *row = &costs[i].rows[j];
            if (!row->blocks || selftest_interval(row->alarms).low > SELFTEST_ALARMS)
                return false;
        }
    return true;
}
