/* SPDX-License-Identifier: MIT */
/*
 * Inside store/, for what merges and salvages histories and for tests that make long ones: rows of
 * its tables. Writing happens within the caller's transaction (sql_begin(), sql_end()); what
 * store.h offers is one of these in a transaction of its own.
 */
#ifndef HARNESS_STORE_ROWS_H
#define HARNESS_STORE_ROWS_H

#include "base/options.h"
#include "store/columns.h"
#include "store/sql.h"

/* ---- reading ---- */

/* The next column as a line of words, owned: "" where it is none. */
char *read_words(struct sql_query *q);
/* A row of "name, value" as the next dim; -1 for what is none, or one too many. */
int read_dim(struct sql_query *q, struct benchmark_name *name, struct error *err);

/* As store_baseline_list(); with `refused`, names that are none are skipped and told there. */
int read_baselines(struct store *s, struct store_baselines *out, struct string_list *refused,
                   struct error *err);

/* Fills all but m->bench. On error `m` stays releasable. */
int read_measurement(struct store *s, int64_t id, struct measurement *m, struct error *err);

/* Meets what programs say of themselves in this history (core/number.h), so that it can be asked
 * for by name. A damaged row is passed by. */
int read_number_kinds(struct store *s, struct error *err);

/* Does the filter (may be NULL) let the key through? */
bool filter_wants(const struct store_filter *f, const char *key);

/* The measurements of one run after the other; benchmarks are read and filtered once. */
enum scan_order {
    SCAN_INSERTED,  /* by launch, then insertion */
    SCAN_BY_LAUNCH, /* by launch, then as the index lies: nothing has to be sorted */
};
struct scan;
/* `filter` may be NULL, and must live as long. NULL on error. */
struct scan *scan_create(struct store *s, const struct store_filter *filter, enum scan_order order,
                         struct error *err);
/* Hands over what the filter wants of the run; `run` is the number that the sink gets. */
int scan_run(struct scan *scan, int64_t run_id, size_t run, const struct store_sink *sink,
             struct error *err);
void scan_free(struct scan *scan); /* NULL is fine */

/* Opens a select of whole runs; `tail` begins with WHERE (r run, m machine, b build). */
int open_runs(struct store *s, const char *tail, struct sql_query *q, struct error *err);
/* On error `run` stays releasable. */
int read_run(struct sql_query *q, struct run *run, struct error *err);

/* What there is, in one line, for errors about a name that is not there. */
enum { READ_SHOWN_MAX = 8 };
/* Appends ". Title: a, b, c and 4 more" from a query of one text column; nothing if no rows. */
int read_name_list(struct store *s, const char *query, const char *title, struct strbuf *out,
                   struct error *err);
/* The nearest of a query's texts to `word` into `nearest` (empty if none is near). */
int read_nearest_name(struct store *s, const char *query, const char *word,
                      char nearest[STORE_NAME_SIZE], struct error *err);

/* ---- writing ---- */

/* The run, or comparison, with this uuid: 1 and *id, 0: there is none, -1: error. */
int row_of_run(struct store *s, const char *uuid, int64_t *id, struct error *err);
int row_of_comparison(struct store *s, const char *uuid, int64_t *id, struct error *err);
/* Telemetry as it is written, NULL if there is none; cJSON_free() it. */
char *telemetry_text(const struct measurement *m);
/* Sets run->id; the uuid must be there. */
int write_run(struct store *s, struct run *run, struct error *err);
/* The key is the identity; the other fields are those of the first measurement that had it. */
int write_benchmark(struct store *s, const struct benchmark_name *name, int64_t *id,
                    struct error *err);
/* Its dims, for a benchmark that has none yet. */
int write_dims(struct store *s, int64_t benchmark, const struct benchmark_name *name,
               struct error *err);
int write_launch(struct store *s, int64_t run_id, const struct launch *launch, int64_t *launch_id,
                 struct error *err);
int write_roofs(struct store *s, const struct machine *machine, const char *epoch,
                const struct roof *roofs, size_t nr, struct error *err);
int write_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                      struct error *err);

#endif
