/* SPDX-License-Identifier: MIT */
/* Files of other benchmark programs on their way into the history, as launches of one run. */
#ifndef HARNESS_SESSION_IMPORT_RUN_H
#define HARNESS_SESSION_IMPORT_RUN_H

#include "base/array.h"
#include "importers/import.h"
#include "store/store.h"

/* What the user says of the files, over what these say themselves. NULL: nothing. */
struct import_said {
    const char *label, *commit, *branch, *machine, *project;
    const char *in_turn; /* name of the session in which another run was measured in turn with it */
    int64_t date_ms;     /* 0: not said */
};

struct import_part {
    const char *path;
    struct imported imported;
    int64_t there;         /* the run of the history that has it already; 0: none */
    const char *otherwise; /* an option that would make other numbers than that run has; or NULL */
    const char *beside;    /* one that says another date, session or place than that run; or NULL */
    bool twice;            /* an earlier part is the same file */
};

struct import_job {
    struct import_options options;
    struct import_said said;
    ARRAY(struct import_part) parts;
};

/* Reads all files, before anything is written. What they tell must go together: one program, one
 * machine class, one commit and branch. Options that are not for their format are refused. */
int import_job_read(struct import_job *job, int nr, char **paths, struct error *err);
void import_job_release(struct import_job *job);

/* Marks the files that the history has under the same label, commit, branch and project. -1 where
 * an option is given that would make other numbers of one; --date, --in-turn and --machine this
 * have no effect then, and are noted. */
int import_job_known(struct import_job *job, struct store *store, struct error *err);
/* Moves what is new into one run, a launch or more a file. Its uuid follows from the content. No
 * records: nothing is new. */
void import_job_merge(struct import_job *job, struct records *out);

#endif
