/* SPDX-License-Identifier: MIT */
/*
 * A run on its way into the history: described, begun, filled launch by launch, ended. Shared by
 * all commands that measure.
 *
 *     struct recording r = { .store = store, .run = &run, .progress = &progress };
 *     recording_describe(&run, suite, label, settings, guests);
 *     struct sweep_sink sink = recording_sink(&r);
 *     if (store_begin_run(store, &run, err) == 0 && sweep_run(&sweep, &sink, &end, err) == 0)
 *         recording_end(&r, err);
 */
#ifndef HARNESS_CLI_RECORDING_H
#define HARNESS_CLI_RECORDING_H

#include "cli/progress.h"
#include "guest/guests.h"
#include "measure/sweep.h"
#include "store/store.h"

struct recording {
    struct store *store;       /* STORE_WRITE */
    struct run *run;           /* its id from store_begin_run() */
    struct records *records;   /* gets each measurement, too, as of its run 0; may be NULL */
    struct progress *progress; /* for recording_sink(); NULL: none is shown */
    int64_t launch_id;         /* of the launch in hand ... */
    int launch_seq;            /* ... and its number */
};

/* A label that the history would cut is an error; `more` characters are put behind it. */
int recording_check_label(const char *label, size_t more, struct error *err);
/* Everything but the id: a fresh uuid, from now, on this machine, by this program. Takes
 * `settings`; `label` and `guests` may be NULL. Where there are guests, what is measured is not
 * this program's: commit, branch and dirty are those of the work tree of the current folder. */
void recording_describe(struct run *run, const char *suite, const char *label, char *settings,
                        const struct guests *guests);
/* Says in a run's settings which guests are measured, and then the commit of this program. */
void recording_add_guests(cJSON *settings, const struct guests *guests);

int recording_launch_begin(struct recording *r, const struct launch *l, struct error *err);
int recording_launch_end(struct recording *r, const struct launch *l, struct error *err);
int recording_measurement(struct recording *r, const struct launch *l, const struct measurement *m,
                          struct error *err);
/* These three, for a sweep. */
struct sweep_sink recording_sink(struct recording *r);
/* All was measured: the run is finished. */
int recording_end(struct recording *r, struct error *err);

#endif
