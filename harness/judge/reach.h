/* SPDX-License-Identifier: MIT */
/* What could not be kept out of the reach of who is judged, by the device. */
#ifndef HARNESS_JUDGE_REACH_H
#define HARNESS_JUDGE_REACH_H

#include "core/device.h"

struct reach {
    const char *name, *words; /* as JSON has them; NULL: the end of the list */
};

/* NULL-ended. Of the CPU docs/judge.md tells all. */
const struct reach *reach_beyond(enum device_kind kind);

#endif
