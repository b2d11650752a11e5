/* SPDX-License-Identifier: MIT */
/*
 * Trees whose inner pages are lost, built anew from their leaves. An inner page only says which
 * rows are below which page; the leaves say that themselves. Which table a leaf belongs to shows
 * in its first row: number and types of its columns. Source: sqlite.org/fileformat2.html, 1.5
 * (free pages), 1.6 (trees), 2.1 (rows).
 */
#include "store/salvage_leaf.h"

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
    HEADER_PAGES = 28,
    HEADER_FREE = 32,
};

struct builder {
    int fd;
    uint32_t pages;
    unsigned char *unused; /* a byte a page: it is on the list of free ones */
    struct tree_list trees;
    ARRAY(struct node) nodes;
};

static void put(unsigned char *p, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

/* Of a row number, which is never negative here: 9 bytes hold 63 bits of it in 7 bits each. */
static size_t put_varint(unsigned char *p, uint64_t value)
{
    unsigned char reversed[10];
    size_t nr = 0;

    do {
        reversed[nr] = (unsigned char)((value & 0x7f) | (nr ? 0x80 : 0));
        value >>= 7;
        nr++;
    } while (value && nr < 9);
    for (size_t i = 0; i < nr; i++)
        p[i] = reversed[nr - 1 - i];
    return nr;
}

static bool read_page(const struct builder *b, uint32_t page, unsigned char *bytes)
{
    return page >= 1 && page <= b->pages &&
           pread(b->fd, bytes, LEAF_PAGE, (off_t)(page - 1) * LEAF_PAGE) == LEAF_PAGE;
}

static bool write_page(const struct builder *b, uint32_t page, const unsigned char *bytes)
{
    return pwrite(b->fd, bytes, LEAF_PAGE, (off_t)(page - 1) * LEAF_PAGE) == LEAF_PAGE;
}

/* ---- is there anything to do? ---- */

/* The nth child, the last included; 0 where the page makes no sense. */
static uint32_t child_of(const unsigned char *page, uint32_t cells, uint32_t nth)
{
    if (nth == cells)
        return leaf_number(page + 8, 4);
    uint32_t at = leaf_number(page + INNER_HEADER + (size_t)2 * nth, 2);
    return at + 4 <= LEAF_PAGE ? leaf_number(page + at, 4) : 0;
}

static int type_of(const struct builder *b, uint32_t page)
{
    unsigned char bytes[LEAF_PAGE];

    return page > 1 && read_page(b, page, bytes) ? bytes[0] : 0;
}

/* Are all inner pages there? Lost leaves are no matter: the walk steps over them. */
static bool is_whole(const struct builder *b, uint32_t page, int depth)
{
    unsigned char bytes[LEAF_PAGE];
    uint32_t inner = 0, leaves = 0;

    if (!read_page(b, page, bytes) || depth > DEPTH_MAX)
        return false;
    if (bytes[0] == TYPE_LEAF)
        return true;
    uint32_t cells = leaf_number(bytes + 3, 2);
    if (bytes[0] != TYPE_INNER || INNER_HEADER + 2 * cells > LEAF_PAGE)
        return false;
    for (uint32_t i = 0; i <= cells; i++) {
        uint32_t child = child_of(bytes, cells, i);
        int type = type_of(b, child);
        inner += type == TYPE_INNER;
        leaves += type == TYPE_LEAF;
        if (type == TYPE_INNER && !is_whole(b, child, depth + 1))
            return false;
    }
    /* Children of one page are of one kind. */
    return inner ? inner == cells + 1 : leaves > 0;
}

/* ---- which leaves are whose ---- */

static void mark_unused(struct builder *b)
{
    unsigned char page[LEAF_PAGE];

    if (!read_page(b, 1, page))
        return;
    uint32_t trunk = leaf_number(page + HEADER_FREE, 4);
    for (uint32_t i = 0; i < b->pages && trunk > 1 && read_page(b, trunk, page); i++) {
        uint32_t nr = leaf_number(page + 4, 4);
        b->unused[trunk] = 1;
        for (uint32_t k = 0; k < nr && k < LEAF_PAGE / 4 - 2; k++) {
            uint32_t leaf = leaf_number(page + 8 + (size_t)4 * k, 4);
            if (leaf <= b->pages)
                b->unused[leaf] = 1;
        }
        trunk = leaf_number(page, 4);
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
    unsigned char bytes[LEAF_PAGE];
    size_t kept = 0;

    b->nodes.nr = 0;
    for (uint32_t page = 2; page <= b->pages; page++) {
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

static void make_inner(const struct node *nodes, size_t nr, unsigned char page[LEAF_PAGE])
{
    size_t at = LEAF_PAGE;

    memset(page, 0, LEAF_PAGE);
    page[0] = TYPE_INNER;
    put(page + 3, (uint32_t)(nr - 1), 2);
    put(page + 8, nodes[nr - 1].page, 4);
    for (size_t i = 0; i + 1 < nr; i++) {
        unsigned char cell[16];
        put(cell, nodes[i].page, 4);
        size_t length = 4 + put_varint(cell + 4, (uint64_t)nodes[i].last);
        at -= length;
        memcpy(page + at, cell, length);
        put(page + INNER_HEADER + 2 * i, (uint32_t)at, 2);
    }
    put(page + 5, (uint32_t)at, 2);
}

/* Puts inner pages over the nodes, at the end of the file, until few enough are left for a root. */
static bool add_level(struct builder *b)
{
    size_t groups = (b->nodes.nr + FAN_OUT - 1) / FAN_OUT;

    for (size_t g = 0; g < groups; g++) {
        unsigned char page[LEAF_PAGE];
        size_t from = g * b->nodes.nr / groups, to = (g + 1) * b->nodes.nr / groups;
        struct node node = { ++b->pages, b->nodes.items[from].first, b->nodes.items[to - 1].last };
        make_inner(b->nodes.items + from, to - from, page);
        if (!write_page(b, node.page, page))
            return false;
        b->nodes.items[g] = node; /* from >= g: nothing is lost */
    }
    b->nodes.nr = groups;
    return true;
}

static bool build(struct builder *b, const struct tree *tree)
{
    unsigned char page[LEAF_PAGE];

    while (b->nodes.nr > FAN_OUT)
        if (!add_level(b))
            return false;
    if (b->nodes.nr == 1) { /* a root without rows on both sides is none: the leaf is the root */
        if (!read_page(b, b->nodes.items[0].page, page))
            return false;
    } else {
        make_inner(b->nodes.items, b->nodes.nr, page);
    }
    return write_page(b, tree->root, page);
}

/* The first leaf below a page; false where there is none that makes sense. */
static bool first_leaf(const struct builder *b, uint32_t page, unsigned char bytes[LEAF_PAGE])
{
    for (int depth = 0; depth <= DEPTH_MAX && read_page(b, page, bytes); depth++) {
        if (bytes[0] == TYPE_LEAF)
            return true;
        if (bytes[0] != TYPE_INNER)
            return false;
        page = child_of(bytes, leaf_number(bytes + 3, 2), 0);
    }
    return false;
}

/* A table of contents of another file may name pages that are somebody else's. */
static void find_foreign(const struct builder *b, struct salvaged *result)
{
    const int most = sizeof(result->foreign) / sizeof(result->foreign[0]);
    unsigned char bytes[LEAF_PAGE];
    struct node node;

    for (size_t i = 0; i < b->trees.nr && result->nr_foreign < most; i++) {
        const struct tree *tree = &b->trees.items[i];
        bool empty = first_leaf(b, tree->root, bytes) && leaf_number(bytes + 3, 2) == 0;
        if (empty || leaf_is_of(tree, bytes, &node))
            continue;
        snprintf(result->foreign[result->nr_foreign++].name, sizeof(result->foreign[0].name), "%s",
                 tree->name);
    }
}

static int rebuild(struct builder *b, struct salvaged *result, struct error *err)
{
    unsigned char length[4];
    uint32_t before = b->pages;

    for (size_t i = 0; i < b->trees.nr; i++) {
        const struct tree *tree = &b->trees.items[i];
        if (is_whole(b, tree->root, 0))
            continue;
        collect_leaves(b, tree);
        if (b->nodes.nr == 0)
            continue;
        if (!build(b, tree))
            return error_set(err, "the copy cannot be written: %s", strerror(errno));
        result->trees_rebuilt++;
    }
    if (b->pages == before)
        return 0;
    put(length, b->pages, 4);
    if (pwrite(b->fd, length, sizeof(length), HEADER_PAGES) == (ssize_t)sizeof(length))
        return 0;
    return error_set(err, "the copy cannot be written: %s", strerror(errno));
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
    b.pages = (uint32_t)(st.st_size / LEAF_PAGE);
    b.unused = memory_zeroed((size_t)b.pages + 1, 1);
    tree_list_read(db, &b.trees);
    mark_unused(&b);
    int rc = rebuild(&b, result, err);
    if (rc == 0 && result->start_replaced)
        find_foreign(&b, result);
    close(b.fd);
    free(b.unused);
    array_release(&b.trees);
    array_release(&b.nodes);
    return rc;
}
