/* SPDX-License-Identifier: MIT */
/*
 * Every bit is watched. A layer between SQLite and the file (a VFS) that puts a
 * checksum of each page into its last eight bytes when the page is written into the main file, and
 * compares when it is read. Why and how: docs/decisions/0020-page-checksums.md.
 *
 * SQLite leaves those bytes free where byte 20 of the file says so; that byte is the mark of a
 * watched file. The checksum is XXH64 of the rest of the page with the page's number as seed (a
 * page at the wrong place is damaged, too), lowest byte first. The log and the journal have
 * checksums of SQLite's own, so pages in them are let be: a page gets its sum on its way from the
 * log into the file. Pages keep their size: a VACUUM to another one is not for a watched file.
 */
#ifndef HARNESS_VFS_PAGE_CHECKSUM_H
#define HARNESS_VFS_PAGE_CHECKSUM_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_CHECKSUM_VFS "harness" /* its name, for sqlite3_open_v2() */

enum { PAGE_CHECKSUM_BYTES = 8 }; /* at the end of each page */

/* Makes PAGE_CHECKSUM_VFS known; once or often. It stands before whatever VFS is the default when a
 * file is opened. */
int page_checksum_register(void);
/* Before the first page is written: the new, empty file behind the handle is going to be watched.
 */
int page_checksum_new_file(sqlite3 *db);
/* A file that exists and is not watched is after the next VACUUM through this handle. That must
 * happen in WAL mode, or in a file that nobody else has and nobody misses: rolled back by a journal
 * pages of both kinds would lie side by side. */
int page_checksum_with_vacuum(sqlite3 *db);
/* Is the file that this handle has read from watched? Also true once it has been asked to be. */
bool page_checksum_is_on(sqlite3 *db);
/* Looks at all pages of the main file, whether SQLite needs them or not: calls `found` for each
 * that does not hold, and ends behind the `most`th of these. SQLite's code of what kept it from
 * looking, or SQLITE_OK. */
int page_checksum_scan(sqlite3 *db, size_t most, void (*found)(void *context, uint32_t page),
                       void *context);
/* The page whose checksum did not hold, of the newest SQLITE_IOERR_DATA; 0: none. */
uint32_t page_checksum_damaged_page(sqlite3 *db);

/* For what looks at pages without SQLite. `number` counts from 1. */
bool page_checksum_holds(const unsigned char *page, size_t size, uint32_t number);
void page_checksum_seal(unsigned char *page, size_t size, uint32_t number);

#endif
