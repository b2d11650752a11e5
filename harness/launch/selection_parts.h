/* SPDX-License-Identifier: MIT */
/* What the files of selection share. */
#ifndef HARNESS_LAUNCH_SELECTION_PARTS_H
#define HARNESS_LAUNCH_SELECTION_PARTS_H

#include "launch/selection.h"

/* What a word of a selection can name. Filters are listed by operation only: the kernels are too
 * many for an error message. SELECTION_KERNELS are all leading runs of their names' parts: "gpt",
 * "gpt/nano", "gpt/nano/decode". */
enum selection_item {
    SELECTION_OPERATIONS,
    SELECTION_KERNELS,
    SELECTION_MODELS,
    SELECTION_VARIANTS,
    SELECTION_MATHS,
    SELECTION_DIMS
};

/* -1, and an error that names the nearest and all that there is. `kind` is "filter"... */
int selection_nothing_matches(const struct registry *r, const struct device *device,
                              enum selection_item what, const char *kind, const char *word,
                              struct error *err);

#endif
