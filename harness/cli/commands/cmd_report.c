/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "base/strbuf.h"
#include "cli/render/report.h"
#include "cli/shared_options.h"
#include "view/history_side.h"

struct report_command {
    struct viewing_options viewing;
    struct report_options report;
    const char *from;
};

/* A file for sure, whatever runs are called. */
static int report_from(const struct report_command *o, struct error *err)
{
    struct strbuf path;

    strbuf_init(&path);
    strbuf_addf(&path, "%s%s", history_is_path(o->from) ? "" : "./", o->from);
    char *argv[] = { path.data };
    int rc = report_run(&o->viewing, &o->report, 1, argv, err);
    strbuf_release(&path);
    return rc;
}

static int run_report_command(int argc, char **argv, void *options, struct error *err)
{
    const struct report_command *o = options;

    if (!o->from)
        return report_run(&o->viewing, &o->report, argc, argv, err);
    if (argc > 0)
        return error_set(err, "give --from FILE or runs of the history, not both");
    return report_from(o, err);
}

static const struct option_row rows[] = {
    OPTION_RANGE_ROW("runs", 'n', OPTION_INT, struct report_command, report.runs, 1, 10000, "N",
                     "newest runs of the history in the file (default 100)"),
    OPTION_ROW("samples", 0, OPTION_STRING, struct report_command, report.samples, "WHICH",
               "raw samples in the file: fit (default), none, head, all"),
    OPTION_RANGE_ROW("budget", 0, OPTION_INT, struct report_command, report.budget, 1, INT32_MAX,
                     "BYTES", "size that samples must not go beyond (default 1900000)"),
    OPTION_ROW("from", 0, OPTION_STRING, struct report_command, from, "FILE",
               "a file or folder of records instead of the history"),
    OPTION_ROW("md", 0, OPTION_FLAG, struct report_command, report.markdown, NULL,
               "a Markdown table instead, to standard output unless -o says where"),
    OPTION_ROW("output", 'o', OPTION_STRING, struct report_command, report.output, "FILE",
               "default: visualizations/report.html beside the history"),
    VIEWING_OPTION_ROWS(struct report_command, viewing),
    OPTION_END,
};

extern const struct command cmd_report;
const struct command cmd_report = {
    .name = "report",
    .arguments = "[RUN...]",
    .summary = "write one HTML file with verdicts, figures and samples, to be read offline",
    .details =
        "  harness report\n"
        "  harness report --baseline main -o report.html\n"
        "  harness report 11 12 --filter gemm\n"
        "  harness report --from results.json\n"
        "  harness report --profile profile-nano/    with the section \"Where the time goes\"\n"
        "\n"
        "The file needs no server and no network, and makes no requests. It has all figures that\n"
        "`harness plot` draws, the numbers of every run in it, and as many raw samples as fit;\n"
        "its last section lists what was left out, with the reason. docs/report.md is its guide.",
    .options = rows,
    .options_size = sizeof(struct report_command),
    .run = run_report_command,
};
