/* SPDX-License-Identifier: MIT */
/* Inside history/ only: the parts of a merge, and rows on their way from one file into another. */
#ifndef HARNESS_HISTORY_MERGE_PARTS_H
#define HARNESS_HISTORY_MERGE_PARTS_H

#include "base/array.h"
#include "history/merge.h"
#include "store/columns.h"

struct merge {
    struct store *from, *to;
    struct store_merged *result;
    ARRAY(struct merge_id) benchmarks; /* ascending numbers of `from` */
    int64_t counter;                   /* query_changed() of `to` */
};

struct merge_id {
    int64_t from, to; /* to 0: not looked up yet */
};

/* Adds a line about something that differs. */
void merge_conflict(struct merge *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads which benchmarks there are; the number here of one of them, which is made if there is none.
 */
int merge_list_benchmarks(struct merge *m, struct error *err);
int merge_benchmark(struct merge *m, int64_t from, int64_t *to, struct error *err);

/* All runs of the file, and what was written about them. */
int merge_runs(struct merge *m, struct error *err);
/* Baselines, roofs, acceptances, self-tests. Within the caller's transaction. */
int merge_names(struct merge *m, struct error *err);

/* Opens "SELECT extra..., columns... FROM t tail", in the order of table_open_insert(). */
int rows_open_select(const struct table *t, struct store *s, const char *const *extra,
                     const char *tail, struct sql_query *q, struct error *err);
/* Opens the insert of what is not there yet: bind the extras, then the object. */
int rows_open_insert_new(const struct table *t, struct store *s, const char *const *extra,
                         struct sql_query *q, struct error *err);
/* Binds columns [first, end) of the row that `from` stands at to the next parameters. */
void rows_copy(struct sql_query *to, const struct sql_query *from, int first, int end);
/* The same for all columns of the table, which begin at `first`: values that reading takes for
 * others (store->odd) as it takes them, all others as they are. */
void rows_copy_table(const struct table *t, struct sql_query *to, const struct sql_query *from,
                     int first);
/* Would reading refuse the row that `q` stands at? Its columns of the table begin at `first`. */
int rows_check(const struct table *t, const struct sql_query *q, int first, struct error *err);
/* Goes on with a hash over columns [first, end). */
uint64_t rows_hash(uint64_t hash, const struct sql_query *q, int first, int end);
/* The same over what rows_copy_table() would bind. */
uint64_t rows_hash_table(const struct table *t, uint64_t hash, const struct sql_query *q,
                         int first);
uint64_t rows_hash_text(uint64_t hash, const char *text); /* NULL is fine */
enum { ROWS_HASH_BEGIN = 0 };

#endif
