/* SPDX-License-Identifier: MIT */
/* The forms in which `harness compare` gives its result. */
#ifndef HARNESS_CLI_RENDER_COMPARE_PRINT_H
#define HARNESS_CLI_RENDER_COMPARE_PRINT_H

#include "cli/render/compare_comment.h"

struct finding_place;

enum compare_format {
    COMPARE_TEXT,
    COMPARE_MARKDOWN,
    COMPARE_GITHUB,
    COMPARE_JSON,
    COMPARE_JUNIT,
    COMPARE_CODEQUALITY, /* GitLab's */
    COMPARE_SARIF,
    COMPARE_CTEST, /* text, and the head's percentiles as CTest takes them from an output */
};

struct compare_print {
    enum compare_format format;
    const char *output; /* a file; NULL: standard output */
    bool all;           /* text and markdown: also the rows that are the same */
    struct compare_comment comment;
    const struct finding_place *places; /* of the comparison's rows (places_find()), where several
                                         * forms are written; NULL: found where a form has them */
};

/* By name, NULL is text. -1 if there is none of that name, or if options are given that go with
 * another one. */
int compare_choose_format(const char *name, const struct compare_comment_options *options,
                          enum compare_format *format, struct error *err);
int compare_print(const struct compare_print *p, struct error *err);
/* There is nothing to compare, which ends with `status`: said in every form that is not the
 * terminal, which has heard it; CTest gets the head's percentiles, programs no rows. */
int compare_print_nothing(const struct compare_print *p, const char *reason,
                          enum exit_status status, struct error *err);

#endif
