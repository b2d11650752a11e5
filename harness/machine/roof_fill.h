/* SPDX-License-Identifier: MIT */
/* From repeated times to a roof, the same for all devices. */
#ifndef HARNESS_MACHINE_ROOF_FILL_H
#define HARNESS_MACHINE_ROOF_FILL_H

#include "core/record.h"

enum { ROOF_REPETITIONS = 15 };

/* ns of one pass over the repetitions. */
struct roof_times {
    double least, quarter, most; /* quarter: the lower quartile, the rate's upper one */
};

/* Sorts `times`. */
struct roof_times roof_times_of(double *times, size_t nr);

/* A roof of the device's hardware, whatever way of launching its label names, in the unit of its
 * family (core/roof_name.h). */
void roof_begin(struct roof *c, const struct device *d, const char *name);
/* The same for measured_roofs_cuda.cu, which says the unit to its readers: it is not looked at. */
void roof_init(struct roof *c, const struct device *d, const char *name, const char *unit);
/* `work` a pass over its time: the slowest time is the lowest rate. */
void roof_set_rate(struct roof *c, double work, const struct roof_times *ns);
void roof_set_time(struct roof *c, const struct roof_times *ns);
/* A number that is no matter of repetitions. */
void roof_set_value(struct roof *c, double value);
/* Takes the rate of `other` if it is the better one. */
void roof_raise(struct roof *c, const struct roof *other);

#endif
