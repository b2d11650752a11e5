/* SPDX-License-Identifier: MIT */
/* What the files of a case share. */
#ifndef HARNESS_MEASURE_CASE_PARTS_H
#define HARNESS_MEASURE_CASE_PARTS_H

#include "measure/case.h"

/* The outcome, and why it is not OK. */
void case_end(struct measurement *m, enum outcome outcome, const char *message);
/* False with an outcome where the case cannot run here at all. */
bool case_supported(const struct benchmark *bench, struct device *device,
                    const struct case_settings *settings, struct measurement *m);

#endif
