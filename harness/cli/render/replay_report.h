/* SPDX-License-Identifier: MIT */
/* What `harness compare --replay` prints: the verdicts that are others now. */
#ifndef HARNESS_CLI_RENDER_REPLAY_REPORT_H
#define HARNESS_CLI_RENDER_REPLAY_REPORT_H

#include "session/replay.h"

/* To `output`, or to standard output where that is NULL. */
int replay_report(const struct replay *r, bool json, const char *output, struct error *err);

#endif
