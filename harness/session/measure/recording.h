/* SPDX-License-Identifier: MIT */
/*
 * A run on its way into the history: described, measured launch by launch in fresh processes,
 * ended. For all commands that measure.
 *
 *     recording_describe(&run, RUN_MEASURED, suite, label, settings, guests);
 *     struct recording r = { .workload = &workload, .store = store, .measuring = &how, .run = &run
 * }; recording_run(&r, &end, err);
 */
#ifndef HARNESS_SESSION_MEASURE_RECORDING_H
#define HARNESS_SESSION_MEASURE_RECORDING_H

#include "measure/profiling.h"
#include "plugin/guests.h"
#include "session/measure/measuring.h"
#include "session/measure/workload.h"
#include "store/store.h"

struct recording {
    const struct workload *workload;   /* what, how long, how many launches */
    struct store *store;               /* STORE_WRITE */
    const struct measuring *measuring; /* its sink gets progress, too */
    const double *plant;               /* of each benchmark, see launch/launch.h; NULL: none */
    const struct profiling *profiling; /* NULL: none */
    struct run *run;                   /* recording_describe(); gets its id */
    struct records *records;           /* gets each measurement, too, as of its run 0; or NULL */
    bool quiet;                        /* no progress but one that is rewritten in place */
    bool unkept;                       /* `records` alone gets what is measured */
    bool *timed;                       /* of each device, whether it has a time; or NULL */
    /* Is told of each measurement; or NULL. */
    void (*measured)(void *context, const struct measurement *m);
    void *context;     /* of that */
    int64_t launch_id; /* of the launch in hand ... */
    int launch_seq;    /* ... and its number */
};

/* A label that the history would cut is an error; `more` characters are put behind it. */
int recording_check_label(const char *label, size_t more, struct error *err);
/* What a run is of. Where there are guests, what is measured is not this program's: commit, branch
 * and dirty are those of the work tree of the current folder. */
struct recorded {
    enum run_kind kind;
    const char *suite;
    const char *label;               /* or NULL */
    char *settings;                  /* taken */
    const struct guests *guests;     /* or NULL */
    const struct session_sink *sink; /* is told of a work tree whose commit git does not say; of
                                      * many runs that of one, of the others NULL */
};
/* Everything but the id: a fresh uuid, from now, on this machine, by this program. */
int recording_describe(struct run *run, const struct recorded *what, struct error *err);
/* What a run's settings say of a workload: devices, launches, guests, sampling. JSON text to be
 * freed, as recording_describe() does. */
char *recording_settings(const struct workload *workload);
/* Says in a run's settings which guests are measured, and then the commit of this program. */
void recording_add_guests(cJSON *settings, const struct guests *guests);

/* And what the files were that inputs hold, whose names in keys say it by their content. */
void recording_add_fills(cJSON *settings, const struct fill_list *fills);

/* And, where --clock was given, what is held of it. */
void recording_add_clock(cJSON *settings, const struct workload *workload);

/* The run, from its begin to its end. What was finished before an error or an interrupt stays as an
 * unfinished run. */
int recording_run(struct recording *r, enum sweep_end *end, struct error *err);

/* Its parts, for who runs the launches himself: what takes them; a sweep of the workload, steered
 * by the callbacks of `steered`, which says nothing else; what shows how far it is; the end.
 */
struct measurement_sink recording_sink(struct recording *r);
int recording_sweep(struct recording *r, const struct sweep *steered, enum sweep_end *end,
                    struct error *err);
void recording_progress(const struct recording *r, const struct sweep_progress *p);
int recording_end(struct recording *r, struct error *err);

/* One run of the workload, a trial, for commands that need several: `out` gets it. -1 where it was
 * interrupted, too. Release `out` whatever the result. */
int recording_sample(struct store *store, const struct workload *workload, const char *label,
                     const double *plant, const struct measuring *how, struct records *out,
                     struct error *err);

#endif
