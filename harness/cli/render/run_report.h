/* SPDX-License-Identifier: MIT */
/* What `harness run` prints of what it measured. */
#ifndef HARNESS_CLI_RENDER_RUN_REPORT_H
#define HARNESS_CLI_RENDER_RUN_REPORT_H

#include "core/record.h"

enum run_report_form {
    RUN_REPORT_TABLE,
    RUN_REPORT_MARKDOWN, /* mean and spread, the fastest and the best */
    RUN_REPORT_JSON,     /* all records with raw samples: what a REF to a file reads */
    RUN_REPORT_SUMMARY,  /* metadata, timing and throughput of each benchmark, as JSON */
    RUN_REPORT_GBENCH,   /* Google Benchmark's JSON */
    RUN_REPORT_CSV,
};

/* By the name that --format takes. */
int run_report_form_find(const char *name, enum run_report_form *form, struct error *err);

/* To the file, or to standard output if `output` is NULL. Returns an exit status, or -1:
 * EXIT_REGRESSION where a result was WRONG or FAILED, EXIT_UNDECIDED where none was OK. */
int run_report(const struct records *records, enum run_report_form form, const char *output,
               struct error *err);

#endif
