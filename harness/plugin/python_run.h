/* SPDX-License-Identifier: MIT */
/* Inside plugin/: the callbacks of a variant that is a function of Python, see core/kernel.h.
 * variant.config is its struct python_function. */
#ifndef HARNESS_PLUGIN_PYTHON_RUN_H
#define HARNESS_PLUGIN_PYTHON_RUN_H

#include "core/kernel.h"

int python_prepare(struct call *call, struct error *err);
int python_repeat(const struct call *call, unsigned times, uint64_t *ns, struct error *err);
void python_facts(const struct call *call, struct measurement *m);
void python_release(struct call *call);

#endif
