/* SPDX-License-Identifier: MIT */
/*
 * Copies of a case's tensors that take turns (`--cache rotate`): so many that what launches touch
 * of them is twice as large as the caches, so that a launch finds in them nothing of its own, while
 * the code, tables and what else a loop keeps warm stay warm. Each copy is a call of its own,
 * prepared as the first; inputs are the same.
 */
#ifndef HARNESS_MEASURE_COPIES_H
#define HARNESS_MEASURE_COPIES_H

#include "measure/buffers.h"

/* Of small tensors there would be too many: a variant makes each ready. */
enum { COPIES_MAX = 4096 };

struct copies {
    struct call *calls; /* beside the first, which is the case's own */
    size_t nr;          /* made so far */
    void *memory;       /* of all of them */
};

/* How many, with the first; more than COPIES_MAX cannot be had. */
int64_t copies_needed(const struct benchmark *bench, const struct device *device);
/* From the content of `b` on the host, whose call `first` is; makes a ring of them.
 * copies_release() whatever the result, before the first is released. */
int copies_make(struct copies *c, const struct buffers *b, struct call *first, int64_t nr,
                struct error *err);
void copies_release(struct copies *c, struct device *device);
/* The buffers with a copy's memory on the device, to look at; not to be released. */
struct buffers copies_view(const struct buffers *b, const struct call *copy);

#endif
