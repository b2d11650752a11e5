/* SPDX-License-Identifier: MIT */
#include "vfs/watch_log.h"

#include "base/memory.h"
#include "vfs/page.h"
#include "vfs/sparse.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOG_HEADER = 32,
    LOG_PAGE_SIZE = 8, /* 4 bytes */
    LOG_SALTS = 16,    /* 8 bytes, the same in each frame */
    LOG_SUM = 24,      /* 8 bytes, over what is before them */
    FRAME_HEADER = 24,
    FRAME_COMMIT = 4, /* 4 bytes: not 0 in the last frame of a transaction */
    FRAME_SALTS = 8,
    FRAME_SUM = 16,
    FRAME_SUMMED = 8,       /* of the header; then the page */
    LOG_MAGIC = 0x377f0682, /* or one more: sums are of big-endian words */
    PAGE_MOST = 65536,
};

struct log {
    int fd;
    unsigned char header[LOG_HEADER];
    uint32_t page;
    bool big_endian;
    uint32_t sum[2];
    unsigned char *frame;
};

static uint32_t word_at(const struct log *log, const unsigned char *p)
{
    uint32_t word = page_get(p, 4);

    return log->big_endian ? word : __builtin_bswap32(word);
}

static void add_to_sum(struct log *log, const unsigned char *bytes, size_t length)
{
    for (const unsigned char *end = bytes + length; bytes < end; bytes += 8) {
        log->sum[0] += word_at(log, bytes) + log->sum[1];
        log->sum[1] += word_at(log, bytes + 4) + log->sum[0];
    }
}

static bool sum_is(const struct log *log, const unsigned char *p)
{
    return page_get(p, 4) == log->sum[0] && page_get(p + 4, 4) == log->sum[1];
}

/* False: no log that SQLite would take anything of. */
static bool read_log_header(struct log *log)
{
    if (pread(log->fd, log->header, LOG_HEADER, 0) != LOG_HEADER)
        return false;
    uint32_t magic = page_get(log->header, 4);
    log->page = page_get(log->header + LOG_PAGE_SIZE, 4);
    log->big_endian = magic & 1;
    add_to_sum(log, log->header, LOG_SUM);
    return (magic & ~1u) == LOG_MAGIC && log->page >= 512 && log->page <= PAGE_MOST &&
           (log->page & (log->page - 1)) == 0 && sum_is(log, log->header + LOG_SUM);
}

static bool read_frame(struct log *log, int64_t nr)
{
    size_t length = FRAME_HEADER + (size_t)log->page;
    off_t at = LOG_HEADER + (off_t)nr * (off_t)length;

    return pread(log->fd, log->frame, length, at) == (ssize_t)length;
}

/* A damaged header costs the whole log; its frames still tell their marks. */
static bool begin_without_header(struct log *log)
{
    unsigned char first[FRAME_HEADER];

    if (pread(log->fd, first, FRAME_HEADER, LOG_HEADER) != FRAME_HEADER)
        return false;
    log->page = PAGE_USUAL;
    memcpy(log->header + LOG_SALTS, first + FRAME_SALTS, 8);
    return true;
}

/* The first frame from `nr` on that is not all in a hole: nothing of a log lies in one. */
static int64_t behind_hole(const struct log *log, int64_t nr)
{
    off_t length = FRAME_HEADER + (off_t)log->page, at = LOG_HEADER + (off_t)nr * length;
    off_t content = sparse_content(log->fd, at);

    if (content < 0)
        return INT64_MAX / length - 1; /* behind the end */
    return content > at ? (content - LOG_HEADER) / length : nr;
}

struct log_state {
    int64_t sound;   /* frames whose checksums hold, from the first on */
    int64_t dropped; /* frames of the same log from there on: complete, with its marks */
    int64_t commits; /* transactions that end in these */
};

static void read_frames(struct log *log, bool sound, struct log_state *state)
{
    log->frame = memory_zeroed(FRAME_HEADER + (size_t)log->page, 1);
    for (int64_t nr = 0; read_frame(log, nr); nr = sound ? nr + 1 : behind_hole(log, nr + 1)) {
        bool ours = memcmp(log->frame + FRAME_SALTS, log->header + LOG_SALTS, 8) == 0;
        if (sound) {
            add_to_sum(log, log->frame, FRAME_SUMMED);
            add_to_sum(log, log->frame + FRAME_HEADER, log->page);
            sound = ours && sum_is(log, log->frame + FRAME_SUM);
        }
        state->sound += sound;
        state->dropped += !sound && ours;
        state->commits += !sound && ours && page_get(log->frame + FRAME_COMMIT, 4) != 0;
    }
    free(log->frame);
}

/* 0 frames for a file that is absent or no log. -1 if it cannot be read. */
static int look_into_log(const char *path, struct log_state *state)
{
    struct log log = { .fd = open(path, O_RDONLY | O_CLOEXEC) };

    *state = (struct log_state) { 0 };
    if (log.fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (read_log_header(&log))
        read_frames(&log, true, state);
    else if (begin_without_header(&log))
        read_frames(&log, false, state);
    close(log.fd);
    return 0;
}

/* ---- keeping it ---- */

enum { LOOKS = 4, BETWEEN_LOOKS_MS = 5, NAMES = 100 };

/* A frame that is being written looks damaged for a moment. What was never committed, and lies
 * behind because a writer was killed, is no loss. */
static bool is_cut(const char *log, struct log_state *state)
{
    for (int i = 0; i < LOOKS; i++) {
        if (i > 0)
            sqlite3_sleep(BETWEEN_LOOKS_MS);
        if (look_into_log(log, state) || state->commits == 0)
            return false;
    }
    return true;
}

static bool copy_all(int from, int to)
{
    struct stat st;

    return fstat(from, &st) == 0 && sparse_copy(from, to, st.st_size) == 0 && fsync(to) == 0;
}

/* A log that goes on behind its damage has the header that it had. */
static bool is_copy_of(const char *copy, int log)
{
    unsigned char a[LOG_HEADER], b[LOG_HEADER];
    int fd = open(copy, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && pread(fd, a, LOG_HEADER, 0) == LOG_HEADER &&
                pread(log, b, LOG_HEADER, 0) == LOG_HEADER && memcmp(a, b, LOG_HEADER) == 0;

    if (fd >= 0)
        close(fd);
    return same;
}

enum kept { NOT_KEPT, KEPT, KEPT_BEFORE };

static enum kept keep_copy(const char *log, struct strbuf *name)
{
    int from = open(log, O_RDONLY | O_CLOEXEC), to = -1;
    enum kept kept = NOT_KEPT;

    for (int i = 1; from >= 0 && to < 0 && i <= NAMES; i++) {
        strbuf_clear(name);
        strbuf_addf(name, "%s.damaged.%d", log, i);
        if (is_copy_of(name->data, from)) {
            kept = KEPT_BEFORE;
            break;
        }
        to = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (to < 0 && errno != EEXIST)
            break;
    }
    if (to >= 0 && copy_all(from, to))
        kept = KEPT;
    if (to >= 0)
        close(to);
    if (to >= 0 && kept != KEPT)
        unlink(name->data);
    if (from >= 0)
        close(from);
    return kept;
}

void watch_log_keep(const char *path, struct strbuf *note)
{
    struct strbuf log, name;
    struct log_state state;

    strbuf_init(&log);
    strbuf_init(&name);
    strbuf_addf(&log, "%s-wal", path);
    enum kept kept = is_cut(log.data, &state) ? keep_copy(log.data, &name) : KEPT_BEFORE;
    if (kept != KEPT_BEFORE)
        strbuf_addf(note,
                    "%s%s: its log is damaged behind %" PRId64
                    " pages (the power went, or a bit "
                    "changed), so the last %" PRId64 " transaction%s of it %s lost",
                    note->length ? "; " : "", path, state.sound, state.commits,
                    state.commits == 1 ? "" : "s", state.commits == 1 ? "is" : "are");
    if (kept == KEPT)
        strbuf_addf(note, "; the log was kept as %s", name.data);
    strbuf_release(&log);
    strbuf_release(&name);
}
