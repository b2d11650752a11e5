/* SPDX-License-Identifier: MIT */
/* Inside store/, and for tests that make long histories: writing within the caller's transaction
 * (sql_begin(), sql_end()). What store.h offers is one of these in a transaction of its own. */
#ifndef HARNESS_STORE_WRITE_H
#define HARNESS_STORE_WRITE_H

#include "store/sql.h"

/* The run, or comparison, with this uuid: 1 and *id, 0: there is none, -1: error. */
int find_run(struct store *s, const char *uuid, int64_t *id, struct error *err);
int find_comparison(struct store *s, const char *uuid, int64_t *id, struct error *err);
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
int write_ceilings(struct store *s, const struct machine *machine, const char *epoch,
                   const struct ceiling *ceilings, size_t nr, struct error *err);
int write_measurement(struct store *s, int64_t launch_id, const struct measurement *m,
                      struct error *err);

#endif
