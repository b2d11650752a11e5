/* SPDX-License-Identifier: MIT */
/* Whether a comparison asks more of a machine than the last self-test there found. */
#ifndef HARNESS_CLI_GATE_WARNING_H
#define HARNESS_CLI_GATE_WARNING_H

#include "analysis/selftest.h"
#include "store/store.h"

/* True with a text where the newest self-test of this machine class, device and rule, by planted
 * changes or else (where there is none, or it cannot tell) by the same against itself, shows that a
 * gate of `delta` cannot be carried.
 * False where it can, where there was no such test, and where the history cannot be read. */
bool gate_warning(struct store *store, const char *machine, const char *device, bool interleaved,
                  double delta, char text[SELFTEST_TEXT_SIZE]);

#endif
