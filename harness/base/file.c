/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_read(const char *path, size_t *length, struct error *err)
{
    FILE *file = fopen(path, "rb");
    struct strbuf content;
    char block[65536];
    size_t nr;

    if (!file) {
        error_set(err, "%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    strbuf_init(&content);
    while ((nr = fread(block, 1, sizeof(block), file)) > 0)
        strbuf_add(&content, block, nr);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed) {
        strbuf_release(&content);
        error_set(err, "%s: cannot read: %s", path, strerror(reason));
        return NULL;
    }
    if (length)
        *length = content.length;
    return strbuf_detach(&content);
}

int file_digest(const char *path, char digest[DIGEST_TEXT_SIZE], struct error *err)
{
    struct digest d;
    size_t length;
    char *bytes = file_read(path, &length, err);

    if (!bytes)
        return -1;
    digest_init(&d);
    digest_add(&d, bytes, length);
    digest_text(&d, digest);
    free(bytes);
    return 0;
}

static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t nr = write(fd, bytes, length);
        if (nr < 0 && errno == EINTR)
            continue;
        if (nr < 0)
            return -1;
        bytes += nr;
        length -= (size_t)nr;
    }
    return 0;
}

/* Creates or empties `path` and fills it; 0, or the reason. Pipes and devices know no fsync(). */
static int fill(const char *path, const void *bytes, size_t length, bool sync)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0)
        return errno;
    int reason = write_all(fd, bytes, length) || (sync && fsync(fd)) ? errno : 0;
    if (close(fd) && reason == 0)
        reason = errno;
    return reason;
}

static int replace(const char *path, const void *bytes, size_t length)
{
    struct strbuf temporary;

    strbuf_init(&temporary);
    strbuf_addf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    int reason = fill(temporary.data, bytes, length, true);
    if (reason == 0 && rename(temporary.data, path))
        reason = errno;
    if (reason)
        unlink(temporary.data);
    strbuf_release(&temporary);
    return reason;
}

int file_write(const char *path, const void *bytes, size_t length, struct error *err)
{
    struct stat st;
    bool in_place = lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
    int reason = in_place ? fill(path, bytes, length, false) : replace(path, bytes, length);

    return reason ? error_set(err, "%s: cannot write: %s", path, strerror(reason)) : 0;
}

int file_sync_folder(const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    struct strbuf folder;

    strbuf_init(&folder);
    strbuf_add(&folder, path, slash ? (size_t)(slash - path) : 0);
    strbuf_adds(&folder, slash ? "/." : ".");
    int fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A file system that cannot do it for folders says EINVAL. */
    int reason = fd < 0 || (fsync(fd) && errno != EINVAL) ? errno : 0;
    if (fd >= 0)
        close(fd);
    strbuf_release(&folder);
    return reason ? error_set(err, "%s: cannot synchronise its folder: %s", path, strerror(reason))
                  : 0;
}

static int make_one(const char *path, struct error *err)
{
    struct error ignored;
    struct stat st;

    if (mkdir(path, 0777) == 0) {
        file_sync_folder(path, &ignored); /* one that may be entered, but not read, cannot be */
        return 0;
    }
    int reason = errno;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
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
        rc = make_one(copy.data, err);
        *p = '/';
    }
    if (rc == 0)
        rc = make_one(copy.data, err);
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

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_is_public(const char *path)
{
    char *real = realpath(path, NULL), *slash = real;
    struct stat st;
    bool fits = real && stat(real, &st) == 0 && (st.st_mode & S_IROTH);

    /* From the file up: /a/b, /a, and the root itself. */
    while (fits && (slash = strrchr(real, '/'))) {
        *slash = '\0';
        fits = stat(*real ? real : "/", &st) == 0 && (st.st_mode & S_IXOTH);
    }
    free(real);
    return fits;
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
