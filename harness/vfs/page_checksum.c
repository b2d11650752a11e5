/* SPDX-License-Identifier: MIT */
#include "vfs/page_checksum.h"

#include "base/digest.h"
#include "vfs/page.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_LEAST = 512,
    PAGE_MOST = 65536,
    /* Requests of ours to xFileControl; SQLite's own are small numbers. */
    CONTROL_BEGIN = 0x48524e01,
    CONTROL_DAMAGED,
};

/* A file as SQLite sees it. Only the main file of a database is `watchable`. */
struct watched {
    sqlite3_file base;     /* must come first */
    sqlite3_file *real;    /* of the VFS behind; allocated */
    unsigned char *buffer; /* a page; allocated with the first that needs it */
    bool watchable, on;
    uint32_t damaged; /* the newest page that did not hold */
};

/* ---- pages ---- */

static uint64_t sum_of(const unsigned char *page, size_t size, uint32_t number)
{
    return checksum_xxh64(page, size - PAGE_CHECKSUM_BYTES, number);
}

bool page_checksum_holds(const unsigned char *page, size_t size, uint32_t number)
{
    uint64_t sum = sum_of(page, size, number);

    for (int i = 0; i < PAGE_CHECKSUM_BYTES; i++, sum >>= 8)
        if (page[size - PAGE_CHECKSUM_BYTES + (size_t)i] != (sum & 0xff))
            return false;
    return true;
}

void page_checksum_seal(unsigned char *page, size_t size, uint32_t number)
{
    uint64_t sum = sum_of(page, size, number);

    for (int i = 0; i < PAGE_CHECKSUM_BYTES; i++, sum >>= 8)
        page[size - PAGE_CHECKSUM_BYTES + (size_t)i] = (unsigned char)sum;
}

static bool is_page_size(sqlite3_int64 size)
{
    return size >= PAGE_LEAST && size <= PAGE_MOST && (size & (size - 1)) == 0;
}

static size_t page_size_of(const unsigned char *header)
{
    uint32_t size = page_get(header + HEADER_PAGE_SIZE, 2);

    size = size == 1 ? PAGE_MOST : size;
    return is_page_size(size) ? size : 0;
}

static bool is_start(const unsigned char *bytes, int length)
{
    return length >= HEADER_SIZE && memcmp(bytes, PAGE_MAGIC, sizeof(PAGE_MAGIC)) == 0;
}

/* What byte 20 says; a first page whose sum holds once that byte is what it should be says that the
 * byte alone is damaged. */
static bool first_page_lost_its_mark(const unsigned char *page, size_t size, unsigned char *copy)
{
    memcpy(copy, page, size);
    copy[HEADER_RESERVED] = PAGE_CHECKSUM_BYTES;
    return page_checksum_holds(copy, size, 1);
}

static unsigned char *buffer_of(struct watched *w)
{
    if (!w->buffer)
        w->buffer = malloc(PAGE_MOST);
    return w->buffer;
}

static int fail_page(struct watched *w, uint32_t number)
{
    w->damaged = number;
    return SQLITE_IOERR_DATA;
}

/* The mark and the size of pages as they are in the file now. 0 bytes: it says nothing. */
static size_t look_at_start(struct watched *w)
{
    unsigned char header[HEADER_SIZE];
    int rc = w->real->pMethods->xRead(w->real, header, HEADER_SIZE, 0);

    if (rc != SQLITE_OK || !is_start(header, HEADER_SIZE))
        return 0;
    w->on = header[HEADER_RESERVED] == PAGE_CHECKSUM_BYTES;
    return page_size_of(header);
}

/* ---- reading ---- */

static int check_page(struct watched *w, const unsigned char *page, size_t size, uint32_t number)
{
    if (number == 1 && is_start(page, (int)size)) {
        w->on = page[HEADER_RESERVED] == PAGE_CHECKSUM_BYTES;
        if (!w->on) {
            unsigned char *copy = buffer_of(w);
            if (!copy)
                return SQLITE_IOERR_NOMEM;
            return first_page_lost_its_mark(page, size, copy) ? fail_page(w, 1) : SQLITE_OK;
        }
    }
    return !w->on || page_checksum_holds(page, size, number) ? SQLITE_OK : fail_page(w, number);
}

/* A piece of a page, or of what is no page at all. */
static int read_piece(struct watched *w, void *bytes, int amount, sqlite3_int64 offset)
{
    sqlite3_int64 end = offset + amount;
    size_t size = w->on && end > HEADER_SIZE ? look_at_start(w) : 0;

    if (size == 0 || offset / (sqlite3_int64)size != (end - 1) / (sqlite3_int64)size)
        return w->real->pMethods->xRead(w->real, bytes, amount, offset);
    unsigned char *page = buffer_of(w);
    uint32_t number = (uint32_t)(offset / (sqlite3_int64)size) + 1;
    if (!page)
        return SQLITE_IOERR_NOMEM;
    int rc = w->real->pMethods->xRead(w->real, page, (int)size,
                                      (sqlite3_int64)(number - 1) * (sqlite3_int64)size);
    if (rc != SQLITE_OK)
        return rc;
    memcpy(bytes, page + offset % (sqlite3_int64)size, (size_t)amount);
    return page_checksum_holds(page, size, number) ? SQLITE_OK : fail_page(w, number);
}

static bool is_cut(struct watched *w, sqlite3_int64 offset)
{
    sqlite3_int64 size = 0;

    return w->real->pMethods->xFileSize(w->real, &size) == SQLITE_OK && size > offset;
}

static int watched_read(sqlite3_file *file, void *bytes, int amount, sqlite3_int64 offset)
{
    struct watched *w = (struct watched *)file;

    if (!w->watchable)
        return w->real->pMethods->xRead(w->real, bytes, amount, offset);
    if (!is_page_size(amount) || offset % amount != 0)
        return read_piece(w, bytes, amount, offset);
    uint32_t number = (uint32_t)(offset / amount) + 1;
    int rc = w->real->pMethods->xRead(w->real, bytes, amount, offset);
    if (rc == SQLITE_OK)
        return check_page(w, bytes, (size_t)amount, number);
    /* What lies behind the end is SQLite's to judge; a page that was cut off is damaged. */
    return rc == SQLITE_IOERR_SHORT_READ && w->on && is_cut(w, offset) ? fail_page(w, number) : rc;
}

/* ---- writing ---- */

static int write_sealed(struct watched *w, const void *bytes, int amount, sqlite3_int64 offset)
{
    unsigned char *page = buffer_of(w);

    if (!page)
        return SQLITE_IOERR_NOMEM;
    memcpy(page, bytes, (size_t)amount);
    page_checksum_seal(page, (size_t)amount, (uint32_t)(offset / amount) + 1);
    return w->real->pMethods->xWrite(w->real, page, amount, offset);
}

/* Pages that SQLite leaves out, because nothing is in them: they are zeros, with a sum. */
static int fill_gap(struct watched *w, int amount, sqlite3_int64 end)
{
    sqlite3_int64 size = 0;
    int rc = w->real->pMethods->xFileSize(w->real, &size);

    for (size += (amount - size % amount) % amount; rc == SQLITE_OK && size < end; size += amount) {
        unsigned char *page = buffer_of(w);
        if (!page)
            return SQLITE_IOERR_NOMEM;
        memset(page, 0, (size_t)amount);
        page_checksum_seal(page, (size_t)amount, (uint32_t)(size / amount) + 1);
        rc = w->real->pMethods->xWrite(w->real, page, amount, size);
    }
    return rc;
}

static int watched_write(sqlite3_file *file, const void *bytes, int amount, sqlite3_int64 offset)
{
    struct watched *w = (struct watched *)file;

    if (!w->watchable || !is_page_size(amount) || offset % amount != 0)
        return w->real->pMethods->xWrite(w->real, bytes, amount, offset);
    if (offset == 0 && is_start(bytes, amount))
        w->on = ((const unsigned char *)bytes)[HEADER_RESERVED] == PAGE_CHECKSUM_BYTES;
    if (!w->on)
        return w->real->pMethods->xWrite(w->real, bytes, amount, offset);
    int rc = fill_gap(w, amount, offset);
    return rc == SQLITE_OK ? write_sealed(w, bytes, amount, offset) : rc;
}

static int watched_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct watched *w = (struct watched *)file;
    size_t page = w->watchable && w->on ? look_at_start(w) : 0;

    if (w->on && page > 0 && size % (sqlite3_int64)page == 0) {
        int rc = fill_gap(w, (int)page, size);
        if (rc != SQLITE_OK)
            return rc;
    }
    return w->real->pMethods->xTruncate(w->real, size);
}

/* ---- the rest of a file ---- */

static int watched_close(sqlite3_file *file)
{
    struct watched *w = (struct watched *)file;
    int rc = w->real->pMethods ? w->real->pMethods->xClose(w->real) : SQLITE_OK;

    free(w->real);
    free(w->buffer);
    w->real = NULL;
    w->buffer = NULL;
    return rc;
}

static int watched_sync(sqlite3_file *file, int flags)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xSync(w->real, flags);
}

static int watched_size(sqlite3_file *file, sqlite3_int64 *size)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xFileSize(w->real, size);
}

static int watched_lock(sqlite3_file *file, int level)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xLock(w->real, level);
}

static int watched_unlock(sqlite3_file *file, int level)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xUnlock(w->real, level);
}

static int watched_reserved(sqlite3_file *file, int *is)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xCheckReservedLock(w->real, is);
}

static int watched_control(sqlite3_file *file, int what, void *argument)
{
    struct watched *w = (struct watched *)file;

    switch (what) {
    case CONTROL_BEGIN:
        w->on = w->watchable;
        return SQLITE_OK;
    case CONTROL_DAMAGED:
        *(uint32_t *)argument = w->damaged;
        return SQLITE_OK;
    case SQLITE_FCNTL_CKPT_START: /* another process may have rewritten the file since */
        if (w->watchable)
            look_at_start(w);
        break;
    default:
        break;
    }
    return w->real->pMethods->xFileControl(w->real, what, argument);
}

static int watched_sector(sqlite3_file *file)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xSectorSize(w->real);
}

static int watched_traits(sqlite3_file *file)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xDeviceCharacteristics(w->real);
}

static int watched_map(sqlite3_file *file, int region, int size, int extend, void volatile **p)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xShmMap(w->real, region, size, extend, p);
}

static int watched_shm_lock(sqlite3_file *file, int offset, int nr, int flags)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xShmLock(w->real, offset, nr, flags);
}

static void watched_barrier(sqlite3_file *file)
{
    struct watched *w = (struct watched *)file;

    w->real->pMethods->xShmBarrier(w->real);
}

static int watched_unmap(sqlite3_file *file, int delete)
{
    struct watched *w = (struct watched *)file;

    return w->real->pMethods->xShmUnmap(w->real, delete);
}

#define METHODS(version)                                                                           \
    {                                                                                              \
        .iVersion = (version), .xClose = watched_close, .xRead = watched_read,                     \
        .xWrite = watched_write, .xTruncate = watched_truncate, .xSync = watched_sync,             \
        .xFileSize = watched_size, .xLock = watched_lock, .xUnlock = watched_unlock,               \
        .xCheckReservedLock = watched_reserved, .xFileControl = watched_control,                   \
        .xSectorSize = watched_sector, .xDeviceCharacteristics = watched_traits,                   \
        .xShmMap = watched_map, .xShmLock = watched_shm_lock, .xShmBarrier = watched_barrier,      \
        .xShmUnmap = watched_unmap                                                                 \
    }

/* Version 2 has shared memory, if the VFS behind has; 3 would map pages past us. */
static const sqlite3_io_methods plain_methods = METHODS(1), shared_methods = METHODS(2);

/* ---- the VFS ---- */

static sqlite3_vfs *default_vfs(void)
{
    return sqlite3_vfs_find(NULL);
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct watched *w = (struct watched *)file;
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    *w = (struct watched) { .watchable = (flags & SQLITE_OPEN_MAIN_DB) != 0 };
    w->real = calloc(1, (size_t)real->szOsFile);
    if (!w->real)
        return SQLITE_NOMEM;
    int rc = real->xOpen(real, name, w->real, flags, out);
    if (rc == SQLITE_OK && w->real->pMethods) {
        bool shared = w->real->pMethods->iVersion >= 2 && w->real->pMethods->xShmMap;
        w->base.pMethods = shared ? &shared_methods : &plain_methods;
        return rc;
    }
    if (w->real->pMethods)
        w->real->pMethods->xClose(w->real);
    free(w->real);
    w->real = NULL;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xDelete(real, name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xAccess(real, name, flags, result);
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xFullPathname(real, name, size, out);
}

static int vfs_random(sqlite3_vfs *vfs, int size, char *out)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xRandomness(real, size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xSleep(real, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *days)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xCurrentTime(real, days);
}

static int vfs_error(sqlite3_vfs *vfs, int size, char *out)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xGetLastError(real, size, out);
}

static int vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
    sqlite3_vfs *real = default_vfs();

    (void)vfs;
    return real->xCurrentTimeInt64(real, ms);
}

/* SQLite links it into its own list, so it is no constant. It loads no extensions. */
static sqlite3_vfs watch_vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(struct watched),
    .mxPathname = 512, /* as SQLite's for Unix */
    .zName = PAGE_CHECKSUM_VFS,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_name,
    .xRandomness = vfs_random,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_time,
    .xGetLastError = vfs_error,
    .xCurrentTimeInt64 = vfs_time64,
};

int page_checksum_register(void)
{
    int rc = sqlite3_initialize();

    if (rc != SQLITE_OK || sqlite3_vfs_find(PAGE_CHECKSUM_VFS))
        return rc;
    return sqlite3_vfs_register(&watch_vfs, 0);
}

/* ---- a handle ---- */

int page_checksum_with_vacuum(sqlite3 *db)
{
    int bytes = PAGE_CHECKSUM_BYTES;

    return sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

int page_checksum_new_file(sqlite3 *db)
{
    int rc = page_checksum_with_vacuum(db);

    return rc == SQLITE_OK ? sqlite3_file_control(db, "main", CONTROL_BEGIN, NULL) : rc;
}

bool page_checksum_is_on(sqlite3 *db)
{
    int bytes = -1; /* asks */

    return sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes) == SQLITE_OK &&
           bytes == PAGE_CHECKSUM_BYTES;
}

/* A page that is just being written by another process may look torn. Nobody writes so many at once
 * as a file can have that are damaged. */
enum { LOOKS = 4, BETWEEN_LOOKS_MS = 5, TORN_MOST = 100 };

static int look_at_page(struct watched *w, unsigned char *page, size_t size, uint32_t number,
                        int looks)
{
    int rc = SQLITE_OK;

    for (int i = 0; i < looks; i++) {
        if (i > 0)
            sqlite3_sleep(BETWEEN_LOOKS_MS);
        rc = watched_read(&w->base, page, (int)size, (sqlite3_int64)(number - 1) * (int64_t)size);
        if (rc != SQLITE_IOERR_DATA)
            break;
    }
    return rc;
}

int page_checksum_scan(sqlite3 *db, size_t most, void (*found)(void *context, uint32_t page),
                       void *context)
{
    struct watched *w = NULL;
    sqlite3_int64 length = 0;
    size_t torn = 0;
    int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, (void *)&w);

    if (rc != SQLITE_OK)
        return rc;
    size_t size = look_at_start(w);
    rc = watched_size(&w->base, &length);
    unsigned char *page = size ? malloc(size) : NULL;
    if (!page)
        return size ? SQLITE_NOMEM : rc;
    for (uint32_t nr = 1;
         rc == SQLITE_OK && torn < most && (sqlite3_int64)nr * (int64_t)size <= length; nr++) {
        rc = look_at_page(w, page, size, nr, torn < TORN_MOST ? LOOKS : 1);
        if (rc == SQLITE_IOERR_DATA) {
            torn++;
            found(context, nr);
            rc = SQLITE_OK;
        }
    }
    free(page);
    return rc;
}

uint32_t page_checksum_damaged_page(sqlite3 *db)
{
    uint32_t page = 0;

    sqlite3_file_control(db, "main", CONTROL_DAMAGED, &page);
    return page;
}
