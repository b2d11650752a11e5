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

/* Is the folder that was opened still the one of that name? */
static bool is_out_folder(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* The lock goes with the process, however that ends. -1: another one has it, or removed the folder.
 * Where the file system knows no locks, an `owner` goes without, and nothing is ever removed. */
static int lock_out_folder(const char *path, bool owner)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -1;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0 || (owner && errno != EWOULDBLOCK);
    if (locked && is_out_folder(fd, path))
        return fd;
    close(fd);
    return -1;
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

/* Whoever removes what is left may have been faster than the lock. */
static char *make_out_folder(const char *folder, int *lock, struct error *err)
{
    enum { TRIES = 100 };

    for (int i = 0; i < TRIES; i++) {
        struct strbuf path;
        strbuf_init(&path);
        strbuf_addf(&path, "%s/%sXXXXXX", folder, out_prefix);
        bool made = mkdtemp(path.data) != NULL;
        if (!made)
            error_set(err, "cannot make a folder for results in %s: %s", folder, strerror(errno));
        *lock = made ? lock_out_folder(path.data, true) : -1;
        if (*lock >= 0)
            return strbuf_detach(&path);
        strbuf_release(&path);
        if (!made)
            return NULL;
    }
    error_set(err, "cannot lock a folder for results in %s", folder);
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

    if (o->folder && !keep)
        file_remove_folder(o->folder, &ignored);
    if (o->lock >= 0)
        close(o->lock);
    free(o->folder);
    free(o->path);
    *o = (struct bench_out) { .lock = -1 };
}
