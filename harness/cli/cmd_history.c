/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "analysis/epoch.h"
#include "base/json.h"
#include "cli/history_file.h"
#include "cli/verdict_list.h"
#include "output/system_table.h"

#include <stdio.h>
#include <string.h>

struct history_options {
    const char *db;
    bool json;
    int64_t limit;
};

static void print_run(const struct store_listed *l)
{
    const struct run *r = &l->run;
    char when[TEXT_UNIT_SIZE];

    printf("%5lld  %.8s  %s  %-8s %-10.10s%s %3lld launch%s %5lld OK", (long long)r->id, r->uuid,
           text_timestamp(r->started_ms, when), r->suite[0] ? r->suite : "-",
           r->build.commit[0] ? r->build.commit : "-", r->build.dirty ? "+" : " ",
           (long long)l->launches, l->launches == 1 ? "  " : "es",
           (long long)l->outcomes[OUTCOME_OK]);
    for (int i = OUTCOME_UNSUPPORTED; i < OUTCOME_NR; i++)
        if (l->outcomes[i])
            printf(", %lld %s", (long long)l->outcomes[i], outcome_name((enum outcome)i));
    printf("%s%s%s\n", r->ended_ms ? "" : ", unfinished", r->label[0] ? "  " : "", r->label);
}

static cJSON *listed_to_json(const struct store_listed *l)
{
    cJSON *json = run_to_json(&l->run);

    json_add_int(json, "id", l->run.id);
    json_add_int(json, "launches", l->launches);
    for (int i = 0; i < OUTCOME_NR; i++)
        json_add_int(json, outcome_name((enum outcome)i), l->outcomes[i]);
    return json;
}

static int list(struct store *store, const struct history_options *o, int argc, char **argv,
                struct error *err)
{
    struct store_listing listing = { 0 };
    cJSON *array = cJSON_CreateArray();
    int rc = store_list_runs(store, NULL, o->limit ? (size_t)o->limit : 20, &listing, err);

    (void)argc;
    (void)argv;
    for (size_t i = 0; rc == 0 && i < listing.nr; i++) {
        if (o->json)
            cJSON_AddItemToArray(array, listed_to_json(&listing.items[i]));
        else
            print_run(&listing.items[i]);
    }
    if (rc == 0 && o->json) {
        char *text = cJSON_Print(array);
        puts(text);
        cJSON_free(text);
    } else if (rc == 0 && listing.nr == 0) {
        printf("%s has no runs yet\n", store_path(store));
    }
    cJSON_Delete(array);
    store_listing_release(&listing);
    return rc;
}

/* Everything about some runs, raw samples too: what a program or a baseline file reads. */
static int show(struct store *store, const struct history_options *o, int argc, char **argv,
                struct error *err)
{
    struct history_side side;
    int rc = history_load_side(store, argc > 1 ? argv[1] : "latest", NULL, NULL, &side, err);

    (void)o;
    if (rc == 0) {
        cJSON *json = records_to_json(&side.records);
        char *text = cJSON_Print(json);
        puts(text);
        cJSON_free(text);
        cJSON_Delete(json);
    }
    history_side_release(&side);
    return rc;
}

/* What the runs of a REF were measured on; neighbours that share it all are one table. */
static int surroundings(struct store *store, const struct history_options *o, int argc, char **argv,
                        struct error *err)
{
    struct store_filter nothing = { .without_samples = true };
    struct history_side side;
    struct strbuf text;
    int rc = history_load_side(store, argc > 1 ? argv[1] : "latest", NULL, &nothing, &side, err);

    (void)o;
    strbuf_init(&text);
    for (size_t i = 0; rc == 0 && i < side.records.nr_runs; i++) {
        const struct run *run = &side.records.runs[i];
        if (i == 0 || epoch_id(run) != epoch_id(run - 1))
            system_table(run, false, &text);
    }
    fputs(text.data, stdout);
    strbuf_release(&text);
    history_side_release(&side);
    return rc;
}

static int verdicts(struct store *store, const struct history_options *o, int argc, char **argv,
                    struct error *err)
{
    return argc > 1 ? verdict_show(store, argv[1], o->json, err)
                    : verdict_list(store, o->limit ? (size_t)o->limit : 20, o->json, err);
}

static int verify(struct store *store, const struct history_options *o, int argc, char **argv,
                  struct error *err)
{
    struct store_health health;

    (void)o;
    (void)argc;
    (void)argv;
    if (store_verify(store, &health, err))
        return -1;
    printf("%s is sound: %lld runs, %lld launches, %lld measurements, %lld samples\n",
           store_path(store), (long long)health.runs, (long long)health.launches,
           (long long)health.measurements, (long long)health.samples);
    return 0;
}

static int backup(struct store *store, const struct history_options *o, int argc, char **argv,
                  struct error *err)
{
    (void)o;
    if (argc < 2)
        return error_set(err, "harness history backup FILE");
    if (store_backup(store, argv[1], err))
        return -1;
    printf("wrote %s\n", argv[1]);
    return 0;
}

static const struct {
    const char *name;
    int words; /* at most, with the action's own name */
    int (*run)(struct store *, const struct history_options *, int, char **, struct error *);
} actions[] = {
    { "list", 1, list },     { "show", 2, show },     { "system", 2, surroundings },
    { "verify", 1, verify }, { "backup", 2, backup }, { "verdicts", 2, verdicts },
};

static int run(int argc, char **argv, void *options, struct error *err)
{
    const char *action = argc > 0 ? argv[0] : "list";
    const struct history_options *o = options;
    struct store *store;

    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(actions[i].name, action) != 0)
            continue;
        if (command_no_more(argc, argv, actions[i].words, err) ||
            history_open(&store, o->db, STORE_READ, err))
            return -1;
        int rc = actions[i].run(store, o, argc, argv, err);
        store_close(store);
        return rc;
    }
    return error_set(
        err, "unknown action \"%s\"; there are list, show, system, verdicts, verify, backup",
        action);
}

static const struct option_row rows[] = {
    OPTION_ROW("db", 0, OPTION_STRING, struct history_options, db, "FILE",
               "the history (default .harness/history.db of the project)"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct history_options, json, NULL,
               "list, verdicts: print JSON"),
    OPTION_RANGE_ROW("limit", 'n', OPTION_INT, struct history_options, limit, 1, INT32_MAX, "N",
                     "list, verdicts: the newest N (default 20)"),
    OPTION_END,
};

extern const struct command cmd_history;
const struct command cmd_history = {
    .name = "history",
    .arguments = "list|show [REF]|system [REF]|verdicts [ID]|verify|backup FILE",
    .summary = "the runs and verdicts that are kept: list them, print one, check the file, copy it",
    .options = rows,
    .options_size = sizeof(struct history_options),
    .run = run,
};
