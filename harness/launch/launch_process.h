/* SPDX-License-Identifier: MIT */
/* The process of a launch, from its start to its end, with its three pipes; who talks to it is
 * launch.c. */
#ifndef HARNESS_LAUNCH_LAUNCH_PROCESS_H
#define HARNESS_LAUNCH_LAUNCH_PROCESS_H

#include "launch/launch.h"
#include "process/process_group.h"

#include <sys/types.h>

enum { LAUNCH_OTHERS_MAX = 256 };

struct launch_process {
    struct process_group group; /* the process and all that it starts; ends with this process */
    int input, report, errors;  /* our ends; -1 when closed */
    /* Should somebody kill the guard, what is left of the group becomes children of this process,
     * which is known by its not having been there before. */
    pid_t others[LAUNCH_OTHERS_MAX];
    size_t nr_others;
    bool adopts; /* this process did so before */
};

/* Starts `program` (NULL: this one) as a measuring process for the job, which it has yet to be
 * given. -1 where the system has no process or pipe for it. */
int launch_process_start(struct launch_process *p, const char *program, const struct job *job,
                         struct error *err);
/* Kills what still runs of it and of all that it started. `exit_status`: 0, exit code or -signal.
 * The pipes are closed. */
void launch_process_stop(struct launch_process *p, int *exit_status);
/* Closes one end, once. */
void launch_close(int *fd);

#endif
