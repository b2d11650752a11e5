/* SPDX-License-Identifier: MIT */
/* Inside command/: the callbacks of the variant "exec", see core/kernel.h. kernel.config is the
 * struct command_spec. */
#ifndef HARNESS_COMMAND_COMMAND_RUN_H
#define HARNESS_COMMAND_COMMAND_RUN_H

#include "core/kernel.h"

int command_prepare(struct call *call, struct error *err);
void command_release(struct call *call);
int command_execute(const struct call *call, uint64_t *ns, struct error *err);
const char *command_explain(const struct call *call);
void command_facts(const struct call *call, struct measurement *m);

#endif
