/* SPDX-License-Identifier: MIT */
/* The process of a launch, from its start to its end, with its three pipes; who talks to it is
 * launch.c. */
#ifndef HARNESS_MEASURE_LAUNCH_PROCESS_H
#define HARNESS_MEASURE_LAUNCH_PROCESS_H

#include "base/process_group.h"
#include "measure/launch.h"

#include <sys/types.h>

struct launch_process {
    pid_t pid;
    struct process_group group; /* its own, with all that it starts; ends with this process */
    int input, report, errors;  /* our ends; -1 when closed */
};

/* Starts `program` (NULL: this one) as a measuring process for the job, which it has yet to be
 * given. -1 where the system has no process or pipe for it. */
int launch_process_start(struct launch_process *p, const char *program, const struct job *job,
                         struct error *err);
/* Waits a while for one that is ending by itself, or kills it; in any case with the whole group,
 * since a kernel may have started processes of its own. `exit_status`: 0, exit code or -signal. The
 * pipes are closed. */
int launch_process_stop(struct launch_process *p, bool patient, int *exit_status,
                        struct error *err);
/* True once it has ended; it is not reaped, so its number stays its own. */
bool launch_process_ended(const struct launch_process *p);
/* Closes one end, once. */
void launch_close(int *fd);

#endif
