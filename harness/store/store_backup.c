/* SPDX-License-Identifier: MIT */
/* Copies of a whole history: written under a name of their own, on the disk before they get the
 * name that was asked for. */
#include "base/file.h"
#include "base/memory.h"
#include "store/place.h"
#include "store/prune.h"
#include "store/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a copy that is not finished ---- */

#define PARTIAL_WORD "backup"
#define PARTIAL_END  ".partial"

/* "history.db.backup-1a2b3c4d.partial" */
static bool is_partial(const char *name)
{
    enum { DIGITS = 8, END = sizeof(PARTIAL_END) - 1, WORD = sizeof("." PARTIAL_WORD "-") - 1 };
    size_t length = strlen(name);

    if (length <= WORD + DIGITS + END || strcmp(name + length - END, PARTIAL_END) != 0)
        return false;
    const char *digits = name + length - END - DIGITS;
    return strspn(digits, "0123456789abcdef") == DIGITS &&
           strncmp(digits - WORD, "." PARTIAL_WORD "-", WORD) == 0;
}

/* Whoever writes one holds it locked as long as it lives. */
static void remove_if_left(int folder, const char *name)
{
    static const char *const ends[] = { "-journal", "-wal", "-shm", "" };
    char beside[NAME_MAX + 16];
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    bool left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0;
    for (size_t i = 0; left && i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(beside, sizeof(beside), "%s%s", name, ends[i]);
        unlinkat(folder, beside, 0);
    }
    close(fd);
}

/* What backups that were killed have left in the folder. */
static void remove_left_overs(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    place_folder(path, &name);
    DIR *folder = opendir(name.data);
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (is_partial(e->d_name))
            remove_if_left(dirfd(folder), e->d_name);
    if (folder)
        closedir(folder);
    strbuf_release(&name);
}

/* A new file of that kind; the descriptor holds it. */
static int open_partial(const char *path, struct strbuf *name, struct error *err)
{
    enum { TRIES = 16 };
    struct stat st;

    for (int i = 0; i < TRIES; i++) {
        place_name(path, PARTIAL_WORD, name);
        strbuf_adds(name, PARTIAL_END);
        int fd = open(name->data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return error_set(err, "%s: cannot be created: %s", name->data, strerror(errno));
        /* Somebody may have taken it for left over before we held it. */
        if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return error_set(err, "%s: cannot be created", name->data);
}

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
    int rc = sqlite3_open_v2(name, &copy->db, flags, WATCH_VFS);
    bool watched = watch_is_on(s->db);

    if (rc == SQLITE_OK && watched)
        rc = watch_new_file(copy->db);
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

int copy_give_name(const char *from, const char *to, struct error *err)
{
    int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

    /* Some file systems know no such renaming. */
    if (rc && (errno == EINVAL || errno == ENOSYS) && (rc = link(from, to)) == 0)
        rc = unlink(from);
    if (rc)
        return error_set(err, "%s: cannot be created: %s", to, strerror(errno));
    return file_sync_folder(to, err);
}

int store_backup(struct store *s, const char *path, struct error *err)
{
    struct strbuf partial;

    if (file_exists(path))
        return error_set(err, "%s: exists already; a backup does not replace files", path);
    if (file_make_parent(path, err))
        return -1;
    remove_left_overs(path);
    char *wanted = memory_string(path);
    strbuf_init(&partial);
    int fd = open_partial(path, &partial, err);
    struct store copy = { .path = wanted, .mode = STORE_WRITE }; /* what errors name */
    int rc = fd < 0 ? -1 : copy_to(s, &copy, partial.data, err);
    if (rc == 0)
        rc = copy_give_name(partial.data, path, err);
    if (rc && fd >= 0)
        unlink(partial.data);
    if (fd >= 0)
        close(fd);
    strbuf_release(&partial);
    free(wanted);
    return rc;
}
