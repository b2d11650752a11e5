/* SPDX-License-Identifier: MIT */
/*
 * What profile.json knows that is in no trace: of which benchmark it is, the roofs of the machine
 * that it was recorded on, what a scope costs there (docs/formats/profile.md).
 */
#ifndef HARNESS_CHART_BASE_PROFILE_FACTS_H
#define HARNESS_CHART_BASE_PROFILE_FACTS_H

#include "base/error.h"
#include "profile/summary.h"
#include "timeline/timeline_roof.h"

struct cJSON;

struct profile_facts {
    char benchmark[256];         /* its key; "": not known */
    int launches;                /* made in all, of which the trace is the last; 0: not known */
    struct timeline_roofs roofs; /* all 0: not known */
    struct prof_cost cost;       /* of a scope; on 0: not known */
    int64_t gap_ns;              /* that a GPU's idle gaps were told by; 0: not known */
};

/* -1: it cannot be read, or is no profile.json and no summary of the scopes library. What is absent
 * in it is not known. */
int profile_facts_read(const char *path, struct profile_facts *facts, struct error *err);
/* Adds "roofs" to a profile.json; nothing where none is known. */
void profile_roofs_to_json(const struct timeline_roofs *roofs, struct cJSON *json);

#endif
