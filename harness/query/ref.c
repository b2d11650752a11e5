/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/memory.h"
#include "base/text.h"
#include "query/ref_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_candidates(struct ref_lookup *l, struct error *err)
{
    static const char *const text =
        "SELECT r.id, r.started_ms, r.ended_ms > 0, b.dirty, r.uuid, r.label, m.class, "
        "b.commit_hash, b.branch, r.sweep, r.shard, r.shards, r.shard_plan, r.kind FROM run r "
        "JOIN machine m ON m.id = r.machine JOIN build b ON b.id = r.build "
        "ORDER BY r.started_ms DESC, r.id DESC";
    struct sql_query q;
    int rc;

    if (sql_open(&q, l->store, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct ref_run *c = array_push(&l->runs);
        c->id = sql_int(&q);
        c->started_ms = sql_int(&q);
        c->finished = sql_int(&q);
        c->dirty = sql_int(&q);
        c->uuid = read_words(&q);
        c->label = read_words(&q);
        c->class_name = read_words(&q);
        c->commit = read_words(&q);
        c->branch = read_words(&q);
        c->sweep = read_words(&q);
        c->shard = sql_int(&q);
        c->shards = sql_int(&q);
        c->plan = read_words(&q);
        const char *kind = sql_text(&q);
        c->kind = kind ? run_kind_find(kind) : -1;
    }
    sql_close(&q);
    return rc;
}

static void release_candidates(struct ref_lookup *l)
{
    for (size_t i = 0; i < l->runs.nr; i++) {
        struct ref_run *c = &l->runs.items[i];
        free(c->uuid);
        free(c->label);
        free(c->class_name);
        free(c->commit);
        free(c->branch);
        free(c->sweep);
        free(c->plan);
    }
    array_release(&l->runs);
}

/* "branch:main" asks one rule; anything else asks all, in order. */
static const struct ref_rule *chosen_rule(const char *ref, const char **name)
{
    const char *colon = strchr(ref, ':');

    *name = ref;
    for (int i = 0; colon && i < ref_nr_rules; i++) {
        if (strlen(ref_rules[i].name) != (size_t)(colon - ref) ||
            !ref_starts_with(ref, ref_rules[i].name))
            continue;
        *name = colon + 1;
        return &ref_rules[i];
    }
    return NULL;
}

/* "branch main at 1f3a9c2 " of "branch main at 1f3a9c2 (3 runs)". */
static size_t length_without_count(const char *what)
{
    const char *count = strrchr(what, '(');

    return count ? (size_t)(count - what) : strlen(what);
}

/* What the runs of two classes are together: where it is the same, all are counted. */
static void join_what(struct ref_runs *out, const char *before)
{
    size_t same = length_without_count(before);
    char joined[sizeof(out->what)];

    if (before[same] && same == length_without_count(out->what) &&
        strncmp(before, out->what, same) == 0) {
        const char *more = strchr(before + same, ',');
        if (!more)
            more = strchr(out->what + same, ',');
        snprintf(joined, sizeof(joined), "%.*s(%zu runs%.40s", (int)same, before, out->nr,
                 more ? more : ")");
    } else {
        snprintf(joined, sizeof(joined), "%.120s and %.120s", before, out->what);
    }
    memcpy(out->what, joined, sizeof(joined));
}

/* In one class. What the classes before it gave stays; a run that is named by its number is the
 * same in each. */
static int ask_class(struct ref_lookup *l, const struct ref_rule *rule, struct error *err)
{
    struct ref_runs *out = l->out;
    char before[sizeof(out->what)];

    l->first = out->nr;
    memcpy(before, out->what, sizeof(before));
    int rc = rule->find(l, err);
    if (l->first == 0)
        return rc;
    if (rc > 0 && !ref_is_among(out->ids, l->first, out->ids[l->first])) {
        join_what(out, before);
        return rc;
    }
    out->nr = l->first;
    memcpy(out->what, before, sizeof(before));
    return rc;
}

static int ask_rule(struct ref_lookup *l, const struct ref_rule *rule, struct error *err)
{
    const struct ref_scope *scope = l->scope;
    size_t nr_apart = scope->together ? 0 : scope->nr_classes;
    int found = 0;

    for (size_t i = 0; i == 0 || i < nr_apart; i++) {
        l->class_name = nr_apart > 0 ? scope->classes[i] : NULL;
        int rc = ask_class(l, rule, err);
        if (rc < 0)
            return -1;
        found |= rc;
    }
    return found;
}

static int ask_rules(struct ref_lookup *l, const struct ref_rule *only, struct error *err)
{
    int rc = 0;

    if (only)
        return ask_rule(l, only, err);
    for (int i = 0; i < ref_nr_rules && rc == 0 && !l->is_baseline; i++)
        rc = ask_rule(l, &ref_rules[i], err);
    return rc;
}

static void reverse_runs(struct ref_runs *runs)
{
    for (size_t i = 0; i < runs->nr / 2; i++) {
        int64_t swap = runs->ids[i];
        runs->ids[i] = runs->ids[runs->nr - 1 - i];
        runs->ids[runs->nr - 1 - i] = swap;
    }
}

/* Oldest first: those of each class are newest first, one class behind the other. */
static void order_oldest_first(struct ref_lookup *l)
{
    struct ref_runs *out = l->out;
    int64_t *ids = memory_zeroed(out->nr, sizeof(*ids));
    size_t nr = 0;

    if (l->scope->nr_classes > 1) {
        for (size_t i = 0; i < l->runs.nr; i++)
            if (ref_is_among(out->ids, out->nr, l->runs.items[i].id))
                ids[nr++] = l->runs.items[i].id;
        memcpy(out->ids, ids, out->nr * sizeof(*ids));
    }
    reverse_runs(out);
    free(ids);
}

static int elsewhere_error(const struct ref_lookup *l, const struct ref_scope *scope,
                           const char *ref, const char *elsewhere, struct error *err)
{
    struct strbuf classes;

    strbuf_init(&classes);
    for (size_t i = 0; i < scope->nr_classes; i++)
        strbuf_addf(&classes, "%s%s", i ? ", " : "", scope->classes[i]);
    error_set(err,
              "%s: \"%s\" was never measured on %s (%s), only on others, such as %s; measure it "
              "here first",
              l->store->path, ref,
              scope->nr_classes == 1 ? "this machine class" : "these machine classes", classes.data,
              elsewhere);
    strbuf_release(&classes);
    return -1;
}

/* REF names runs, but the scope leaves none of them: says which half of the scope did it. */
static int scope_error(const struct ref_lookup *l, const struct ref_scope *scope, const char *ref,
                       struct error *err)
{
    const char *elsewhere = "";

    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct ref_run *c = &l->runs.items[i];
        if (!ref_is_among(l->out->ids, l->out->nr, c->id))
            continue;
        elsewhere = c->class_name;
        if (ref_takes_class(scope, c->class_name))
            return error_set(err,
                             "%s: \"%s\" names nothing but what is being compared with it (run "
                             "%" PRId64 "); measure another build first",
                             l->store->path, ref, c->id);
    }
    return elsewhere_error(l, scope, ref, elsewhere, err);
}

static const char *const all_names =
    "SELECT name FROM baseline UNION SELECT 'latest' UNION SELECT label FROM run WHERE label <> '' "
    "UNION SELECT branch FROM build JOIN run ON run.build = build.id WHERE branch <> ''";
static const char *const baseline_names = "SELECT name FROM baseline ORDER BY created_ms DESC";
static const char *const branch_names =
    "SELECT branch FROM run JOIN build ON build.id = run.build WHERE branch <> '' "
    "GROUP BY branch ORDER BY max(started_ms) DESC";

static void add_newest_runs(const struct ref_lookup *l, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < l->runs.nr && i < 5; i++) {
        const struct ref_run *c = &l->runs.items[i];
        strbuf_addf(out, "%s%" PRId64 " (%s%s%s%s%.*s%s)", i ? ", " : ". Newest runs: ", c->id,
                    text_timestamp(c->started_ms, when), c->branch[0] ? " " : "", c->branch,
                    c->commit[0] ? " " : "", COMMIT_SHOWN, c->commit,
                    !c->finished           ? ", unfinished"
                    : c->kind == RUN_TRIAL ? ", a trial"
                                           : "");
    }
}

/* Are there such runs, but none that counts? */
static bool names_left_out(const struct ref_lookup *l, const struct ref_rule *only)
{
    for (int i = 0; i < ref_nr_rules; i++)
        for (size_t j = 0; ref_rules[i].matches && j < l->runs.nr; j++)
            if ((!only || only == &ref_rules[i]) &&
                ref_rules[i].matches(&l->runs.items[j], l->name))
                return true;
    return false;
}

static int left_out_error(const struct ref_lookup *l, const char *ref, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    add_newest_runs(l, &list);
    error_set(err,
              "%s: \"%s\" names no run that counts: unfinished ones are reached by number or "
              "baseline alone, trials (of A/B comparisons, bisections and self-tests) by label, "
              "too%s",
              l->store->path, ref, list.data);
    strbuf_release(&list);
    return -1;
}

static int unknown_error(const struct ref_lookup *l, const char *ref, struct error *err)
{
    char nearest[STORE_NAME_SIZE];
    struct strbuf list;

    if (l->runs.nr == 0)
        return error_set(err, "%s: \"%s\" names nothing: the history has no runs yet",
                         l->store->path, ref);
    strbuf_init(&list);
    int rc = read_nearest_name(l->store, all_names, l->name, nearest, err);
    if (rc == 0)
        rc = read_name_list(l->store, baseline_names, "Baselines: ", &list, err);
    if (rc == 0)
        rc = read_name_list(l->store, branch_names, "Branches: ", &list, err);
    add_newest_runs(l, &list);
    if (rc == 0)
        error_set(err, "%s: no baseline, run, label, branch or commit is \"%s\"%s%s%s%s",
                  l->store->path, ref, nearest[0] ? "; did you mean \"" : "", nearest,
                  nearest[0] ? "\"?" : ".", list.data + 1);
    strbuf_release(&list);
    return -1;
}

static int nothing_error(struct ref_lookup *l, const struct ref_rule *only, const char *ref,
                         struct error *err)
{
    static const struct ref_scope anywhere = { .nr_classes = 0 };
    const struct ref_scope *scope = l->scope;

    l->scope = &anywhere;
    ref_mark_excluded(l);
    l->is_baseline = false;
    int rc = ask_rules(l, only, err);
    if (rc < 0)
        return -1;
    if (rc > 0)
        scope_error(l, scope, ref, err);
    else if (names_left_out(l, only))
        left_out_error(l, ref, err);
    else
        unknown_error(l, ref, err);
    l->out->nothing = true;
    l->out->elsewhere = rc > 0;
    l->out->nr = 0;
    return -1;
}

int ref_resolve(struct store *s, const char *ref, const struct ref_scope *scope,
                struct ref_runs *out, struct error *err)
{
    static const struct ref_scope anywhere = { .nr_classes = 0 };
    struct ref_lookup l = { .store = s, .scope = scope ? scope : &anywhere, .out = out };

    *out = (struct ref_runs) { .nr = 0 };
    const struct ref_rule *only = chosen_rule(ref, &l.name);
    int rc = read_candidates(&l, err);
    ref_mark_excluded(&l);
    if (rc == 0)
        rc = ask_rules(&l, only, err);
    if (rc == 0)
        rc = nothing_error(&l, only, ref, err);
    if (rc > 0)
        order_oldest_first(&l);
    release_candidates(&l);
    return rc < 0 ? -1 : 0;
}
