/* SPDX-License-Identifier: MIT */
/*
 * What the work of a command says meanwhile, on standard error: notes, and how far it is: one line
 * rewritten in place with the time left, never longer than the terminal; a plain line now and then
 * where nothing can be rewritten (a file, a pipe, TERM=dumb).
 */
#ifndef HARNESS_CLI_PROGRESS_H
#define HARNESS_CLI_PROGRESS_H

#include "session/measure/measuring.h"

struct progress {
    struct session_sink sink;
    bool drawn;       /* a line stands there that must be wiped */
    int last_round;   /* plain: the launch or block told last */
    double last_told; /* s since the start */
};

/* The sink of `m` shows in `p`, which must stay where it is. With `watch`, Ctrl+C and SIGTERM end
 * what is measured at the next safe point (terminal/interrupt.h). */
void progress_attach(struct progress *p, struct measuring *m, bool watch);

/* A sink that shows notes alone. */
extern const struct session_sink terminal_notes;

#endif
