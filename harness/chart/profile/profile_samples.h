/* SPDX-License-Identifier: MIT */
/*
 * What boxes of a profile are drawn of: for each operation one value an iteration, all its calls in
 * the iteration together; where there are not two iterations of one name, one value a call. Only
 * operations that do most of their work themselves: what mainly holds others has their time.
 */
#ifndef HARNESS_CHART_PROFILE_PROFILE_SAMPLES_H
#define HARNESS_CHART_PROFILE_PROFILE_SAMPLES_H

#include "chart/base/profile_data.h"

enum profile_sample {
    SAMPLE_TIME,  /* ns; on the device what was started there */
    SAMPLE_FLOPS, /* per second, of the work that scopes say they do */
    SAMPLE_BYTES, /* per second, likewise */
};

struct sample_row {
    const char *name; /* belongs to the profile */
    double *values;   /* sorted; owned */
    size_t nr;
    double weight; /* ns: time of all its values */
};

struct sample_rows {
    struct sample_row *items; /* those of most time first, with a value each */
    size_t nr, of;            /* of: without the limit */
};

/* One value an iteration, or one a call? */
bool profile_by_iteration(const struct profile_data *data);
/* Rates are on the device where the operation started work there, else on the host. */
void profile_samples_init(struct sample_rows *rows, const struct profile_data *data,
                          enum prof_side side, enum profile_sample what, size_t limit);
void profile_samples_release(struct sample_rows *rows);

#endif
