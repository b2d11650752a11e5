/* SPDX-License-Identifier: MIT */
#include "history/temporary.h"

#include "base/file.h"
#include "store/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define END ".partial"

enum { DIGITS = 8 };

static const struct kind {
    const char *word;
    mode_t mode;
} kinds[NR_TEMPORARY] = {
    [TEMPORARY_BACKUP] = { "backup", 0666 },     [TEMPORARY_SALVAGED] = { "salvaged", 0666 },
    [TEMPORARY_DAMAGED] = { "damaged", 0600 },   [TEMPORARY_FRESH] = { "fresh", 0600 },
    [TEMPORARY_RESTORED] = { "restored", 0600 },
};

/* SQLite's files beside it; the file itself last, for its lock says that somebody removes them. */
static const char *const ends[] = { "-journal", "-wal", "-shm", "" };

/* ---- what was left ---- */

/* "history.db.backup-1a2b3c4d.partial" */
static bool is_of_kind(const char *name, size_t length, const char *word)
{
    size_t word_length = strlen(word), tail = 1 + word_length + 1 + DIGITS + sizeof(END) - 1;

    if (length <= tail)
        return false;
    const char *at = name + length - tail;
    return at[0] == '.' && strncmp(at + 1, word, word_length) == 0 && at[1 + word_length] == '-' &&
           strspn(at + word_length + 2, "0123456789abcdef") == DIGITS &&
           strcmp(at + word_length + 2 + DIGITS, END) == 0;
}

static bool is_temporary(const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < NR_TEMPORARY; i++)
        if (is_of_kind(name, length, kinds[i].word))
            return true;
    return false;
}

/* Whoever uses one holds it locked as long as it lives. */
static void remove_if_left(int folder, const char *name)
{
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

static void remove_left_overs(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    place_folder(path, &name);
    DIR *folder = opendir(name.data);
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (is_temporary(e->d_name))
            remove_if_left(dirfd(folder), e->d_name);
    if (folder)
        closedir(folder);
    strbuf_release(&name);
}

/* ---- making one ---- */

/* A new one of those names. */
static void name_it(struct temporary *t, const char *path, enum temporary_kind kind)
{
    char *plain = sql_plain_name(path);

    place_name(plain, kinds[kind].word, &t->name);
    strbuf_adds(&t->name, END);
    free(plain);
}

/* 1: somebody took it for left over before we held it. -1: it cannot be held, errno tells why. */
static int lock_temporary(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX) || fstat(fd, &st))
        return -1;
    return st.st_nlink == 0;
}

static int give_up(struct temporary *t, struct error *err)
{
    int rc = error_set(err, "%s: cannot be locked: %s", t->name.data, strerror(errno));

    temporary_release(t);
    return rc;
}

int temporary_make(struct temporary *t, const char *path, enum temporary_kind kind,
                   struct error *err)
{
    enum { TRIES = 16 };

    strbuf_init(&t->name);
    remove_left_overs(path);
    for (int i = 0; i < TRIES; i++) {
        name_it(t, path, kind);
        t->fd = open(t->name.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kinds[kind].mode);
        if (t->fd < 0 && errno != EEXIST)
            return error_set(err, "%s: cannot be created: %s", t->name.data, strerror(errno));
        int held = t->fd < 0 ? 1 : lock_temporary(t->fd);
        if (held <= 0)
            return held ? give_up(t, err) : 0;
        if (t->fd >= 0)
            close(t->fd);
    }
    t->fd = -1;
    return error_set(err, "%s: cannot be created", t->name.data);
}

/* Its owner has to write it, whatever the other's may do. */
void temporary_stand_for(struct temporary *t, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        file_take_mode(t->fd, &st, (st.st_mode & 0666) | S_IRUSR | S_IWUSR);
}

/* Some file systems know neither a renaming that replaces nothing nor a second name. */
static int rename_in_turn(const char *from, const char *to)
{
    int folder = place_lock_folder(to);
    int rc = -1;

    if (file_exists(to))
        errno = EEXIST;
    else
        rc = rename(from, to);
    if (folder >= 0)
        close(folder);
    return rc;
}

int temporary_give_name(const char *from, const char *to, struct error *err)
{
    int rc = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

    /* Some file systems know no such renaming. */
    if (rc && (errno == EINVAL || errno == ENOSYS) && (rc = link(from, to)) == 0)
        rc = unlink(from);
    if (rc && (errno == EPERM || errno == EOPNOTSUPP))
        rc = rename_in_turn(from, to);
    if (rc)
        return error_set(err, "%s: cannot be created: %s", to, strerror(errno));
    return file_sync_folder(to, err);
}

int temporary_publish(struct temporary *t, const char *to, struct error *err)
{
    return temporary_give_name(t->name.data, to, err);
}

void temporary_release(struct temporary *t)
{
    char beside[PATH_MAX + 16];

    for (size_t i = 0; t->fd >= 0 && i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(beside, sizeof(beside), "%s%s", t->name.data, ends[i]);
        unlink(beside);
    }
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    strbuf_release(&t->name);
}
