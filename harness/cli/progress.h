/* SPDX-License-Identifier: MIT */
/*
 * What a long command says while it works, on standard error: one line rewritten in place with
 * the time left on a terminal, a plain line now and then elsewhere.
 */
#ifndef HARNESS_CLI_PROGRESS_H
#define HARNESS_CLI_PROGRESS_H

#include "measure/ab.h"
#include "measure/sweep.h"

struct progress {
    bool terminal;
    bool drawn;       /* a line stands there that must be wiped */
    int last_round;   /* plain: the launch or block told last */
    double last_told; /* s since the start */
};

void progress_init(struct progress *p);
void progress_show(struct progress *p, const struct sweep_progress *s);
void progress_show_ab(struct progress *p, const struct ab_progress *a);
void progress_clear(struct progress *p);

#endif
