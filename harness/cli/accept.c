/* SPDX-License-Identifier: MIT */
#include "cli/accept.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/git.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "output/table.h"
#include "output/verdict_json.h"
#include "store/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is accepted of a verdict: NaN for one that is broken. */
struct finding {
    const struct store_comparison *comparison; /* with this row alone */
    const struct store_verdict *verdict;
    struct kept_result result;
    double change;
};

static char *author_of(const struct accept_request *request)
{
    const char *const ask[] = { "config", "user.name", NULL }, *user = getenv("USER");
    struct error ignored;
    struct strbuf name;

    if (request->author)
        return memory_string(request->author);
    strbuf_init(&name);
    if (git_try(ask, &name, &ignored) != 0 || name.length == 0) {
        strbuf_clear(&name);
        strbuf_adds(&name, user ? user : "");
    }
    return strbuf_detach(&name);
}

/* "+8%", "-0.08": a change for the worse of this metric. */
static int parse_change(const char *text, const struct metric *metric, double *change,
                        struct error *err)
{
    double sign = *text == '-' ? -1 : 1, worse = metric->direction == HIGHER_IS_BETTER ? -1 : 1;

    if (text_parse_fraction(text + (*text == '-' || *text == '+'), "--change", change, err))
        return -1;
    *change *= sign;
    if (*change * worse > 0)
        return 0;
    return error_set(err,
                     "--change %s: for %s that is no change for the worse, and only such a "
                     "change needs to be accepted",
                     text, metric->label);
}

/* 0: to be accepted. 1: it is no alarm; err says so. */
static int examine(const struct accept_request *request, const struct store_comparison *c,
                   struct finding *f, struct error *err)
{
    const struct store_verdict *v = &c->items[0];
    bool broken = strcmp(v->verdict, verdict_name(VERDICT_BROKEN)) == 0;
    bool regressed = strcmp(v->verdict, verdict_name(VERDICT_REGRESSED)) == 0;

    *f = (struct finding) { .comparison = c, .verdict = v };
    if (kept_result_read(v->result, &f->result, err))
        return -1;
    f->change = broken ? NAN : f->result.change;
    if (!broken && !regressed)
        error_set(err,
                  "%s (%s): its newest verdict, in comparison %" PRId64
                  " (%s to %s), is %s; "
                  "only what regressed or broke can be accepted",
                  v->key, v->metric, c->id, c->base, c->head, v->verdict);
    else if (f->result.accepted && !request->change)
        error_set(err, "%s (%s): was accepted already; see `harness baseline accepted`", v->key,
                  v->metric);
    else
        return 0;
    return 1;
}

static int accept_one(struct store *store, const struct accept_request *request, struct finding *f,
                      const char *author, struct error *err)
{
    const struct store_verdict *v = f->verdict;
    const struct metric *metric = metric_find(v->metric, err);
    char *commit = f->comparison->head_commit, seen[TEXT_UNIT_SIZE], change[TEXT_UNIT_SIZE];

    if (!metric)
        return -1;
    if (request->change && isnan(f->change))
        return error_set(err, "%s is broken, not slower: there is no --change to accept", v->key);
    if (request->change && parse_change(request->change, metric, &f->change, err))
        return -1;
    struct store_acceptance a = {
        .key = v->key,
        .metric = v->metric,
        .machine = v->machine,
        .commit = commit,
        .change = f->change,
        .reason = memory_string(request->reason),
        .author = memory_string(author),
        .accepted_ms = clock_epoch_ms(),
    };
    int rc = store_acceptance_add(store, &a, err);
    free(a.reason);
    free(a.author);
    if (rc)
        return -1;
    printf("accepted as %" PRId64 ": %s, %s", a.id, v->key, metric->label);
    if (isnan(f->change))
        printf(", which is broken");
    else
        printf(" %s (seen: %s)", text_percent(f->change, change),
               text_percent(f->result.change, seen));
    printf("%s%.7s\n", *commit ? " since " : "", commit);
    return 0;
}

static int accept_those(struct store *store, const struct accept_request *request,
                        const struct store_comparisons *found, struct error *err)
{
    char *author = author_of(request);
    size_t accepted = 0;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < found->nr; i++) {
        struct finding f;
        rc = examine(request, &found->items[i], &f, err);
        if (rc == 0 && (rc = accept_one(store, request, &f, author, err)) == 0)
            accepted++;
    }
    free(author);
    if (rc < 0)
        return -1;
    if (accepted == 0 && found->nr > 1)
        return error_set(err,
                         "%zu benchmarks fit \"%s\", and the newest verdict of none of them "
                         "is regressed or broken without being accepted",
                         found->nr, request->key);
    if (accepted < found->nr && found->nr > 1)
        printf("%zu of the %zu that fit; the others have nothing to accept\n", accepted, found->nr);
    return accepted ? 0 : -1;
}

int accept_run(struct store *store, const struct accept_request *request, struct error *err)
{
    struct store_comparisons found = { 0 };

    if (!request->reason || !*request->reason)
        return error_set(err, "say why with --reason TEXT, for those who find the change later");
    int rc = store_verdict_newest(store, &request->key, 1, request->metric, &found, err);
    if (rc == 0 && found.nr == 0)
        rc = error_set(err,
                       "%s: no verdict of \"%s\"%s%s has been recorded; `harness compare "
                       "--baseline REF` records verdicts",
                       store_path(store), request->key, request->metric ? " on " : "",
                       request->metric ? request->metric : "");
    if (rc == 0)
        rc = accept_those(store, request, &found, err);
    store_comparisons_release(&found);
    return rc;
}

/* ---- the list ---- */

static const struct table_column columns[] = {
    { "id", TABLE_RIGHT, false },      { "accepted", TABLE_LEFT, false },
    { "benchmark", TABLE_LEFT, true }, { "metric", TABLE_LEFT, false },
    { "change", TABLE_RIGHT, false },  { "since", TABLE_LEFT, false },
    { "by", TABLE_LEFT, false },       { "reason", TABLE_LEFT, true },
    { "machine", TABLE_LEFT, true },
};

static void add_line(struct table *t, const struct store_acceptance *a)
{
    char text[TEXT_UNIT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%" PRId64, a->id);
    table_cell(t, TABLE_PLAIN, "%s", text_timestamp(a->accepted_ms, text));
    table_cell(t, TABLE_PLAIN, "%s", a->key);
    table_cell(t, TABLE_PLAIN, "%s", a->metric);
    table_cell(t, TABLE_PLAIN, "%s", isnan(a->change) ? "broken" : text_percent(a->change, text));
    table_cell(t, TABLE_PLAIN, "%.7s", a->commit);
    table_cell(t, TABLE_PLAIN, "%s", a->author);
    table_cell(t, TABLE_PLAIN, "%s", a->reason);
    table_cell(t, TABLE_PLAIN, "%s", a->machine);
}

static void list_text(const struct store_acceptances *list, struct strbuf *out)
{
    struct table t;

    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < list->nr; i++)
        add_line(&t, &list->items[i]);
    if (list->nr)
        table_text(&t, terminal_width(), terminal_colour(), out);
    else
        strbuf_adds(out, "nothing is accepted; `harness baseline accept KEY --reason TEXT` does\n");
    table_release(&t);
}

static cJSON *list_json(const struct store_acceptances *list)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < list->nr; i++) {
        const struct store_acceptance *a = &list->items[i];
        cJSON *json = cJSON_CreateObject();
        json_add_int(json, "id", a->id);
        json_add_string(json, "key", a->key);
        json_add_string(json, "metric", a->metric);
        json_add_string(json, "machine", a->machine);
        json_add_string(json, "commit", a->commit);
        json_add_number(json, "change", a->change);
        json_add_string(json, "reason", a->reason);
        json_add_string(json, "author", a->author);
        json_add_int(json, "accepted_ms", a->accepted_ms);
        cJSON_AddItemToArray(array, json);
    }
    return array;
}

int accept_list(struct store *store, bool json, struct error *err)
{
    struct store_acceptances list = { 0 };
    struct strbuf text;
    int rc = store_acceptance_list(store, NULL, &list, err);

    strbuf_init(&text);
    if (rc == 0 && json) {
        rc = output_json(list_json(&list), NULL, err);
    } else if (rc == 0) {
        list_text(&list, &text);
        rc = output_text(&text, NULL, err);
    }
    strbuf_release(&text);
    store_acceptances_release(&list);
    return rc;
}

int accept_remove(struct store *store, const char *id, struct error *err)
{
    int64_t number;

    if (text_parse_int(id, 1, INT64_MAX, "the number of an acceptance", &number, err) ||
        store_acceptance_remove(store, number, err))
        return -1;
    printf("removed acceptance %" PRId64 "; such a change counts again\n", number);
    return 0;
}
