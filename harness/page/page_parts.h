/* SPDX-License-Identifier: MIT */
/* What the parts of the page share. */
#ifndef HARNESS_PAGE_PAGE_PARTS_H
#define HARNESS_PAGE_PAGE_PARTS_H

#include "page/page.h"

struct cJSON;

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

#endif
