/* SPDX-License-Identifier: MIT */
/* What people said about a history, as trends and their figures read it: changes that are meant to
 * be, and annotations of runs. */
#ifndef HARNESS_VIEW_ANNOTATIONS_H
#define HARNESS_VIEW_ANNOTATIONS_H

#include "store/annotations.h"
#include "store/verdicts.h"
#include "trend/trend.h"

struct annotations {
    struct trend_annotation *annotations; /* oldest first of each run; borrow from `texts` */
    size_t nr_annotations;
    struct store_acceptances acceptances; /* of all machines */
    struct store_annotations texts;
};

/* Release whatever the result. */
int annotations_load(struct store *store, struct annotations *out, struct error *err);
void annotations_release(struct annotations *a);
/* As trends_find() takes them; borrows. */
void annotations_apply(const struct annotations *a, struct trend_settings *settings);

#endif
