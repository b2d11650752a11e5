/* SPDX-License-Identifier: MIT */
/* Inside query/ only: what a REF is looked for in, and the rules that look. */
#ifndef HARNESS_QUERY_REF_PARTS_H
#define HARNESS_QUERY_REF_PARTS_H

#include "query/ref.h"
#include "store/rows.h"

enum { COMMIT_SHOWN = 7 };

/* What the rules look at: one run. */
struct ref_run {
    int64_t id, started_ms;
    bool finished, dirty;
    int kind; /* enum run_kind; -1: none that is known. A trial is reached by name alone, a profile
               * stands for the newest only where there is no other */
    char *uuid, *label, *class_name, *commit, *branch;
    char *sweep;           /* "": part of none that has a name */
    int64_t shard, shards; /* the 2nd of 4 of it; 0: which is not known */
    char *plan;            /* by which it was divided; "": that is not known */
    bool taken;            /* it is one of the parts that were found */
    bool excluded;         /* by the scope */
    bool repeated;         /* a part of a sweep that one which is excluded measured again */
    bool left_over;        /* and in no whole sweep of its own */
};

struct ref_lookup {
    struct store *store;
    const char *name; /* what is looked for, without "rule:" */
    const struct ref_scope *scope;
    const char *class_name;     /* of the scope's, the one that is asked now; NULL: all of them */
    size_t first;               /* of `out`, where its runs begin */
    ARRAY(struct ref_run) runs; /* newest first */
    struct ref_runs *out;
    bool is_baseline; /* there is one of that name, whether or not the scope takes its runs */
};

typedef bool ref_match_fn(const struct ref_run *c, const char *name);

struct ref_rule {
    const char *name;
    int (*find)(struct ref_lookup *l, struct error *err); /* 1 found, 0 not, -1 error */
    ref_match_fn *matches; /* what it looks for; NULL: not by the look of the run */
};

/* In the order in which they are asked. */
extern const struct ref_rule ref_rules[];
extern const int ref_nr_rules;

/* Marks what the scope excludes, parts of a sweep that were measured again by such a run, and which
 * of these are no whole sweep, as after a requeue: what is left of an excluded sweep is no other
 * one. Anew wherever the scope changes. */
void ref_mark_excluded(struct ref_lookup *l);

/* Does the scope take runs of that machine class? */
bool ref_takes_class(const struct ref_scope *scope, const char *class_name);
bool ref_is_among(const int64_t *ids, size_t nr, int64_t id);
/* Does `text` begin with `prefix`? Letters of either case. */
bool ref_starts_with(const char *text, const char *prefix);

#endif
