/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/command.h"
#include "cli/history_actions.h"
#include "cli/terminal.h"
#include "store/merge.h"

#include <stdio.h>

/* What was added beside runs. */
struct added {
    int64_t nr;
    const char *one, *many, *key;
};

enum { KINDS = 6 };

static void list_added(const struct store_merged *m, struct added added[KINDS])
{
    const struct added all[KINDS] = {
        { m->baselines, "baseline", "baselines", "baselines" },
        { m->comparisons, "comparison", "comparisons", "comparisons" },
        { m->ceilings, "roof", "roofs", "ceilings" },
        { m->acceptances, "acceptance", "acceptances", "acceptances" },
        { m->selftests, "self-test", "self-tests", "selftests" },
        { m->annotations, "annotation", "annotations", "annotations" },
    };

    for (int i = 0; i < KINDS; i++)
        added[i] = all[i];
}

static void print_text(const struct store *store, const struct store_merged *m)
{
    struct added added[KINDS];
    const char *separator = "also ";

    list_added(m, added);
    terminal_print("%lld file%s into %s: %lld new run%s (%lld measurements), %lld there already",
                   (long long)m->files, m->files == 1 ? "" : "s", store_path(store),
                   (long long)m->runs_new, m->runs_new == 1 ? "" : "s", (long long)m->measurements,
                   (long long)m->runs_known);
    if (m->runs_grown)
        terminal_print(", %lld brought up to date", (long long)m->runs_grown);
    terminal_print("\n");
    for (int i = 0; i < KINDS; i++) {
        if (!added[i].nr)
            continue;
        terminal_print("%s%lld new %s", separator, (long long)added[i].nr,
                       added[i].nr == 1 ? added[i].one : added[i].many);
        separator = ", ";
    }
    if (separator[0] == ',')
        terminal_print("\n");
}

static int print_json(const struct store_merged *m, struct error *err)
{
    cJSON *json = cJSON_CreateObject(), *conflicts;
    struct added added[KINDS];

    list_added(m, added);
    json_add_int(json, "schema_version", 1);
    json_add_int(json, "files", m->files);
    json_add_int(json, "runs_new", m->runs_new);
    json_add_int(json, "runs_known", m->runs_known);
    json_add_int(json, "runs_grown", m->runs_grown);
    json_add_int(json, "measurements", m->measurements);
    for (int i = 0; i < KINDS; i++)
        json_add_int(json, added[i].key, added[i].nr);
    conflicts = cJSON_AddArrayToObject(json, "conflicts");
    for (size_t i = 0; i < m->conflicts.nr; i++)
        cJSON_AddItemToArray(conflicts, cJSON_CreateString(m->conflicts.items[i]));
    return output_json(json, NULL, err);
}

static void tell_conflicts(const struct store_merged *m)
{
    for (size_t i = 0; i < m->conflicts.nr; i++)
        terminal_note("conflict: %s\n", m->conflicts.items[i]);
    if (m->conflicts.nr)
        terminal_note("harness: %zu conflict%s: what was here stays, the rest was merged\n",
                      m->conflicts.nr, m->conflicts.nr == 1 ? "" : "s");
}

/* All files are looked at before the first is merged. */
int history_merge(struct store *store, const struct history_options *o, int argc, char **argv,
                  struct error *err)
{
    struct store_merged merged = { 0 };
    int rc = 0;

    if (argc < 2)
        return error_set(err, "harness history merge FILE...");
    for (int i = 1; rc == 0 && i < argc; i++)
        rc = store_merge_check(store, argv[i], err);
    if (rc)
        return error_prefix(err, "nothing was merged");
    for (int i = 1; rc == 0 && i < argc; i++)
        rc = store_merge(store, argv[i], &merged, err);
    if (rc == 0 && o->json)
        rc = print_json(&merged, err);
    else if (rc == 0)
        print_text(store, &merged);
    else
        error_prefix(err, "%lld of %d files were merged (merging them again is fine)",
                     (long long)merged.files, argc - 1);
    tell_conflicts(&merged);
    if (rc == 0 && merged.conflicts.nr)
        rc = EXIT_REGRESSION;
    store_merged_release(&merged);
    return rc;
}
