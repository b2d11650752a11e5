/* SPDX-License-Identifier: MIT */
#include "cli/verdict_record.h"

#include "base/array.h"
#include "cli/git.h"
#include "cli/history_series.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "measure/environment.h"
#include "output/verdict_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_PATIENCE_MS = 5000 };

/* The commit of all runs of a side; "" if unknown or several. */
static const char *commit_of(const struct records *records)
{
    const char *commit = records->nr_runs ? records->runs[0].build.commit : "";

    for (size_t i = 1; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].build.commit, commit) != 0)
            return "";
    return commit;
}

/* ---- acceptances ---- */

static bool is_hash(const char *text)
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

    if (!is_hash(commit) || !is_hash(of))
        return -1;
    strbuf_init(&out);
    int status = git_try(arguments, &out, &ignored);
    strbuf_release(&out);
    return status == 0 || status == 1 ? status == 0 : -1;
}

/* Does the base have the accepted change already? Then it excuses nothing any more. Where both
 * sides are of the very commit in which it was seen (uncommitted changes), git says nothing. Nor
 * does time where both sides are measured now, in turn. */
static bool base_has(const struct verdict_sides *sides, const struct store_acceptance *a,
                     enum compare_design design)
{
    const char *base = commit_of(sides->base_records), *head = commit_of(sides->head_records);
    bool same = strcmp(base, head) == 0 && strcmp(base, a->commit) == 0;
    int ancestor = same ? -1 : is_ancestor(a->commit, base);

    if (ancestor >= 0)
        return ancestor;
    return design != DESIGN_BLOCKS && history_first_start(sides->base_records) > a->accepted_ms;
}

/* An acceptance speaks of heads that contain its commit, as far as git can tell. */
static bool holds(const struct verdict_sides *sides, const struct store_acceptance *a,
                  enum compare_design design)
{
    return is_ancestor(a->commit, commit_of(sides->head_records)) != 0 &&
           !base_has(sides, a, design);
}

static bool is_alarm(const struct compare_row *row)
{
    return row->verdict == VERDICT_REGRESSED || row->verdict == VERDICT_BROKEN;
}

/* The alarm that needs it, if any: asking git takes time. */
static const struct compare_row *find_alarm(const struct comparison *c,
                                            const struct store_acceptance *a)
{
    for (size_t i = 0; i < c->nr; i++) {
        const struct compare_item *item = c->rows[i].item;
        if (is_alarm(&c->rows[i]) && strcmp(item->bench->key, a->key) == 0 &&
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
        const struct store_acceptance *a = &accepted->items[i];
        const struct compare_row *alarm = find_alarm(c, a);
        if (alarm && holds(sides, a, alarm->item->evidence.design))
            *array_push(&holding) = (struct acceptance) {
                .key = a->key,
                .metric = a->metric,
                .machine = a->machine,
                .change = a->change,
                .reason = a->reason,
            };
    }
    if (holding.nr)
        compare_accept(c, holding.items, holding.nr);
    array_release(&holding);
    return 0;
}

/* ---- recording ---- */

static void add_row(struct store_comparison *to, const struct compare_row *row)
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
                int64_t *id, struct error *err)
{
    struct store_comparison record = {
        .decided_ms = clock_epoch_ms(),
        .rule = COMPARE_RULE,
        .base = memory_string(sides->base),
        .head = memory_string(sides->head),
        .base_commit = memory_string(commit_of(sides->base_records)),
        .head_commit = memory_string(commit_of(sides->head_records)),
        .settings = settings_text(&c->settings),
        .exit_status = c->exit_status,
    };
    struct build build;

    environment_build(&build);
    snprintf(record.version, sizeof(record.version), "%s", build.version);
    for (size_t i = 0; i < c->nr; i++)
        add_row(&record, &c->rows[i]);
    int rc = store_comparison_add(store, &record, err);
    *id = record.id;
    store_comparison_release(&record);
    return rc;
}

void verdict_record(const char *history, const struct verdict_sides *sides,
                    const struct comparison *c)
{
    struct store *store;
    struct error err;
    int64_t id;

    if (c->nr == 0)
        return;
    int rc = store_open(&store, history, STORE_WRITE, &err);
    if (rc == 0) {
        store_set_patience(store, RECORD_PATIENCE_MS);
        rc = verdict_add(store, sides, c, &id, &err);
        store_close(store);
    }
    if (rc)
        terminal_note("harness: these verdicts are not recorded (--no-record asks for that): %s\n",
                      err.message);
}
