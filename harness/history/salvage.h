/* SPDX-License-Identifier: MIT */
/*
 * What can be read of a damaged history, as a new one.
 *
 * The damaged file and its log are copied first, so they stay as they are. Tables are walked by
 * their row numbers: where a page cannot be read, the next row that can be is searched for. What
 * names alone say is restored from the indices: benchmarks (their key is all they are), machines,
 * builds, and that there was a launch. Rows that no longer fit the schema, belong to lost ones or
 * cannot be decoded are left out, so that the new file is sound: store_verify() has the last word.
 *
 * A page whose checksum does not hold counts as unreadable. What the file defines beyond the tables
 * of a history (triggers, views, columns that compute) is left behind and never runs; reading takes
 * no longer than a file of its size can need.
 *
 * Where inner pages of a table are lost, its leaves get new ones. Where the first page is lost,
 * which says where each table is, that of a new history takes its place; this works for files that
 * were made by one version of harness and never vacuumed.
 */
#ifndef HARNESS_HISTORY_SALVAGE_H
#define HARNESS_HISTORY_SALVAGE_H

#include "base/array.h"
#include "store/store.h"

/* Row numbers that a gap has room for: there may have been fewer rows. */
struct salvaged_span {
    int64_t first, last; /* INT64_MAX: up to the end */
    uint32_t page;       /* whose checksum did not hold; 0: it is damaged in another way */
};
enum { SALVAGED_SPANS = 8 };

struct salvaged_table {
    const char *name;
    int64_t saved;    /* rows in the new file */
    int64_t restored; /* of these, from an index or a name */
    int64_t lost;     /* rows known to have been there; there may have been more */
    bool more;        /* and where the damage lies no number tells how many */
    struct salvaged_span spans[SALVAGED_SPANS]; /* where; the first of them */
    int nr_spans;
};

struct salvaged {
    ARRAY(struct salvaged_table) tables;
    int trees_rebuilt;   /* tables whose inner pages were lost */
    bool start_replaced; /* the first page was lost */
    struct {
        char name[32];
    } foreign[16]; /* and these tables are not where the new one says: they are left out */
    int nr_foreign;
    bool cut_off;    /* the file is shorter than it was */
    int64_t strange; /* tables, triggers, views, indices that harness did not make: left behind */
};

/* Refuses to replace an existing `to`; a salvage that fails leaves none. */
int store_salvage(const char *from, const char *to, struct salvaged *out, struct error *err);
void salvaged_release(struct salvaged *out);

#endif
