/* SPDX-License-Identifier: MIT */
#include "cli/baseline_sight.h"

#include "analysis/selftest.h"
#include "base/json.h"
#include "store/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Fills what the kept result says; false if it says nothing. */
static bool read_result(const struct store_selftest *test, struct baseline_sight *sight)
{
    struct error ignored;
    struct selftest t;
    cJSON *json = json_parse(test->result, strlen(test->result), "self-test", &ignored);
    bool ok = json && selftest_from_json(json, &t, &ignored) == 0;

    cJSON_Delete(json);
    if (!ok)
        return false;
    double counted = selftest_smallest(&t, NULL);
    sight->planted = !isnan(counted);
    sight->smallest = sight->planted ? counted : t.visible;
    sight->launches = t.launches;
    sight->tested_ms = test->tested_ms;
    return !isnan(sight->smallest);
}

static void look_up(struct store *store, struct baseline_sight *sight)
{
    static const char *const kinds[] = { "power", "aa" };
    struct error ignored;
    bool found = false;

    for (int i = 0; i < 2 && !found; i++) {
        struct store_selftest test;
        int rc =
            store_selftest_latest(store, sight->machine, sight->device, kinds[i], &test, &ignored);
        found = rc == 0 && test.rule == COMPARE_RULE && read_result(&test, sight);
        store_selftest_release(&test);
    }
    if (!found)
        sight->tested_ms = 0;
}

static bool has(const struct baseline_sights *list, const char *machine, const char *device)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i].machine, machine) == 0 &&
            strcmp(list->items[i].device, device) == 0)
            return true;
    return false;
}

int baseline_sights(struct store *store, const struct store_baseline *baseline,
                    struct baseline_sights *out, struct error *err)
{
    struct store_filter facts = { .without_samples = true, .without_telemetry = true };
    struct records records = { 0 };
    int rc = store_load(store, baseline->run_ids, baseline->nr_runs, &facts, &records, err);

    for (size_t i = 0; rc == 0 && i < records.nr; i++) {
        const char *machine = records.runs[records.items[i].run].machine.class_name;
        const char *device = records.items[i].m.bench.device;
        if (has(out, machine, device))
            continue;
        struct baseline_sight *sight = array_push(out);
        *sight = (struct baseline_sight) { .smallest = NAN };
        snprintf(sight->machine, sizeof(sight->machine), "%s", machine);
        snprintf(sight->device, sizeof(sight->device), "%s", device);
        look_up(store, sight);
    }
    records_release(&records);
    return rc;
}
