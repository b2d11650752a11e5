/* SPDX-License-Identifier: MIT */
/* Debugs the judge as it is loaded. */
#include "early.h"

#include <sys/ptrace.h>

__attribute__((constructor)) static void trace(void)
{
    if (ptrace(PTRACE_SEIZE, find_judge(), NULL, NULL) == 0)
        leave_mark();
}

EARLY_PLUGIN(trace_early);
