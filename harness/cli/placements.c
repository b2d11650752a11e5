/* SPDX-License-Identifier: MIT */
#include "cli/placements.h"

#include "base/text.h"
#include "cli/ab.h"
#include "cli/terminal.h"
#include "output/table.h"
#include "store/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t find_parts(const struct comparison *c, struct placement_part *parts)
{
    size_t nr = 0;

    for (size_t i = 0; i < c->nr_items; i++) {
        const struct compare_item *item = &c->items[i];
        if (item->evidence.design != DESIGN_BLOCKS ||
            !placement_part_find(&item->evidence, &parts[nr]))
            continue;
        snprintf(parts[nr].key, sizeof(parts[nr].key), "%s", item->bench->key);
        nr++;
    }
    return nr;
}

int placements_measure(const struct trials *t, struct placement_part *parts, size_t *nr,
                       struct error *err)
{
    struct ab_request r = {
        .side = { [AB_BASE] = { .name = "as always", .fixed = true },
                  [AB_HEAD] = { .name = "placed anew" } },
        .choice = t->choice,
        .store = t->store,
        .compare = t->compare,
        .label = "selftest placement",
        .budget = t->budget,
        .blocks_max = PLACEMENTS_BLOCKS,
        .case_timeout = t->case_timeout,
        .memory_limit = t->memory_limit,
        .once = t->once,
        .whole = true,
        .interrupted = t->interrupted,
    };
    struct ab_session s;
    int rc = ab_session_run(&r, &s, err);

    if (rc == 0 && s.end == AB_INTERRUPTED)
        rc = error_set(err, "interrupted");
    if (rc == 0)
        *nr = find_parts(&s.comparison, parts);
    if (rc == 0 && *nr == 0)
        rc = error_set(err, "no benchmark could be measured");
    ab_session_release(&s);
    return rc;
}

void placements_report(const struct placement_part *parts, size_t nr, size_t width, bool colour,
                       struct strbuf *out)
{
    static const struct table_column columns[] = {
        { .title = "benchmark" },
        { .title = "as always", .align = TABLE_RIGHT },
        { .title = "placed anew", .align = TABLE_RIGHT },
        { .title = "placement adds", .align = TABLE_RIGHT },
        { .title = "not called", .align = TABLE_RIGHT },
    };
    struct table table;

    table_init(&table, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < nr; i++) {
        const struct placement_part *p = &parts[i];
        table_row(&table);
        table_cell(&table, TABLE_PLAIN, "%s", p->key);
        table_cell(&table, TABLE_PLAIN, "%.2g %%", 100 * p->fixed);
        table_cell(&table, TABLE_PLAIN, "%.2g %%", 100 * p->fresh);
        if (isfinite(p->limits.high))
            table_cell(&table, TABLE_PLAIN, "%.2g %% (%.2g to %.2g %%)", 100 * p->part,
                       100 * p->limits.low, 100 * p->limits.high);
        else
            table_cell(&table, TABLE_PLAIN, "%.2g %%", 100 * p->part);
        if (placement_change(p) > 0)
            table_cell(&table, TABLE_PLAIN, "below %.2g %%", 100 * placement_change(p));
        else
            table_cell(&table, TABLE_DIM, "nothing shown");
    }
    table_text(&table, width, colour, out);
    table_release(&table);
    strbuf_addf(out,
                "\nLaunches differ by so much with everything where it always is, and with stack, "
                "heap and address space placed anew (within blocks, %zu launches a side). What "
                "the second has more is the placement's, with limits of 90 %%. `compare` calls no "
                "change of a benchmark below twice that, where it is shown.\n",
                nr ? parts[0].launches : 0);
}

/* The floor that holds for the median, or whatever is compared, of this benchmark. */
static double floor_of(const struct compare_settings *settings, const char *key)
{
    double delta = settings->delta;
    struct error ignored;

    for (size_t i = 0; i < settings->nr_floors; i++)
        if (compare_floor_fits(&settings->floors[i], metric_find("p50", &ignored), key))
            delta = settings->floors[i].delta;
    return delta;
}

static size_t raise_floors(const struct placement_part *parts, size_t nr, struct floors *floors,
                           const struct compare_settings *settings)
{
    size_t raised = 0;

    for (size_t i = 0; i < nr; i++) {
        double change = placement_change(&parts[i]);
        if (!(change > floor_of(settings, parts[i].key)))
            continue;
        *(struct compare_floor *)array_push(floors) =
            (struct compare_floor) { parts[i].key, change };
        raised++;
    }
    return raised;
}

size_t placements_heed(struct store *store, const char *machine, const char *device,
                       struct floors *floors, struct compare_settings *settings,
                       struct placement_part **parts)
{
    struct store_selftest test;
    struct error ignored;
    size_t nr = 0, raised = 0;

    *parts = NULL;
    int rc = store_selftest_latest(store, machine, device, PLACEMENTS_KIND, &test, &ignored);
    if (rc == 0 && placement_from_text(test.result, parts, &nr, &ignored) == 0)
        raised = raise_floors(*parts, nr, floors, settings);
    store_selftest_release(&test);
    settings->floors = floors->items;
    settings->nr_floors = floors->nr;
    return raised;
}

void placements_tell(struct comparison *c, size_t raised)
{
    size_t of = 0;
    double least = INFINITY, most = 0;

    for (size_t i = 0; raised > 0 && i < c->nr; i++) {
        const struct compare_floor *floors = c->settings.floors + c->settings.nr_floors - raised;
        for (size_t j = 0; j < raised; j++) {
            if (strcmp(floors[j].pattern, c->rows[i].item->bench->key) != 0)
                continue;
            of++;
            least = fmin(least, floors[j].delta);
            most = fmax(most, floors[j].delta);
        }
    }
    if (of > 0)
        comparison_note(c,
                        "Placement alone moves %zu of the %zu compared (harness selftest "
                        "--placement): changes of them below %.2g to %.2g %% are not called.",
                        of, c->nr, 100 * least, 100 * most);
}
