/* SPDX-License-Identifier: MIT */
#include "session/verdict_record.h"

#include "base/json.h"
#include "core/clock.h"
#include "machine/environment.h"
#include "metrics/run_rows.h"
#include "reporters/verdict_json.h"
#include "session/history_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_side_commit(const struct records *records, const char *class_name)
{
    const char *commit = NULL;

    for (size_t i = 0; i < records->nr_runs; i++) {
        const struct run *run = &records->runs[i];
        if (!run_is_on(run, class_name))
            continue;
        if (commit && strcmp(run->build.commit, commit) != 0)
            return "";
        commit = run->build.commit;
    }
    return commit ? commit : "";
}

const char *verdict_side_machine(const struct records *records)
{
    const char *machine = records->nr_runs ? records->runs[0].machine.class_name : "";

    for (size_t i = 1; i < records->nr_runs; i++)
        if (strcmp(records->runs[i].machine.class_name, machine) != 0)
            return "";
    return machine;
}

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

/* Is that in the list already? */
static bool has_commit(const cJSON *list, const char *side, const struct run *run)
{
    const cJSON *entry;

    cJSON_ArrayForEach(entry, list)
    {
        if (strcmp(json_string(entry, "side", ""), side) == 0 &&
            strcmp(json_string(entry, "machine", ""), run->machine.class_name) == 0 &&
            strcmp(json_string(entry, "commit", ""), run->build.commit) == 0)
            return true;
    }
    return false;
}

static void add_commits(cJSON *list, const char *side, const struct records *runs)
{
    for (size_t i = 0; i < runs->nr_runs; i++) {
        const struct run *run = &runs->runs[i];
        if (!run->build.commit[0] || has_commit(list, side, run))
            continue;
        cJSON *entry = cJSON_CreateObject();
        json_add_string(entry, "side", side);
        json_add_string(entry, "machine", run->machine.class_name);
        json_add_string(entry, "commit", run->build.commit);
        cJSON_AddItemToArray(list, entry);
    }
}

/* With all commits, where a side has no single one: their runs are named by this record, too. */
static char *recorded_settings(const struct verdict_sides *sides, const struct comparison *c)
{
    char *text = settings_text(&c->settings);
    bool base = verdict_side_commit(sides->base_records, "")[0],
         head = verdict_side_commit(sides->head_records, "")[0];
    cJSON *json = base && head ? NULL : cJSON_Parse(text), *list = cJSON_CreateArray();

    if (!base)
        add_commits(list, "base", sides->base_records);
    if (!head)
        add_commits(list, "head", sides->head_records);
    if (json && list->child) {
        cJSON_AddItemToObject(json, "commits", list);
        free(text);
        return json_take_text(json);
    }
    cJSON_Delete(list);
    cJSON_Delete(json);
    return text;
}

static int verdict_add(struct store *store, const struct verdict_sides *sides,
                       const struct comparison *c, struct error *err)
{
    struct store_comparison record = {
        .decided_ms = clock_epoch_ms(),
        .rule = COMPARE_RULE,
        .base = memory_string(sides->base),
        .head = memory_string(sides->head),
        .base_commit = memory_string(verdict_side_commit(sides->base_records, "")),
        .head_commit = memory_string(verdict_side_commit(sides->head_records, "")),
        .settings = recorded_settings(sides, c),
        .exit_status = c->exit_status,
        .head_ms = sides->head_records->nr_runs ? history_first_start(sides->head_records, "") : 0,
    };
    struct build build;

    environment_build(&build);
    snprintf(record.version, sizeof(record.version), "%s", build.version);
    for (size_t i = 0; i < c->nr; i++)
        add_verdict_row(&record, &c->rows[i]);
    int rc = store_comparison_add(store, &record, err);
    store_comparison_release(&record);
    return rc;
}

void verdict_keep(struct store *store, const struct verdict_sides *sides,
                  const struct comparison *c, const struct session_sink *sink)
{
    struct error why;

    if (c->nr > 0 && verdict_add(store, sides, c, &why))
        sink_note(sink, "harness: these verdicts are not recorded: %s\n", why.message);
}
