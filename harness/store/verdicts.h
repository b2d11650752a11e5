/* SPDX-License-Identifier: MIT */
/*
 * What was decided, kept beside the facts: comparisons with every verdict and all it rested on,
 * changes that people said are meant to be, and what self-tests showed of this machine. Verdicts
 * are derived, and still kept: so that a new rule can be held against what the old one said.
 * docs/formats/tables.md describes the tables (schema_2.sql).
 *
 * Texts are copied in; what is read out is owned by the lists. Functions return 0 or -1 with a
 * message, as in store/store.h. A history of version 1 that is open for reading has none of this,
 * which is no error.
 */
#ifndef HARNESS_STORE_VERDICTS_H
#define HARNESS_STORE_VERDICTS_H

#include "store/store.h"

/* One row of a comparison. */
struct store_verdict {
    char *key, *machine, *metric; /* machine: class name */
    char *verdict;                /* "regressed" */
    char *evidence;               /* JSON object: all that the rule was given */
    char *result;                 /* JSON object: effect, interval, q, launches, floor ... */
};

struct store_comparison {
    int64_t id;
    char uuid[37];
    int64_t decided_ms;
    int rule;                        /* version of the rule, COMPARE_RULE */
    char version[48];                /* of the harness that decided */
    char *base, *head;               /* what the sides were, for people */
    char *base_commit, *head_commit; /* full hashes; "" if unknown or several */
    char *settings;                  /* JSON object: floor, false-discovery rate, metrics; and the
                                      * commits of a side that has several */
    int exit_status;
    int64_t head_ms; /* when the first of the head's runs began; 0: not known */
    struct store_verdict *items;
    size_t nr, capacity;
};

struct store_comparisons {
    struct store_comparison *items;
    size_t nr, capacity;
};

/* One transaction. Sets c->id, and c->uuid where it is empty. */
int store_comparison_add(struct store *s, struct store_comparison *c, struct error *err);
/* Newest first, by when they were decided, without rows; limit 0 is all. */
int store_comparison_list(struct store *s, size_t limit, struct store_comparisons *out,
                          struct error *err);
/* With its rows. An unknown id is an error. */
int store_comparison_load(struct store *s, int64_t id, struct store_comparison *out,
                          struct error *err);
/* Appends the newest verdict of each key, machine class and metric whose key one of the filters
 * fits (base/text.h): its comparison with that row alone. `metric` may be NULL. */
int store_verdict_newest(struct store *s, const char *const *filters, size_t nr, const char *metric,
                         struct store_comparisons *out, struct error *err);
/* Appends, in the same way, the verdicts on that machine class that were recorded of the head in
 * which an accepted change was seen, before it was accepted. None where it is not known when that
 * was. */
int store_verdict_seen(struct store *s, const struct acceptance *a, const char *machine,
                       struct store_comparisons *out, struct error *err);
/* A zeroed row at the end of `c`. */
struct store_verdict *store_comparison_push(struct store_comparison *c);
void store_comparison_release(struct store_comparison *c);
void store_comparisons_release(struct store_comparisons *list);

/* Changes that are meant to be; owns their texts. */
struct store_acceptances {
    struct acceptance *items;
    size_t nr, capacity;
};

/* All or none, in one transaction. Sets the id of each. */
int store_acceptance_add(struct store *s, struct acceptance *items, size_t nr, struct error *err);
/* Appends those of a machine class and those of any, oldest first; `machine` NULL is all. */
int store_acceptance_list(struct store *s, const char *machine, struct store_acceptances *out,
                          struct error *err);
/* An unknown id is an error. */
int store_acceptance_remove(struct store *s, int64_t id, struct error *err);
void store_acceptances_release(struct store_acceptances *list);

/* What a self-test showed of a machine. */
struct store_selftest {
    int64_t id;
    char machine[96], device[64]; /* class name; label */
    char kind[16];                /* "aa", "power" */
    int64_t tested_ms;
    int rule;
    char *result; /* JSON object, see docs/formats/comparison.md */
};

/* Sets t->id. */
int store_selftest_add(struct store *s, struct store_selftest *t, struct error *err);
/* The newest of a machine class, device and kind. 1: there is none. */
int store_selftest_latest(struct store *s, const char *machine, const char *device,
                          const char *kind, struct store_selftest *out, struct error *err);
void store_selftest_release(struct store_selftest *t);

#endif
