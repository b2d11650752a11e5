/* SPDX-License-Identifier: MIT */
#include "vfs/seal.h"

#include "base/memory.h"
#include "vfs/page.h"

#include <stdlib.h>
#include <string.h>

/* ---- one page ---- */

/* The one row of the one cell: its length, its number, the header (its own length, NULL for the
 * row's number, a text, three blobs), the values. Serial types: 12 + 2 n is a blob of n bytes,
 * 13 + 2 n a text. */
enum { MARK = sizeof(SEAL_MARK) - 1, VALUES = MARK + SEAL_FILE + 2 * SEAL_NUMBER };
static const unsigned char row_start[] = {
    6 + VALUES,           1, 6, 0, 13 + 2 * MARK, 12 + 2 * SEAL_FILE, 12 + 2 * SEAL_NUMBER,
    12 + 2 * SEAL_NUMBER,
};
enum { ROW = sizeof(row_start) + VALUES };

bool seal_read(const unsigned char *page, size_t size, struct seal *seal)
{
    if (size < 512 || page[0] != PAGE_LEAF || page_get(page + PAGE_CELLS, 2) != 1)
        return false;
    size_t at = page_get(page + LEAF_CELLS, 2);
    if (at + ROW > size || memcmp(page + at, row_start, sizeof(row_start)) != 0)
        return false;
    const unsigned char *p = page + at + sizeof(row_start);
    if (memcmp(p, SEAL_MARK, MARK) != 0)
        return false;
    memcpy(seal->file, p + MARK, SEAL_FILE);
    memcpy(seal->before, p + MARK + SEAL_FILE, SEAL_NUMBER);
    memcpy(seal->now, p + MARK + SEAL_FILE + SEAL_NUMBER, SEAL_NUMBER);
    return true;
}

bool seal_is_first(const struct seal *seal)
{
    static const unsigned char none[SEAL_NUMBER];

    return memcmp(seal->before, none, SEAL_NUMBER) == 0;
}

/* ---- a log: a header, then pages with a header each ---- */

enum {
    LOG_HEADER = 32,
    LOG_PAGE_SIZE = 8, /* 4 bytes */
    LOG_SALTS = 16,    /* 8 bytes, the same in the header of each page that counts */
    LOG_SUMS = 24,     /* 8 bytes: of the header so far */
    FRAME_HEADER = 24,
    FRAME_COMMIT = 4, /* 4 bytes: not 0 in the last page of a transaction */
    FRAME_SALTS = 8,
    FRAME_SUMS = 16, /* of all so far but salts and sums */
};
#define LOG_MAGIC 0x377f0682U /* + 1: the sums are of numbers whose highest byte comes first */

struct walk {
    const struct seal_source *log;
    unsigned char header[LOG_HEADER];
    unsigned char *frame; /* with its header */
    size_t page_size;
    uint32_t sums[2];
    int64_t at;
};

static uint32_t read_seal_word(const unsigned char *p, bool highest_first)
{
    return highest_first ? page_get(p, 4)
                         : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add_sums(struct walk *w, const unsigned char *bytes, size_t nr)
{
    bool highest_first = w->header[3] & 1;

    for (size_t i = 0; i < nr; i += 8) {
        w->sums[0] += read_seal_word(bytes + i, highest_first) + w->sums[1];
        w->sums[1] += read_seal_word(bytes + i + 4, highest_first) + w->sums[0];
    }
}

static bool sums_are(const struct walk *w, const unsigned char *p)
{
    return page_get(p, 4) == w->sums[0] && page_get(p + 4, 4) == w->sums[1];
}

static bool walk_begin(struct walk *w, const struct seal_source *log)
{
    *w = (struct walk) { .log = log, .at = LOG_HEADER };
    if (!log->read(log->context, w->header, LOG_HEADER, 0) ||
        (page_get(w->header, 4) & ~1U) != LOG_MAGIC)
        return false;
    w->page_size = page_get(w->header + LOG_PAGE_SIZE, 4);
    if (w->page_size < 512 || w->page_size > 65536 || (w->page_size & (w->page_size - 1)))
        return false;
    add_sums(w, w->header, LOG_SUMS);
    if (!sums_are(w, w->header + LOG_SUMS))
        return false;
    w->frame = memory_zeroed(FRAME_HEADER + w->page_size, 1);
    return true;
}

/* The next page that counts. */
static bool walk_next(struct walk *w)
{
    size_t size = FRAME_HEADER + w->page_size;

    if (!w->log->read(w->log->context, w->frame, size, w->at) ||
        memcmp(w->frame + FRAME_SALTS, w->header + LOG_SALTS, 8) != 0)
        return false;
    add_sums(w, w->frame, FRAME_SALTS);
    add_sums(w, w->frame + FRAME_HEADER, w->page_size);
    w->at += (int64_t)size;
    return sums_are(w, w->frame + FRAME_SUMS);
}

/* The next transaction that was committed. *has says whether it has a seal, *page where. */
static bool walk_commit(struct walk *w, struct seal *seal, uint32_t *page, bool *has)
{
    struct seal found;

    *has = false;
    while (walk_next(w)) {
        if (seal_read(w->frame + FRAME_HEADER, w->page_size, &found)) {
            *has = true;
            *seal = found;
            *page = page_get(w->frame, 4);
        }
        if (page_get(w->frame + FRAME_COMMIT, 4) != 0)
            return true;
    }
    return false;
}

static bool read_at(const struct seal_source *main, uint32_t page, size_t size, struct seal *seal)
{
    unsigned char *bytes = memory_zeroed(size, 1);
    bool found = page > 0 &&
                 main->read(main->context, bytes, size, (int64_t)(page - 1) * (int64_t)size) &&
                 seal_read(bytes, size, seal);

    free(bytes);
    return found;
}

static bool same_number(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, SEAL_NUMBER) == 0;
}

enum seal_answer seal_compare(const struct seal_source *log, const struct seal_source *main,
                              struct seal *first, struct seal *seal, uint32_t *at)
{
    struct seal committed;
    struct walk w;
    enum seal_answer answer = SEAL_NO_LOG;
    uint32_t page, last = 0;
    bool has;

    *at = 0;
    if (!walk_begin(&w, log))
        return SEAL_NO_LOG;
    while (answer != SEAL_BELONGS && walk_commit(&w, &committed, &page, &has)) {
        if (!has) {
            answer = answer == SEAL_FOREIGN ? SEAL_FOREIGN : SEAL_UNKNOWN;
            continue;
        }
        if (answer != SEAL_FOREIGN)
            *first = committed;
        answer = SEAL_FOREIGN;
        /* VACUUM moves it: the file's may still be where it was, or already where it is. */
        if (page != last && *at == 0 && read_at(main, page, w.page_size, seal))
            *at = page;
        last = page;
        if (*at && (same_number(seal->now, first->before) || same_number(seal->now, committed.now)))
            answer = SEAL_BELONGS;
    }
    free(w.frame);
    if (answer == SEAL_FOREIGN && *at && seal_in_log(log, seal->now))
        answer = SEAL_BELONGS; /* found late: its number may be an early one of the log */
    return answer;
}

bool seal_in_log(const struct seal_source *log, const unsigned char now[SEAL_NUMBER])
{
    struct seal seal;
    struct walk w;
    uint32_t page;
    bool has, known = false, any = false;

    if (!walk_begin(&w, log))
        return false;
    while (!known && walk_commit(&w, &seal, &page, &has)) {
        if (!has)
            continue;
        known = same_number(now, seal.now) || (!any && same_number(now, seal.before));
        any = true;
    }
    free(w.frame);
    return known;
}
