/* SPDX-License-Identifier: MIT */
/*
 * Power cuts, as SQLite's own crash tests have them: a VFS that hands everything on to the
 * system's and writes down what was written, cut, synchronised, made and removed; and the states
 * that a disk may be in after a cut at any moment of that. What was synchronised is there. Of what
 * was not, each sector of 512 bytes is there or not, whatever came later; a file has each of its
 * changes of length or not; and so a folder has each name that was made or removed since it was
 * synchronised.
 *
 * As SQLite's unix VFS does it, the first synchronisation of a log or journal synchronises its
 * folder, too, and so does a removal that is asked to. Nothing really waits for the disk.
 */
#ifndef HARNESS_TESTS_RECORDING_VFS_H
#define HARNESS_TESTS_RECORDING_VFS_H

#include "base/array.h"
#include "base/memory.h"
#include "stats/random.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTOR = 512, NAME_MOST = 256 };

enum event_kind { WRITTEN, CUT, SYNCHRONISED, MADE, GONE, RENAMED, FOLDER };

struct event {
    enum event_kind kind;
    int file;             /* number of a file: a name that is made again is another file */
    char name[NAME_MOST]; /* MADE, GONE, RENAMED (the new one) */
    bool folder;          /* GONE, SYNCHRONISED: the folder, too; FOLDER: it alone */
    int64_t at;           /* WRITTEN; CUT: the length */
    unsigned char *bytes; /* WRITTEN */
    size_t nr;
    size_t safe; /* the event from which on it lasts; recording_settle() */
};

/* What a file was before the recording began. */
struct base_file {
    char name[NAME_MOST], now[NAME_MOST]; /* the first name; and the one that it has */
    unsigned char *bytes;
    size_t nr;
};

static struct {
    sqlite3_vfs vfs, *system;
    bool on;
    ARRAY(struct event) events;
    ARRAY(struct base_file) files; /* by number; what they began with */
} recording;

struct recorded_file {
    sqlite3_file base;
    int number;
    bool has_folder; /* its folder was synchronised through it */
    sqlite3_file *real;
};

static struct recorded_file *recorded(sqlite3_file *file)
{
    return (struct recorded_file *)file;
}

static struct event *record(enum event_kind kind, int file)
{
    struct event *e = array_push(&recording.events);

    e->kind = kind;
    e->file = file;
    return e;
}

/* The newest file of that name; -1: none. */
static int file_number(const char *name)
{
    for (size_t i = recording.files.nr; i-- > 0;)
        if (strcmp(recording.files.items[i].now, name) == 0)
            return (int)i;
    return -1;
}

static int add_file(const char *name)
{
    struct base_file *f = array_push(&recording.files);

    snprintf(f->name, sizeof(f->name), "%s", name);
    snprintf(f->now, sizeof(f->now), "%s", name);
    return (int)recording.files.nr - 1;
}

static int recorded_close(sqlite3_file *file)
{
    struct recorded_file *f = recorded(file);
    int rc = f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;

    free(f->real);
    return rc;
}

static int recorded_read(sqlite3_file *file, void *bytes, int nr, sqlite3_int64 at)
{
    return recorded(file)->real->pMethods->xRead(recorded(file)->real, bytes, nr, at);
}

static int recorded_write(sqlite3_file *file, const void *bytes, int nr, sqlite3_int64 at)
{
    struct recorded_file *f = recorded(file);
    int rc = f->real->pMethods->xWrite(f->real, bytes, nr, at);

    if (rc == SQLITE_OK && recording.on && f->number >= 0) {
        struct event *e = record(WRITTEN, f->number);
        e->at = at;
        e->nr = (size_t)nr;
        e->bytes = memory_resize(NULL, e->nr, 1);
        memcpy(e->bytes, bytes, e->nr);
    }
    return rc;
}

static int recorded_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct recorded_file *f = recorded(file);
    int rc = f->real->pMethods->xTruncate(f->real, size);

    if (rc == SQLITE_OK && recording.on && f->number >= 0)
        record(CUT, f->number)->at = size;
    return rc;
}

static int recorded_sync(sqlite3_file *file, int flags)
{
    struct recorded_file *f = recorded(file);

    (void)flags;
    if (recording.on && f->number >= 0) {
        const char *name = recording.files.items[f->number].name;
        struct event *e = record(SYNCHRONISED, f->number);
        e->folder = !f->has_folder && (strstr(name, "-wal") || strstr(name, "-journal"));
        f->has_folder = true;
    }
    return SQLITE_OK;
}

static int recorded_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return recorded(file)->real->pMethods->xFileSize(recorded(file)->real, size);
}

static int recorded_lock(sqlite3_file *file, int level)
{
    return recorded(file)->real->pMethods->xLock(recorded(file)->real, level);
}

static int recorded_unlock(sqlite3_file *file, int level)
{
    return recorded(file)->real->pMethods->xUnlock(recorded(file)->real, level);
}

static int recorded_reserved(sqlite3_file *file, int *out)
{
    return recorded(file)->real->pMethods->xCheckReservedLock(recorded(file)->real, out);
}

static int recorded_control(sqlite3_file *file, int op, void *argument)
{
    return recorded(file)->real->pMethods->xFileControl(recorded(file)->real, op, argument);
}

static int recorded_sector(sqlite3_file *file)
{
    return recorded(file)->real->pMethods->xSectorSize(recorded(file)->real);
}

static int recorded_character(sqlite3_file *file)
{
    return recorded(file)->real->pMethods->xDeviceCharacteristics(recorded(file)->real);
}

static int recorded_map(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
    return recorded(file)->real->pMethods->xShmMap(recorded(file)->real, region, size, extend, out);
}

static int recorded_shm_lock(sqlite3_file *file, int offset, int nr, int flags)
{
    return recorded(file)->real->pMethods->xShmLock(recorded(file)->real, offset, nr, flags);
}

static void recorded_barrier(sqlite3_file *file)
{
    recorded(file)->real->pMethods->xShmBarrier(recorded(file)->real);
}

static int recorded_unmap(sqlite3_file *file, int remove_it)
{
    return recorded(file)->real->pMethods->xShmUnmap(recorded(file)->real, remove_it);
}

static const sqlite3_io_methods recorded_methods = {
    .iVersion = 2,
    .xClose = recorded_close,
    .xRead = recorded_read,
    .xWrite = recorded_write,
    .xTruncate = recorded_truncate,
    .xSync = recorded_sync,
    .xFileSize = recorded_size,
    .xLock = recorded_lock,
    .xUnlock = recorded_unlock,
    .xCheckReservedLock = recorded_reserved,
    .xFileControl = recorded_control,
    .xSectorSize = recorded_sector,
    .xDeviceCharacteristics = recorded_character,
    .xShmMap = recorded_map,
    .xShmLock = recorded_shm_lock,
    .xShmBarrier = recorded_barrier,
    .xShmUnmap = recorded_unmap,
};

/* Temporary files without a name do not outlive a cut. */
static int recorded_number(const char *name, bool existed)
{
    int number = name ? file_number(name) : -1;

    if (!name || !recording.on || (existed && number >= 0))
        return number;
    number = add_file(name);
    snprintf(record(MADE, number)->name, NAME_MOST, "%s", name);
    return number;
}

static int recorded_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                         int *out)
{
    struct recorded_file *f = recorded(file);
    bool existed = name && access(name, F_OK) == 0;

    (void)vfs;
    f->base.pMethods = NULL;
    f->has_folder = false;
    f->real = memory_zeroed(1, (size_t)recording.system->szOsFile);
    int rc = recording.system->xOpen(recording.system, name, f->real, flags, out);
    if (rc != SQLITE_OK) {
        free(f->real);
        return rc;
    }
    f->base.pMethods = &recorded_methods;
    f->number = recorded_number(name, existed);
    return SQLITE_OK;
}

static int recorded_delete(sqlite3_vfs *vfs, const char *name, int folder)
{
    int rc = recording.system->xDelete(recording.system, name, 0);

    (void)vfs;
    if (rc == SQLITE_OK && recording.on && file_number(name) >= 0) {
        struct event *e = record(GONE, file_number(name));
        snprintf(e->name, sizeof(e->name), "%s", name);
        e->folder = folder != 0;
    }
    return rc;
}

/* Becomes the way in which all files are opened. */
static inline void recording_install(void)
{
    recording.system = sqlite3_vfs_find(NULL);
    recording.vfs = *recording.system;
    recording.vfs.zName = "recording";
    recording.vfs.pNext = NULL;
    recording.vfs.szOsFile = (int)sizeof(struct recorded_file);
    recording.vfs.xOpen = recorded_open;
    recording.vfs.xDelete = recorded_delete;
    sqlite3_vfs_register(&recording.vfs, 1);
}

/* What a file holds now is on the disk. Before recording_begin(). */
static inline void recording_keep(const char *name)
{
    struct stat st;
    FILE *file = fopen(name, "rb");

    if (!file)
        return;
    int number = add_file(name);
    struct base_file *f = &recording.files.items[number];
    f->nr = stat(name, &st) == 0 ? (size_t)st.st_size : 0;
    f->bytes = memory_resize(NULL, f->nr + 1, 1);
    if (fread(f->bytes, 1, f->nr, file) != f->nr)
        f->nr = 0;
    fclose(file);
}

static inline void recording_begin(void)
{
    recording.on = true;
}

/* The moment of now. */
static inline size_t recording_now(void)
{
    return recording.events.nr;
}

/* A renaming, by the one who did it; it lasts when the folder is synchronised. */
static inline void recording_renamed(const char *from, const char *to)
{
    int number = recording.on ? file_number(from) : -1;

    if (number < 0)
        return;
    snprintf(record(RENAMED, number)->name, NAME_MOST, "%s", to);
    snprintf(recording.files.items[number].now, NAME_MOST, "%s", to);
}

static inline void recording_folder(void)
{
    if (recording.on)
        record(FOLDER, 0)->folder = true;
}

/* Which event makes which last. */
static inline void recording_settle(void)
{
    size_t *file = memory_zeroed(recording.files.nr + 1, sizeof(*file)), folder = SIZE_MAX;

    recording.on = false;
    for (size_t i = 0; i < recording.files.nr; i++)
        file[i] = SIZE_MAX;
    for (size_t i = recording.events.nr; i-- > 0;) {
        struct event *e = &recording.events.items[i];
        bool lasts = e->kind == GONE && e->folder;
        if (e->kind == SYNCHRONISED)
            file[e->file] = i;
        if (e->folder || lasts)
            folder = i;
        e->safe = e->kind == WRITTEN || e->kind == CUT ? file[e->file] : lasts ? i : folder;
    }
    free(file);
}

static inline void recording_end(void)
{
    recording.on = false;
    for (size_t i = 0; i < recording.events.nr; i++)
        free(recording.events.items[i].bytes);
    for (size_t i = 0; i < recording.files.nr; i++)
        free(recording.files.items[i].bytes);
    array_release(&recording.events);
    array_release(&recording.files);
}

/* ---- states after a cut ---- */

/* How much of what was not synchronised is there. */
enum loss { LOSE_NOTHING, LOSE_ALL, LOSE_SOME, LOSE_LAST, NR_LOSSES };

struct disk_file {
    unsigned char *bytes;
    size_t nr, room;
    char name[NAME_MOST]; /* "": it has none */
};

struct disk {
    struct disk_file *files;
    size_t nr;
};

static inline void disk_resize(struct disk_file *f, size_t nr)
{
    if (nr > f->room) {
        f->room = nr + nr / 2 + 4096;
        f->bytes = memory_resize(f->bytes, f->room, 1);
    }
    if (nr > f->nr)
        memset(f->bytes + f->nr, 0, nr - f->nr);
    f->nr = nr;
}

static inline bool is_there(enum loss loss, bool last, struct random *r)
{
    if (loss == LOSE_SOME)
        return random_below(r, 2) == 1;
    return loss == LOSE_NOTHING || (loss == LOSE_LAST && (!last || random_below(r, 2) == 1));
}

static inline void apply_write(struct disk_file *f, const struct event *e, enum loss loss,
                               bool last, struct random *r)
{
    for (size_t from = 0; from < e->nr;) {
        size_t end = from + SECTOR - ((size_t)e->at + from) % SECTOR;
        if (end > e->nr)
            end = e->nr;
        if (is_there(loss, last, r)) {
            size_t to = (size_t)e->at + end;
            if (to > f->nr)
                disk_resize(f, to);
            memcpy(f->bytes + (size_t)e->at + from, e->bytes + from, end - from);
        }
        from = end;
    }
}

static inline void apply_change(struct disk *d, const struct event *e, enum loss loss, bool last,
                                struct random *r)
{
    struct disk_file *f = &d->files[e->file];

    if (e->kind == WRITTEN)
        apply_write(f, e, loss, last, r);
    else if (e->kind == CUT && is_there(loss, last, r))
        disk_resize(f, (size_t)e->at);
}

static inline void apply_name(struct disk *d, const struct event *e)
{
    struct disk_file *f = &d->files[e->file];

    snprintf(f->name, sizeof(f->name), "%s", e->kind == GONE ? "" : e->name);
}

/* The disk after a cut before event `end`. */
static inline struct disk disk_after(size_t end, enum loss loss, struct random *r)
{
    struct disk d = { memory_zeroed(recording.files.nr + 1, sizeof(*d.files)), recording.files.nr };

    for (size_t i = 0; i < d.nr; i++) {
        const struct base_file *f = &recording.files.items[i];
        if (!f->bytes)
            continue;
        snprintf(d.files[i].name, sizeof(d.files[i].name), "%s", f->name);
        disk_resize(&d.files[i], f->nr);
        if (f->nr > 0)
            memcpy(d.files[i].bytes, f->bytes, f->nr);
    }
    for (size_t i = 0; i < end; i++) {
        const struct event *e = &recording.events.items[i];
        bool safe = e->safe < end, last = i + 1 == end;
        if (e->kind == WRITTEN || e->kind == CUT)
            apply_change(&d, e, safe ? LOSE_NOTHING : loss, last, r);
        else if (e->kind != SYNCHRONISED && e->kind != FOLDER && (safe || is_there(loss, last, r)))
            apply_name(&d, e);
    }
    return d;
}

static inline void disk_release(struct disk *d)
{
    for (size_t i = 0; i < d->nr; i++)
        free(d->files[i].bytes);
    free(d->files);
}

#endif
