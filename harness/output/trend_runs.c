/* SPDX-License-Identifier: MIT */
#include "output/trend_runs.h"

#include "analysis/mainline.h"
#include "analysis/series.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_MAX = 5 };

const struct run *trend_run_at(const struct trend_runs *runs, int nth)
{
    return &runs->records->runs[runs->order[nth]];
}

bool trend_run_unmerged(const struct trend_runs *runs, int run)
{
    return !mainline_has(runs->branch, &runs->records->runs[run]);
}

static void order_by_time(struct trend_runs *t, const char *machine)
{
    const struct run *runs = t->records->runs;

    for (size_t i = 0; i < t->records->nr_runs; i++) {
        t->position[i] = -1;
        if (strcmp(runs[i].machine.class_name, machine) != 0 || !series_takes(&runs[i]))
            continue;
        int at = t->nr++;
        for (; at > 0 && runs[i].started_ms < runs[t->order[at - 1]].started_ms; at--)
            t->order[at] = t->order[at - 1];
        t->order[at] = (int)i;
    }
}

/* A head that waits to be merged comes after all that is. */
static void move_head(struct trend_runs *t, int head)
{
    int at = 0;

    while (at < t->nr && t->order[at] != head)
        at++;
    if (at == t->nr || !trend_run_unmerged(t, head))
        return;
    for (; at + 1 < t->nr; at++)
        t->order[at] = t->order[at + 1];
    t->order[at] = head;
}

void trend_runs_init(struct trend_runs *t, const struct records *records, int head)
{
    size_t room = records->nr_runs + 1;

    *t = (struct trend_runs) { .records = records };
    t->order = memory_zeroed(room, sizeof(*t->order));
    t->position = memory_zeroed(room, sizeof(*t->position));
    t->merged = memory_zeroed(room, sizeof(*t->merged));
    order_by_time(t, records->runs[head].machine.class_name);
    t->branch = mainline_branch(records, records->runs[head].machine.class_name);
    move_head(t, head);
    for (int i = 0, merged = 0; i < t->nr; i++) {
        int run = t->order[i];
        t->position[run] = i;
        t->merged[run] = merged;
        merged += !trend_run_unmerged(t, run);
    }
}

void trend_runs_release(struct trend_runs *t)
{
    free(t->order);
    free(t->position);
    free(t->merged);
}

enum tick_kind { TICK_COMMIT, TICK_DAY, TICK_MINUTE, TICK_SECOND };

static void tick_text(const struct run *run, enum tick_kind kind, char text[16])
{
    char when[TEXT_UNIT_SIZE];

    text_timestamp(run->started_ms, when); /* "2026-11-21 09:54:00Z" */
    if (kind == TICK_COMMIT && run->build.commit[0])
        snprintf(text, 16, "%.7s", run->build.commit);
    else
        snprintf(text, 16, "%.*s", kind == TICK_SECOND ? 8 : 5, when + (kind > TICK_DAY ? 11 : 5));
}

static bool differs(const struct trend_runs *t, enum tick_kind kind)
{
    char first[16] = "", text[16] = "";

    if (t->nr > 0)
        tick_text(trend_run_at(t, 0), kind, first);
    for (int i = 1; i < t->nr; i++) {
        tick_text(trend_run_at(t, i), kind, text);
        if (strcmp(text, first) != 0)
            return true;
    }
    return false;
}

/* Two times of day that read alike tell nothing. */
static bool repeats(const struct trend_runs *t, enum tick_kind kind, int every)
{
    char before[16], text[16];

    for (int i = every; i < t->nr; i += every) {
        tick_text(trend_run_at(t, i - every), kind, before);
        tick_text(trend_run_at(t, i), kind, text);
        if (strcmp(before, text) == 0)
            return true;
    }
    return false;
}

void trend_runs_ticks(const struct trend_runs *t, struct ticks *ticks)
{
    int every = 1 + (t->nr - 1) / TICKS_MAX;
    enum tick_kind kind = TICK_COMMIT;

    while (kind < TICK_MINUTE && !differs(t, kind))
        kind++;
    if (kind == TICK_MINUTE && repeats(t, kind, every))
        kind = TICK_SECOND;
    for (int i = 0; i < t->nr; i += every) {
        char text[16];
        tick_text(trend_run_at(t, i), kind, text);
        ticks_add(ticks, i, text, false);
    }
}
