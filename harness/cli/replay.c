/* SPDX-License-Identifier: MIT */
#include "cli/replay.h"

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "output/table.h"
#include "output/verdict_json.h"
#include "store/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A verdict that is another one now. */
struct difference {
    int64_t comparison;
    char *key, *machine, *was; /* owned */
    const struct metric *metric;
    struct kept_result result; /* that it was */
    enum verdict now;
    double change;
    struct interval interval;
    char why[128];
};

struct replayed {
    int64_t id;
    char uuid[37];
    int rule;
    size_t verdicts, differ;
};

struct replay {
    struct store *store;
    ARRAY(struct replayed) done;
    ARRAY(struct difference) differences;
    size_t verdicts, unreadable;
};

static void add_difference(struct replay *r, const struct store_comparison *record,
                           const struct store_verdict *was, const struct compare_row *now)
{
    struct difference *d = array_push(&r->differences);
    struct error ignored;

    *d = (struct difference) {
        .comparison = record->id,
        .key = memory_string(was->key),
        .machine = memory_string(was->machine),
        .was = memory_string(was->verdict),
        .metric = now->item->metric,
        .result = { .change = NAN, .interval = { NAN, NAN } },
        .now = now->verdict,
        .change = now->change,
        .interval = now->interval,
    };
    kept_result_read(was->result, &d->result, &ignored); /* unreadable: just not shown */
    snprintf(d->why, sizeof(d->why), "%s", now->why);
}

static size_t hold_against(struct replay *r, const struct store_comparison *record,
                           const struct comparison *c)
{
    size_t before = r->differences.nr;

    for (size_t i = 0; i < c->nr; i++) {
        const struct store_verdict *was = &record->items[kept_items_index(c->rows[i].item)];
        if (strcmp(was->verdict, verdict_name(c->rows[i].verdict)) != 0)
            add_difference(r, record, was, &c->rows[i]);
    }
    return r->differences.nr - before;
}

static int decide_again(struct replay *r, const struct store_comparison *record,
                        struct kept_items *kept, size_t *differ, struct error *err)
{
    struct kept_settings settings;
    struct comparison c = { 0 };
    int rc = kept_settings_init(&settings, record->settings, err);

    for (size_t i = 0; rc == 0 && i < record->nr; i++) {
        const struct store_verdict *v = &record->items[i];
        rc = kept_items_add(kept, v->key, v->machine, v->metric, v->evidence, err);
    }
    if (rc == 0) {
        size_t nr = kept->nr;
        rc = compare_decide(kept_items_take(kept), nr, &settings.settings, &c, err);
    }
    if (rc == 0)
        *differ = hold_against(r, record, &c);
    comparison_release(&c);
    kept_settings_release(&settings);
    return rc;
}

/* A record that cannot be decided again does not keep the others from it. */
static int replay_one(struct replay *r, int64_t id, struct error *err)
{
    struct store_comparison record;
    struct kept_items kept = { 0 };
    struct error problem;
    size_t differ = 0;
    int rc = store_comparison_load(r->store, id, &record, err);

    if (rc == 0 && decide_again(r, &record, &kept, &differ, &problem)) {
        terminal_note("harness: comparison %" PRId64 " cannot be replayed: %s\n", id,
                      problem.message);
        r->unreadable++;
    } else if (rc == 0) {
        struct replayed *done = array_push(&r->done);
        *done = (struct replayed) { id, "", record.rule, record.nr, differ };
        snprintf(done->uuid, sizeof(done->uuid), "%s", record.uuid);
        r->verdicts += record.nr;
    }
    kept_items_release(&kept);
    store_comparison_release(&record);
    return rc;
}

static int replay_all(struct replay *r, struct error *err)
{
    struct store_comparisons all = { 0 };
    int rc = store_comparison_list(r->store, 0, &all, err);

    for (size_t i = all.nr; rc == 0 && i > 0; i--) /* oldest first */
        rc = replay_one(r, all.items[i - 1].id, err);
    store_comparisons_release(&all);
    return rc;
}

static int replay_those(struct replay *r, char **ids, int nr, struct error *err)
{
    int64_t id;

    for (int i = 0; i < nr; i++)
        if (text_parse_int(ids[i], 1, INT64_MAX, "the number of a comparison", &id, err) ||
            replay_one(r, id, err))
            return -1;
    return 0;
}

/* ---- showing ---- */

static const struct table_column columns[] = {
    { "comparison", TABLE_RIGHT, false },    { "benchmark", TABLE_LEFT, true },
    { "metric", TABLE_LEFT, false },         { "was", TABLE_LEFT, false },
    { "90 % interval", TABLE_RIGHT, false }, { "is now", TABLE_LEFT, false },
    { "90 % interval", TABLE_RIGHT, false }, { "why", TABLE_LEFT, true },
};

static void add_line(struct table *t, const struct difference *d)
{
    table_row(t);
    table_cell(t, TABLE_PLAIN, "%" PRId64, d->comparison);
    table_cell(t, TABLE_PLAIN, "%s", d->key);
    table_cell(t, TABLE_PLAIN, "%s", d->metric->id);
    table_cell(t, TABLE_PLAIN, "%s", d->was);
    table_interval(t, &d->result.interval);
    table_cell(t, TABLE_PLAIN, "%s", verdict_name(d->now));
    table_interval(t, &d->interval);
    table_cell(t, TABLE_PLAIN, "%s", d->why);
}

static int print_text(const struct replay *r, const char *output, struct error *err)
{
    size_t differ = r->differences.nr;
    struct strbuf text;
    struct table t;

    strbuf_init(&text);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < differ; i++)
        add_line(&t, &r->differences.items[i]);
    if (differ) {
        table_text(&t, output ? 0 : terminal_width(), !output && terminal_colour(), &text);
        strbuf_addc(&text, '\n');
    }
    if (r->done.nr + r->unreadable == 0)
        strbuf_adds(&text, "no verdicts yet; `harness compare --baseline REF` records them\n");
    else
        strbuf_addf(&text,
                    "%zu comparison%s replayed by rule %d: %zu of %zu verdicts %s as %s, %zu %s\n",
                    r->done.nr, r->done.nr == 1 ? "" : "s", COMPARE_RULE, r->verdicts - differ,
                    r->verdicts, r->verdicts - differ == 1 ? "is" : "are",
                    r->verdicts - differ == 1 ? "it was" : "they were", differ,
                    differ == 1 ? "differs" : "differ");
    int rc = output_text(&text, output, err);
    table_release(&t);
    strbuf_release(&text);
    return rc;
}

static void add_state(cJSON *json, const char *name, const char *verdict, double change,
                      const struct interval *interval)
{
    cJSON *state = cJSON_AddObjectToObject(json, name);

    json_add_string(state, "verdict", verdict);
    json_add_number(state, "change", change);
    cJSON *limits = cJSON_AddObjectToObject(state, "interval");
    json_add_number(limits, "low", interval->low);
    json_add_number(limits, "high", interval->high);
}

static cJSON *difference_to_json(const struct difference *d)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "comparison", d->comparison);
    json_add_string(json, "key", d->key);
    json_add_string(json, "machine", d->machine);
    json_add_string(json, "metric", d->metric->id);
    add_state(json, "was", d->was, d->result.change, &d->result.interval);
    add_state(json, "now", verdict_name(d->now), d->change, &d->interval);
    json_add_string(json, "why", d->why);
    return json;
}

static cJSON *replayed_to_json(const struct replayed *done)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "id", done->id);
    json_add_string(json, "uuid", done->uuid);
    json_add_int(json, "rule", done->rule);
    json_add_int(json, "verdicts", (int64_t)done->verdicts);
    json_add_int(json, "differ", (int64_t)done->differ);
    return json;
}

static cJSON *replay_to_json(const struct replay *r, int exit_status)
{
    cJSON *json = cJSON_CreateObject(), *array;

    json_add_int(json, "schema_version", 1);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_int(json, "verdicts", (int64_t)r->verdicts);
    json_add_int(json, "differ", (int64_t)r->differences.nr);
    json_add_int(json, "unreadable", (int64_t)r->unreadable);
    json_add_int(json, "exit_status", exit_status);
    array = cJSON_AddArrayToObject(json, "comparisons");
    for (size_t i = 0; i < r->done.nr; i++)
        cJSON_AddItemToArray(array, replayed_to_json(&r->done.items[i]));
    array = cJSON_AddArrayToObject(json, "differences");
    for (size_t i = 0; i < r->differences.nr; i++)
        cJSON_AddItemToArray(array, difference_to_json(&r->differences.items[i]));
    return json;
}

static int exit_status(const struct replay *r)
{
    if (r->unreadable)
        return EXIT_USAGE;
    if (r->verdicts == 0)
        return EXIT_UNDECIDED;
    return r->differences.nr ? EXIT_REGRESSION : EXIT_SAME;
}

static void release(struct replay *r)
{
    for (size_t i = 0; i < r->differences.nr; i++) {
        free(r->differences.items[i].key);
        free(r->differences.items[i].machine);
        free(r->differences.items[i].was);
    }
    array_release(&r->differences);
    array_release(&r->done);
}

int replay_run(struct store *store, char **ids, int nr, bool json, const char *output,
               struct error *err)
{
    struct replay r = { .store = store };
    bool all = nr == 0 || (nr == 1 && strcmp(ids[0], "all") == 0);
    int rc = all ? replay_all(&r, err) : replay_those(&r, ids, nr, err);
    int status = exit_status(&r);

    if (rc == 0)
        rc = json ? output_json(replay_to_json(&r, status), output, err)
                  : print_text(&r, output, err);
    release(&r);
    return rc ? -1 : status;
}
