/* SPDX-License-Identifier: MIT */
/*
 * What moves when only the placement of things in memory moves: from blocks in which one program
 * was measured against itself, base with everything where it always is, head with stack, heap and
 * address space placed anew in each launch (measure/placement.h). Launches of a side in a block
 * scatter by noise; those of the head by placement, too. The difference of the two variances is the
 * placement's part. Its limits are those of Zou and Donner (2008) for a difference, from the
 * chi-square limits of each variance; where the lower one is not above zero, nothing is shown.
 *
 * A change of the code moves things, too, and two builds differ by one draw each. So a change
 * smaller than twice the part, where one is shown, is not called: it may be no more than that.
 */
#ifndef HARNESS_ANALYSIS_PLACEMENT_H
#define HARNESS_ANALYSIS_PLACEMENT_H

#include "analysis/compare.h"
#include "base/stats.h"

#include <cjson/cJSON.h>

struct placement_part {
    char key[KEY_SIZE];
    double fixed, fresh;    /* sd of launches in a block, as fractions */
    double part;            /* sd that placement adds; 0: none */
    struct interval limits; /* 90 %, of `part` */
    size_t launches;        /* of each side */
};

/* From evidence of DESIGN_BLOCKS. False where it has no block with two launches on each side. */
bool placement_part_find(const struct evidence *e, struct placement_part *p);
/* The change that it may look like: twice the part; 0 where none is shown. */
double placement_change(const struct placement_part *p);

/* {"benchmarks": [{"key": ..., "part": ..., ...}]} and back; docs/formats.md, "Self-test". */
cJSON *placement_to_json(const struct placement_part *parts, size_t nr);
/* free() *parts; what cannot be read is an error. */
int placement_from_text(const char *text, struct placement_part **parts, size_t *nr,
                        struct error *err);

#endif
