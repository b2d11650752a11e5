/* SPDX-License-Identifier: MIT */
/* Changes that are meant to be, as trends and their figures read them. */
#ifndef HARNESS_VIEW_ACCEPTED_STEPS_H
#define HARNESS_VIEW_ACCEPTED_STEPS_H

#include "analysis/trend.h"
#include "store/verdicts.h"

struct accepted_steps {
    struct trend_acceptance *items; /* borrow from `stored` */
    size_t nr, capacity;
    struct store_acceptances stored;
};

/* Of all machines. Release whatever the result. */
int accepted_steps_load(struct store *store, struct accepted_steps *out, struct error *err);
void accepted_steps_release(struct accepted_steps *a);

#endif
