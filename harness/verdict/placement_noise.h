/* SPDX-License-Identifier: MIT */
/*
 * How much results change when only the placement in memory changes: from blocks in which one
 * program was measured against itself, base with everything where it always is, head with stack,
 * heap and address space placed anew in each launch (device/memory_placement.h). The two launches
 * of a side in a block differ by noise; those of the head by placement, too.
 *
 * It is shown where the differences of the head are larger by their ranks (Mann and Whitney 1947,
 * one-sided, 5 %): the noise of a busy machine has tails that no variance survives. Scales are from
 * the median of the differences, the part is what the head's has more by squares, and its limits
 * are those of Zou and Donner (2008) for a difference, from the order statistics of both medians.
 *
 * A change of the code moves things, too, and two builds differ by one draw each. So a change that
 * is itself smaller than twice the part, where one is shown, is not called, however well it is
 * known: it may be no more than that (struct compare_placement).
 */
#ifndef HARNESS_VERDICT_PLACEMENT_NOISE_H
#define HARNESS_VERDICT_PLACEMENT_NOISE_H

#include "stats/stats.h"
#include "verdict/compare.h"

#include <cjson/cJSON.h>

struct placement_part {
    char key[KEY_SIZE];
    double fixed, fresh;    /* sd of launches in a block, as fractions */
    double part;            /* sd that placement adds; 0: none */
    struct interval limits; /* 90 %, of `part`; infinite where there are too few launches */
    double p;               /* of the rank test */
    size_t launches;        /* of each side */
};

/* From evidence of DESIGN_BLOCKS. False where it has no block with two launches on either side. */
bool placement_part_find(const struct evidence *e, struct placement_part *p);
/* The change that it may look like: twice the part; 0 where none is shown. */
double placement_change(const struct placement_part *p);

/* {"benchmarks": [{"key": ..., "part": ..., ...}]} and back; docs/formats/commands.md. */
cJSON *placement_to_json(const struct placement_part *parts, size_t nr);
/* free() *parts; what cannot be read is an error. */
int placement_from_text(const char *text, struct placement_part **parts, size_t *nr,
                        struct error *err);

#endif
