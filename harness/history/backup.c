/* SPDX-License-Identifier: MIT */
/* Copies of a whole history: written under a name of their own, on the disk before they get the
 * name that was asked for. */
#include "history/restore.h"

#include "base/file.h"
#include "base/memory.h"
#include "history/temporary.h"
#include "store/place.h"
#include "vfs/page_checksum.h"

#include <stdlib.h>

/* ---- copying ---- */

static int copy_pages(struct store *from, struct store *to, struct error *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->db, "main", from->db, "main");

    if (!backup)
        return sql_error(to, sqlite3_extended_errcode(to->db), err);
    /* One step reads everything as one snapshot; writers in WAL mode are not held up. */
    int rc = sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
    if (rc == SQLITE_DONE)
        return 0;
    bool reading = (rc & 0xff) == SQLITE_BUSY || rc == SQLITE_IOERR_DATA;
    return sql_error(reading ? from : to, rc, err);
}

static int copy_to(struct store *s, struct store *copy, const char *name, struct error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(name, &copy->db, flags, PAGE_CHECKSUM_VFS);
    bool watched = page_checksum_is_on(s->db);

    if (rc == SQLITE_OK && watched)
        rc = page_checksum_new_file(copy->db);
    if (rc != SQLITE_OK)
        rc = sql_error(copy, rc, err);
    else
        rc = copy_pages(s, copy, err);
    /* Out of WAL mode: a backup is one file. The next writer turns it on again. */
    if (rc == 0)
        rc = sql_execute(copy, "PRAGMA journal_mode = DELETE", err);
    if (rc == 0 && !watched) /* nobody else has the copy */
        rc = store_vacuum(copy, err);
    sql_release_cache(copy);
    if (sqlite3_close(copy->db) != SQLITE_OK && rc == 0)
        rc = error_set(err, "%s: cannot finish the backup", copy->path);
    return rc;
}

int temporary_fill(struct store *s, const char *name, const char *called, struct error *err)
{
    struct store copy = { .path = memory_string(called), .mode = STORE_WRITE };
    int rc = copy_to(s, &copy, name, err);

    free(copy.path);
    return rc;
}

int temporary_backup(struct store *s, const char *path, const char *stands_for, struct error *err)
{
    struct temporary partial;

    if (file_exists(path))
        return error_set(err, "%s: exists already; a backup does not replace files", path);
    if (file_make_parent(path, err))
        return -1;
    int rc = temporary_make(&partial, path, TEMPORARY_BACKUP, err);
    if (rc == 0)
        temporary_stand_for(&partial, stands_for);
    if (rc == 0)
        rc = temporary_fill(s, partial.name.data, path, err);
    if (rc == 0)
        rc = temporary_publish(&partial, path, err);
    temporary_release(&partial);
    return rc;
}

int store_backup(struct store *s, const char *path, struct error *err)
{
    return temporary_backup(s, path, s->path, err);
}
