/* SPDX-License-Identifier: MIT */
/* What the history says, as JSON, for programs. */
#ifndef HARNESS_REPORTERS_TREND_TREND_JSON_H
#define HARNESS_REPORTERS_TREND_TREND_JSON_H

#include "trend/trend.h"

struct cJSON;

/* Its form: docs/formats/commands.md and docs/schema/trend.schema.json. "cards" are the steps and
 * drifts as a person reads them, ranked, with a line to draw; "steps" (newest first) and "drifts"
 * have their facts. "quiet" is there with `all`. What does not apply is absent, numbers that do not
 * exist are null. The caller frees the tree (cJSON_Delete). */
struct cJSON *trends_to_json(const struct trends *t, bool all);

#endif
