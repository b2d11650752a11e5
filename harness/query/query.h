/* SPDX-License-Identifier: MIT */
/*
 * Conditions on runs and benchmarks as people type them, and what of a history fits:
 *
 *     batch >= 4 and (kernel = "gemm/?*" or variant = simd) and not device = "cuda*"
 *     branch = main and started > 2026-11-01
 *
 *     condition = and { "or" and }
 *     and       = not { "and" not }
 *     not       = "not" not | "(" condition ")" | term
 *     term      = field operator value { "," value }
 *     operator  = "=" | "!=" | "<" | "<=" | ">" | ">="
 *     value     = word, or any text between " or ' (a backslash before " ' or \ is left out)
 *
 * A word ends at a space, bracket, comma, quote or operator. Several values: one of them (=), or
 * none of them (!=). Fields:
 *
 *     key kernel variant math device cache fill texts of the benchmark, as globs: * ? [a-z] [!a]
 *     suite label branch machine               texts of the run (machine: its class), as globs
 *     commit                                   the same; a beginning is enough
 *     outcome                                  OK, UNSUPPORTED, WRONG, FAILED
 *     run, id                                  the number of the run
 *     dirty                                    yes or no
 *     started                                  a day, 2026-11-01, UTC: > is after it, >= from it on
 *     batch, seq, m ... any other name         a dim. A benchmark without it fits no test of it
 *
 * Texts and numbers only ever become bound parameters: the SQL is put together from constants.
 */
#ifndef HARNESS_QUERY_QUERY_H
#define HARNESS_QUERY_QUERY_H

#include "base/options.h"
#include "base/strbuf.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QUERY_LENGTH_MAX = 4096, /* bytes of a condition */
    QUERY_TESTS_MAX = 64,
    QUERY_DEPTH_MAX = 32, /* brackets and "not" inside each other */
    QUERY_VALUE_MAX = 255,
};

struct query_binding {
    char *text; /* owned; NULL: it is the number */
    int64_t number;
};

/* A dim that the condition names. Which there are is the history's matter, see query_check(). */
struct query_dim {
    char name[24];
    size_t column;
};

struct query {
    struct strbuf sql; /* of run r, machine m, build b, measurement x; empty: everything fits */
    struct query_binding *bindings;
    size_t nr_bindings, bindings_capacity;
    struct query_dim *dims;
    size_t nr_dims, dims_capacity;
    bool of_benchmarks, of_outcomes, of_runs; /* what it looks at */
};

/* An empty text, or NULL, is fine and fits everything. On -1 *column is where the mistake is, in
 * characters from 1. Release in any case. */
int query_parse(struct query *q, const char *text, size_t *column, struct error *err);
void query_release(struct query *q);
/* Refuses a dim that no benchmark of the history has, naming the nearest field. */
int query_check(const struct query *q, struct store *s, size_t *column, struct error *err);

struct query_page {
    int64_t from;  /* begins with this run; 0: with the newest */
    size_t limit;  /* runs found; 0: all */
    size_t search; /* runs whose measurements are looked at; 0: all */
    int ms;        /* that looking at them takes, at most, but for the last of them; 0: any */
};

struct query_found {
    int64_t *ids; /* newest first; owned */
    size_t nr, capacity;
    int64_t next; /* the run that the next page begins with; 0: this was the last one */
    bool gave_up; /* because of `search` or `ms`: there may be more that fit */
};

/* Finished runs that are no trials (core/record.h) and of which a measurement fits. */
int query_runs(struct store *s, const struct query *q, const struct query_page *page,
               struct query_found *out, struct error *err);
void query_found_release(struct query_found *found);
/* Appends the facts of these runs, in their order, without measurements. An unknown id is an
 * error. */
int query_load_runs(struct store *s, const int64_t *ids, size_t nr, struct records *out,
                    struct error *err);

/* The first of these runs that the history does not have, finished or not; 0: it has all. */
int query_missing_run(struct store *s, const int64_t *ids, size_t nr, int64_t *missing,
                      struct error *err);

/* How many bytes store_load() would come to hold for these runs: what is asked before what a
 * stranger asks for, or a strange history holds, is read. `filter` may be NULL. */
int query_weigh(struct store *s, const int64_t *ids, size_t nr, const struct store_filter *filter,
                int64_t *bytes, struct error *err);

/* Appends the keys of the benchmarks that fit in one of the runs, by key. A condition on nothing
 * but benchmarks is not asked of runs: then it is all benchmarks of the history that fit. */
int query_keys(struct store *s, const struct query *q, const int64_t *run_ids, size_t nr,
               struct string_list *keys, struct error *err);

/* What tells a reader that a history has changed: equal numbers, equal finished runs, names,
 * roofs, acceptances and annotations, and the same runs whose samples became summaries.
 * Measurements of a run in progress do not count. */
struct query_state {
    int64_t newest; /* id of the newest finished run; 0: there is none */
    int64_t runs;   /* finished ones */
    uint64_t digest;
};
int query_state(struct store *s, struct query_state *out, struct error *err);
/* The first number of it alone. */
int query_newest(struct store *s, int64_t *newest, struct error *err);
/* Has any other handle written since the last call on this handle? Reads a counter, no table. */
int query_changed(struct store *s, int64_t *counter, bool *changed, struct error *err);

#endif
