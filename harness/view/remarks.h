/* SPDX-License-Identifier: MIT */
/* What people wrote about runs, as trends and their figures read it. */
#ifndef HARNESS_VIEW_REMARKS_H
#define HARNESS_VIEW_REMARKS_H

#include "analysis/trend.h"
#include "store/annotations.h"

struct remarks {
    struct trend_remark *items; /* borrow from `stored` */
    size_t nr, capacity;
    struct store_annotations stored;
};

/* About all runs, oldest first within each. Release whatever the result. */
int remarks_load(struct store *store, struct remarks *out, struct error *err);
void remarks_release(struct remarks *r);

#endif
