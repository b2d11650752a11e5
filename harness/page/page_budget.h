/* SPDX-License-Identifier: MIT */
/*
 * The page as one file that needs nothing else: core, all figures and the table first, then raw
 * samples as long as there is room. What has none is said in the page's notes.
 */
#ifndef HARNESS_PAGE_PAGE_BUDGET_H
#define HARNESS_PAGE_PAGE_BUDGET_H

#include "base/options.h"
#include "page/page.h"

/* What a GitHub artifact, a mail or a wiki takes without complaint. */
enum { PAGE_BUDGET = 1900000 };

enum page_samples_choice {
    PAGE_SAMPLES_FIT,  /* first of the runs looked at, head, base and others asked for: all, or
                        * thinned alike where there is no room. Then of the other runs: all, or where
                        * there is no room at most PAGE_OLDER_MOST a launch, from new to old */
    PAGE_SAMPLES_NONE, /* of no run */
    PAGE_SAMPLES_HEAD, /* of the runs looked at */
    PAGE_SAMPLES_ALL,  /* of all runs, whatever the size */
};

enum { PAGE_OLDER_MOST = 200, PAGE_OLDER_LEAST = 50 };

struct page_file_options {
    enum page_samples_choice samples;
    size_t budget;    /* bytes; 0: PAGE_BUDGET */
    const char *html; /* the template; NULL: page_template() */
};

/* "fit", "none", "head", "all"; -1 and an error that lists them. */
int page_samples_find(const char *word, struct error *err);

/* Makes `out` the document, and appends to `notes` what was left out (a sentence each). The page
 * shows these notes and those that were there before, instead of the ones in its options. */
int page_file_make(struct page *page, const struct presets *presets,
                   const struct page_file_options *options, struct strbuf *out,
                   struct string_list *notes, struct error *err);

#endif
