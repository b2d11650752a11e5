/* SPDX-License-Identifier: MIT */
/* A copy of a damaged file, mended as far as SQLite needs it to open it. */
#include "base/file.h"
#include "base/memory.h"
#include "history/salvage_parts.h"
#include "history/temporary.h"
#include "store/place.h"
#include "store/schema.h"
#include "store/untrusted.h"
#include "vfs/page.h"
#include "vfs/page_checksum.h"
#include "vfs/sparse.h"
#include "vfs/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_MOST = 65536,
    GROWTH_MOST = 64, /* a file is not believed to have been this many times longer */
};

/* ---- copying ---- */

static int copy_open(int from, int to)
{
    struct stat st;

    if (fstat(from, &st))
        return -1;
    int64_t most = untrusted_length_most(&st);
    return sparse_copy(from, to, st.st_size < most ? st.st_size : (off_t)most);
}

/* `flags`: whether the file is there already. */
static int copy_file(const char *from, const char *to, int flags, struct error *err)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return error_set(err, "%s: cannot be read: %s", from, strerror(errno));
    int out = open(to, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    int rc = out < 0 ? -1 : copy_open(in, out);
    int reason = errno;
    close(in);
    if (out >= 0 && close(out) && rc == 0) {
        rc = -1;
        reason = errno;
    }
    return rc ? error_set(err, "%s: cannot copy %s: %s", to, from, strerror(reason)) : 0;
}

static void set_suffixed_path(const char *path, const char *suffix, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_addf(out, "%s%s", path, suffix);
}

static int copy_with_log(const char *from, const char *copy, struct error *err)
{
    struct strbuf log, log_copy;
    char *real = place_true_path(from);

    strbuf_init(&log);
    strbuf_init(&log_copy);
    set_suffixed_path(real, "-wal", &log);
    set_suffixed_path(copy, "-wal", &log_copy);
    int rc = copy_file(from, copy, 0, err);
    if (rc == 0 && place_has_log(real) && !place_log_is_foreign(real))
        rc = copy_file(log.data, log_copy.data, O_CREAT | O_EXCL, err);
    free(real);
    strbuf_release(&log);
    strbuf_release(&log_copy);
    return rc;
}

int64_t salvage_size(const char *copy)
{
    static const char *const suffixes[] = { "", "-wal" };
    struct strbuf name;
    int64_t size = 0;
    struct stat st;

    strbuf_init(&name);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        set_suffixed_path(copy, suffixes[i], &name);
        if (stat(name.data, &st) == 0)
            size += untrusted_bytes(&st);
    }
    strbuf_release(&name);
    return size;
}

/* ---- mending ---- */

static bool has_magic(const unsigned char *header)
{
    return memcmp(header, PAGE_MAGIC, sizeof(PAGE_MAGIC)) == 0;
}

static size_t page_size_of(const unsigned char *header)
{
    uint32_t size = page_get(header + HEADER_PAGE_SIZE, 2);

    if (size == 1)
        size = 65536;
    bool sensible = size >= 512 && (size & (size - 1)) == 0;
    return has_magic(header) && sensible ? size : PAGE_USUAL;
}

/* The first page, `size` bytes of it; one that is damaged stays so. */
static int write_first(int fd, unsigned char *first, size_t size, bool seal)
{
    if (seal)
        page_checksum_seal(first, size, 1);
    return whole_write(fd, first, size, 0);
}

/* Fills the last page up with zeros. A file that was cut off gets zeros up to its former length, so
 * that no page is named that is not there; unless that length is nonsense: then it gets the true
 * one. */
static int mend_length(int fd, off_t size, unsigned char *first, struct salvaged *result)
{
    if (whole_read(fd, first, HEADER_SIZE, 0))
        return -1;
    size_t page = page_size_of(first), pages = ((size_t)size + page - 1) / page;
    size_t named = has_magic(first) ? page_get(first + HEADER_PAGES, 4) : 0;
    result->cut_off = named > pages;
    if (result->cut_off && named <= GROWTH_MOST * (pages + GROWTH_MOST))
        pages = named;
    if (ftruncate(fd, (off_t)(pages * page)) || whole_read(fd, first, page, 0))
        return -1;
    if (pages >= named)
        return 0;
    bool seal = page_checksum_holds(first, page, 1);
    page_put(first + HEADER_PAGES, (uint32_t)pages, 4);
    page_put(first + HEADER_FREE_FIRST, 0, 4); /* may lie behind the end */
    page_put(first + HEADER_FREE, 0, 4);
    return write_first(fd, first, page, seal);
}

/* Does any page but the first end in its checksum? Then all did. */
static bool was_watched(int fd)
{
    unsigned char page[PAGE_USUAL];

    for (uint32_t nr = 2; whole_read(fd, page, PAGE_USUAL, (off_t)(nr - 1) * PAGE_USUAL) == 0; nr++)
        if (page_checksum_holds(page, PAGE_USUAL, nr))
            return true;
    return false;
}

int salvage_trust_start(const char *copy, struct error *err)
{
    unsigned char first[PAGE_USUAL];
    int fd = open(copy, O_RDWR | O_CLOEXEC);
    int rc = fd < 0 ? -1 : whole_read(fd, first, PAGE_USUAL, 0);

    if (rc == 0 && has_magic(first) && was_watched(fd)) {
        first[HEADER_RESERVED] = PAGE_CHECKSUM_BYTES;
        rc = write_first(fd, first, PAGE_USUAL, true);
    }
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return rc ? error_set(err, "%s: cannot be mended: %s", copy, strerror(reason)) : 0;
}

int salvage_copy(const char *from, const char *copy, struct salvaged *result, struct error *err)
{
    struct stat st;

    if (copy_with_log(from, copy, err))
        return -1;
    int fd = open(copy, O_RDWR | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fstat(fd, &st);
    if (rc == 0 && st.st_size < PAGE_USUAL) {
        close(fd);
        return error_set(err, "%s: has not even one page; nothing can be salvaged", from);
    }
    unsigned char *page = memory_zeroed(PAGE_MOST, 1);
    if (rc == 0)
        rc = mend_length(fd, st.st_size, page, result);
    int reason = errno;
    free(page);
    if (fd >= 0)
        close(fd);
    return rc ? error_set(err, "%s: cannot be mended: %s", copy, strerror(reason)) : 0;
}

/* ---- a lost start ---- */

static int write_page(int fd, const unsigned char *bytes, uint32_t page, bool watched)
{
    off_t at = (off_t)(page - 1) * PAGE_USUAL;
    unsigned char copy[PAGE_USUAL];

    memcpy(copy, bytes, sizeof(copy));
    if (watched)
        page_checksum_seal(copy, PAGE_USUAL, page);
    return whole_write(fd, copy, PAGE_USUAL, at);
}

/* The table of contents of a new history: the first page and those below it. */
static int write_contents(int fd, const unsigned char *fresh, size_t length, uint32_t pages,
                          bool watched)
{
    const unsigned char *root = fresh + HEADER_SIZE;
    unsigned char first[PAGE_USUAL];
    int rc = 0;

    memcpy(first, fresh, sizeof(first));
    page_put(first + HEADER_PAGES, pages, 4);
    page_put(first + HEADER_FREE_FIRST, 0, 4);
    page_put(first + HEADER_FREE, 0, 4);
    if (write_page(fd, first, 1, watched))
        return -1;
    uint32_t cells = root[0] == PAGE_INNER ? page_get(root + PAGE_CELLS, 2) : 0;
    for (uint32_t i = 0; rc == 0 && root[0] == PAGE_INNER && i <= cells; i++) {
        uint32_t at = page_get(root + INNER_CELLS + (size_t)2 * i, 2);
        uint32_t page = i < cells ? page_get(fresh + at, 4) : page_get(root + INNER_LAST, 4);
        if (page == 0 || (size_t)page * PAGE_USUAL > length || page > pages)
            return -1;
        rc = write_page(fd, fresh + (size_t)(page - 1) * PAGE_USUAL, page, watched);
    }
    return rc;
}

/* A new history's file, with pages of the same kind as those that are left of the damaged one. */
static char *fresh_history(const char *path, bool watched, size_t *length, struct error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    struct store s = { .path = memory_string(path), .mode = STORE_WRITE };
    int rc = sqlite3_open_v2(path, &s.db, flags, watched ? PAGE_CHECKSUM_VFS : NULL);

    if (rc == SQLITE_OK && watched)
        rc = page_checksum_new_file(s.db);
    rc = rc == SQLITE_OK ? schema_upgrade(&s, err) : sql_error(&s, rc, err);
    sql_release_cache(&s);
    sqlite3_close(s.db);
    free(s.path);
    return rc ? NULL : file_read(path, FILE_ARRAYS_MOST, length, err);
}

static int replace_start(int fd, const char *fresh_path, struct error *err)
{
    size_t length = 0;
    struct stat st;
    bool watched = was_watched(fd);
    char *fresh = fresh_history(fresh_path, watched, &length, err);

    if (!fresh)
        return -1;
    int rc = fstat(fd, &st);
    if (rc == 0)
        rc = write_contents(fd, (const unsigned char *)fresh, length,
                            (uint32_t)(st.st_size / PAGE_USUAL), watched);
    free(fresh);
    return rc ? error_set(err, "its start is lost and cannot be replaced") : 0;
}

int salvage_replace_start(const char *copy, struct error *err)
{
    struct temporary fresh;
    struct strbuf log;
    int fd = open(copy, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return error_set(err, "%s: %s", copy, strerror(errno));
    strbuf_init(&log);
    /* Nothing of the log makes sense on such a start. */
    set_suffixed_path(copy, "-wal", &log);
    unlink(log.data);
    strbuf_release(&log);
    int rc = temporary_make(&fresh, copy, TEMPORARY_FRESH, err);
    if (rc == 0)
        rc = replace_start(fd, fresh.name.data, err);
    temporary_release(&fresh);
    close(fd);
    return rc ? error_prefix(err, "%s", copy) : 0;
}
