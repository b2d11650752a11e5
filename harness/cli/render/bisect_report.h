/* SPDX-License-Identifier: MIT */
/* What `harness bisect` says: a line a step while it works, the culprit at the end, or JSON. */
#ifndef HARNESS_CLI_RENDER_BISECT_REPORT_H
#define HARNESS_CLI_RENDER_BISECT_REPORT_H

#include "session/bisect_job.h"

/* The two ends, how many commits lie between, and the titles of the columns. */
void bisect_report_head(const struct bisect_job *job, struct strbuf *out);
/* The line of the last trial. */
void bisect_report_step(const struct bisect_job *job, struct strbuf *out);
/* What was found. -1 where git does not answer. */
int bisect_report_end(const struct bisect_job *job, enum bisect_state state, struct strbuf *out,
                      struct error *err);

/* 0: one commit is named; 77: several, or none. */
int bisect_exit_status(const struct bisect_job *job, enum bisect_state state);

struct cJSON;
/* {"schema_version":1, "good":COMMIT, "bad":COMMIT, "metric", "commits", "commits_by_merges",
 *  "tracked":[{"key","verdict","change","interval","floor"}],
 *  "steps":[{"commit":COMMIT, "against":COMMIT, "answer", "complaint", "blocks", "seconds", "left",
 *            "benchmarks":[{"key","verdict","change","interval"}]}],
 *  "result", "confidence", "candidates":[COMMIT], "culprit":{COMMIT, "author","date_ms","message",
 *  "parents","change","interval","key"} or null, "exit_status"}; COMMIT is {"commit","title"}.
 * "answer" is worse, not_worse, cannot_tell or left_out; "result" is found, range, nothing or
 * cannot_tell. NULL where git does not answer. The caller frees the tree. */
struct cJSON *bisect_to_json(const struct bisect_job *job, enum bisect_state state,
                             struct error *err);

#endif
