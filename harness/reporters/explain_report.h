/* SPDX-License-Identifier: MIT */
/* Causes of what got slower (explain/explain.h): for a terminal, as Markdown, as JSON. Every text
 * from elsewhere is escaped. */
#ifndef HARNESS_REPORTERS_EXPLAIN_REPORT_H
#define HARNESS_REPORTERS_EXPLAIN_REPORT_H

#include "base/strbuf.h"
#include "explain/explain.h"

struct cJSON;

/* "attention: +60 %, 83 % of the change (70 to 95 %)", "flags: up to all of the change". */
void explain_cause_words(const struct cause *cause, struct strbuf *out);

/* Nothing where nothing got slower. */
void explain_text(const struct explanations *e, struct strbuf *out);
/* A list a benchmark, at most `most` of them. */
void explain_markdown(const struct explanations *e, size_t most, struct strbuf *out);
/* [{"key", "what" (where it has a name beside), "machine" (of several), "change", "launches",
 * "seconds", "notes":[], "causes":[{"kind", "name", "words", "change", "share",
 * "interval":{"low","high"}, "by_elimination", "doubted", "evidence"}]}]; the names are those of
 * the structs. The caller frees it. */
struct cJSON *explain_json(const struct explanations *e);

#endif
