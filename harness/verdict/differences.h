/* SPDX-License-Identifier: MIT */
/*
 * What differs between two runs beside their times: machine, build, environment and settings, one
 * row a fact. Epochs (metrics/epoch.h) are about the facts that must not be pooled; this is the
 * whole list, for people who ask why.
 */
#ifndef HARNESS_VERDICT_DIFFERENCES_H
#define HARNESS_VERDICT_DIFFERENCES_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

/* A fact as people read it: yes or no, whole numbers as they are, of others no digit that says
 * nothing; the rest as JSON. The caller frees it. */
char *difference_text(const struct cJSON *value);

struct difference {
    char *name;        /* "compiler", "governor", "sampling.max_seconds"; owned */
    char *base, *head; /* owned; NULL: that run does not say */
    bool weather;      /* a number of the environment, such as the load: it is never the same */
};

struct differences {
    struct difference *items; /* machine, build, environment, settings; weather last */
    size_t nr, capacity;
};

/* Release the result. Equal runs have no differences; names, dates and labels of runs are none,
 * nor is which half of a session each is. */
void differences_find(const struct run *base, const struct run *head, struct differences *out);
void differences_release(struct differences *d);

#endif
