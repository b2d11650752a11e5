/* SPDX-License-Identifier: MIT */
/*
 * The history: one SQLite file that keeps facts (runs, launches, measurements with their raw
 * samples, roofs, baselines). docs/formats/tables.md describes the tables. Metrics and verdicts
 * are derived elsewhere.
 *
 * Durability. Each store_add_*, begin and end call is one transaction in WAL mode: what a call
 * returned 0 for survives the death of the process (kill -9) at any later moment. A power cut can
 * cost the newest of what the begin calls, store_end_launch() and store_add_measurement() wrote,
 * never the file. All other calls that write are promises: they synchronise the log, so that they
 * and everything before them survive that too, whoever else has the file open.
 *
 * Many processes may write one file at the same time: writers queue, see store_set_patience(). A
 * handle belongs to one thread and must not be used in a forked child.
 *
 * All functions return 0 or -1 with a message that names the file and says what to do. After a
 * failed write nothing of that call is in the file, and the handle stays usable.
 */
#ifndef HARNESS_STORE_STORE_H
#define HARNESS_STORE_STORE_H

#include "base/error.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

enum store_mode {
    STORE_READ,  /* the file must exist; what it holds stays, and it may lie on read-only media. One
                  * of an older version is read as it is: what came later is not there */
    STORE_WRITE, /* creates folders, file and tables; upgrades an older history in place */
    STORE_LOOK,  /* as STORE_READ, by somebody who has nobody to tell: what lies beside the file is
                  * left as it is for who comes next. A log that is not its own is not read */
};

/* For people: what is told of a file's place, a line each. From whichever thread opens the file. */
struct store_teller {
    void (*note)(void *context, const char *text); /* NULL: nobody is told */
    void *context;
};

/* What may have become of a file while it was open. */
enum store_fate {
    STORE_IN_PLACE,
    STORE_MOVED,       /* nothing stands at its path */
    STORE_REPLACED,    /* another file stands there */
    STORE_OVERWRITTEN, /* other content was copied into it */
    STORE_RESTORED,    /* its content was exchanged by store_restore() */
};

/* Refuses, without changing anything: files that are no database, databases that are no history,
 * histories of a newer schema, damaged or (STORE_WRITE) read-only files. *s is NULL on error. */
int store_open(struct store **s, const char *path, enum store_mode mode, struct error *err);
/* The same, and what opening has done to what lay beside the file (a log of another file that was
 * put aside, transactions that are lost) is told at once, also where the file is refused then: who
 * opens it next finds nothing more to tell. */
int store_open_telling(struct store **s, const char *path, enum store_mode mode,
                       const struct store_teller *tell, struct error *err);
void store_close(struct store *s); /* NULL is fine */
const char *store_path(const struct store *s);
/* For people: that a run is kept elsewhere, and what store_open_telling() would have told. What was
 * not taken before, a line each; NULL if there is nothing. free() it. */
char *store_take_note(struct store *s);
/* The file was moved, replaced, removed or kept locked while a run was written: the handle goes on
 * in a new file beside it, which store_path() names, and that has all of the run. */
bool store_is_elsewhere(const struct store *s);
/* Looks at it; between transactions of others a second look may answer otherwise. */
enum store_fate store_fate(struct store *s);
/* Does the file begin as SQLite's do? Not to be asked of one that this process has open: closing it
 * would drop SQLite's locks. */
bool store_is_database(const char *path);
/* Does it keep all others out, also other handles of this process? So it is read where there is no
 * room for the index of the log, which has to lie beside the file to be shared. */
bool store_is_alone(const struct store *s);
/* How long writes wait for other writers, instead of 60 s, or 300 s while the handle has a run that
 * has not ended; then such a run is kept elsewhere, see store_is_elsewhere(). */
void store_set_patience(struct store *s, int ms);
/* While it reads, the handle asks again and again whether to stop; where the answer is not 0, the
 * call in hand ends with an error. NULL: nobody is asked. */
void store_set_stop(struct store *s, int (*stop)(void *context), void *context);
/* Called once for each wait that takes longer than 5 s: for which file, and for how long at most.
 */
typedef void store_wait_fn(const char *path, int seconds);
void store_tell_waits(struct store *s, store_wait_fn *tell);

/* ---- writing: STORE_WRITE only ---- */

/* Inserts the run, and its machine and build if they are new. Sets run->id, and run->uuid where
 * it is empty. `ended_ms` is stored as given: 0 for a run that begins. */
int store_begin_run(struct store *s, struct run *run, struct error *err);
/* A run counts as finished from here on. */
int store_end_run(struct store *s, int64_t run_id, int64_t ended_ms, struct error *err);
/* `seq` is unique within the run. *launch_id is for the next two. */
int store_begin_launch(struct store *s, int64_t run_id, const struct launch *launch,
                       int64_t *launch_id, struct error *err);
/* The id of a launch that has begun, by its number. */
int store_find_launch(struct store *s, int64_t run_id, int seq, int64_t *launch_id,
                      struct error *err);
/* Sets ended_ms, exit_status and error_text. */
int store_end_launch(struct store *s, int64_t launch_id, const struct launch *launch,
                     struct error *err);
/* Comes back as it was, within what core/names.h says a name, number or date can be: beyond, names,
 * dates and whole numbers are refused, and amounts (flops, bytes, seconds) and telemetry count as
 * not known. An error may be infinite, and NaN comes back as NaN. */
int store_add_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                          struct error *err);
/* Adds run `run` of the records, which is finished, with its launches and measurements: all of it
 * or nothing. Where the history has a run of that uuid already, nothing is added and *added is
 * false. The run gets its id in either case. */
int store_add_run(struct store *s, struct records *records, int run, bool *added,
                  struct error *err);
/* Adds a set of measured roofs; older sets stay. `epoch` is the caller's name for the state of
 * the machine (driver, governor, compiler), or "". */
int store_add_roofs(struct store *s, const struct machine *machine, const char *epoch,
                    const struct roof *roofs, size_t nr, struct error *err);

/*
 * ---- reading ----
 *
 * Whoever wrote the file: what comes out has keys, kernels, variants, devices, dims, machines and
 * metrics that are name_is_line(), words without control characters, counts and dims within 2^53,
 * dates from 1900 to 9999, amounts and telemetry that are finite and at most 1e24 (core/names.h).
 * A row with a name, count or date beyond that is refused, and named; other numbers that cannot be
 * are read as not known, and words get '?' for what cannot be shown. Samples have 64 bits.
 */

/* NULL or empty members do not restrict anything. */
struct store_filter {
    const char *const *filters; /* a key must match one of them (base/text.h) ... */
    size_t nr_filters;
    const char *const *keys; /* ... or be one of these */
    size_t nr_keys;
    bool without_samples;   /* samples stay NULL and nr_samples 0: for listings */
    bool without_telemetry; /* nr_telemetry stays 0: most metrics do not look at it */
};

/* What is read until the end is of one state of the history, whatever others write meanwhile: a run
 * that was found is there when it is loaded. */
int store_begin_reading(struct store *s, struct error *err);
void store_end_reading(struct store *s);

/* Appends the runs, in the order given, and their measurements, ordered by run, launch and
 * insertion; then the newest roofs of the newest run's machine. One consistent snapshot.
 * `filter` may be NULL. An unknown run id is an error. On error `out` stays releasable. */
int store_load(struct store *s, const int64_t *run_ids, size_t nr,
               const struct store_filter *filter, struct records *out, struct error *err);
/* The same for all finished runs, oldest first: history for trends. `machine_class` may be NULL;
 * runs without a matching measurement are left out. */
int store_series(struct store *s, const char *machine_class, const struct store_filter *filter,
                 struct records *out, struct error *err);
/* Appends the finished runs alone, oldest first: nr_runs grows, nr does not. */
int store_finished_runs(struct store *s, const char *machine_class, struct records *out,
                        struct error *err);

/* The first run of a sweep (run.shard.sweep), whether or not it has ended: its id, and when it
 * began, ms. Both are INT64_MAX where there is none. */
int store_sweep_first(struct store *s, const char *sweep, int64_t *id, int64_t *started_ms,
                      struct error *err);

/* What a scan hands over, one measurement after the other. */
struct store_sink {
    void *context;
    /* `run` counts in the run ids of the scan. The sink may take what `m` owns. -1 ends the scan;
     * the message is the sink's. */
    int (*measurement)(void *context, size_t run, int launch_seq, struct measurement *m,
                       struct error *err);
};

/* For histories that are too long to be loaded: hands over the measurements of the runs, in the
 * order given, within a run ordered by launch, and keeps none. One consistent snapshot. `filter`
 * may be NULL. An unknown run has no measurements. The sink must leave the store alone. */
int store_scan(struct store *s, const int64_t *run_ids, size_t nr,
               const struct store_filter *filter, const struct store_sink *sink, struct error *err);
/* Appends to out->roofs the newest of each device and name, and says in out->roofs_of whose
 * they are. `device` (label) and `epoch` may be NULL for any. No roofs is not an error. */
int store_load_roofs(struct store *s, const char *machine_id, const char *device, const char *epoch,
                     struct records *out, struct error *err);

struct store_listed {
    struct run run;
    int64_t launches;
    int64_t outcomes[OUTCOME_NR]; /* measurements of each outcome */
};

struct store_listing {
    struct store_listed *items;
    size_t nr, capacity;
};

/* Appends runs, newest first, unfinished ones too. `machine_class` may be NULL; limit 0 is all. */
int store_list_runs(struct store *s, const char *machine_class, size_t limit,
                    struct store_listing *out, struct error *err);
void store_listing_release(struct store_listing *listing);

/* ---- baselines: names for runs ---- */

enum { STORE_NAME_SIZE = 96 };

struct store_baseline {
    char name[STORE_NAME_SIZE];
    int64_t created_ms;
    char *note;       /* owned, may be NULL */
    int64_t *run_ids; /* owned, oldest first */
    size_t nr_runs, runs_capacity;
};

struct store_baselines {
    struct store_baseline *items;
    size_t nr, capacity;
};

/* Letters, digits and ._/+- make a name; "latest" and bare numbers are refused, because a REF of
 * that form means something else. An existing name is an error unless `replace`. */
int store_baseline_save(struct store *s, const char *name, const int64_t *run_ids, size_t nr,
                        int64_t created_ms, const char *note, bool replace, struct error *err);
/* Runs stay. Unknown: an error that lists what there is. */
int store_baseline_remove(struct store *s, const char *name, struct error *err);
/* Appends all, by name. */
int store_baseline_list(struct store *s, struct store_baselines *out, struct error *err);
void store_baselines_release(struct store_baselines *baselines);

/* ---- care ---- */

/* Bytes: of the file, and of it what is free for new rows. */
struct store_room {
    int64_t size, free;
};
int store_room(struct store *s, struct store_room *room, struct error *err);
/* Gives free room back to the file system. Writes the file anew: needs as much room again, and
 * holds up other writers. */
int store_vacuum(struct store *s, struct error *err);

#endif
