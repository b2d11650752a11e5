/* SPDX-License-Identifier: MIT */
/* The page as a file: what `harness report` does, and `harness plot --html`. */
#ifndef HARNESS_CLI_RENDER_REPORT_H
#define HARNESS_CLI_RENDER_REPORT_H

#include "base/options.h"
#include "page/page.h"
#include "session/viewing.h"

#include <stdbool.h>
#include <stdint.h>

/* Members that are NULL, 0 or false mean the usual. */
struct report_options {
    const char *output;   /* visualizations/report.html beside what is looked at; for Markdown
                           * standard output */
    const char *samples;  /* page_samples_find() */
    int64_t runs, budget; /* newest runs of the history in the file; bytes */
    bool markdown;        /* tables instead of the page */
};

/* For the commands of a page; borrows from the options. */
struct page_asked report_asked(const struct viewing_options *o);

/* Writes the file and prints where it is and what it lacks. argv as for viewing_open(). Nothing is
 * left half written. */
int report_run(const struct viewing_options *viewing, const struct report_options *options,
               int argc, char **argv, struct error *err);

#endif
