/* SPDX-License-Identifier: MIT */
#include "session/bench/bench_out.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char out_prefix[] = "out-";

/* In place of a descriptor: another process has the folder, or removed it. */
enum { OUT_TAKEN = -2 };

/* Is the folder that was opened still the one of that name? -1 and errno: that cannot be told. */
static int is_out_folder(int fd, const char *path)
{
    struct stat opened, named;

    if (fstat(fd, &opened))
        return -1;
    if (lstat(path, &named))
        return errno == ENOENT ? 0 : -1;
    return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* The lock goes with the process, however that ends. -1 and errno: it cannot be opened or looked
 * at. Where the file system knows no locks, an `owner` goes without, and nothing is ever removed.
 */
static int lock_out_folder(const char *path, bool owner)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? OUT_TAKEN : -1;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || (owner && errno != EWOULDBLOCK);
    int same = locked ? is_out_folder(fd, path) : 0;
    if (same > 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return same < 0 ? -1 : OUT_TAKEN;
}

static void remove_out_left(const char *folder)
{
    struct strbuf path;
    struct error ignored;
    DIR *dir = opendir(folder);

    strbuf_init(&path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, out_prefix, sizeof(out_prefix) - 1) != 0)
            continue;
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%s", folder, entry->d_name);
        int lock = lock_out_folder(path.data, false);
        if (lock < 0)
            continue;
        file_remove_folder(path.data, &ignored);
        close(lock);
    }
    if (dir)
        closedir(dir);
    strbuf_release(&path);
}

/* One folder, its name in `path`: its lock, OUT_TAKEN, or -1. */
static int try_out_folder(const char *folder, struct strbuf *path, struct error *err)
{
    strbuf_clear(path);
    strbuf_addf(path, "%s/%sXXXXXX", folder, out_prefix);
    if (!mkdtemp(path->data))
        return error_set(err, "cannot make a folder for results in %s: %s", folder,
                         strerror(errno));
    int lock = lock_out_folder(path->data, true);
    if (lock == -1) {
        error_set(err, "cannot lock a folder for results in %s: %s", folder, strerror(errno));
        rmdir(path->data);
    }
    return lock;
}

/* Whoever removes what is left may have been faster than the lock. */
static char *make_out_folder(const char *folder, int *lock, struct error *err)
{
    enum { TRIES = 100 };
    struct strbuf path;

    strbuf_init(&path);
    *lock = OUT_TAKEN;
    for (int i = 0; *lock == OUT_TAKEN && i < TRIES; i++)
        *lock = try_out_folder(folder, &path, err);
    if (*lock == OUT_TAKEN)
        error_set(err, "cannot lock a folder for results in %s: others remove it each time",
                  folder);
    if (*lock >= 0)
        return strbuf_detach(&path);
    strbuf_release(&path);
    return NULL;
}

int bench_out_begin(struct bench_out *o, const char *folder, const char *name, struct error *err)
{
    struct strbuf path;

    *o = (struct bench_out) { .lock = -1 };
    remove_out_left(folder);
    o->folder = make_out_folder(folder, &o->lock, err);
    if (!o->folder)
        return -1;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s.result", o->folder, name);
    o->path = strbuf_detach(&path);
    return 0;
}

void bench_out_end(struct bench_out *o, bool keep)
{
    struct error ignored;

    /* An empty one goes without a descriptor, of which none may be left. */
    if (o->folder && !keep && rmdir(o->folder))
        file_remove_folder(o->folder, &ignored);
    if (o->lock >= 0)
        close(o->lock);
    free(o->folder);
    free(o->path);
    *o = (struct bench_out) { .lock = -1 };
}
