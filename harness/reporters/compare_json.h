/* SPDX-License-Identifier: MIT */
/* A comparison as JSON, for programs. */
#ifndef HARNESS_REPORTERS_COMPARE_JSON_H
#define HARNESS_REPORTERS_COMPARE_JSON_H

#include "verdict/compare.h"

struct cJSON;

/* {"schema_version":1, "base", "head", "metric" (the first), "metrics":[], "delta", "fdr", "rule",
 *  "family", "chance", "exit_status", "accepted", "common_shift", "probe_shift", "occasion",
 *  "serial", "counts":{"regressed":0,...}, "notes":[],
 *  "rows":[{"key","machine","verdict","metric","delta","why","accepted","change","worse",
 *           "interval":{"low","high"},"p","q","rank_p","df",
 *           "noise":{"within","launch","occasion"},"design","looks","blocks","probe","detectable",
 *           "base":{"value","launches","failures","outcome","spread"},"head":{...}}]}
 * The names are those of struct comparison and struct compare_row (verdict/compare.h).
 * Numbers that do not exist are null. The caller frees the tree (cJSON_Delete). */
struct cJSON *compare_to_json(const struct comparison *c, const char *base, const char *head);
/* A member of "rows"; recorded verdicts keep it. */
struct cJSON *compare_row_to_json(const struct compare_row *row);

#endif
