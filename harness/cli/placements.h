/* SPDX-License-Identifier: MIT */
/*
 * What placement alone moves here (analysis/placement.h): measured by `harness selftest
 * --placement`, kept with the machine, and heeded by `harness compare`.
 */
#ifndef HARNESS_CLI_PLACEMENTS_H
#define HARNESS_CLI_PLACEMENTS_H

#include "analysis/placement.h"
#include "cli/floors.h"
#include "cli/selftest_trials.h"

enum { PLACEMENTS_BLOCKS = 20 };
#define PLACEMENTS_KIND "placement"

/* Blocks of this program with everything where it always is against the same with everything placed
 * anew; t->budget 0: all of them. `parts` has room for one of each benchmark of the choice; those
 * that could not be measured are left out. */
int placements_measure(const struct trials *t, struct placement_part *parts, size_t *nr,
                       struct error *err);
void placements_report(const struct placement_part *parts, size_t nr, size_t width, bool colour,
                       struct strbuf *out);

/* What the last test on this machine and device showed, as floors beside those in `settings`: none
 * is lowered. `parts`, which the floors borrow from, is the caller's to free(); NULL: there was no
 * such test. Returns how many floors it raised. */
size_t placements_heed(struct store *store, const char *machine, const char *device,
                       struct floors *floors, struct compare_settings *settings,
                       struct placement_part **parts);
/* A note, if any of the last so many floors is of what is compared. */
void placements_tell(struct comparison *c, size_t raised);

#endif
