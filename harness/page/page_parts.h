/* SPDX-License-Identifier: MIT */
/* What the parts of the page share. */
#ifndef HARNESS_PAGE_PAGE_PARTS_H
#define HARNESS_PAGE_PAGE_PARTS_H

#include "page/page.h"

struct cJSON;
struct profile_data;

/* Five significant digits, or null. */
void page_number(struct strbuf *out, double value);
/* The page's heading. */
void page_title(const struct page *page, struct strbuf *out);
/* {"plot", "compare", ...}: command lines and SQL that give the same again. */
struct cJSON *page_commands(const struct page *page);
/* What a reader asks first, answered: docs/formats/page.md has its form. */
struct cJSON *page_overview(const struct page *page);
/* What the profile of a view answers, see docs/formats/page.md; NULL: there is none. */
struct cJSON *page_profile(const struct view *view);
/* Of two profiles the change is the answer: the headline so far becomes the first sentence behind
 * it, and "base" and "changes" are added. */
void page_profile_difference(const struct view *view, struct strbuf *headline, struct cJSON *json,
                             struct cJSON *sentences);
/* Both take what the text has and leave it empty. */
void page_add_words(struct cJSON *array, struct strbuf *text);
void page_add_operation(struct cJSON *array, const char *name, struct strbuf *words);
/* {"columns", "rows", "left_out"}: its operations, times in ns, those of one iteration from
 * "median" to "mean_iteration"; null: not known. */
struct cJSON *page_profile_operations(const struct profile_data *data);

#endif
