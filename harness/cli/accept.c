/* SPDX-License-Identifier: MIT */
#include "cli/accept.h"

#include "base/array.h"
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

/* What is to be written, and what was seen of each. */
struct batch {
    ARRAY(struct store_acceptance) items; /* borrow all their texts */
    ARRAY(double) seen;
    struct store_acceptances earlier; /* those that are there */
    size_t again;                     /* left out, because an equal one is there */
};

static bool is_equal(const struct store_acceptance *a, const struct store_acceptance *b)
{
    return strcmp(a->key, b->key) == 0 && strcmp(a->metric, b->metric) == 0 &&
           strcmp(a->machine, b->machine) == 0 && strcmp(a->commit, b->commit) == 0 &&
           (a->change == b->change || (isnan(a->change) && isnan(b->change)));
}

static const struct store_acceptance *find_equal(const struct batch *batch,
                                                 const struct store_acceptance *a)
{
    for (size_t i = 0; i < batch->earlier.nr; i++)
        if (is_equal(&batch->earlier.items[i], a))
            return &batch->earlier.items[i];
    return NULL;
}

static int add_finding(struct batch *batch, const struct accept_request *request, struct finding *f,
                       char *author, char *reason, struct error *err)
{
    const struct store_verdict *v = f->verdict;
    const struct metric *metric = metric_find(v->metric, err);

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
        .commit = f->comparison->head_commit,
        .change = f->change,
        .reason = reason,
        .author = author,
        .accepted_ms = clock_epoch_ms(),
    };
    const struct store_acceptance *equal = find_equal(batch, &a);
    if (equal) {
        batch->again++;
        error_set(err, "%s (%s): the same was accepted already, as %" PRId64, v->key, v->metric,
                  equal->id);
        return 1;
    }
    *array_push(&batch->items) = a;
    *array_push(&batch->seen) = f->result.change;
    return 0;
}

static void tell(const struct store_acceptance *a, double was_seen)
{
    char seen[TEXT_UNIT_SIZE], change[TEXT_UNIT_SIZE];
    struct error ignored;

    terminal_print("accepted as %" PRId64 ": %s, %s", a->id, a->key,
                   metric_find(a->metric, &ignored)->label);
    if (isnan(a->change))
        terminal_print(", which is broken");
    else
        terminal_print(" %s (seen: %s)", text_percent(a->change, change),
                       text_percent(was_seen, seen));
    terminal_print("%s%.7s\n", *a->commit ? " since " : "", a->commit);
}

/* Looks at all before anything is written; -1 where there is nothing to accept. */
static int gather(struct batch *batch, const struct accept_request *request,
                  const struct store_comparisons *found, char *author, char *reason,
                  struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < found->nr; i++) {
        struct finding f;
        rc = examine(request, &found->items[i], &f, err);
        if (rc == 0)
            rc = add_finding(batch, request, &f, author, reason, err);
    }
    if (rc < 0 || batch->items.nr > 0)
        return rc < 0 ? -1 : 0;
    if (found->nr == 1)
        return -1;
    return error_set(err,
                     "%zu newest verdicts fit \"%s\", and none of them is regressed or broken "
                     "without being accepted",
                     found->nr, request->key);
}

static int accept_those(struct store *store, const struct accept_request *request,
                        const struct store_comparisons *found, struct error *err)
{
    char *author = author_of(request), *reason = memory_string(request->reason);
    struct batch batch = { .again = 0 };
    int rc = store_acceptance_list(store, NULL, &batch.earlier, err);

    if (rc == 0)
        rc = gather(&batch, request, found, author, reason, err);
    if (rc == 0)
        rc = store_acceptance_add(store, batch.items.items, batch.items.nr, err);
    for (size_t i = 0; rc == 0 && i < batch.items.nr; i++)
        tell(&batch.items.items[i], batch.seen.items[i]);
    if (rc == 0 && batch.again)
        terminal_print("%zu accepted already\n", batch.again);
    if (rc == 0 && batch.items.nr + batch.again < found->nr)
        terminal_print("%zu of the %zu verdicts that fit; the others have nothing to accept\n",
                       batch.items.nr + batch.again, found->nr);
    array_release(&batch.items);
    array_release(&batch.seen);
    store_acceptances_release(&batch.earlier);
    free(author);
    free(reason);
    return rc;
}

int accept_run(struct store *store, const struct accept_request *request, struct error *err)
{
    struct store_comparisons found = { 0 };

    if (!request->reason || !*request->reason)
        return error_set(err, "say why with --reason TEXT, for those who find the change later");
    if (request->metric && !metric_find(request->metric, err))
        return -1;
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
    terminal_print("removed acceptance %" PRId64 "; such a change counts again\n", number);
    return 0;
}
