/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "core/clock.h"
#include "core/names.h"
#include "machine/environment.h"
#include "metrics/metric.h"
#include "query/ref.h"
#include "session/acceptance.h"
#include "session/selftest_kept.h"
#include "terminal/terminal.h"
#include "text/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct baseline_options {
    const char *db, *note, *ref, *file, *reason, *metric, *change, *author;
    bool replace, json, names, here;
};

static int need_baseline_name(int argc, const char *action, struct error *err)
{
    return argc > 1 ? 0 : error_set(err, "harness baseline %s NAME", action);
}

/* A REF finds the file where its class is that of the machine. */
static void note_other_class(const char *class_name)
{
    struct machine machine;
    struct error ignored;

    if (environment_machine(&machine, &ignored) == 0 && strcmp(machine.class_name, class_name) != 0)
        terminal_note(
            "note: its runs are of machine class %s; on this machine (%s) a name does "
            "not find it\n",
            class_name, machine.class_name);
}

/* A file to be reviewed and kept under baselines/: all that a comparison needs. */
static int save_baseline_file(struct store *store, const struct baseline_options *o,
                              const char *ref, const char *name, struct error *err)
{
    bool named = strcmp(o->file, "auto") == 0;
    struct history_side side;
    struct strbuf path;

    if (named && name_check_baseline_file(name, STORE_NAME_SIZE, err))
        return -1;
    int rc = history_load_side(store, ref, NULL, NULL, &side, err);
    strbuf_init(&path);
    history_note_left_out(&side.notes, &terminal_notes);
    if (rc == 0 && side.records.nr_runs == 0)
        rc = error_set(err, "%s has no runs", side.what);
    if (rc == 0) {
        strbuf_adds(&path, output_file(o->file));
        if (named)
            history_baseline_file(side.records.runs[0].machine.class_name, name, &path);
        cJSON *json = records_to_json(&side.records);
        rc = file_make_parent(path.data, err);
        if (rc == 0)
            rc = json_write_file(json, path.data, false, err);
        cJSON_Delete(json);
    }
    if (rc == 0 && !output_is_standard(path.data))
        terminal_print("wrote %s\n", path.data);
    if (rc == 0 && named)
        note_other_class(side.records.runs[0].machine.class_name);
    strbuf_release(&path);
    history_side_release(&side);
    return rc;
}

static int save_baseline(struct store *store, const struct baseline_options *o, int argc,
                         char **argv, struct error *err)
{
    const char *ref = o->ref ? o->ref : "latest";
    struct ref_runs runs = { 0 };

    if (need_baseline_name(argc, "save", err))
        return -1;
    if (o->file && (o->note || o->replace))
        return error_set(err,
                         "--%s goes with a baseline of the history; --file writes a file, in "
                         "place of one that is there",
                         o->note ? "note" : "replace");
    if (o->file)
        return save_baseline_file(store, o, ref, argv[1], err);
    int rc = ref_resolve(store, ref, NULL, &runs, err);
    if (rc == 0)
        rc = store_baseline_save(store, argv[1], runs.ids, runs.nr, clock_epoch_ms(), o->note,
                                 o->replace, err);
    if (rc == 0)
        terminal_print("baseline %s is %s\n", argv[1], runs.what);
    ref_runs_release(&runs);
    return rc;
}

static void print_baseline(const struct store_baseline *b)
{
    char when[TEXT_UNIT_SIZE];

    terminal_print("%s  %s  %zu run%s%s%s\n", b->name, text_timestamp(b->created_ms, when),
                   b->nr_runs, b->nr_runs == 1 ? "" : "s", b->note ? "  " : "",
                   b->note ? b->note : "");
    for (size_t i = 0; i < b->nr_runs; i++)
        terminal_print("  run %lld\n", (long long)b->run_ids[i]);
}

static int print_baseline_table(const struct store_baselines *all, struct error *err)
{
    static const struct table_column columns[] = {
        { "baseline", TABLE_LEFT, TABLE_NAME, 0 },
        { "saved", TABLE_LEFT, TABLE_FIRM, 1 },
        { "runs", TABLE_RIGHT, TABLE_FIRM, 2 },
        { "note", TABLE_LEFT, TABLE_PROSE, 3 },
    };
    char when[TEXT_UNIT_SIZE];
    struct strbuf text;
    struct table t;

    strbuf_init(&text);
    table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < all->nr; i++) {
        const struct store_baseline *b = &all->items[i];
        table_row(&t);
        table_cell(&t, TABLE_PLAIN, "%s", b->name);
        table_cell(&t, TABLE_PLAIN, "%s", text_timestamp(b->created_ms, when));
        table_cell(&t, TABLE_PLAIN, "%zu", b->nr_runs);
        table_cell(&t, TABLE_PLAIN, "%s", b->note ? b->note : "");
    }
    table_text(&t, terminal_width(), terminal_colour(), &text);
    table_release(&t);
    int rc = output_page(&text, NULL, err);
    strbuf_release(&text);
    return rc;
}

static void print_detectable_change(const struct detectable_change *s)
{
    char when[TEXT_UNIT_SIZE];

    if (s->tested_ms == 0)
        terminal_print(
            "  %s, %s: no self-test; `harness selftest --power` tells what can be seen\n",
            s->machine, s->device);
    else if (isinf(s->smallest))
        terminal_print("  %s, %s: %s found 4 times in 5, with %d launches a side (%s)\n",
                       s->machine, s->device,
                       s->planted ? "none of the changes planted was"
                                  : "even a change of 900 % need not be",
                       s->launches, text_timestamp(s->tested_ms, when));
    else
        terminal_print(
            "  %s, %s: a change of %.3g %% %s found 4 times in 5, with %d launches a side "
            "(%s)\n",
            s->machine, s->device, 100 * s->smallest, s->planted ? "is" : "should be", s->launches,
            text_timestamp(s->tested_ms, when));
}

static cJSON *detectable_to_json(const struct detectable_change *s)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "machine", s->machine);
    cJSON_AddStringToObject(json, "device", s->device);
    json_add_number(json, "smallest", s->smallest);
    cJSON_AddBoolToObject(json, "planted", s->planted);
    json_add_int(json, "launches", s->launches);
    json_add_int(json, "tested_ms", s->tested_ms);
    return json;
}

/* What comparisons with it can see: printed, or into `json` if that is not NULL. */
static int show_detectable(struct store *store, const struct store_baseline *b, cJSON *json,
                           struct error *err)
{
    struct detectable_changes changes = { 0 };
    int rc = detectable_changes(store, b, &changes, err);
    cJSON *array = json ? cJSON_AddArrayToObject(json, "sight") : NULL;

    for (size_t i = 0; rc == 0 && i < changes.nr; i++) {
        if (json)
            cJSON_AddItemToArray(array, detectable_to_json(&changes.items[i]));
        else
            print_detectable_change(&changes.items[i]);
    }
    array_release(&changes);
    return rc;
}

static cJSON *baseline_to_json(const struct store_baseline *b)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "name", b->name);
    json_add_int(json, "created_ms", b->created_ms);
    json_add_string(json, "note", b->note);
    cJSON *runs = cJSON_AddArrayToObject(json, "runs");
    for (size_t i = 0; i < b->nr_runs; i++)
        cJSON_AddItemToArray(runs, cJSON_CreateNumber((double)b->run_ids[i]));
    return json;
}

/* `only` NULL: all, as a table. */
static int print_baselines(struct store *store, const char *only, bool json, struct error *err)
{
    struct store_baselines all = { 0 };
    cJSON *array = cJSON_CreateArray();
    size_t shown = 0;
    int rc = store_baseline_list(store, &all, err);

    for (size_t i = 0; rc == 0 && i < all.nr; i++) {
        if (only && strcmp(only, all.items[i].name) != 0)
            continue;
        shown++;
        cJSON *item = json ? baseline_to_json(&all.items[i]) : NULL;
        if (json)
            cJSON_AddItemToArray(array, item);
        else if (only)
            print_baseline(&all.items[i]);
        if (only)
            rc = show_detectable(store, &all.items[i], item, err);
    }
    if (rc == 0 && json)
        rc = output_json(array, NULL, err);
    else
        cJSON_Delete(array);
    if (rc == 0 && only && shown == 0)
        rc = error_set(err, "there is no baseline \"%s\"; see `harness baseline list`", only);
    if (rc == 0 && !only && shown > 0 && !json)
        rc = print_baseline_table(&all, err);
    if (rc == 0 && !only && shown == 0 && !json)
        terminal_print("no baselines; `harness baseline save NAME` names the latest run\n");
    store_baselines_release(&all);
    return rc;
}

static int print_baseline_names(struct store *store, struct error *err)
{
    struct store_baselines all = { 0 };
    int rc = store_baseline_list(store, &all, err);

    for (size_t i = 0; rc == 0 && i < all.nr; i++)
        terminal_name(all.items[i].name);
    store_baselines_release(&all);
    return rc;
}

static int list_baselines(struct store *store, const struct baseline_options *o, int argc,
                          char **argv, struct error *err)
{
    (void)argc;
    (void)argv;
    if (o->names && o->json)
        return error_set(err, "--names and --json: one of the two");
    if (o->names)
        return print_baseline_names(store, err);
    return print_baselines(store, NULL, o->json, err);
}

/* The one that a comparison here takes: by its runs' machine class, and a file as well. */
static int show_baseline_here(struct store *store, const char *name, struct error *err)
{
    struct history_side side;
    int rc = history_load_baseline_here(store, name, &side, err);

    if (rc == 0) {
        terminal_print("%s\n", side.what);
    } else if (side.nothing) {
        terminal_error(err);
        rc = EXIT_UNDECIDED;
    }
    history_side_release(&side);
    return rc;
}

static int show_baseline(struct store *store, const struct baseline_options *o, int argc,
                         char **argv, struct error *err)
{
    if (need_baseline_name(argc, "show", err))
        return -1;
    if (o->here && o->json)
        return error_set(err, "--here and --json: one of the two");
    return o->here ? show_baseline_here(store, argv[1], err)
                   : print_baselines(store, argv[1], o->json, err);
}

static int remove_baseline(struct store *store, const struct baseline_options *o, int argc,
                           char **argv, struct error *err)
{
    (void)o;
    if (need_baseline_name(argc, "remove", err) || store_baseline_remove(store, argv[1], err))
        return -1;
    terminal_print("removed baseline %s; its runs stay\n", argv[1]);
    return 0;
}

/* ---- acceptances ---- */

static void print_accepted(const struct acceptance *a, double was_seen)
{
    char seen[TEXT_UNIT_SIZE], change[TEXT_UNIT_SIZE];
    struct error ignored;

    terminal_print("accepted as %" PRId64 ": %s, %s", a->id, a->key,
                   metric_find(a->metric, &ignored)->label);
    if (isnan(a->change))
        terminal_print(", which is broken");
    else if (isinf(a->change))
        terminal_print(", which was 0");
    else
        terminal_print(" %s (seen: %s)", text_percent(a->change, change),
                       text_percent(was_seen, seen));
    terminal_print("%s%.7s\n", *a->commit ? " since " : "", a->commit);
}

static const struct table_column acceptance_columns[] = {
    { "id", TABLE_RIGHT, TABLE_FIRM, 0 },       { "accepted", TABLE_LEFT, TABLE_FIRM, 7 },
    { "benchmark", TABLE_LEFT, TABLE_NAME, 0 }, { "metric", TABLE_LEFT, TABLE_FIRM, 5 },
    { "change", TABLE_RIGHT, TABLE_FIRM, 1 },   { "since", TABLE_LEFT, TABLE_FIRM, 4 },
    { "by", TABLE_LEFT, TABLE_FIRM, 3 },        { "reason", TABLE_LEFT, TABLE_PROSE, 2 },
    { "machine", TABLE_LEFT, TABLE_NAME, 6 },
};

static void add_acceptance_row(struct table *t, const struct acceptance *a)
{
    char text[TEXT_UNIT_SIZE];

    table_row(t);
    table_cell(t, TABLE_PLAIN, "%" PRId64, a->id);
    table_cell(t, TABLE_PLAIN, "%s", text_timestamp(a->accepted_ms, text));
    table_cell(t, TABLE_PLAIN, "%s", a->key);
    table_cell(t, TABLE_PLAIN, "%s", a->metric);
    table_cell(t, TABLE_PLAIN, "%s",
               isnan(a->change)   ? "broken"
               : isinf(a->change) ? "from 0"
                                  : text_percent(a->change, text));
    table_cell(t, TABLE_PLAIN, "%.7s", a->commit);
    table_cell(t, TABLE_PLAIN, "%s", a->author);
    table_cell(t, TABLE_PLAIN, "%s", a->reason);
    table_cell(t, TABLE_PLAIN, "%s", a->machine);
}

static void acceptances_text(const struct store_acceptances *list, struct strbuf *out)
{
    struct table t;

    table_init(&t, acceptance_columns, sizeof(acceptance_columns) / sizeof(acceptance_columns[0]));
    for (size_t i = 0; i < list->nr; i++)
        add_acceptance_row(&t, &list->items[i]);
    if (list->nr)
        table_text(&t, terminal_width(), terminal_colour(), out);
    else
        strbuf_adds(out, "nothing is accepted; `harness baseline accept KEY --reason TEXT` does\n");
    table_release(&t);
}

static cJSON *acceptances_to_json(const struct store_acceptances *list)
{
    cJSON *array = cJSON_CreateArray();

    for (size_t i = 0; i < list->nr; i++) {
        const struct acceptance *a = &list->items[i];
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
        json_add_int(json, "seen_ms", a->seen_ms);
        cJSON_AddItemToArray(array, json);
    }
    return array;
}

static int print_acceptances(struct store *store, bool json, struct error *err)
{
    struct store_acceptances list = { 0 };
    struct strbuf text;
    int rc = store_acceptance_list(store, NULL, &list, err);

    strbuf_init(&text);
    if (rc == 0 && json) {
        rc = output_json(acceptances_to_json(&list), NULL, err);
    } else if (rc == 0) {
        acceptances_text(&list, &text);
        rc = output_page(&text, NULL, err);
    }
    strbuf_release(&text);
    store_acceptances_release(&list);
    return rc;
}

static int remove_acceptance(struct store *store, const char *id, struct error *err)
{
    int64_t number;

    if (text_parse_int(id, 1, INT64_MAX, "the number of an acceptance", &number, err) ||
        store_acceptance_remove(store, number, err))
        return -1;
    terminal_print("removed acceptance %" PRId64 "; such a change counts again\n", number);
    return 0;
}

static int accept_change(struct store *store, const struct baseline_options *o, int argc,
                         char **argv, struct error *err)
{
    if (argc < 2)
        return error_set(err, "harness baseline accept KEY --reason TEXT");
    struct accept_request request = {
        .key = argv[1],
        .metric = o->metric,
        .reason = o->reason,
        .change = o->change,
        .author = o->author,
    };
    struct accepting batch = { .again = 0 };
    int rc = accept_run(store, &request, &batch, err);
    for (size_t i = 0; rc == 0 && i < batch.items.nr; i++)
        print_accepted(&batch.items.items[i], batch.seen.items[i]);
    if (rc == 0 && batch.again)
        terminal_print("%zu accepted already\n", batch.again);
    size_t taken = batch.verdicts + batch.again;
    if (rc == 0 && taken > 0 && taken < batch.found.nr)
        terminal_print("%zu of the %zu verdicts that fit; the others have nothing to accept\n",
                       taken, batch.found.nr);
    accepting_release(&batch);
    return rc;
}

static int list_accepted(struct store *store, const struct baseline_options *o, int argc,
                         char **argv, struct error *err)
{
    (void)argc;
    (void)argv;
    return print_acceptances(store, o->json, err);
}

static int unaccept_change(struct store *store, const struct baseline_options *o, int argc,
                           char **argv, struct error *err)
{
    (void)o;
    if (argc < 2)
        return error_set(err, "harness baseline unaccept ID; `harness baseline accepted` has them");
    return remove_acceptance(store, argv[1], err);
}

static const struct {
    struct command_action is;
    int words; /* at most, with the action's own name */
    enum store_mode mode;
    int (*run)(struct store *, const struct baseline_options *, int, char **, struct error *);
} actions[] = {
    { { "list", "the names" }, 1, STORE_READ, list_baselines },
    { { "show", "one, and the smallest change that it can see" }, 2, STORE_READ, show_baseline },
    { { "save", "give runs a name" }, 2, STORE_WRITE, save_baseline },
    { { "remove", "a name; its runs stay" }, 2, STORE_WRITE, remove_baseline },
    { { "accept", "a change that is meant to be" }, 2, STORE_WRITE, accept_change },
    { { "accepted", "changes that are meant to be" }, 1, STORE_READ, list_accepted },
    { { "unaccept", "take one of them back" }, 2, STORE_WRITE, unaccept_change },
};

enum { NR_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const struct command_action *baseline_action_at(size_t i)
{
    return i < NR_ACTIONS ? &actions[i].is : NULL;
}

static const struct command_owned owned[] = {
    { "ref", "save" },      { "note", "save" },
    { "replace", "save" },  { "file", "save" },
    { "reason", "accept" }, { "metric", "accept" },
    { "change", "accept" }, { "by", "accept" },
    { "names", "list" },    { "json", "list, show, accepted" },
    { "here", "show" },     { NULL, NULL },
};

extern const struct command cmd_baseline;

/* A file is written from what is there. */
static enum store_mode mode_needed(enum store_mode mode, const struct baseline_options *o)
{
    return o->names ? STORE_LOOK : o->file ? STORE_READ : mode;
}

static int run_baseline(int argc, char **argv, void *options, struct error *err)
{
    const char *action = argc > 0 ? argv[0] : "list";
    const struct baseline_options *o = options;
    struct store *store;

    for (size_t i = 0; i < NR_ACTIONS; i++) {
        if (strcmp(actions[i].is.name, action) != 0)
            continue;
        if (command_no_more(argc, argv, actions[i].words, err) ||
            command_action_options(&cmd_baseline, &actions[i].is, o, err) ||
            history_open_there(&store, o->db, mode_needed(actions[i].mode, o), err))
            return -1;
        int rc = actions[i].run(store, o, argc, argv, err);
        store_close(store);
        return rc;
    }
    return command_no_action(&cmd_baseline, action, err);
}

static const struct option_row rows[] = {
    DB_ROW(struct baseline_options, db),
    OPTION_ROW("ref", 'r', OPTION_STRING, struct baseline_options, ref, "REF",
               "save: which runs (default latest)"),
    OPTION_ROW("note", 0, OPTION_LINE, struct baseline_options, note, "TEXT",
               "save: why, for the reader of the list"),
    OPTION_ROW("replace", 0, OPTION_FLAG, struct baseline_options, replace, NULL,
               "save: an existing name gets the new runs"),
    OPTION_ROW("file", 0, OPTION_STRING, struct baseline_options, file, "FILE",
               "save: to a file; auto is baselines/<machine class>/NAME.json"),
    OPTION_ROW("reason", 0, OPTION_LINE, struct baseline_options, reason, "TEXT",
               "accept: why the change is meant to be"),
    OPTION_ROW("metric", 0, OPTION_STRING, struct baseline_options, metric, "NAME",
               "accept: of this metric alone (default all that were compared; of steps p50)"),
    OPTION_ROW("change", 0, OPTION_STRING, struct baseline_options, change, "SHARE",
               "accept: a change up to this, such as +8% (default what was seen)"),
    OPTION_ROW("by", 0, OPTION_LINE, struct baseline_options, author, "NAME",
               "accept: who says so (default git's user.name, else $USER)"),
    OPTION_ROW("json", 0, OPTION_FLAG, struct baseline_options, json, NULL,
               "list, show, accepted: print JSON"),
    OPTION_ROW("names", 0, OPTION_FLAG, struct baseline_options, names, NULL,
               "list: the names alone, one a line"),
    OPTION_ROW(
        "here", 0, OPTION_FLAG, struct baseline_options, here, NULL,
        "show: the baseline that a comparison on this machine would use, from the history or "
        "a file; exit status 77 if there is none"),
    OPTION_END,
};

const struct command cmd_baseline = {
    .name = "baseline",
    .arguments = "save NAME|list|show NAME|remove NAME|accept KEY|accepted|unaccept ID",
    .summary = "names for runs that later ones are compared with; changes that are meant to be",
    .details =
        "  harness baseline save main                 the latest run\n"
        "  harness baseline save main --replace\n"
        "  harness baseline save main --file auto     as a file for review\n"
        "  harness baseline accept gemm/linear --reason 'exact GELU'\n"
        "\n"
        "accept takes the newest recorded verdict of every benchmark that KEY (a filter) fits, if\n"
        "it is regressed or broken. Where there is none to accept, it takes the steps that\n"
        "`harness trend` tells as regressions; with --change, those that are no larger. Later\n"
        "comparisons mark such a change as accepted, and it does not count for their exit status,\n"
        "as long as their baseline does not have it yet; nor does it for that of trend.",
    .action = baseline_action_at,
    .owned = owned,
    .options = rows,
    .options_size = sizeof(struct baseline_options),
    .run = run_baseline,
};
