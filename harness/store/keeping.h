/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: what a handle has written of runs that have not ended, so that a file that is
 * moved, replaced, removed or kept locked costs none of it. It costs memory: that of the runs,
 * once.
 */
#ifndef HARNESS_STORE_KEEPING_H
#define HARNESS_STORE_KEEPING_H

#include "store/sql.h"

struct kept_launch {
    int64_t run, id;
    struct launch launch;
};

struct kept_measurement {
    int64_t run, launch;
    struct measurement m;
};

struct kept_roofs {
    struct machine machine;
    char *epoch;
    struct roof *items;
    size_t nr;
};

struct keeping {
    ARRAY(struct run) runs;
    ARRAY(struct kept_launch) launches;
    ARRAY(struct kept_measurement) measurements;
    ARRAY(struct kept_roofs) roofs;
};

void keeping_run(struct store *s, const struct run *run);
void keeping_launch(struct store *s, int64_t run, int64_t id, const struct launch *launch);
void keeping_launch_end(struct store *s, int64_t id, const struct launch *launch);
void keeping_measurement(struct store *s, int64_t launch, const struct measurement *m);
void keeping_roofs(struct store *s, const struct machine *machine, const char *epoch,
                   const struct roof *roofs, size_t nr);
bool keeping_has_run(const struct store *s);
/* It has ended and is safe. */
void keeping_forget(struct store *s, int64_t run);
void keeping_free(struct store *s);

#endif
