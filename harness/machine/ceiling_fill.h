/* SPDX-License-Identifier: MIT */
/* From repeated times to a ceiling, the same for all devices. */
#ifndef HARNESS_MACHINE_CEILING_FILL_H
#define HARNESS_MACHINE_CEILING_FILL_H

#include "core/record.h"

enum { CEILING_REPETITIONS = 15 };

/* ns of one pass over the repetitions. */
struct ceiling_times {
    double least, quarter, most; /* quarter: the lower quartile, the rate's upper one */
};

/* Sorts `times`. */
struct ceiling_times ceiling_times_of(double *times, size_t nr);

/* A ceiling of the device's hardware, whatever way of launching its label names. */
void ceiling_init(struct ceiling *c, const struct device *d, const char *name, const char *unit);
/* `work` a pass over its time: the slowest time is the lowest rate. */
void ceiling_set_rate(struct ceiling *c, double work, const struct ceiling_times *ns);
void ceiling_set_time(struct ceiling *c, const struct ceiling_times *ns);
/* A number that is no matter of repetitions. */
void ceiling_set_value(struct ceiling *c, double value);
/* Is it a time, of which less is better? Else it is a rate. */
bool ceiling_is_time(const struct ceiling *c);
/* May a device have a roof of this name? All of them: machine/ceilings.h, ceilings_cuda.h. */
bool ceiling_is_name(const char *name);
/* Takes the rate of `other` if it is the better one. */
void ceiling_raise(struct ceiling *c, const struct ceiling *other);

#endif
