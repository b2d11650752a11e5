/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/access.h"
#include "base/clean.h"
#include "base/json.h"
#include "cli/commands/history_change.h"
#include "cli/history_open.h"
#include "cli/render/verdict_list.h"
#include "cli/shared_options.h"
#include "core/clock.h"
#include "history/restore.h"
#include "history/verify.h"
#include "metrics/epoch.h"
#include "query/ref.h"
#include "reporters/system_table.h"
#include "store/annotations.h"
#include "terminal/terminal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int load_annotations(struct store *store, int64_t run, struct store_annotations *list,
                            struct error *err)
{
    *list = (struct store_annotations) { 0 };
    return store_annotation_list(store, run, list, err);
}

static void add_annotations(const struct store_annotations *list, struct strbuf *page)
{
    char when[TEXT_UNIT_SIZE];

    for (size_t i = 0; i < list->nr; i++)
        terminal_add(page, "       %.10s: %s\n", text_timestamp(list->items[i].written_ms, when),
                     list->items[i].text);
}

static void add_listed_run(const struct store_listed *l, struct strbuf *page)
{
    const struct run *r = &l->run;
    char when[TEXT_UNIT_SIZE];

    terminal_add(page, "%5lld  %.8s  %s  %-8s %-7.7s%s %3lld launch%s %5lld OK", (long long)r->id,
                 r->uuid, text_timestamp(r->started_ms, when), r->suite[0] ? r->suite : "-",
                 r->build.commit[0] ? r->build.commit : "-", r->build.dirty ? "+" : " ",
                 (long long)l->launches, l->launches == 1 ? "  " : "es",
                 (long long)l->outcomes[OUTCOME_OK]);
    for (int i = OUTCOME_UNSUPPORTED; i < OUTCOME_NR; i++)
        if (l->outcomes[i])
            terminal_add(page, ", %lld %s", (long long)l->outcomes[i],
                         outcome_name((enum outcome)i));
    terminal_add(page, "%s%s%s\n", r->ended_ms ? "" : ", unfinished", r->label[0] ? "  " : "",
                 r->label);
}

static cJSON *annotations_to_json(const struct store_annotations *list)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < list->nr; i++) {
        cJSON *json = cJSON_CreateObject();
        json_add_int(json, "written_ms", list->items[i].written_ms);
        json_add_string(json, "text", list->items[i].text);
        cJSON_AddItemToArray(array, json);
    }
    return array;
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

static int list_runs(struct store *store, const struct history_options *o, int argc, char **argv,
                     struct error *err)
{
    struct store_listing listing = { 0 };
    cJSON *array = cJSON_CreateArray();
    struct strbuf page;
    int rc = store_list_runs(store, NULL, o->limit ? (size_t)o->limit : 20, &listing, err);

    (void)argc;
    (void)argv;
    strbuf_init(&page);
    for (size_t i = 0; rc == 0 && i < listing.nr; i++) {
        struct store_annotations notes;
        rc = load_annotations(store, listing.items[i].run.id, &notes, err);
        if (rc == 0 && o->json) {
            cJSON *json = listed_to_json(&listing.items[i]);
            cJSON_AddItemToObject(json, "annotations", annotations_to_json(&notes));
            cJSON_AddItemToArray(array, json);
        } else if (rc == 0) {
            add_listed_run(&listing.items[i], &page);
            add_annotations(&notes, &page);
        }
        store_annotations_release(&notes);
    }
    if (rc == 0 && listing.nr == 0 && !o->json)
        terminal_add(&page, "%s has no runs yet\n", store_path(store));
    if (output_page(&page, NULL, err)) /* of an error, the runs before it */
        rc = -1;
    strbuf_release(&page);
    if (rc == 0 && o->json)
        rc = output_json(array, NULL, err);
    else
        cJSON_Delete(array);
    store_listing_release(&listing);
    return rc;
}

/* Everything about some runs, raw samples too: what a program or a baseline file reads. */
static int show_runs(struct store *store, const struct history_options *o, int argc, char **argv,
                     struct error *err)
{
    struct history_side side;
    int rc = history_load_side(store, argc > 1 ? argv[1] : "latest", NULL, NULL, &side, err);

    (void)o;
    if (rc == 0)
        rc = output_json(records_to_json(&side.records), NULL, err);
    history_side_release(&side);
    return rc;
}

/* What a run was measured on, in the words of `show`. */
static cJSON *system_to_json(const struct run *run)
{
    cJSON *json = run_to_json(run);

    cJSON_DeleteItemFromObjectCaseSensitive(json, "settings");
    json_add_int(json, "id", run->id);
    return json;
}

/* What the runs of a REF were measured on; neighbours that share it all are one of them. */
static int show_system(struct store *store, const struct history_options *o, int argc, char **argv,
                       struct error *err)
{
    struct store_filter nothing = { .without_samples = true };
    struct history_side side;
    struct strbuf text;
    cJSON *array = cJSON_CreateArray();
    int rc = history_load_side(store, argc > 1 ? argv[1] : "latest", NULL, &nothing, &side, err);

    strbuf_init(&text);
    for (size_t i = 0; rc == 0 && i < side.records.nr_runs; i++) {
        const struct run *run = &side.records.runs[i];
        if (i > 0 && epoch_id(run) == epoch_id(run - 1))
            continue;
        if (o->json)
            cJSON_AddItemToArray(array, system_to_json(run));
        else
            system_table(run, false, &text);
    }
    if (rc == 0)
        rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    if (rc == 0 && o->json)
        rc = output_json(array, NULL, err);
    else
        cJSON_Delete(array);
    history_side_release(&side);
    return rc;
}

static int show_verdicts(struct store *store, const struct history_options *o, int argc,
                         char **argv, struct error *err)
{
    return argc > 1 ? verdict_show(store, argv[1], o->json, err)
                    : verdict_list(store, o->limit ? (size_t)o->limit : 20, o->json, err);
}

static void print_access(const char *path)
{
    struct strbuf found, mend;

    strbuf_init(&found);
    strbuf_init(&mend);
    if (access_of_others(path, &found, &mend))
        terminal_print("%s (%s)\n", found.data, mend.data);
    strbuf_release(&found);
    strbuf_release(&mend);
}

static int verify_history(struct store *store, const struct history_options *o, int argc,
                          char **argv, struct error *err)
{
    struct store_health health;

    (void)o;
    (void)argc;
    (void)argv;
    if (store_verify(store, &health, err))
        return -1;
    terminal_print("%s is sound: %lld runs, %lld launches, %lld measurements, %lld samples\n",
                   store_path(store), (long long)health.runs, (long long)health.launches,
                   (long long)health.measurements, (long long)health.samples);
    if (!health.watched)
        terminal_print(
            "its pages have no checksums, because an older harness made it: a bit that changes may "
            "go unseen. `harness history backup FILE` writes a copy that has them\n");
    print_access(store_path(store));
    return 0;
}

static int backup_history(struct store *store, const struct history_options *o, int argc,
                          char **argv, struct error *err)
{
    (void)o;
    if (argc < 2)
        return error_set(err, "harness history backup FILE");
    if (store_backup(store, argv[1], err))
        return -1;
    terminal_print("wrote %s\n", argv[1]);
    return 0;
}

int history_annotate(struct store *store, const struct history_options *o, int argc, char **argv,
                     struct error *err)
{
    struct ref_runs runs;
    int64_t now = clock_epoch_ms();

    (void)o;
    if (argc < 3)
        return error_set(err, "harness history annotate REF TEXT");
    if (clean_check(argv[2], "TEXT", err))
        return -1;
    int rc = ref_resolve(store, argv[1], NULL, &runs, err);
    for (size_t i = 0; rc == 0 && i < runs.nr; i++) {
        rc = store_annotate(store, runs.ids[i], now, argv[2], err);
        if (rc == 0)
            terminal_print("run %lld: %s\n", (long long)runs.ids[i], argv[2]);
    }
    ref_runs_release(&runs);
    return rc;
}

/* What an action needs the history for. */
enum need {
    NEED_READ,
    NEED_WRITE,  /* one that is there */
    NEED_CREATE, /* or a new one */
    NEED_NOTHING,
};

static const struct action {
    struct command_action is;
    int words; /* at most, with the action's own name */
    enum need need;
    history_action_fn *run;
} actions[] = {
    { { "list", "the newest runs", true }, 1, NEED_READ, list_runs },
    { { "show", "runs with all their measurements, as JSON", true }, 2, NEED_READ, show_runs },
    { { "system", "machine, build and environment of runs, and what changed", true },
      2,
      NEED_READ,
      show_system },
    { { "verdicts", "what comparisons decided", true }, 2, NEED_READ, show_verdicts },
    { { "annotate", "write a note to runs", false }, 3, NEED_WRITE, history_annotate },
    { { "merge", "take in what other histories have", true }, INT_MAX, NEED_CREATE, history_merge },
    { { "prune", "remove old runs, or their samples", false }, 1, NEED_WRITE, history_prune },
    { { "verify", "check the file", false }, 1, NEED_READ, verify_history },
    { { "backup", "a copy, while others write", false }, 2, NEED_READ, backup_history },
    { { "restore", "the content of a backup again, while others read", false },
      2,
      NEED_NOTHING,
      history_restore },
    { { "move", "to another place or disk", false }, 2, NEED_NOTHING, history_move },
    { { "salvage", "what can still be read of a damaged file", false },
      3,
      NEED_NOTHING,
      history_salvage },
};

enum { NR_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const struct command_action *history_action_at(size_t i)
{
    return i < NR_ACTIONS ? &actions[i].is : NULL;
}

/* *store stays NULL where none is needed. A dry run needs no more than to read. */
static int open_for_action(const struct action *action, const struct history_options *o,
                           struct store **store, struct error *err)
{
    *store = NULL;
    if (action->need == NEED_NOTHING)
        return 0;
    if (action->need != NEED_CREATE && history_open(store, o->db, STORE_READ, err))
        return -1;
    if (action->need == NEED_READ || (action->need == NEED_WRITE && o->dry_run))
        return 0;
    store_close(*store);
    return history_open(store, o->db, STORE_WRITE, err);
}

extern const struct command cmd_history;

static int run_history(int argc, char **argv, void *options, struct error *err)
{
    const char *word = argc > 0 ? argv[0] : "list";
    const struct history_options *o = options;
    const struct action *action = actions;
    struct store *store;

    while (action < actions + NR_ACTIONS && strcmp(action->is.name, word) != 0)
        action++;
    if (action == actions + NR_ACTIONS)
        return command_no_action(&cmd_history, word, err);
    if (command_no_more(argc, argv, action->words, err) ||
        command_action_json(&cmd_history, &action->is, o->json, err) ||
        open_for_action(action, o, &store, err))
        return -1;
    int rc = action->run(store, o, argc, argv, err);
    store_close(store);
    return rc;
}

static const struct option_row rows[] = {
    DB_ROW(struct history_options, db),
    OPTION_ROW("json", 0, OPTION_FLAG, struct history_options, json, NULL,
               "list, system, verdicts, merge: print JSON"),
    OPTION_RANGE_ROW("limit", 'n', OPTION_INT, struct history_options, limit, 1, INT32_MAX, "N",
                     "list, verdicts: the newest N (default 20)"),
    OPTION_RANGE_ROW("keep-days", 0, OPTION_INT, struct history_options, keep_days, 1, 36500, "N",
                     "prune: runs of the last N days stay"),
    OPTION_RANGE_ROW("keep-runs", 0, OPTION_INT, struct history_options, keep_runs, 1, INT32_MAX,
                     "N", "prune: the newest N runs stay"),
    OPTION_ROW("samples-older-than", 0, OPTION_DURATION, struct history_options, samples_older_than,
               "TIME", "prune: keep a summary of older runs' samples (90d)"),
    OPTION_ROW("dry-run", 0, OPTION_FLAG, struct history_options, dry_run, NULL,
               "prune: say what would go, change nothing"),
    OPTION_ROW("trust-clock", 0, OPTION_FLAG, struct history_options, trust_clock, NULL,
               "prune: although ages look as if the clock had jumped"),
    OPTION_ROW("vacuum", 0, OPTION_FLAG, struct history_options, vacuum, NULL,
               "prune: give free room back to the file system"),
    OPTION_END,
};

const struct command cmd_history = {
    .name = "history",
    .arguments =
        "list|show [REF]|system [REF]|verdicts [ID]|annotate REF TEXT|"
        "merge FILE...|prune|verify|backup FILE|restore BACKUP|move NEW|"
        "salvage FROM TO",
    .summary =
        "the runs and verdicts that are kept: list, print, annotate, merge, prune, check, "
        "copy, restore, move, salvage",
    .details =
        "  harness history annotate latest 'new BIOS'\n"
        "  harness history merge shards/*.db              other histories into this one\n"
        "  harness history prune --samples-older-than 90d --keep-days 730 --dry-run\n"
        "  harness history backup kept.db                 a copy, while others write\n"
        "  harness history restore kept.db                its content again, while others read\n"
        "  harness history move /data/history.db          also to another disk\n"
        "  harness history salvage damaged.db saved.db    what can still be read\n"
        "\n"
        "merge may be repeated: a run is recognised by its uuid. Where two copies of a run "
        "differ,\n"
        "the one in this history is kept and the exit status is 1. prune never removes a run that\n"
        "a baseline or a recorded verdict refers to. Replace a history that is in use by restore\n"
        "and move it by move: mv and cp leave its log (FILE-wal) behind.",
    .action = history_action_at,
    .options = rows,
    .options_size = sizeof(struct history_options),
    .run = run_history,
};
