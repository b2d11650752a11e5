/* SPDX-License-Identifier: MIT */
/*
 * What boxes of a profile are drawn of: for each operation one value an iteration, all its calls in
 * the iteration together; where there are not two iterations of one name, one value a call. Either
 * of operations that do most of their work themselves, or of those that mainly hold others and so
 * have their time: layers.
 */
#ifndef HARNESS_CHART_PROFILE_PROFILE_SAMPLES_H
#define HARNESS_CHART_PROFILE_PROFILE_SAMPLES_H

#include "chart/base/profile_data.h"

enum profile_sample {
    SAMPLE_TIME,  /* ns; on the device what was started there */
    SAMPLE_FLOPS, /* per second, of the work that scopes say they do */
    SAMPLE_BYTES, /* per second, likewise */
};

enum profile_samples_of {
    SAMPLES_OF_WORK,   /* those of most time first */
    SAMPLES_OF_LAYERS, /* directly in an iteration, in their order; none without iterations */
};

struct sample_row {
    const char *name; /* belongs to the profile */
    double *values;   /* sorted; owned */
    size_t nr;
    enum prof_side side; /* of the name */
    double weight;       /* ns that it is sorted by: of the median iteration, or of all calls */
};

struct sample_rows {
    struct sample_row *items; /* with a value each */
    size_t nr, of;            /* of: without the limit */
};

/* One value an iteration, or one a call? */
bool profile_by_iteration(const struct profile_data *data);
/* Rates are on the device where the operation started work there, else on the host. */
void profile_samples_init(struct sample_rows *rows, const struct profile_data *data,
                          enum prof_side side, enum profile_sample what, enum profile_samples_of of,
                          size_t limit);
void profile_samples_release(struct sample_rows *rows);

#endif
