/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/history_open.h"
#include "cli/progress.h"
#include "cli/shared_options.h"
#include "reporters/export.h"
#include "reporters/openmetrics.h"
#include "terminal/terminal.h"

#include <stdio.h>

struct export_command {
    const char *db, *format, *output;
};

enum export_form {
    FORM_JSON,
    FORM_SUMMARY,
    FORM_CSV,
    FORM_GBENCH,
    FORM_OPENMETRICS,
    FORM_PROMETHEUS,
};

static const char *const forms[] = {
    [FORM_JSON] = "json",
    [FORM_SUMMARY] = "summary-json",
    [FORM_CSV] = "csv",
    [FORM_GBENCH] = "gbench",
    [FORM_OPENMETRICS] = "openmetrics",
    [FORM_PROMETHEUS] = "prometheus",
    NULL,
};

static int write_export_text(const struct records *records, enum export_form form,
                             const char *output, struct error *err)
{
    struct strbuf text;

    strbuf_init(&text);
    if (form == FORM_CSV)
        export_csv(records, &text);
    else if (form == FORM_PROMETHEUS)
        prometheus_add(records, -1, &text);
    else
        openmetrics_add(records, -1, &text);
    int rc = output_text(&text, output, err);
    strbuf_release(&text);
    return rc;
}

static int write_export(const struct records *records, enum export_form form, const char *output,
                        struct error *err)
{
    switch (form) {
    case FORM_JSON:
        return output_json(records_to_json(records), output, err);
    case FORM_SUMMARY:
        return output_json(export_json(records, -1), output, err);
    case FORM_GBENCH:
        return output_json(export_gbench(records, -1, "harness"), output, err);
    default:
        return write_export_text(records, form, output, err);
    }
}

/* What a REF names may be several runs, and some forms have room for one. */
static void tell_runs_left_out(const struct history_side *side, enum export_form form)
{
    if (form == FORM_JSON || form == FORM_CSV || side->records.nr_runs < 2)
        return;
    terminal_note("note: %s has room for one run: the newest of %s\n", forms[form], side->what);
}

static int run_export(int argc, char **argv, void *options, struct error *err)
{
    const struct export_command *o = options;
    const char *ref = argc > 0 ? argv[0] : "latest";
    struct history_side side = { .nothing = false };
    struct store *store = NULL;
    int form = output_choose_format(o->format, forms, err);

    if (form < 0 || command_no_more(argc, argv, 1, err) ||
        (!history_is_path(ref) && history_open(&store, o->db, STORE_READ, err)))
        return -1;
    int rc = history_load_side(store, ref, NULL, NULL, &side, err);
    if (rc == 0) {
        history_note_left_out(&side.notes, &terminal_notes);
        tell_runs_left_out(&side, (enum export_form)form);
        rc = write_export(&side.records, (enum export_form)form, o->output, err);
    }
    history_side_release(&side);
    store_close(store);
    return rc;
}

static const struct option_row rows[] = {
    FORM_ROW(struct export_command, format, "json,summary-json,csv,gbench,openmetrics,prometheus",
             "json (default: all records with raw samples), summary-json, csv, gbench, "
             "openmetrics (with time stamps), prometheus (classic, to be scraped)"),
    OUTPUT_ROW(struct export_command, output),
    DB_ROW(struct export_command, db),
    OPTION_END,
};

extern const struct command cmd_export;
const struct command cmd_export = {
    .name = "export",
    .arguments = "[REF]",
    .summary = "write runs for other programs: JSON, CSV, Google Benchmark, Prometheus",
    .details =
        "  harness export main --format csv -o main.csv\n"
        "  harness export latest --format prometheus -o harness.prom\n"
        "\n"
        "REF is a baseline, branch, commit, run, label or file (default latest).\n"
        "docs/formats/run.md and docs/schema/records.schema.json say what is in them.",
    .options = rows,
    .options_size = sizeof(struct export_command),
    .run = run_export,
};
