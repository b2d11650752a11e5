/* SPDX-License-Identifier: MIT */
/* `harness profile --diff A B`: what changed between two profiles, by operation. */
#ifndef HARNESS_CLI_RENDER_PROFILE_DIFF_H
#define HARNESS_CLI_RENDER_PROFILE_DIFF_H

#include "cli/render/profile_view.h"

/* Reads the two, before and after: anything that profile_import() reads. Prints the largest changes
 * and writes diff.json, diff.folded and, where GPUs worked, diff-gpu.folded. */
int profile_diff(const struct profile_output *o, const char *const names[2], struct error *err);

#endif
