/* SPDX-License-Identifier: MIT */
/* What a run was measured on: machine, build, and the environment's facts, a row each. */
#ifndef HARNESS_REPORTERS_SYSTEM_TABLE_H
#define HARNESS_REPORTERS_SYSTEM_TABLE_H

#include "base/strbuf.h"
#include "core/record.h"

#include <stdbool.h>

/* Hands over each fact as the table has it, for other forms. Unknown facts are left out. */
void system_facts(const struct run *run,
                  void (*fact)(void *context, const char *name, const char *value), void *context);
/* Unknown facts have no row. With `markdown` as a Markdown table, else as plain text. */
void system_table(const struct run *run, bool markdown, struct strbuf *out);

#endif
