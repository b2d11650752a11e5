/* SPDX-License-Identifier: MIT */
/* The parts of the overview, each made by itself; overview.h is for everyone else. */
#ifndef HARNESS_OVERVIEW_OVERVIEW_PARTS_H
#define HARNESS_OVERVIEW_OVERVIEW_PARTS_H

#include "metrics/run_rows.h"
#include "overview/overview.h"

/* What the parts look things up in. */
struct overview_making {
    const struct overview_input *input;
    const struct run *head;        /* the newest of its runs */
    int64_t head_began_ms;         /* start of the first of them */
    struct run_rows rows;          /* of the head, its runs pooled */
    const struct run_row **by_key; /* the same by key; owned */
    const struct trend **trends;   /* of the head's machine, by key; owned */
    size_t nr_trends;
    struct overview *out;
};

/* Fills what the others look in, of m->input, for m->head. */
void overview_index(struct overview_making *m);
/* NULL where there is none. */
const struct run_row *overview_row_of(const struct overview_making *m, const char *key);
const struct trend *overview_trend_of(const struct overview_making *m, const char *key);

/* "; the most gemm/linear simd batch=4, by 13.1 %", of what stands slower over the history. */
void overview_say_slowest(const struct overview_making *m, struct strbuf *out);
/* Benchmarks of the head that stand slower: by a step, or by drift, that nobody accepted. */
size_t overview_count_slower(const struct overview_making *m);

void overview_add_scores(struct overview_making *m);
void overview_find_change(struct overview_making *m);
void overview_add_health(struct overview_making *m);

#endif
