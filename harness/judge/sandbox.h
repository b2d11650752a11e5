/* SPDX-License-Identifier: MIT */
/*
 * What a cell (judge/cell.h) may not do. A kernel computes: it needs memory, threads and files to
 * read, and none to write, no other process, no socket, no signal to anybody, no clock to set and
 * no debugger.
 */
#ifndef HARNESS_JUDGE_SANDBOX_H
#define HARNESS_JUDGE_SANDBOX_H

#include "base/error.h"

#include <stdbool.h>

/* Before exec or as `environ`, in the child alone: an environment by which nobody can tell one run
 * from another, and without what the loader would put in front (LD_PRELOAD). `folder`: of its own,
 * for what is temporary (TMPDIR). free() the array. */
char **sandbox_environment(const char *folder);
/* A cell that becomes an interpreter executes that behind the filter. Executing another program
 * makes no other process: whatever it is, it is in this cell, and stopped as it is. */
enum sandbox_kind { SANDBOX_STAYS, SANDBOX_EXECUTES };
/* In the cell, and where a plugin is tried, before any code of a guest is loaded, and for good, for
 * this thread and all that it makes, so before any that a guest will have work for it: no
 * rights beyond those of a plain user, no core files, no files to write to but those below TMPDIR,
 * which the judge removes, of shared memory and of devices (struct device_lending), where the
 * kernel has Landlock, and the end (SIGSYS) for who makes a system call of the list. A socket is
 * refused (EPERM): drivers try some, and so does the C library when a user's name is asked for, as
 * PyTorch does. So are processors and priorities. -1 where the kernel has no filters: then nobody
 * can be judged. */
int sandbox_enter(enum sandbox_kind kind, struct error *err);
bool sandbox_keeps_files(void); /* has it? */
/* Can it be entered here? Asked by the judge, before it starts. */
int sandbox_check(struct error *err);
/* In the judge, before any code of a guest runs anywhere, and in a reference's cell, whose results
 * are right and may be there first: others of the same user may not look into its memory, nor open
 * what it has open. */
void sandbox_keep_out(void);

#endif
