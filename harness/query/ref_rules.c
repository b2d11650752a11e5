/* SPDX-License-Identifier: MIT */
/* The rules by which a REF names runs; query/ref.h lists them. */
#include "base/array.h"
#include "core/names.h"
#include "query/ref_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UUID_PREFIX_MIN = 6 };

void ref_runs_release(struct ref_runs *runs)
{
    free(runs->ids);
    runs->ids = NULL;
    runs->nr = runs->capacity = 0;
}

static void add_id(struct ref_runs *runs, int64_t id)
{
    runs->ids = array_grow(runs->ids, runs->nr, &runs->capacity, sizeof(*runs->ids));
    runs->ids[runs->nr++] = id;
}

static void ref_add_run(struct ref_lookup *l, int64_t id)
{
    add_id(l->out, id);
}

bool ref_is_among(const int64_t *ids, size_t nr, int64_t id)
{
    for (size_t i = 0; i < nr; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Do both measure the same part of the same sweep? */
static bool is_same_part(const struct ref_run *a, const struct ref_run *b)
{
    return a->shard && a->shard == b->shard && a->shards == b->shards &&
           strcmp(a->sweep, b->sweep) == 0;
}

bool ref_takes_class(const struct ref_scope *scope, const char *class_name)
{
    return scope->nr_classes == 0 || name_find(scope->classes, scope->nr_classes, class_name) >= 0;
}

static bool in_scope(const struct ref_lookup *l, const struct ref_run *c)
{
    bool of_class = l->class_name ? strcmp(l->class_name, c->class_name) == 0
                                  : ref_takes_class(l->scope, c->class_name);

    return of_class && !c->excluded;
}

/* Of the class that is asked. */
static size_t nr_found(const struct ref_lookup *l)
{
    return l->out->nr - l->first;
}

static void describe_found(struct ref_lookup *l, const char *rule, const char *detail)
{
    size_t nr = nr_found(l);

    snprintf(l->out->what, sizeof(l->out->what), "%s %.96s%.96s (%zu run%s)", rule, l->name, detail,
             nr, nr == 1 ? "" : "s");
}

static int read_baseline(struct ref_lookup *l, struct ref_runs *all, struct error *err)
{
    static const char *const text =
        "SELECT r.run FROM baseline b JOIN baseline_run r "
        "ON r.baseline = b.id WHERE b.name = ?";
    struct sql_query q;
    int rc;

    if (sql_open(&q, l->store, text, err))
        return -1;
    sql_bind_text(&q, l->name);
    while ((rc = sql_step(&q, err)) > 0)
        add_id(all, sql_int(&q));
    sql_close(&q);
    return rc;
}

static int find_baseline(struct ref_lookup *l, struct error *err)
{
    struct ref_runs all = { .nr = 0 };
    int rc = read_baseline(l, &all, err);

    for (size_t i = 0; rc == 0 && i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        if (in_scope(l, c) && ref_is_among(all.ids, all.nr, c->id))
            ref_add_run(l, c->id);
    }
    l->is_baseline = all.nr > 0;
    ref_runs_release(&all);
    describe_found(l, "baseline", "");
    return rc ? -1 : nr_found(l) > 0;
}

static bool parse_id(const char *text, int64_t *id)
{
    char *end;

    if (text[0] < '1' || text[0] > '9')
        return false;
    errno = 0;
    *id = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

bool ref_starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static int find_run(struct ref_lookup *l, struct error *err)
{
    int64_t id = 0;
    bool is_id = parse_id(l->name, &id);
    bool is_prefix = strlen(l->name) >= UUID_PREFIX_MIN;
    const struct ref_run *found = NULL;

    for (size_t i = 0; is_id && i < l->runs.nr && !found; i++)
        if (l->runs.items[i].id == id)
            found = &l->runs.items[i];
    for (size_t i = 0; is_prefix && !(is_id && found) && i < l->runs.nr; i++) {
        if (!ref_starts_with(l->runs.items[i].uuid, l->name))
            continue;
        if (found)
            return error_set(err,
                             "%s: \"%s\" is the start of several run uuids, such as %s and %s; "
                             "type more of it",
                             l->store->path, l->name, found->uuid, l->runs.items[i].uuid);
        found = &l->runs.items[i];
    }
    if (!found)
        return 0;
    ref_add_run(l, found->id);
    snprintf(l->out->what, sizeof(l->out->what), "run %" PRId64, found->id);
    return 1;
}

static bool is_latest(const struct ref_run *c, const char *name)
{
    (void)c;
    return strcmp(name, "latest") == 0;
}

static bool has_label(const struct ref_run *c, const char *name)
{
    return name[0] && strcmp(c->label, name) == 0;
}

static bool has_branch(const struct ref_run *c, const char *name)
{
    return name[0] && strcmp(c->branch, name) == 0;
}

static bool has_commit(const struct ref_run *c, const char *name)
{
    return strlen(name) >= COMMIT_DIGITS_MIN && ref_starts_with(c->commit, name);
}

static bool has_sweep(const struct ref_run *c, const char *name)
{
    return c->sweep[0] && strcmp(c->sweep, name) == 0;
}

static bool is_history(const struct ref_run *c)
{
    return c->kind < 0 || run_kind_is_history((enum run_kind)c->kind);
}

static bool is_eligible(const struct ref_lookup *l, ref_match_fn *matches, const struct ref_run *c)
{
    return c->finished && (is_history(c) || matches == has_label) && in_scope(l, c) &&
           !c->left_over && matches(c, l->name);
}

static const struct ref_run *newest_eligible(const struct ref_lookup *l, ref_match_fn *matches,
                                             bool clean)
{
    const struct ref_run *profile = NULL;

    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        if (!is_eligible(l, matches, c) || (clean && c->dirty))
            continue;
        if (c->kind != RUN_PROFILE)
            return c;
        if (!profile)
            profile = c;
    }
    return profile;
}

static void add_same_build(struct ref_lookup *l, ref_match_fn *matches,
                           const struct ref_run *newest)
{
    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        if (is_eligible(l, matches, c) && c->dirty == newest->dirty &&
            (c->kind == RUN_PROFILE) == (newest->kind == RUN_PROFILE) &&
            strcmp(c->commit, newest->commit) == 0)
            ref_add_run(l, c->id);
    }
}

static void describe_build(struct ref_lookup *l, const char *rule, const struct ref_run *newest)
{
    char detail[96];

    snprintf(detail, sizeof(detail), "%s%.*s%s", newest->commit[0] ? " at " : "", COMMIT_SHOWN,
             newest->commit, newest->dirty ? " with uncommitted changes" : "");
    describe_found(l, rule, detail);
}

/* A shard that was measured twice (its task was started again) counts once. */
static bool has_newer(const struct ref_lookup *l, ref_match_fn *matches, size_t nth)
{
    const struct ref_run *c = &l->runs.items[nth];

    for (size_t i = 0; c->shard && i < nth; i++) {
        const struct ref_run *newer = &l->runs.items[i];
        if (is_same_part(newer, c) && is_eligible(l, matches, newer))
            return true;
    }
    return false;
}

/* All shards of the sweep, each once. */
static void add_sweep(struct ref_lookup *l, ref_match_fn *matches, const char *sweep)
{
    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        l->runs.items[i].taken =
            strcmp(c->sweep, sweep) == 0 && is_eligible(l, matches, c) && !has_newer(l, matches, i);
        if (c->taken)
            ref_add_run(l, c->id);
    }
}

/* Of another plan than the first part taken on a machine of its class? Others have other keys, and
 * so other plans. */
static bool is_divided_otherwise(const struct ref_lookup *l, const struct ref_run *c)
{
    const struct ref_run *first = l->runs.items;

    while (!first->taken || !first->plan[0] || strcmp(first->class_name, c->class_name) != 0)
        first++; /* `c` at the latest */
    return strcmp(first->plan, c->plan) != 0;
}

static void describe_sweep(struct ref_lookup *l, const char *rule, const char *sweep)
{
    size_t nr = nr_found(l);
    bool alike = true;

    for (size_t i = 0; alike && i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        alike = !c->taken || !c->plan[0] || !is_divided_otherwise(l, c);
    }
    snprintf(l->out->what, sizeof(l->out->what), "%s %.96s (%zu run%s%s)", rule, sweep, nr,
             nr == 1 ? "" : "s", alike ? "" : ", not divided alike");
}

static int find_sweep(struct ref_lookup *l, struct error *err)
{
    (void)err;
    add_sweep(l, has_sweep, l->name);
    describe_sweep(l, "sweep", l->name);
    return nr_found(l) > 0;
}

static int find_latest(struct ref_lookup *l, struct error *err)
{
    const struct ref_run *newest = newest_eligible(l, is_latest, false);

    (void)err;
    if (!newest)
        return 0;
    if (newest->sweep[0]) {
        add_sweep(l, is_latest, newest->sweep);
        describe_sweep(l, "latest sweep", newest->sweep);
        return 1;
    }
    ref_add_run(l, newest->id);
    snprintf(l->out->what, sizeof(l->out->what), "latest run %" PRId64, newest->id);
    return 1;
}

static int find_label(struct ref_lookup *l, struct error *err)
{
    const struct ref_run *newest = newest_eligible(l, has_label, false);

    (void)err;
    if (!newest)
        return 0;
    add_same_build(l, has_label, newest);
    describe_build(l, "label", newest);
    return 1;
}

static int find_committed(struct ref_lookup *l, const char *rule, ref_match_fn *matches)
{
    const struct ref_run *newest = newest_eligible(l, matches, true);
    bool pool = newest && newest->commit[0];

    if (!newest)
        newest = newest_eligible(l, matches, false);
    if (!newest)
        return 0;
    if (pool)
        add_same_build(l, matches, newest);
    else /* an unknown state of the code is like no other */
        ref_add_run(l, newest->id);
    describe_build(l, rule, newest);
    return 1;
}

static int find_branch(struct ref_lookup *l, struct error *err)
{
    (void)err;
    return find_committed(l, "branch", has_branch);
}

static int find_commit(struct ref_lookup *l, struct error *err)
{
    (void)err;
    return find_committed(l, "commit", has_commit);
}

const struct ref_rule ref_rules[] = {
    { "baseline", find_baseline, NULL },
    { "latest", find_latest, is_latest },
    { "run", find_run, NULL },
    { "label", find_label, has_label },
    { "branch", find_branch, has_branch },
    { "commit", find_commit, has_commit },
    { "sweep", find_sweep, has_sweep },
};

const int ref_nr_rules = sizeof(ref_rules) / sizeof(ref_rules[0]);
