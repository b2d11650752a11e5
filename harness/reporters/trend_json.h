/* SPDX-License-Identifier: MIT */
/* What the history says, as JSON, for programs. */
#ifndef HARNESS_REPORTERS_TREND_JSON_H
#define HARNESS_REPORTERS_TREND_JSON_H

#include "trend/trend.h"

struct cJSON;

/* {"schema_version":1, "metric", "fdr", "delta", "family", "chance", "exit_status",
 *  "counts":{"series","short","quiet","moved","steps","standing","withdrawn","watch",
 *            "drifts","small"},
 *  "steps":[{"key","machine","points","time_ms","index","interval":[low,high],
 *            "good":{"run","time_ms","commit","dirty"},"bad":{...},"before","after","change",
 *            "change_interval":{"low","high"},"worse","told":{...},"p","q","state":"still there",
 *            "back":{...},"surroundings":"compiler: ...","accepted":"reason"}],     newest first
 *  "withdrawn":[{"key","machine","points","time_ms","index","good","bad","before","after","change",
 *                "worse","told":{...},"gone":{...},"state":"withdrawn at ..."}],
 *  "watch":[{"key","machine","points","time_ms","index","good","bad","before","after","change",
 *            "worse","p"}],
 *  "drifts":[{"key","machine","points","change","change_interval","worse","p","q"}],
 *  "quiet":[{"key","machine","points","noise","correlation","could_see","p","q"}]}  with `all`
 * "good" is the last run surely before the step, "bad" the first surely after it; "back" is the run
 * in which it had gone, "told" the one whose
 * night told it first, "gone" the one whose night withdrew it. What does not apply is absent,
 * numbers that do not exist are null. The caller frees the tree (cJSON_Delete). */
struct cJSON *trends_to_json(const struct trends *t, bool all);

#endif
