/* SPDX-License-Identifier: MIT */
/* What the sites of a snapshot are called: by their names, and where two places have one name, by
 * file and line as well. Not installed. */
#ifndef HARNESS_PROFILE_SITE_NAMES_H
#define HARNESS_PROFILE_SITE_NAMES_H

#include "profile/name_map.h"
#include "profile/trace.h"

struct prof_site_name {
    const struct prof_site *site;
    const char *text; /* the trace's */
};

/* All 0 at first. */
struct prof_site_names {
    struct prof_site_name *items;
    size_t nr, capacity;
    struct prof_map places;       /* by site */
    const struct prof_site *last; /* that was seen */
};

/* A site is one of the snapshot's. -1: no memory. */
int prof_site_seen(struct prof_site_names *names, const struct prof_site *site);
/* Behind the last one. -1: no memory. */
int prof_site_names_choose(struct prof_site_names *names, struct prof_trace *trace);
/* Of a site that was seen. */
const char *prof_site_text(const struct prof_site_names *names, const struct prof_site *site);
void prof_site_names_release(struct prof_site_names *names);

#endif
