/* SPDX-License-Identifier: MIT */
/*
 * What got slower or broke, in the forms by which forges mark lines of a change:
 *
 *   Code Quality, of GitLab   a list of {description, check_name, fingerprint, severity, location}
 *   SARIF 2.1.0, of GitHub and editors (OASIS Standard, 2020)
 *
 * Only what is regressed or broken and not accepted. Both show nothing without a file: a row whose
 * place nobody knows is left out of Code Quality, which cannot hold it, and is no result in SARIF
 * but a notice of its run. The fingerprint is of benchmark and metric, and where several machine
 * classes were compared of the class, so that the same finding in the next change is known for the
 * same.
 */
#ifndef HARNESS_REPORTERS_COMMENT_FINDINGS_H
#define HARNESS_REPORTERS_COMMENT_FINDINGS_H

#include "verdict/compare.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* Where a benchmark is written down. */
struct finding_place {
    char *file; /* from the top of the project, with '/'; owned, NULL: unknown */
    int line;   /* 1-based */
};

/* `places` has one for each row of the comparison. The trees belong to the caller. */
cJSON *findings_codequality(const struct comparison *c, const struct finding_place *places);
cJSON *findings_sarif(const struct comparison *c, const struct finding_place *places,
                      const char *version);

#endif
