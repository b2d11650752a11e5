/* SPDX-License-Identifier: MIT */
/* Inside plugin/: the callbacks of a variant that is a function of Python, see core/kernel.h.
 * variant.config is its struct python_function. Others may tell guest.py what to load, too. */
#ifndef HARNESS_PLUGIN_PYTHON_RUN_H
#define HARNESS_PLUGIN_PYTHON_RUN_H

#include "core/kernel.h"
#include "plugin/python_guest.h"

int python_prepare(struct call *call, struct error *err);
int python_repeat(const struct call *call, unsigned times, uint64_t *ns, struct error *err);
void python_facts(const struct call *call, struct measurement *m);
void python_release(struct call *call);

/* What guest.py is told of a function, but for its tensors; of one of these, but for where it is.
 */
cJSON *python_job(const struct python_function *f, const struct kernel *k, const struct shape *s,
                  int threads);
cJSON *python_tensor(const struct tensor *t);

#endif
