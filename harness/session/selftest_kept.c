/* SPDX-License-Identifier: MIT */
#include "session/selftest_kept.h"

#include "base/json.h"
#include "base/memory.h"
#include "session/measure/selftest_trials.h"
#include "store/verdicts.h"
#include "verdict/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ASKED = 256 };

bool gate_warning(struct store *store, const char *machine, const char *device, bool interleaved,
                  double delta, char text[SELFTEST_TEXT_SIZE])
{
    static const char *const kinds[2][2] = { { "power", "aa" }, { "power-ab", "aa-ab" } };
    struct error ignored;

    for (int i = 0; i < 2; i++) {
        struct store_selftest test;
        int rc =
            store_selftest_latest(store, machine, device, kinds[interleaved][i], &test, &ignored);
        enum selftest_answer answer = SELFTEST_UNKNOWN;
        if (rc == 0 && test.rule == COMPARE_RULE)
            answer = selftest_kept_gate(test.result, delta, text);
        store_selftest_release(&test);
        if (answer != SELFTEST_UNKNOWN)
            return answer == SELFTEST_CANNOT;
    }
    return false;
}

/* Fills what the kept result says; false if it says nothing. */
static bool read_selftest_result(const struct store_selftest *test,
                                 struct detectable_change *detectable)
{
    struct error ignored;
    struct selftest t;
    cJSON *json = json_parse(test->result, strlen(test->result), "self-test", &ignored);
    bool ok = json && selftest_from_json(json, &t, &ignored) == 0;

    cJSON_Delete(json);
    if (!ok)
        return false;
    double counted = selftest_smallest(&t, NULL);
    detectable->planted = !isnan(counted);
    detectable->smallest = detectable->planted                  ? counted
                           : t.visible >= SELFTEST_VISIBLE_MOST ? INFINITY
                                                                : t.visible;
    detectable->launches = t.launches;
    detectable->tested_ms = test->tested_ms;
    return !isnan(detectable->smallest);
}

static void look_up_detectable(struct store *store, struct detectable_change *detectable)
{
    static const char *const kinds[] = { "power", "aa" };
    struct error ignored;
    bool found = false;

    for (int i = 0; i < 2 && !found; i++) {
        struct store_selftest test;
        int rc = store_selftest_latest(store, detectable->machine, detectable->device, kinds[i],
                                       &test, &ignored);
        found = rc == 0 && test.rule == COMPARE_RULE && read_selftest_result(&test, detectable);
        store_selftest_release(&test);
    }
    if (!found)
        detectable->tested_ms = 0;
}

static bool has_device(const struct detectable_changes *list, const char *machine,
                       const char *device)
{
    for (size_t i = 0; i < list->nr; i++)
        if (strcmp(list->items[i].machine, machine) == 0 &&
            strcmp(list->items[i].device, device) == 0)
            return true;
    return false;
}

int detectable_changes(struct store *store, const struct store_baseline *baseline,
                       struct detectable_changes *out, struct error *err)
{
    struct store_filter facts = { .without_samples = true, .without_telemetry = true };
    struct records records = { 0 };
    int rc = store_load(store, baseline->run_ids, baseline->nr_runs, &facts, &records, err);

    for (size_t i = 0; rc == 0 && i < records.nr; i++) {
        const char *machine = records.runs[records.items[i].run].machine.class_name;
        const char *device = records.items[i].m.bench.device;
        if (has_device(out, machine, device))
            continue;
        struct detectable_change *detectable = array_push(out);
        *detectable = (struct detectable_change) { .smallest = NAN };
        snprintf(detectable->machine, sizeof(detectable->machine), "%s", machine);
        snprintf(detectable->device, sizeof(detectable->device), "%s", device);
        look_up_detectable(store, detectable);
    }
    records_release(&records);
    return rc;
}

/* ---- placement ---- */

/* Asked for before? */
static bool was_placement_asked(struct placements *p, const char *machine, const char *device)
{
    char name[NAME_ASKED];

    snprintf(name, sizeof(name), "%s %s", machine, device);
    for (size_t i = 0; i < p->asked.nr; i++)
        if (strcmp(p->asked.items[i], name) == 0)
            return true;
    string_list_add(&p->asked, name);
    return false;
}

static void add_placement(struct placements *p, const char *machine,
                          const struct placement_part *part)
{
    double change = placement_change(part);

    *(struct compare_placement *)array_push(p) = (struct compare_placement) {
        .key = memory_string(part->key),
        .machine = memory_string(machine),
        .part = change > 0 ? part->part : 0,
        .change = change,
    };
}

void placements_heed(struct placements *p, struct store *store, const char *machine,
                     const char *device, struct compare_settings *settings)
{
    struct placement_part *parts = NULL;
    struct store_selftest test;
    struct error ignored;
    size_t nr = 0;

    if (was_placement_asked(p, machine, device))
        return;
    int rc = store_selftest_latest(store, machine, device, PLACEMENTS_KIND, &test, &ignored);
    if (rc == 0 && placement_from_text(test.result, &parts, &nr, &ignored) == 0)
        for (size_t i = 0; i < nr; i++)
            add_placement(p, machine, &parts[i]);
    free(parts);
    store_selftest_release(&test);
    settings->placements = p->items;
    settings->nr_placements = p->nr;
}

void placements_release(struct placements *p)
{
    for (size_t i = 0; i < p->nr; i++) {
        free((char *)p->items[i].key);
        free((char *)p->items[i].machine);
    }
    array_release(p);
    string_list_release(&p->asked);
}
