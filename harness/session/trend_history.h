/* SPDX-License-Identifier: MIT */
/* What trends_find() needs of a history: runs, and the series of a metric over them. */
#ifndef HARNESS_SESSION_TREND_HISTORY_H
#define HARNESS_SESSION_TREND_HISTORY_H

#include "store/store.h"
#include "trend/trend.h"

/* Which runs are looked at. */
struct trend_scope {
    int64_t since;       /* those that began then or later, ms since the epoch; INT64_MIN: all */
    int64_t last;        /* the newest so many of each machine class; 0: all */
    const char *machine; /* of this class; NULL: of all */
    bool alone;          /* the series that fit the settings' filters are the family */
};

/* Each part borrows from those above. */
struct trend_history {
    struct records runs; /* without measurements */
    struct series_list series;
    struct trends trends; /* of trends_find(), by whoever wants them */
};

/* Reads runs and series of settings->metric, with the roofs that metrics of the newest machine
 * need. `out` is zeroed; release it whatever the result. */
int trend_history_load(struct store *store, const struct trend_scope *scope,
                       const struct trend_settings *settings, struct trend_history *out,
                       struct error *err);
int trend_history_find(struct trend_history *h, const struct trend_settings *settings,
                       struct error *err);
void trend_history_release(struct trend_history *h);

#endif
