/* SPDX-License-Identifier: MIT */
/* Inside history/ only: which table a leaf of a tree belongs to. Its rows tell, by number and types
 * of columns. Source: sqlite.org/fileformat2.html, 1.6 (trees), 2.1 (rows). */
#ifndef HARNESS_HISTORY_SALVAGE_LEAF_H
#define HARNESS_HISTORY_SALVAGE_LEAF_H

#include "history/salvage_parts.h"
#include "vfs/page.h"

enum { COLUMNS_MAX = 32 };

struct tree_column {
    char affinity; /* 'I', 'T', 'R', 'B' */
    bool not_null, is_id;
};

struct tree {
    char name[32];
    uint32_t root;
    struct tree_column columns[COLUMNS_MAX];
    size_t nr, fewest; /* columns; rows that are older than a column end before it */
};

/* A page, and the rows below it. */
struct node {
    uint32_t page;
    int64_t first, last;
};

struct tree_list {
    struct tree *items;
    size_t nr, capacity;
};

/* Appends the tables that have row numbers. */
void tree_list_read(sqlite3 *db, struct tree_list *list);

/* Is the page (PAGE_USUAL bytes) one of the tree's leaves, with every row in it? Sets first and
 * last then. */
bool leaf_is_of(const struct tree *tree, const unsigned char *page, struct node *node);

#endif
