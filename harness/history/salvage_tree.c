/* SPDX-License-Identifier: MIT */
/*
 * Trees whose inner pages are lost, built anew from their leaves. An inner page only says which
 * rows are below which page; the leaves say that themselves, and by number and types of their
 * columns to which table they belong. Source: sqlite.org/fileformat2.html, 1.5 (free pages), 1.6
 * (trees), 2.1 (rows).
 */
#include "history/salvage_parts.h"
#include "vfs/page.h"
#include "vfs/page_checksum.h"
#include "vfs/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FAN_OUT = 250, /* children of an inner page; 15 bytes each at most */
    DEPTH_MAX = 8,
    COLUMNS_MAX = 32,
};

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

struct builder {
    int fd;
    bool watched;          /* pages end in a checksum */
    uint32_t pages;        /* of the file, with those that were added */
    uint32_t found;        /* that it had */
    unsigned char *unused; /* a byte a page found: it is on the list of free ones */
    unsigned char *seen;   /* the same: it is an inner page of the tree that is looked at */
    struct tree_list trees;
    ARRAY(struct node) nodes;
};

/* ---- whose a leaf is ---- */

/* SQLite's own: 7 bits a byte, highest first; the ninth has 8. False beyond `end`. */
static bool get_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < 9 && *p < end; i++) {
        unsigned char byte = *(*p)++;
        if (i == 8) {
            *value = *value << 8 | byte;
            return true;
        }
        *value = *value << 7 | (byte & 0x7f);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool type_fits(const struct tree_column *c, uint64_t type)
{
    bool whole = (type >= 1 && type <= 6) || type == 8 || type == 9;

    if (c->is_id)
        return type == 0; /* it is the row's number */
    if (type == 0)
        return !c->not_null;
    switch (c->affinity) {
    case 'I':
        return whole;
    case 'R':
        return whole || type == 7;
    case 'T':
        return type >= 13 && type % 2 == 1;
    default:
        return type >= 12 && type % 2 == 0;
    }
}

/* A row: length, number, then a header with the types of its columns. */
static bool is_row_of(const struct tree *tree, const unsigned char *row, const unsigned char *end,
                      int64_t *number)
{
    uint64_t length, id, header, type;
    size_t nr = 0;

    if (!get_varint(&row, end, &length) || !get_varint(&row, end, &id))
        return false;
    const unsigned char *begin = row;
    if (!get_varint(&row, end, &header) || header > (uint64_t)(end - begin) || header > length)
        return false;
    for (end = begin + header; row < end; nr++)
        if (nr == tree->nr || !get_varint(&row, end, &type) || !type_fits(&tree->columns[nr], type))
            return false;
    *number = (int64_t)id;
    return nr >= tree->fewest && *number > 0;
}

/* Is the page (PAGE_USUAL bytes) one of the tree's leaves, with every row in it? Sets first and
 * last then. */
static bool leaf_is_of(const struct tree *tree, const unsigned char *page, struct node *node)
{
    uint32_t cells = page_get(page + PAGE_CELLS, 2);

    if (page[0] != PAGE_LEAF || cells == 0 || LEAF_CELLS + 2 * cells > PAGE_USUAL)
        return false;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at = page_get(page + LEAF_CELLS + (size_t)2 * i, 2);
        int64_t number;
        if (at >= PAGE_USUAL || !is_row_of(tree, page + at, page + PAGE_USUAL, &number))
            return false;
        if (i > 0 && number <= node->last)
            return false;
        if (i == 0)
            node->first = number;
        node->last = number;
    }
    return true;
}

/* A column that was added later has a default, and is missing in older rows. */
static void read_columns(sqlite3 *db, struct tree *tree)
{
    static const char text[] =
        "SELECT type, \"notnull\", pk, dflt_value FROM pragma_table_info(?1)";
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(stmt, 1, tree->name, -1, SQLITE_STATIC);
    while (tree->nr < COLUMNS_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(stmt, 0);
        tree->columns[tree->nr++] = (struct tree_column) {
            .affinity = type && *type ? *type : 'B',
            .not_null = sqlite3_column_int(stmt, 1) != 0,
            .is_id = sqlite3_column_int(stmt, 2) != 0,
        };
        if (sqlite3_column_type(stmt, 3) == SQLITE_NULL)
            tree->fewest = tree->nr;
    }
    sqlite3_finalize(stmt);
}

/* Appends the tables that have row numbers. */
static void read_trees(sqlite3 *db, struct tree_list *list)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db,
                           "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND "
                           "name NOT LIKE 'sqlite_%' AND sql NOT LIKE '%WITHOUT ROWID%'",
                           -1, &stmt, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        struct tree *tree = array_push(list);
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        snprintf(tree->name, sizeof(tree->name), "%s", name ? name : "");
        tree->root = (uint32_t)sqlite3_column_int64(stmt, 1);
        read_columns(db, tree);
    }
    sqlite3_finalize(stmt);
}

/* ---- pages ---- */

/* SQLite's own: 7 bits a byte, the highest first; beyond 56 bits there are nine, and the last holds
 * 8 of them. */
static size_t put_varint(unsigned char *p, uint64_t value)
{
    size_t nr = 1;

    while (nr < 9 && value >> 7 * nr)
        nr++;
    for (size_t i = nr; i-- > 0;) {
        bool whole = nr == 9 && i == 8;
        p[i] = (unsigned char)(whole ? value : (value & 0x7f) | (i + 1 < nr ? 0x80 : 0));
        value >>= whole ? 8 : 7;
    }
    return nr;
}

/* A page whose checksum does not hold is as good as lost. */
static bool read_page(const struct builder *b, uint32_t page, unsigned char *bytes)
{
    return page >= 1 && page <= b->pages &&
           whole_read(b->fd, bytes, PAGE_USUAL, (off_t)(page - 1) * PAGE_USUAL) == 0 &&
           (!b->watched || page_checksum_holds(bytes, PAGE_USUAL, page));
}

static bool write_page(const struct builder *b, uint32_t page, unsigned char *bytes)
{
    if (b->watched)
        page_checksum_seal(bytes, PAGE_USUAL, page);
    return whole_write(b->fd, bytes, PAGE_USUAL, (off_t)(page - 1) * PAGE_USUAL) == 0;
}

/* ---- is there anything to do? ---- */

/* The nth child, the last included; 0 where the page makes no sense. */
static uint32_t child_of(const unsigned char *page, uint32_t cells, uint32_t nth)
{
    if (nth == cells)
        return page_get(page + INNER_LAST, 4);
    uint32_t at = page_get(page + INNER_CELLS + (size_t)2 * nth, 2);
    return at + 4 <= PAGE_USUAL ? page_get(page + at, 4) : 0;
}

static int type_of(const struct builder *b, uint32_t page)
{
    unsigned char bytes[PAGE_USUAL];

    return page > 1 && read_page(b, page, bytes) ? bytes[0] : 0;
}

/* Are all inner pages there, each once? Lost leaves are no matter: the walk steps over them. */
static bool is_whole(const struct builder *b, uint32_t page, int depth)
{
    unsigned char bytes[PAGE_USUAL];
    uint32_t inner = 0, leaves = 0;

    if (page > b->found || !read_page(b, page, bytes) || depth > DEPTH_MAX || b->seen[page])
        return false;
    if (bytes[0] == PAGE_LEAF)
        return true;
    uint32_t cells = page_get(bytes + PAGE_CELLS, 2);
    if (bytes[0] != PAGE_INNER || INNER_CELLS + 2 * cells > PAGE_USUAL)
        return false;
    b->seen[page] = 1;
    for (uint32_t i = 0; i <= cells; i++) {
        uint32_t child = child_of(bytes, cells, i);
        int type = type_of(b, child);
        inner += type == PAGE_INNER;
        leaves += type == PAGE_LEAF;
        if (type == PAGE_INNER && !is_whole(b, child, depth + 1))
            return false;
    }
    /* Children of one page are of one kind. */
    return inner ? inner == cells + 1 : leaves > 0;
}

/* ---- which leaves are whose ---- */

static void mark_unused(struct builder *b)
{
    unsigned char page[PAGE_USUAL];

    if (!read_page(b, 1, page))
        return;
    uint32_t trunk = page_get(page + HEADER_FREE_FIRST, 4);
    for (uint32_t i = 0; i < b->pages && trunk > 1 && read_page(b, trunk, page); i++) {
        uint32_t nr = page_get(page + 4, 4);
        b->unused[trunk] = 1;
        for (uint32_t k = 0; k < nr && k < PAGE_USUAL / 4 - 2; k++) {
            uint32_t leaf = page_get(page + 8 + (size_t)4 * k, 4);
            if (leaf <= b->found)
                b->unused[leaf] = 1;
        }
        trunk = page_get(page, 4);
    }
}

static int order_nodes(const void *x, const void *y)
{
    const struct node *a = x, *b = y;

    return (a->first > b->first) - (a->first < b->first);
}

/* Ascending, none of them over another: of two, one is a left-over. */
static void collect_leaves(struct builder *b, const struct tree *tree)
{
    unsigned char bytes[PAGE_USUAL];
    size_t kept = 0;

    b->nodes.nr = 0;
    for (uint32_t page = 2; page <= b->found; page++) {
        struct node node = { .page = page };
        if (!b->unused[page] && read_page(b, page, bytes) && leaf_is_of(tree, bytes, &node))
            *array_push(&b->nodes) = node;
    }
    if (b->nodes.nr > 1)
        qsort(b->nodes.items, b->nodes.nr, sizeof(*b->nodes.items), order_nodes);
    for (size_t i = 0; i < b->nodes.nr; i++)
        if (kept == 0 || b->nodes.items[i].first > b->nodes.items[kept - 1].last)
            b->nodes.items[kept++] = b->nodes.items[i];
    b->nodes.nr = kept;
}

/* ---- building ---- */

static void make_inner(const struct builder *b, const struct node *nodes, size_t nr,
                       unsigned char page[PAGE_USUAL])
{
    size_t at = b->watched ? PAGE_USUAL - PAGE_CHECKSUM_BYTES : PAGE_USUAL;

    memset(page, 0, PAGE_USUAL);
    page[0] = PAGE_INNER;
    page_put(page + PAGE_CELLS, (uint32_t)(nr - 1), 2);
    page_put(page + INNER_LAST, nodes[nr - 1].page, 4);
    for (size_t i = 0; i + 1 < nr; i++) {
        unsigned char cell[16];
        page_put(cell, nodes[i].page, 4);
        size_t length = 4 + put_varint(cell + 4, (uint64_t)nodes[i].last);
        at -= length;
        memcpy(page + at, cell, length);
        page_put(page + INNER_CELLS + 2 * i, (uint32_t)at, 2);
    }
    page_put(page + PAGE_CONTENT, (uint32_t)at, 2);
}

/* Puts inner pages over the nodes, at the end of the file, until few enough are left for a root. */
static bool add_level(struct builder *b)
{
    size_t groups = (b->nodes.nr + FAN_OUT - 1) / FAN_OUT;

    for (size_t g = 0; g < groups; g++) {
        unsigned char page[PAGE_USUAL];
        size_t from = g * b->nodes.nr / groups, to = (g + 1) * b->nodes.nr / groups;
        struct node node = { ++b->pages, b->nodes.items[from].first, b->nodes.items[to - 1].last };
        make_inner(b, b->nodes.items + from, to - from, page);
        if (!write_page(b, node.page, page))
            return false;
        b->nodes.items[g] = node; /* from >= g: nothing is lost */
    }
    b->nodes.nr = groups;
    return true;
}

static bool build_tree(struct builder *b, const struct tree *tree)
{
    unsigned char page[PAGE_USUAL];

    while (b->nodes.nr > FAN_OUT)
        if (!add_level(b))
            return false;
    if (b->nodes.nr == 1) { /* a root without rows on both sides is none: the leaf is the root */
        if (!read_page(b, b->nodes.items[0].page, page))
            return false;
    } else {
        make_inner(b, b->nodes.items, b->nodes.nr, page);
    }
    return write_page(b, tree->root, page);
}

/* The first leaf below a page; false where there is none that makes sense. */
static bool first_leaf(const struct builder *b, uint32_t page, unsigned char bytes[PAGE_USUAL])
{
    for (int depth = 0; depth <= DEPTH_MAX && read_page(b, page, bytes); depth++) {
        if (bytes[0] == PAGE_LEAF)
            return true;
        if (bytes[0] != PAGE_INNER)
            return false;
        page = child_of(bytes, page_get(bytes + PAGE_CELLS, 2), 0);
    }
    return false;
}

/* A table of contents of another file may name pages that are somebody else's. */
static void find_foreign(const struct builder *b, struct salvaged *result)
{
    const int most = sizeof(result->foreign) / sizeof(result->foreign[0]);
    unsigned char bytes[PAGE_USUAL];
    struct node node;

    for (size_t i = 0; i < b->trees.nr && result->nr_foreign < most; i++) {
        const struct tree *tree = &b->trees.items[i];
        if (first_leaf(b, tree->root, bytes) &&
            (page_get(bytes + PAGE_CELLS, 2) == 0 || leaf_is_of(tree, bytes, &node)))
            continue;
        snprintf(result->foreign[result->nr_foreign++].name, sizeof(result->foreign[0].name), "%s",
                 tree->name);
    }
}

/* A root where none can be is left to SQLite, which says so. */
static bool needs_rebuilding(const struct builder *b, const struct tree *tree)
{
    memset(b->seen, 0, (size_t)b->found + 1);
    return tree->root > 1 && tree->root <= b->found && !is_whole(b, tree->root, 0);
}

static int rebuild_all_trees(struct builder *b, struct salvaged *result, struct error *err)
{
    unsigned char first[PAGE_USUAL];

    for (size_t i = 0; i < b->trees.nr; i++) {
        const struct tree *tree = &b->trees.items[i];
        if (!needs_rebuilding(b, tree))
            continue;
        collect_leaves(b, tree);
        if (b->nodes.nr == 0)
            continue;
        if (!build_tree(b, tree))
            return error_set(err, "the copy cannot be written: %s", strerror(errno));
        result->trees_rebuilt++;
    }
    if (b->pages == b->found)
        return 0;
    bool known = read_page(b, 1, first);
    page_put(first + HEADER_PAGES, b->pages, 4);
    if (known && write_page(b, 1, first))
        return 0;
    return error_set(err, "the copy cannot be written: %s", strerror(errno));
}

/* Histories have pages of that size, unless somebody has chosen another one and a VACUUM. */
static bool has_usual_pages(struct builder *b)
{
    unsigned char page[PAGE_USUAL];

    if (whole_read(b->fd, page, PAGE_USUAL, 0) == 0)
        b->watched = page[HEADER_RESERVED] == PAGE_CHECKSUM_BYTES;
    return read_page(b, 1, page) && page_get(page + HEADER_PAGE_SIZE, 2) == PAGE_USUAL;
}

static int look_and_rebuild(struct builder *b, sqlite3 *db, struct salvaged *result,
                            struct error *err)
{
    read_trees(db, &b->trees);
    mark_unused(b);
    int rc = rebuild_all_trees(b, result, err);
    if (rc == 0 && result->start_replaced)
        find_foreign(b, result);
    return rc;
}

int salvage_rebuild_trees(sqlite3 *db, const char *copy, struct salvaged *result, struct error *err)
{
    struct builder b = { .fd = open(copy, O_RDWR | O_CLOEXEC) };
    struct stat st;

    if (b.fd < 0 || fstat(b.fd, &st)) {
        if (b.fd >= 0)
            close(b.fd);
        return error_set(err, "%s: %s", copy, strerror(errno));
    }
    b.pages = b.found = (uint32_t)(st.st_size / PAGE_USUAL);
    b.unused = memory_zeroed((size_t)b.found + 1, 1);
    b.seen = memory_zeroed((size_t)b.found + 1, 1);
    int rc = has_usual_pages(&b) ? look_and_rebuild(&b, db, result, err) : 0;
    close(b.fd);
    free(b.unused);
    free(b.seen);
    array_release(&b.trees);
    array_release(&b.nodes);
    return rc;
}
