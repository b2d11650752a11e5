/* SPDX-License-Identifier: MIT */
/* What the files of the search in a history share; trend.h is for everyone else. */
#ifndef HARNESS_TREND_TREND_PARTS_H
#define HARNESS_TREND_TREND_PARTS_H

#include "trend/trend.h"

/* What the nights so far have told: told[i][id] is how many points series i had when the family
 * first selected its step with that id (struct step_look), 0: never. */
struct trend_standing {
    size_t **told;
    size_t nr;
};

/* `all` are the changes of each series of `t`, found at the level t->settings.fdr. */
void trend_standing_init(struct trend_standing *m, const struct trends *t,
                         const struct changes *all);
void trend_standing_release(struct trend_standing *m);

/* A step of a series: points [start, index) are the level before it, [index, end) its own. */
struct trend_span {
    size_t start, index, end;
};

/* Was the step at least so large, as a fraction, in a night from `told` points on? */
bool trend_was_large(const struct series *s, const struct trend_span *span, size_t told,
                     double delta);
/* Step i of `c` after all nights: the point at which a later step had undone it, 0: it stands.
 * `left` gets the share of it that is left at the last level; 1 where no step was told since. */
size_t trend_undone(const struct series *s, const struct changes *c, const size_t *told, size_t i,
                    double *left);

#endif
