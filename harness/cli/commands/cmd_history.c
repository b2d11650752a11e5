/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/access.h"
#include "base/clean.h"
#include "base/json.h"
#include "cli/commands/history_change.h"
#include "cli/history_open.h"
#include "cli/progress.h"
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
#include "text/table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int load_annotations(struct store *store, int64_t run, struct store_annotations *list,
                            struct error *err)
{
    *list = (struct store_annotations) { 0 };
    return store_annotation_list(store, run, list, err);
}

/* "2026-01-02: new BIOS; ..." */
static void add_notes_cell(const struct store_annotations *list, struct table *t)
{
    struct strbuf notes;
    char when[TEXT_UNIT_SIZE];

    strbuf_init(&notes);
    for (size_t i = 0; i < list->nr; i++)
        strbuf_addf(&notes, "%s%.10s: %s", i ? "; " : "",
                    text_timestamp(list->items[i].written_ms, when), list->items[i].text);
    table_cell(t, TABLE_PLAIN, "%s", notes.data);
    strbuf_release(&notes);
}

/* "12 OK, 1 WRONG, unfinished" */
static void add_results_cell(const struct store_listed *l, struct table *t)
{
    struct strbuf results;

    strbuf_init(&results);
    strbuf_addf(&results, "%lld OK", (long long)l->outcomes[OUTCOME_OK]);
    for (int i = OUTCOME_UNSUPPORTED; i < OUTCOME_NR; i++)
        if (l->outcomes[i])
            strbuf_addf(&results, ", %lld %s", (long long)l->outcomes[i],
                        outcome_name((enum outcome)i));
    strbuf_adds(&results, l->run.ended_ms ? "" : ", unfinished");
    table_cell(t, TABLE_PLAIN, "%s", results.data);
    strbuf_release(&results);
}

static const struct table_column run_columns[] = {
    { "run", TABLE_RIGHT, TABLE_NAME, 0 },     { "uuid", TABLE_LEFT, TABLE_FIRM, 7 },
    { "started", TABLE_LEFT, TABLE_FIRM, 2 },  { "suite", TABLE_LEFT, TABLE_FIRM, 6 },
    { "commit", TABLE_LEFT, TABLE_FIRM, 4 },   { "launches", TABLE_RIGHT, TABLE_FIRM, 5 },
    { "results", TABLE_LEFT, TABLE_PROSE, 0 }, { "label", TABLE_LEFT, TABLE_NAME, 1 },
    { "notes", TABLE_LEFT, TABLE_PROSE, 3 },
};

static void add_run_row(const struct store_listed *l, const struct store_annotations *notes,
                        struct table *t)
{
    const struct run *r = &l->run;
    char when[TEXT_UNIT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%lld", (long long)r->id);
    table_cell(t, TABLE_PLAIN, "%.8s", r->uuid);
    table_cell(t, TABLE_PLAIN, "%s", text_timestamp(r->started_ms, when));
    table_cell(t, TABLE_PLAIN, "%s", r->suite);
    table_cell(t, TABLE_PLAIN, "%.7s%s", r->build.commit, r->build.dirty ? "+" : "");
    table_cell(t, TABLE_PLAIN, "%lld", (long long)l->launches);
    add_results_cell(l, t);
    table_cell(t, TABLE_PLAIN, "%s", r->label);
    add_notes_cell(notes, t);
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

/* As JSON into the array, or else as rows of the table. */
static int add_listed_runs(struct store *store, const struct store_listing *listing, cJSON *array,
                           struct table *t, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < listing->nr; i++) {
        struct store_annotations notes;
        rc = load_annotations(store, listing->items[i].run.id, &notes, err);
        if (rc == 0 && array) {
            cJSON *json = listed_to_json(&listing->items[i]);
            cJSON_AddItemToObject(json, "annotations", annotations_to_json(&notes));
            cJSON_AddItemToArray(array, json);
        } else if (rc == 0) {
            add_run_row(&listing->items[i], &notes, t);
        }
        store_annotations_release(&notes);
    }
    return rc;
}

static int print_run_table(const struct store *store, const struct table *t, struct error *err)
{
    struct strbuf page;

    strbuf_init(&page);
    if (table_rows(t))
        table_text(t, terminal_width(), terminal_colour(), &page);
    else
        terminal_add(&page, "%s has no runs yet\n", store_path(store));
    int rc = output_page(&page, NULL, err);
    strbuf_release(&page);
    return rc;
}

static int list_runs(struct store *store, const struct history_options *o, int argc, char **argv,
                     struct error *err)
{
    struct store_listing listing = { 0 };
    struct error ended; /* the list, before its end */
    cJSON *array = o->json ? cJSON_CreateArray() : NULL;
    struct table t;

    (void)argc;
    (void)argv;
    table_init(&t, run_columns, sizeof(run_columns) / sizeof(run_columns[0]));
    int rc = store_list_runs(store, NULL, o->limit ? (size_t)o->limit : 20, &listing, &ended);
    if (rc == 0)
        rc = add_listed_runs(store, &listing, array, &t, &ended);
    if (o->json && rc == 0)
        rc = output_json(array, NULL, &ended);
    else
        cJSON_Delete(array);
    if (!o->json && (rc == 0 || table_rows(&t)) && print_run_table(store, &t, err))
        rc = -1;
    else if (rc)
        *err = ended;
    table_release(&t);
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
    history_note_left_out(&side.notes, &terminal_notes);
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
    history_note_left_out(&side.notes, &terminal_notes);
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
    NEED_WRITE, /* one that is there */
    NEED_NOTHING,
};

static const struct action {
    struct command_action is;
    int words; /* at most, with the action's own name */
    enum need need;
    history_action_fn *run;
} actions[] = {
    { { "list", "the newest runs" }, 1, NEED_READ, list_runs },
    { { "show", "runs with all their measurements, as JSON" }, 2, NEED_READ, show_runs },
    { { "system", "machine, build and environment of runs, and what changed" },
      2,
      NEED_READ,
      show_system },
    { { "verdicts", "what comparisons decided" }, 2, NEED_READ, show_verdicts },
    { { "annotate", "write a note to runs" }, 3, NEED_WRITE, history_annotate },
    { { "merge", "take in what other histories have" }, INT_MAX, NEED_NOTHING, history_merge },
    { { "prune", "remove old runs, or their samples" }, 1, NEED_WRITE, history_prune },
    { { "verify", "check the file" }, 1, NEED_READ, verify_history },
    { { "backup", "a copy, while others write" }, 2, NEED_READ, backup_history },
    { { "restore", "the content of a backup again, while others read" },
      2,
      NEED_NOTHING,
      history_restore },
    { { "move", "to another place or disk" }, 2, NEED_NOTHING, history_move },
    { { "salvage", "what can still be read of a damaged file" }, 3, NEED_NOTHING, history_salvage },
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
    bool reads = action->need == NEED_READ || (action->need == NEED_WRITE && o->dry_run);
    return history_open_there(store, o->db, reads ? STORE_READ : STORE_WRITE, err);
}

static const struct command_owned owned[] = {
    { "db", "list, show, system, verdicts, annotate, merge, prune, verify, backup, restore, move" },
    { "json", "list, show, system, verdicts, merge" },
    { "limit", "list, verdicts" },
    { "keep-days", "prune" },
    { "keep-runs", "prune" },
    { "samples-older-than", "prune" },
    { "dry-run", "prune" },
    { "trust-clock", "prune" },
    { "vacuum", "prune" },
    { NULL, NULL },
};

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
        command_action_options(&cmd_history, &action->is, o, err) ||
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
        "the one in this history is kept. prune never removes a run that a baseline or a recorded\n"
        "verdict refers to. Replace a history that is in use by restore and move it by move: mv\n"
        "and cp leave its log (FILE-wal) behind.\n"
        "\n"
        "Exit status: 0 done, 1 merge kept a run of this history and left another of that uuid, 2\n"
        "usage or failure, or verify found damage.",
    .action = history_action_at,
    .owned = owned,
    .options = rows,
    .options_size = sizeof(struct history_options),
    .run = run_history,
};
