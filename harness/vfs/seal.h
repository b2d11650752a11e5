/* SPDX-License-Identifier: MIT */
/*
 * The seal, by which a write-ahead log is known to belong to a file.
 *
 * SQLite finds a log by its name alone. Where a file was replaced, restored or removed, the log of
 * the old one lies beside the new one, and would be written into it, page by page. So a history has
 * one row, the seal, that every transaction gives a new random number, beside the number that it
 * found. The first transaction of a log so names the state that the log goes on from, and a file
 * whose own number is neither that nor one of the log's is another file, or another state of it.
 * Numbers are random, not counted: two copies that went on apart are told from each other.
 */
#ifndef HARNESS_VFS_SEAL_H
#define HARNESS_VFS_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_MARK "harness seal"

enum { SEAL_FILE = 16, SEAL_NUMBER = 8 };

struct seal {
    unsigned char file[SEAL_FILE];
    unsigned char before[SEAL_NUMBER], now[SEAL_NUMBER];
};

/* Is this page (of a table) that of a seal? */
bool seal_read(const unsigned char *page, size_t size, struct seal *seal);
/* Was there none before it? */
bool seal_is_first(const struct seal *seal);

/* Reads `nr` bytes at an offset; false if they are not all there. */
struct seal_source {
    bool (*read)(void *context, void *bytes, size_t nr, int64_t at);
    void *context;
};

/* What a log says of the file beside it. */
enum seal_answer {
    SEAL_NO_LOG,  /* nothing in it was committed */
    SEAL_UNKNOWN, /* it has no seal: an older harness or another program wrote it */
    SEAL_BELONGS, /* it goes on from what the file holds */
    SEAL_FOREIGN, /* it goes on from something else */
};

/* Reads the log until it is known. Where neither the log's own pages nor `main` tell, *first says
 * what it goes on from, *pages how many bytes one has; and SEAL_FOREIGN is the answer: whoever can
 * find the file's seal by its table of contents asks seal_in_log() then. *seal: the file's, where
 * it was found; *at: its page, else 0.
 * Source: sqlite.org/fileformat2.html, 4 (the log). */
enum seal_answer seal_compare(const struct seal_source *log, const struct seal_source *main,
                              struct seal *first, struct seal *seal, uint32_t *at);
/* Is the number one of the log's, or the one that it goes on from? */
bool seal_in_log(const struct seal_source *log, const unsigned char now[SEAL_NUMBER]);

#endif
