/* SPDX-License-Identifier: MIT */
#include "session/verdict_record.h"

#include "base/array.h"
#include "core/clock.h"
#include "machine/environment.h"
#include "reporters/verdict_json.h"
#include "session/builds/git.h"
#include "session/history_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The commit of all runs of a side; "" if unknown or several. */
static const char *side_commit(const struct records *records)
{
    const char *commit = records->nr_runs ? records->runs[0].build.commit : "";

    for (size_t i = 1; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].build.commit, commit) != 0)
            return "";
    return commit;
}

/* ---- acceptances ---- */

static bool is_hash_text(const char *text)
{
    return *text && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* 1: `commit` is `of` or an ancestor of it, 0: it is not, -1: git cannot tell, because it is not
 * there, or does not know them. */
static int is_ancestor(const char *commit, const char *of)
{
    const char *const arguments[] = { "merge-base", "--is-ancestor", commit, of, NULL };
    struct error ignored;
    struct strbuf out;

    if (!is_hash_text(commit) || !is_hash_text(of))
        return -1;
    strbuf_init(&out);
    int status = git_try(arguments, &out, &ignored);
    strbuf_release(&out);
    return status == 0 || status == 1 ? status == 0 : -1;
}

/* Does the base have the accepted change already? Then it excuses nothing any more. Where both
 * sides are of the very commit in which it was seen (uncommitted changes), git says nothing. Nor
 * does time where both sides are measured now, in turn. */
static bool base_has_change(const struct verdict_sides *sides, const struct acceptance *a,
                            enum compare_design design)
{
    const char *base = side_commit(sides->base_records), *head = side_commit(sides->head_records);
    bool same = strcmp(base, head) == 0 && strcmp(base, a->commit) == 0;
    int ancestor = same ? -1 : is_ancestor(a->commit, base);

    if (ancestor >= 0)
        return ancestor;
    return design != DESIGN_BLOCKS && history_first_start(sides->base_records) > a->accepted_ms;
}

/* An acceptance speaks of heads that contain its commit, as far as git can tell. */
static bool acceptance_holds(const struct verdict_sides *sides, const struct acceptance *a,
                             enum compare_design design)
{
    return is_ancestor(a->commit, side_commit(sides->head_records)) != 0 &&
           !base_has_change(sides, a, design);
}

static bool is_alarm_row(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_BROKEN;
}

/* The alarm that needs it, if any: asking git takes time. */
static const struct compare_row *find_alarm(const struct comparison *c, const struct acceptance *a)
{
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_item *item = c->rows[i].item;
        if (is_alarm_row(&c->rows[i]) && strcmp(item->bench->key, a->key) == 0 &&
            strcmp(item->metric->id, a->metric) == 0 &&
            (!*a->machine || strcmp(item->machine, a->machine) == 0))
            return &c->rows[i];
    }
    return NULL;
}

int verdict_accept(struct store *store, const struct verdict_sides *sides, struct comparison *c,
                   struct store_acceptances *accepted, struct error *err)
{
    ARRAY(struct acceptance) holding = ARRAY_EMPTY;

    if (store_acceptance_list(store, NULL, accepted, err))
        return -1;
    for (size_t i = 0; i < accepted->nr; i++) {
        const struct acceptance *a = &accepted->items[i];
        const struct compare_row *alarm = find_alarm(c, a);
        if (alarm && acceptance_holds(sides, a, alarm->item->evidence.design))
            *array_push(&holding) = *a; /* borrows its texts */
    }
    if (holding.nr)
        compare_accept(c, holding.items, holding.nr);
    array_release(&holding);
    return 0;
}

/* ---- recording ---- */

static void add_verdict_row(struct store_comparison *to, const struct compare_row *row)
{
    const struct compare_item *item = row->item;

    *store_comparison_push(to) = (struct store_verdict) {
        .key = memory_string(item->bench->key),
        .machine = memory_string(item->machine),
        .metric = memory_string(item->metric->id),
        .verdict = memory_string(verdict_name(row->verdict)),
        .evidence = evidence_text(item),
        .result = result_text(row),
    };
}

int verdict_add(struct store *store, const struct verdict_sides *sides, const struct comparison *c,
                struct error *err)
{
    struct store_comparison record = {
        .decided_ms = clock_epoch_ms(),
        .rule = COMPARE_RULE,
        .base = memory_string(sides->base),
        .head = memory_string(sides->head),
        .base_commit = memory_string(side_commit(sides->base_records)),
        .head_commit = memory_string(side_commit(sides->head_records)),
        .settings = settings_text(&c->settings),
        .exit_status = c->exit_status,
    };
    struct build build;

    if (c->nr == 0)
        return 0;
    environment_build(&build);
    snprintf(record.version, sizeof(record.version), "%s", build.version);
    for (size_t i = 0; i < c->nr; i++)
        add_verdict_row(&record, &c->rows[i]);
    int rc = store_comparison_add(store, &record, err);
    store_comparison_release(&record);
    return rc;
}
