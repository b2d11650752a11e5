/* SPDX-License-Identifier: MIT */
#include "cli/render/replay_report.h"

#include "base/json.h"
#include "base/text.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <inttypes.h>
#include <string.h>

static const struct table_column columns[] = {
    { "comparison", TABLE_RIGHT, TABLE_FIRM, 2 },    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 },
    { "metric", TABLE_LEFT, TABLE_FIRM, 1 },         { "was", TABLE_LEFT, TABLE_FIRM, 0 },
    { "90 % interval", TABLE_RIGHT, TABLE_FIRM, 4 }, { "is now", TABLE_LEFT, TABLE_FIRM, 0 },
    { "90 % interval", TABLE_RIGHT, TABLE_FIRM, 3 }, { "why", TABLE_LEFT, TABLE_PROSE, 5 },
};

static void add_difference_row(struct table *t, const struct replay_difference *d)
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

static int print_replay_text(const struct replay *r, const char *output, struct error *err)
{
    size_t differ = r->differences.nr;
    struct strbuf text;
    struct table t;

    strbuf_init(&text);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < differ; i++)
        add_difference_row(&t, &r->differences.items[i]);
    if (differ) {
        table_text(&t, output_width(output), output_colour(output), &text);
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
    int rc = output_page(&text, output, err);
    table_release(&t);
    strbuf_release(&text);
    return rc;
}

static void add_verdict_state(cJSON *json, const char *name, const char *verdict, double change,
                              const struct interval *interval)
{
    cJSON *state = cJSON_AddObjectToObject(json, name);

    json_add_string(state, "verdict", verdict);
    json_add_number(state, "change", change);
    cJSON *limits = cJSON_AddObjectToObject(state, "interval");
    json_add_number(limits, "low", interval->low);
    json_add_number(limits, "high", interval->high);
}

static cJSON *difference_to_json(const struct replay_difference *d)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "comparison", d->comparison);
    json_add_string(json, "key", d->key);
    json_add_string(json, "machine", d->machine);
    json_add_string(json, "metric", d->metric->id);
    add_verdict_state(json, "was", d->was, d->result.change, &d->result.interval);
    add_verdict_state(json, "now", verdict_name(d->now), d->change, &d->interval);
    json_add_string(json, "why", d->why);
    return json;
}

static cJSON *replayed_to_json(const struct replay_done *done)
{
    cJSON *json = cJSON_CreateObject();

    json_add_int(json, "id", done->id);
    json_add_string(json, "uuid", done->uuid);
    json_add_int(json, "rule", done->rule);
    json_add_int(json, "verdicts", (int64_t)done->verdicts);
    json_add_int(json, "differ", (int64_t)done->differ);
    return json;
}

static cJSON *replay_to_json(const struct replay *r)
{
    cJSON *json = cJSON_CreateObject(), *array;

    json_add_int(json, "schema_version", 1);
    json_add_int(json, "rule", COMPARE_RULE);
    json_add_int(json, "verdicts", (int64_t)r->verdicts);
    json_add_int(json, "differ", (int64_t)r->differences.nr);
    json_add_int(json, "unreadable", (int64_t)r->unreadable);
    json_add_int(json, "exit_status", replay_exit_status(r));
    array = cJSON_AddArrayToObject(json, "comparisons");
    for (size_t i = 0; i < r->done.nr; i++)
        cJSON_AddItemToArray(array, replayed_to_json(&r->done.items[i]));
    array = cJSON_AddArrayToObject(json, "differences");
    for (size_t i = 0; i < r->differences.nr; i++)
        cJSON_AddItemToArray(array, difference_to_json(&r->differences.items[i]));
    return json;
}

int replay_report(const struct replay *r, bool json, const char *output, struct error *err)
{
    return json ? output_json(replay_to_json(r), output, err) : print_replay_text(r, output, err);
}
