/* SPDX-License-Identifier: MIT */
/* Where things stand in SQLite's file, for what looks at one without SQLite.
 * Source: sqlite.org/fileformat2.html, 1.3 (the header) and 1.6 (pages of tables). */
#ifndef HARNESS_VFS_PAGE_H
#define HARNESS_VFS_PAGE_H

#include <stdint.h>

#define PAGE_MAGIC "SQLite format 3" /* with its NUL: what a file begins with */

enum {
    PAGE_USUAL = 4096, /* bytes of a page, where nobody chose another size */
    /* The header: the first bytes of the first page. */
    HEADER_SIZE = 100,
    HEADER_PAGE_SIZE = 16,      /* 2 bytes; 1 stands for 65536 */
    HEADER_RESERVED = 20,       /* 1 byte: bytes at the end of each page that SQLite leaves free */
    HEADER_PAGES = 28,          /* 4 bytes: length of the file in pages */
    HEADER_FREE_FIRST = 32,     /* 4 bytes: first page of the list of free ones */
    HEADER_FREE = 36,           /* 4 bytes: how many those are */
    HEADER_APPLICATION_ID = 68, /* 4 bytes */
    /* Pages of a table: inner ones have pages below them, leaves have rows. */
    PAGE_INNER = 5, /* the first byte */
    PAGE_LEAF = 13,
    PAGE_CELLS = 3,   /* 2 bytes: how many children, but for the last, or rows */
    PAGE_CONTENT = 5, /* 2 bytes: where the first cell begins */
    INNER_LAST = 8,   /* 4 bytes: the last child */
    INNER_CELLS = 12, /* from here on 2 bytes a cell: where it is */
    LEAF_CELLS = 8,   /* the same in a leaf */
};

/* A number of so many bytes, the highest first. */
static inline uint32_t page_get(const unsigned char *p, int bytes)
{
    uint32_t value = 0;

    for (int i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

static inline void page_put(unsigned char *p, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

#endif
