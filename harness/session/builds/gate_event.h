/* SPDX-License-Identifier: MIT */
/*
 * Which change a forge wants to have looked at, by the variables of its jobs: GitHub's
 * GITHUB_EVENT_PATH (a file; so do Gitea and Forgejo), GitLab's CI_MERGE_REQUEST_*. Hashes and
 * numbers alone are taken: titles and names of branches may hold what they like.
 */
#ifndef HARNESS_SESSION_BUILDS_GATE_EVENT_H
#define HARNESS_SESSION_BUILDS_GATE_EVENT_H

#include "base/error.h"
#include "session/builds/git.h"

#include <stdbool.h>

struct gate_event {
    bool closed;    /* the change is closed: there is nothing to look at */
    int64_t number; /* of the change; 0: unknown */
    char base[GIT_HASH_SIZE], head[GIT_HASH_SIZE]; /* "": nobody says */
};

/* Nothing is set outside of a forge's job. -1: it is a job, and of no change. */
int gate_event_read(struct gate_event *e, struct error *err);

#endif
