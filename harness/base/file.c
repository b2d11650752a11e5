/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- in ---- */

/* The descriptor of this process that `path` names, whatever it leads to; -1: it names a file. */
static int descriptor_of(const char *path)
{
    static const char *const names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

    for (int i = 0; i < 3; i++)
        if (strcmp(path, names[i]) == 0)
            return i;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(folders[i]);
        const char *number = strncmp(path, folders[i], length) == 0 ? path + length : "";
        size_t digits = strspn(number, "0123456789");
        if (digits > 0 && digits < 10 && number[digits] == '\0')
            return atoi(number);
    }
    return -1;
}

static const char *mode_words(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

/* What this process has open is read as it is: by its name a socket cannot be opened, nor a file
 * that only its owner may read, and of any other what was read already would come again. Else
 * opened without waiting: a named pipe that nobody writes to would be waited for forever. */
static int open_input(const char *path, size_t most, struct error *err)
{
    int own = descriptor_of(path),
        fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0)
        return error_set(err, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &st))
        error_set(err, "%s: cannot open: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) && (S_ISDIR(st.st_mode) || own < 0))
        error_set(err, "%s: cannot read: it is %s, not a file", path, mode_words(st.st_mode));
    else if (S_ISREG(st.st_mode) && st.st_size > 0 && (uintmax_t)st.st_size > most)
        error_set(err, "%s: larger than %zu MiB, more than is read of such a file", path,
                  most >> 20);
    else
        return fd;
    close(fd);
    return -1;
}

/* Whoever shares the descriptor may have it so that nothing is waited for. */
static bool wait_for_input(int fd)
{
    struct pollfd input = { .fd = fd, .events = POLLIN };

    return poll(&input, 1, -1) >= 0 || errno == EINTR;
}

/* The next bytes; 0 at the end, -1 on error. */
static ssize_t read_some(int fd, char *block, size_t size)
{
    ssize_t nr;

    do
        nr = read(fd, block, size);
    while (nr < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_input(fd))));
    return nr;
}

char *file_read(const char *path, size_t most, size_t *length, struct error *err)
{
    struct strbuf content;
    char block[16384];
    ssize_t nr = 0;
    int fd = open_input(path, most, err);

    if (fd < 0)
        return NULL;
    strbuf_init(&content);
    while (content.length <= most && (nr = read_some(fd, block, sizeof(block))) > 0)
        strbuf_add(&content, block, (size_t)nr);
    int reason = errno;
    close(fd);
    if (nr >= 0 && content.length <= most) {
        if (length)
            *length = content.length;
        return strbuf_detach(&content);
    }
    strbuf_release(&content);
    if (nr < 0)
        error_set(err, "%s: cannot read: %s", path, strerror(reason));
    else
        error_set(err, "%s: larger than %zu MiB, more than is read of such a file", path,
                  most >> 20);
    return NULL;
}

int file_digest(const char *path, char digest[DIGEST_TEXT_SIZE], struct error *err)
{
    char block[16384];
    struct digest d;
    ssize_t nr;
    int fd = open_input(path, SIZE_MAX, err);

    if (fd < 0)
        return -1;
    digest_init(&d);
    while ((nr = read_some(fd, block, sizeof(block))) > 0)
        digest_add(&d, block, (size_t)nr);
    int reason = errno;
    close(fd);
    if (nr < 0)
        return error_set(err, "%s: cannot read: %s", path, strerror(reason));
    digest_text(&d, digest);
    return 0;
}

/* ---- out ---- */

/* Where a chain of links ends, which need not exist; NULL and errno. free() it. */
static char *follow_links(const char *path)
{
    enum { LINKS_MOST = 40 };
    char *at = memory_string(path), to[PATH_MAX];
    struct stat st;

    for (int links = 0; lstat(at, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        ssize_t nr = links < LINKS_MOST ? readlink(at, to, sizeof(to) - 1) : -1;
        const char *slash = strrchr(at, '/');
        struct strbuf next;
        if (nr <= 0) {
            errno = links < LINKS_MOST ? errno : ELOOP;
            free(at);
            return NULL;
        }
        to[nr] = '\0';
        strbuf_init(&next);
        if (to[0] != '/' && slash)
            strbuf_add(&next, at, (size_t)(slash - at) + 1);
        strbuf_adds(&next, to);
        free(at);
        at = strbuf_detach(&next);
    }
    return at;
}

/* What is there and no file (a device, a pipe), and what a link to a descriptor leads to, whose
 * other users look at the file that it has now. */
static bool is_in_place(const char *path)
{
    struct stat st;
    char real[PATH_MAX];
    ssize_t nr = readlink(path, real, sizeof(real) - 1);

    if (nr > 0)
        real[nr] = '\0';
    if (nr > 0 && strncmp(real, "/proc/", 6) == 0)
        return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A new file beside the target by a name that nobody can guess. */
static int open_temporary(struct file_output *o)
{
    enum { TRIES = 16 };
    struct strbuf name;
    uint64_t random;
    int fd = -1;

    strbuf_init(&name);
    for (int i = 0; fd < 0 && i < TRIES; i++) {
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
            break;
        strbuf_clear(&name);
        strbuf_add(&name, o->target, folder_length(o->target));
        strbuf_addf(&name, ".harness-%016llx.tmp", (unsigned long long)random);
        fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    o->temporary = strbuf_detach(&name);
    return fd;
}

int file_take_mode(int fd, const struct stat *from, mode_t mode)
{
    /* Not everybody may give files away; it is the writer's then, but of the same group if he may.
     */
    if (fchown(fd, from->st_uid, from->st_gid) && fchown(fd, (uid_t)-1, from->st_gid))
        errno = 0;
    return fchmod(fd, mode);
}

static int take_mode(const struct file_output *o, int fd)
{
    struct stat st;

    if (lstat(o->target, &st) || !S_ISREG(st.st_mode))
        return 0;
    return file_take_mode(fd, &st, st.st_mode & 0777);
}

static int open_output(struct file_output *o)
{
    int own = descriptor_of(o->path);

    /* By its name a file would be emptied, and what is printed later written over its beginning. */
    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    if (is_in_place(o->path))
        return open(o->path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    o->target = follow_links(o->path);
    if (!o->target)
        return -1;
    int fd = open_temporary(o);
    if (fd >= 0 && take_mode(o, fd) == 0)
        return fd;
    int reason = errno;
    if (fd >= 0) {
        close(fd);
        unlink(o->temporary);
    }
    errno = reason;
    return -1;
}

static void forget_output(struct file_output *o)
{
    free(o->path);
    free(o->target);
    free(o->temporary);
    *o = (struct file_output) { .stream = NULL };
}

int file_begin(struct file_output *o, const char *path, struct error *err)
{
    *o = (struct file_output) { .path = memory_string(path) };
    int fd = open_output(o);

    if (fd >= 0 && (o->stream = fdopen(fd, "w")))
        return 0;
    int reason = errno;
    if (fd >= 0) {
        close(fd);
        if (o->temporary)
            unlink(o->temporary);
    }
    forget_output(o);
    return error_set(err, "%s: cannot write: %s", path, strerror(reason));
}

/* A name is on the disk when its folder is. Some file systems know no fsync() of a folder. */
static int sync_folder(const char *path)
{
    size_t length = folder_length(path);
    struct strbuf folder;

    strbuf_init(&folder);
    strbuf_add(&folder, length ? path : ".", length ? length : 1);
    int fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool failed = fd >= 0 && fsync(fd) && (errno == EIO || errno == ENOSPC || errno == EDQUOT);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    strbuf_release(&folder);
    return failed ? reason : 0;
}

/* 0, or the reason. Pipes and devices know no fsync(). */
static int finish_output(struct file_output *o)
{
    int reason = 0;

    if (ferror(o->stream) || fflush(o->stream) || (o->temporary && fsync(fileno(o->stream))))
        reason = errno ? errno : EIO;
    if (fclose(o->stream) && reason == 0)
        reason = errno;
    o->stream = NULL;
    if (!o->temporary || reason)
        return reason;
    if (rename(o->temporary, o->target))
        return errno;
    free(o->temporary);
    o->temporary = NULL;
    return sync_folder(o->target);
}

int file_commit(struct file_output *o, struct error *err)
{
    int reason = finish_output(o);

    if (reason)
        error_set(err, "%s: cannot write: %s", o->path, strerror(reason));
    file_abort(o);
    return reason ? -1 : 0;
}

void file_abort(struct file_output *o)
{
    if (o->stream)
        fclose(o->stream);
    if (o->temporary)
        unlink(o->temporary);
    forget_output(o);
}

int file_write(const char *path, const void *bytes, size_t length, struct error *err)
{
    struct file_output o;

    if (file_begin(&o, path, err))
        return -1;
    errno = 0;
    if (length > 0)
        fwrite(bytes, 1, length, o.stream);
    return file_commit(&o, err);
}

int file_sync_folder(const char *path, struct error *err)
{
    int reason = sync_folder(path);

    return reason ? error_set(err, "%s: cannot synchronise its folder: %s", path, strerror(reason))
                  : 0;
}

/* ---- folders ---- */

/* The folder that this program keeps its things in is no litter in a repository: git is told so by
 * a file in it, as the folder is made. Where that cannot be written nothing is lost. */
static void ignore_own_folder(const char *path)
{
    static const char all[] = "*\n";
    const char *slash = strrchr(path, '/');
    struct error ignored;
    struct strbuf name;

    if (strcmp(slash ? slash + 1 : path, ".harness") != 0)
        return;
    strbuf_init(&name);
    strbuf_addf(&name, "%s/.gitignore", path);
    file_write(name.data, all, sizeof(all) - 1, &ignored);
    strbuf_release(&name);
}

static int make_one_directory(const char *path, struct error *err)
{
    struct error ignored;

    if (mkdir(path, 0777) == 0) {
        ignore_own_folder(path);
        file_sync_folder(path, &ignored); /* one that may be entered, but not read, cannot be */
        return 0;
    }
    int reason = errno;
    if (file_is_folder(path))
        return 0;
    return error_set(err, "%s: cannot create directory: %s", path, strerror(reason));
}

int file_make_directory(const char *path, struct error *err)
{
    struct strbuf copy;
    int rc = 0;

    strbuf_init(&copy);
    strbuf_adds(&copy, path);
    for (char *p = copy.data + 1; rc == 0 && copy.length > 0 && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        rc = make_one_directory(copy.data, err);
        *p = '/';
    }
    if (rc == 0)
        rc = make_one_directory(copy.data, err);
    strbuf_release(&copy);
    return rc;
}

int file_make_parent(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    struct strbuf parent;

    if (!slash || slash == path)
        return 0;
    strbuf_init(&parent);
    strbuf_add(&parent, path, (size_t)(slash - path));
    int rc = file_make_directory(parent.data, err);
    strbuf_release(&parent);
    return rc;
}

/* ---- small ones ---- */

static int remove_found(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

int file_remove_folder(const char *path, struct error *err)
{
    enum { OPEN_MOST = 16 };

    if (nftw(path, remove_found, OPEN_MOST, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        return error_set(err, "cannot remove %s: %s", path, strerror(errno));
    return 0;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

int file_look(const char *path, struct error *err)
{
    if (file_exists(path))
        return 1;
    if (errno == ENOENT || errno == ENOTDIR)
        return 0;
    return error_set(err, "%s: cannot be looked at: %s", path, strerror(errno));
}

bool file_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool file_first_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    bool found = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (found)
        line[strcspn(line, "\n")] = '\0';
    return found;
}

bool file_field(const char *path, const char *name, int64_t *value)
{
    FILE *file = fopen(path, "r");
    size_t length = strlen(name);
    bool found = false;
    char line[256];

    while (file && !found && fgets(line, sizeof(line), file)) {
        char *end, *rest = line + length;
        if (strncmp(line, name, length) != 0 || (*rest != ':' && *rest != ' '))
            continue;
        *value = strtoll(rest + 1, &end, 10);
        found = end != rest + 1;
    }
    if (file)
        fclose(file);
    return found;
}
