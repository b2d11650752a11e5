/* SPDX-License-Identifier: MIT */
/* A comparison as JSON, for programs. */
#ifndef HARNESS_OUTPUT_COMPARE_JSON_H
#define HARNESS_OUTPUT_COMPARE_JSON_H

#include "analysis/compare.h"

struct cJSON;

/* {"schema_version":1, "base", "head", "metric", "delta", "fdr", "family", "exit_status",
 *  "common_shift", "counts":{"regressed":0,...}, "notes":[],
 *  "rows":[{"key","verdict","why","change","worse","interval":{"low","high"},"p","q","probe","detectable",
 *           "base":{"value","launches","failures","outcome","spread"},"head":{...}}]}
 * Numbers that do not exist are null. The caller frees the tree (cJSON_Delete). */
struct cJSON *compare_to_json(const struct comparison *c, const char *base, const char *head);

#endif
