/* SPDX-License-Identifier: MIT */
/* `harness history verdicts`: the comparisons that were recorded, and the verdicts of one. */
#ifndef HARNESS_CLI_RENDER_VERDICT_LIST_H
#define HARNESS_CLI_RENDER_VERDICT_LIST_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>

/* The newest `limit` comparisons, a line each. */
int verdict_list(struct store *store, size_t limit, bool json, struct error *err);
/* All rows of one comparison; as JSON with the evidence, too. */
int verdict_show(struct store *store, const char *id, bool json, struct error *err);

#endif
