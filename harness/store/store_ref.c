/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/text.h"
#include "store/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UUID_PREFIX_MIN = 6, COMMIT_PREFIX_MIN = 7, COMMIT_SHOWN = 7 };

/* What the rules look at: one run. */
struct candidate {
    int64_t id, started_ms;
    bool finished, dirty;
    bool trial;   /* run_is_trial(): reached by name alone */
    bool profile; /* run_is_profile(): stands for the newest only where there is no other */
    char *uuid, *label, *class_name, *commit, *branch;
};

struct lookup {
    struct store *store;
    const char *name; /* what is looked for, without "rule:" */
    const struct store_scope *scope;
    ARRAY(struct candidate) runs; /* newest first */
    struct store_runs *out;
};

static bool excluded(const struct store_scope *scope, int64_t id)
{
    for (size_t i = 0; i < scope->nr_exclude; i++)
        if (scope->exclude[i] == id)
            return true;
    return false;
}

static bool in_scope(const struct store_scope *scope, const struct candidate *c)
{
    return (!scope->machine_class || strcmp(scope->machine_class, c->class_name) == 0) &&
           !excluded(scope, c->id);
}

static void describe(struct lookup *l, const char *rule, const char *detail)
{
    size_t nr = l->out->nr;

    snprintf(l->out->what, sizeof(l->out->what), "%s %.96s%.96s (%zu run%s)", rule, l->name, detail,
             nr, nr == 1 ? "" : "s");
}

/* ---- the rules: 1 found, 0 not, -1 error ---- */

static int find_baseline(struct lookup *l, struct error *err)
{
    static const char *const text =
        "SELECT 1 FROM baseline b JOIN baseline_run r "
        "ON r.baseline = b.id WHERE b.name = ? AND r.run = ?";

    for (size_t i = 0; i < l->runs.nr; i++) {
        struct sql_query q;
        if (!in_scope(l->scope, &l->runs.items[i]))
            continue;
        if (sql_open(&q, l->store, text, err))
            return -1;
        sql_bind_text(&q, l->name);
        sql_bind_int(&q, l->runs.items[i].id);
        int rc = sql_step(&q, err);
        sql_close(&q);
        if (rc < 0)
            return -1;
        if (rc > 0)
            runs_add(l->out, l->runs.items[i].id);
    }
    describe(l, "baseline", "");
    return l->out->nr > 0;
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

static bool starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static int find_run(struct lookup *l, struct error *err)
{
    int64_t id = 0;
    bool is_id = parse_id(l->name, &id);
    bool is_prefix = strlen(l->name) >= UUID_PREFIX_MIN;
    const struct candidate *found = NULL;

    for (size_t i = 0; is_id && i < l->runs.nr && !found; i++)
        if (l->runs.items[i].id == id)
            found = &l->runs.items[i];
    for (size_t i = 0; is_prefix && !(is_id && found) && i < l->runs.nr; i++) {
        if (!starts_with(l->runs.items[i].uuid, l->name))
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
    runs_add(l->out, found->id);
    snprintf(l->out->what, sizeof(l->out->what), "run %" PRId64, found->id);
    return 1;
}

static bool is_latest(const struct candidate *c, const char *name)
{
    (void)c;
    return strcmp(name, "latest") == 0;
}

static bool has_label(const struct candidate *c, const char *name)
{
    return name[0] && strcmp(c->label, name) == 0;
}

static bool has_branch(const struct candidate *c, const char *name)
{
    return name[0] && strcmp(c->branch, name) == 0;
}

static bool has_commit(const struct candidate *c, const char *name)
{
    return strlen(name) >= COMMIT_PREFIX_MIN && starts_with(c->commit, name);
}

typedef bool match_fn(const struct candidate *c, const char *name);

static bool eligible(const struct lookup *l, match_fn *matches, const struct candidate *c)
{
    return c->finished && !(c->trial && matches != has_label) && in_scope(l->scope, c) &&
           matches(c, l->name);
}

static const struct candidate *newest_eligible(const struct lookup *l, match_fn *matches,
                                               bool clean)
{
    const struct candidate *profile = NULL;

    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct candidate *c = &l->runs.items[i];
        if (!eligible(l, matches, c) || (clean && c->dirty))
            continue;
        if (!c->profile)
            return c;
        if (!profile)
            profile = c;
    }
    return profile;
}

static void add_same_build(struct lookup *l, match_fn *matches, const struct candidate *newest)
{
    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct candidate *c = &l->runs.items[i];
        if (eligible(l, matches, c) && c->dirty == newest->dirty && c->profile == newest->profile &&
            strcmp(c->commit, newest->commit) == 0)
            runs_add(l->out, c->id);
    }
}

static void describe_build(struct lookup *l, const char *rule, const struct candidate *newest)
{
    char detail[96];

    snprintf(detail, sizeof(detail), "%s%.*s%s", newest->commit[0] ? " at " : "", COMMIT_SHOWN,
             newest->commit, newest->dirty ? " with uncommitted changes" : "");
    describe(l, rule, detail);
}

static int find_latest(struct lookup *l, struct error *err)
{
    const struct candidate *newest = newest_eligible(l, is_latest, false);

    (void)err;
    if (!newest)
        return 0;
    runs_add(l->out, newest->id);
    snprintf(l->out->what, sizeof(l->out->what), "latest run %" PRId64, newest->id);
    return 1;
}

static int find_label(struct lookup *l, struct error *err)
{
    const struct candidate *newest = newest_eligible(l, has_label, false);

    (void)err;
    if (!newest)
        return 0;
    add_same_build(l, has_label, newest);
    describe_build(l, "label", newest);
    return 1;
}

static int find_committed(struct lookup *l, const char *rule, match_fn *matches)
{
    const struct candidate *newest = newest_eligible(l, matches, true);
    bool pool = newest && newest->commit[0];

    if (!newest)
        newest = newest_eligible(l, matches, false);
    if (!newest)
        return 0;
    if (pool)
        add_same_build(l, matches, newest);
    else /* an unknown state of the code is like no other */
        runs_add(l->out, newest->id);
    describe_build(l, rule, newest);
    return 1;
}

static int find_branch(struct lookup *l, struct error *err)
{
    (void)err;
    return find_committed(l, "branch", has_branch);
}

static int find_commit(struct lookup *l, struct error *err)
{
    (void)err;
    return find_committed(l, "commit", has_commit);
}

static const struct rule {
    const char *name;
    int (*find)(struct lookup *l, struct error *err);
    match_fn *matches; /* what it looks for; NULL: not by the look of the run */
} rules[] = {
    { "baseline", find_baseline, NULL },
    { "latest", find_latest, is_latest },
    { "run", find_run, NULL },
    { "label", find_label, has_label },
    { "branch", find_branch, has_branch },
    { "commit", find_commit, has_commit },
};

enum { NR_RULES = sizeof(rules) / sizeof(rules[0]) };

/* ---- the whole ---- */

static int read_candidates(struct lookup *l, struct error *err)
{
    static const char *const text =
        "SELECT r.id, r.started_ms, r.ended_ms > 0, b.dirty, r.uuid, r.label, m.class, "
        "b.commit_hash, b.branch, r.settings FROM run r JOIN machine m ON m.id = r.machine "
        "JOIN build b ON b.id = r.build ORDER BY r.started_ms DESC, r.id DESC";
    struct sql_query q;
    int rc;

    if (sql_open(&q, l->store, text, err))
        return -1;
    while ((rc = sql_step(&q, err)) > 0) {
        struct candidate *c = array_push(&l->runs);
        c->id = sql_int(&q);
        c->started_ms = sql_int(&q);
        c->finished = sql_int(&q);
        c->dirty = sql_int(&q);
        c->uuid = memory_string(sql_text(&q));
        c->label = memory_string(sql_text(&q));
        c->class_name = memory_string(sql_text(&q));
        c->commit = memory_string(sql_text(&q));
        c->branch = memory_string(sql_text(&q));
        const char *settings = sql_text(&q);
        c->trial = run_is_trial(c->label, settings);
        c->profile = run_is_profile(settings);
    }
    sql_close(&q);
    return rc;
}

static void release_candidates(struct lookup *l)
{
    for (size_t i = 0; i < l->runs.nr; i++) {
        struct candidate *c = &l->runs.items[i];
        free(c->uuid);
        free(c->label);
        free(c->class_name);
        free(c->commit);
        free(c->branch);
    }
    array_release(&l->runs);
}

/* "branch:main" asks one rule; anything else asks all, in order. */
static const struct rule *chosen_rule(const char *ref, const char **name)
{
    const char *colon = strchr(ref, ':');

    *name = ref;
    for (int i = 0; colon && i < NR_RULES; i++) {
        if (strlen(rules[i].name) != (size_t)(colon - ref) || !starts_with(ref, rules[i].name))
            continue;
        *name = colon + 1;
        return &rules[i];
    }
    return NULL;
}

static int ask_rules(struct lookup *l, const struct rule *only, struct error *err)
{
    int rc = 0;

    if (only)
        return only->find(l, err);
    for (int i = 0; i < NR_RULES && rc == 0; i++)
        rc = rules[i].find(l, err);
    return rc;
}

static void reverse(struct store_runs *runs)
{
    for (size_t i = 0; i < runs->nr / 2; i++) {
        int64_t swap = runs->ids[i];
        runs->ids[i] = runs->ids[runs->nr - 1 - i];
        runs->ids[runs->nr - 1 - i] = swap;
    }
}

/* REF names runs, but the scope leaves none of them: says which half of the scope did it. */
static int scope_error(const struct lookup *l, const struct store_scope *scope, const char *ref,
                       struct error *err)
{
    const char *elsewhere = "";

    for (size_t i = 0; i < l->runs.nr; i++) {
        const struct candidate *c = &l->runs.items[i];
        bool found = false;
        for (size_t j = 0; j < l->out->nr; j++)
            found = found || l->out->ids[j] == c->id;
        if (!found)
            continue;
        elsewhere = c->class_name;
        if (!scope->machine_class || strcmp(scope->machine_class, c->class_name) == 0)
            return error_set(err,
                             "%s: \"%s\" names nothing but what is being compared with it (run "
                             "%" PRId64 "); measure another build first",
                             l->store->path, ref, c->id);
    }
    return error_set(err,
                     "%s: \"%s\" was never measured on this machine class (%s), only on others, "
                     "such as %s; measure it here first",
                     l->store->path, ref, scope->machine_class, elsewhere);
}

static const char *const all_names =
    "SELECT name FROM baseline UNION SELECT 'latest' UNION SELECT label FROM run WHERE label <> '' "
    "UNION SELECT branch FROM build JOIN run ON run.build = build.id WHERE branch <> ''";
static const char *const baseline_names = "SELECT name FROM baseline ORDER BY created_ms DESC";
static const char *const branch_names =
    "SELECT branch FROM run JOIN build ON build.id = run.build WHERE branch <> '' "
    "GROUP BY branch ORDER BY max(started_ms) DESC";

static void add_newest_runs(const struct lookup *l, struct strbuf *out)
{
    char when[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < l->runs.nr && i < 5; i++) {
        const struct candidate *c = &l->runs.items[i];
        strbuf_addf(out, "%s%" PRId64 " (%s%s%s%s%.*s%s)", i ? ", " : ". Newest runs: ", c->id,
                    text_timestamp(c->started_ms, when), c->branch[0] ? " " : "", c->branch,
                    c->commit[0] ? " " : "", COMMIT_SHOWN, c->commit,
                    !c->finished ? ", unfinished"
                    : c->trial   ? ", a trial"
                                 : "");
    }
}

/* Are there such runs, but none that counts? */
static bool names_left_out(const struct lookup *l, const struct rule *only)
{
    for (int i = 0; i < NR_RULES; i++)
        for (size_t j = 0; rules[i].matches && j < l->runs.nr; j++)
            if ((!only || only == &rules[i]) && rules[i].matches(&l->runs.items[j], l->name))
                return true;
    return false;
}

static int left_out_error(const struct lookup *l, const char *ref, struct error *err)
{
    struct strbuf list;

    strbuf_init(&list);
    add_newest_runs(l, &list);
    error_set(err,
              "%s: \"%s\" names no run that counts: unfinished ones and trials (of A/B "
              "comparisons, bisections and self-tests) are reached by number, label or "
              "baseline alone%s",
              l->store->path, ref, list.data);
    strbuf_release(&list);
    return -1;
}

static int unknown_error(const struct lookup *l, const char *ref, struct error *err)
{
    char nearest[STORE_NAME_SIZE];
    struct strbuf list;

    if (l->runs.nr == 0)
        return error_set(err, "%s: \"%s\" names nothing: the history has no runs yet",
                         l->store->path, ref);
    strbuf_init(&list);
    int rc = read_nearest_name(l->store, all_names, l->name, nearest, err);
    if (rc == 0 && nearest[0])
        strbuf_addf(&list, ". Did you mean \"%s\"?", nearest);
    if (rc == 0)
        rc = read_name_list(l->store, baseline_names, "Baselines: ", &list, err);
    if (rc == 0)
        rc = read_name_list(l->store, branch_names, "Branches: ", &list, err);
    add_newest_runs(l, &list);
    if (rc == 0)
        error_set(err, "%s: no baseline, run, label, branch or commit is \"%s\"%s", l->store->path,
                  ref, list.data);
    strbuf_release(&list);
    return -1;
}

static int nothing_error(struct lookup *l, const struct rule *only, const char *ref,
                         struct error *err)
{
    static const struct store_scope anywhere = { NULL, NULL, 0 };
    const struct store_scope *scope = l->scope;

    l->scope = &anywhere;
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

int store_resolve(struct store *s, const char *ref, const struct store_scope *scope,
                  struct store_runs *out, struct error *err)
{
    static const struct store_scope anywhere = { NULL, NULL, 0 };
    struct lookup l = { .store = s, .scope = scope ? scope : &anywhere, .out = out };

    *out = (struct store_runs) { .nr = 0 };
    const struct rule *only = chosen_rule(ref, &l.name);
    int rc = read_candidates(&l, err);
    if (rc == 0)
        rc = ask_rules(&l, only, err);
    if (rc == 0)
        rc = nothing_error(&l, only, ref, err);
    if (rc > 0)
        reverse(out);
    release_candidates(&l);
    return rc < 0 ? -1 : 0;
}
