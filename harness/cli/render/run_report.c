/* SPDX-License-Identifier: MIT */
#include "cli/render/run_report.h"

#include "cli/command.h"
#include "reporters/export.h"
#include "reporters/run_table.h"
#include "terminal/terminal.h"

#include <string.h>

static const struct {
    const char *name;
    enum run_report_form form;
} forms[] = {
    { "text", RUN_REPORT_TABLE },    { "markdown", RUN_REPORT_MARKDOWN },
    { "json", RUN_REPORT_JSON },     { "summary-json", RUN_REPORT_SUMMARY },
    { "gbench", RUN_REPORT_GBENCH }, { "csv", RUN_REPORT_CSV },
};

int run_report_form_find(const char *name, enum run_report_form *form, struct error *err)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(forms[i].name, name) == 0) {
            *form = forms[i].form;
            return 0;
        }
    }
    return error_set(err,
                     "unknown format \"%s\"; there are text, markdown, json, summary-json, "
                     "gbench, csv",
                     name);
}

static int write_run_text(const struct records *records, enum run_report_form form,
                          const char *output, struct error *err)
{
    const struct run_table_options options = {
        .width = output_width(output),
        .colour = output_colour(output),
    };
    struct strbuf text;

    strbuf_init(&text);
    if (form == RUN_REPORT_CSV)
        export_csv(records, &text);
    else if (form == RUN_REPORT_MARKDOWN)
        markdown_report(records, -1, &text);
    else
        run_table(records, -1, &options, &text);
    int rc = form == RUN_REPORT_TABLE ? output_page(&text, output, err)
                                      : output_text(&text, output, err);
    strbuf_release(&text);
    return rc;
}

static int run_exit_status(const struct records *records)
{
    size_t counts[OUTCOME_NR] = { 0 };

    for (size_t i = 0; i < records->nr; i++)
        counts[records->items[i].m.outcome]++;
    if (counts[OUTCOME_WRONG] + counts[OUTCOME_FAILED] > 0)
        return EXIT_REGRESSION;
    return counts[OUTCOME_OK] > 0 ? EXIT_SAME : EXIT_UNDECIDED;
}

int run_report(const struct records *records, enum run_report_form form, const char *output,
               struct error *err)
{
    int rc;

    if (form == RUN_REPORT_JSON)
        rc = output_json(records_to_json(records), output, err);
    else if (form == RUN_REPORT_SUMMARY)
        rc = output_json(export_json(records, -1), output, err);
    else if (form == RUN_REPORT_GBENCH)
        rc = output_json(export_gbench(records, -1, "harness"), output, err);
    else
        rc = write_run_text(records, form, output, err);
    if (rc)
        return -1;
    return run_exit_status(records);
}
