/* SPDX-License-Identifier: MIT */
/* Before a file is opened: what lies beside it under its names and is not its own. */
#include "store/place.h"
#include "store/untrusted.h"

#include "base/access.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "vfs/page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

char *place_true_path(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : memory_string(path);
}

/* ---- its log ---- */

static bool read_descriptor(void *context, void *bytes, size_t nr, int64_t at)
{
    return pread(*(const int *)context, bytes, nr, at) == (ssize_t)nr;
}

static enum seal_answer look_at_log(const char *path, int fd)
{
    struct seal_source log = { read_descriptor, &fd }, main = { place_read_handle, NULL };
    struct seal seal;
    struct stat st;
    uint32_t at;
    bool there = stat(path, &st) == 0 && st.st_size > 0;
    sqlite3 *bare = there ? place_open_bare(path) : NULL;

    if (there && !bare)
        return SEAL_UNKNOWN;
    main.context = bare ? place_handle(bare, SQLITE_FCNTL_FILE_POINTER) : NULL;
    enum seal_answer answer = there ? place_compare_log(path, &log, &main, &seal, &at)
                                    : seal_compare(&log, &main, &seal, &seal, &at);
    sqlite3_close(bare);
    return !there && answer != SEAL_NO_LOG ? SEAL_FOREIGN : answer;
}

/* Others may write while we look, and begin the log anew between the one reading and the other:
 * what is foreign stays so. On a busy machine who writes may have to wait in the middle of it, so
 * the looks are spread over a fifth of a second; only what looks foreign is looked at twice. */
enum { LOOKS = 16, LOOK_PAUSE_MS = 13 };

static enum seal_answer look_closely(const char *path, int fd)
{
    enum seal_answer answer = SEAL_FOREIGN;

    for (int i = 0; answer == SEAL_FOREIGN && i < LOOKS; i++) {
        if (i > 0)
            sqlite3_sleep(LOOK_PAUSE_MS);
        answer = look_at_log(path, fd);
    }
    return answer;
}

bool place_has_log(const char *path)
{
    char *real = place_true_path(path);
    struct strbuf name;
    struct stat st;

    strbuf_init(&name);
    place_beside(real, "-wal", &name);
    bool has = stat(name.data, &st) == 0 && st.st_size > 0;
    strbuf_release(&name);
    free(real);
    return has;
}

bool place_log_is_foreign(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    place_beside(path, "-wal", &name);
    int fd = open(name.data, O_RDONLY | O_CLOEXEC);
    bool foreign = fd >= 0 && look_closely(path, fd) == SEAL_FOREIGN;
    if (fd >= 0)
        close(fd);
    strbuf_release(&name);
    return foreign;
}

/* ---- the index ---- */

enum {
    INDEX_ATTACHED = 128, /* the byte of the index that all have locked who use it */
    INDEX_HEADER = 48,    /* twice */
    INDEX_READY = 12,     /* 1 byte */
    INDEX_PAGE_SIZE = 14, /* 2 bytes, of this machine; 1: 65536 */
    INDEX_FRAMES = 16,    /* 4 bytes: pages in the log */
    INDEX_PAGES = 20,     /* 4 bytes: of the file */
    FILE_SHARED = 0x40000002,
    FILE_SHARED_NR = 510, /* locked in the file by all who have it open with a log */
    FILE_NOBODYS = FILE_SHARED + FILE_SHARED_NR, /* SQLite locks nothing there */
};

/* Who has locked it; 0: nobody. */
static pid_t lock_holder(int fd, off_t from, off_t nr)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = nr };

    return fcntl(fd, F_GETLK, &lock) || lock.l_type == F_UNLCK ? 0 : lock.l_pid ? lock.l_pid : -1;
}

/* Does the index speak of a file or a log of other lengths than these? */
static bool lengths_differ(int index, int64_t file, int64_t log)
{
    unsigned char header[2 * INDEX_HEADER], again[2 * INDEX_HEADER];
    uint32_t frames, pages;
    uint16_t size;

    if (pread(index, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        pread(index, again, sizeof(again), 0) != (ssize_t)sizeof(again) ||
        memcmp(header, again, sizeof(header)) != 0 ||
        memcmp(header, header + INDEX_HEADER, INDEX_HEADER) != 0 || !header[INDEX_READY])
        return false; /* not ready, or being changed */
    memcpy(&frames, header + INDEX_FRAMES, sizeof(frames));
    memcpy(&pages, header + INDEX_PAGES, sizeof(pages));
    memcpy(&size, header + INDEX_PAGE_SIZE, sizeof(size));
    int64_t page = size == 1 ? 65536 : size;
    return frames == 0 ? pages > 0 && file != pages * page : log < 32 + frames * (page + 24);
}

/* Somebody uses the index, but not the file that is here now; or it is of a file of another length.
 * Only what is safe between fork() and exec(), as all that ask_child() asks. */
static bool index_is_foreign(const char *path, const char *index_path, const char *log_path)
{
    const struct timespec pause = { .tv_nsec = LOOK_PAUSE_MS * 1000000L };
    int index = open(index_path, O_RDONLY | O_CLOEXEC), file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st, log;

    for (int i = 0; index >= 0 && i < LOOKS; i++) {
        pid_t user = lock_holder(index, INDEX_ATTACHED, 1);
        if (user == 0)
            return false; /* SQLite makes it anew */
        bool here = file >= 0 && lock_holder(file, FILE_SHARED, FILE_SHARED_NR) != 0;
        int64_t length = file >= 0 && fstat(file, &st) == 0 ? st.st_size : 0;
        int64_t log_length = stat(log_path, &log) == 0 ? log.st_size : 0;
        if (here && !lengths_differ(index, length, log_length))
            return false;
        if (lock_holder(index, INDEX_ATTACHED, 1) != user)
            return false;
        nanosleep(&pause, NULL);
    }
    return index >= 0;
}

/* In a child, whose closing drops no lock of ours. */
static bool ask_child(bool (*question)(const char *path, const char *index, const char *log),
                      const char *path, const char *index, const char *log)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(question(path, index, log));
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static bool index_is_unused(const char *path, const char *index_path, const char *log_path)
{
    int index = open(index_path, O_RDONLY | O_CLOEXEC);

    (void)path;
    (void)log_path;
    return index < 0 || lock_holder(index, INDEX_ATTACHED, 1) == 0;
}

static bool locks_are_refused(const char *path, const char *index_path, const char *log_path)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = FILE_NOBODYS, .l_len = 1
    };
    int file = open(path, O_RDONLY | O_CLOEXEC);

    (void)index_path;
    (void)log_path;
    return file >= 0 && fcntl(file, F_SETLK, &lock) &&
           (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS);
}

bool place_locks_are_refused(const char *path)
{
    return ask_child(locks_are_refused, path, NULL, NULL);
}

static bool has_seal(const char *path)
{
    unsigned char now[SEAL_NUMBER];
    sqlite3 *bare = place_open_bare(path);
    bool has = bare && place_bare_seal(bare, now) > 0;

    sqlite3_close(bare);
    return has;
}

/* ---- both ---- */

struct look {
    const char *path;
    struct strbuf log, index;
    bool foreign_log, foreign_index;
};

static void look_at_files(struct look *l)
{
    int fd = open(l->log.data, O_RDONLY | O_CLOEXEC);
    enum seal_answer answer = fd >= 0 ? look_closely(l->path, fd) : SEAL_NO_LOG;

    if (fd >= 0)
        close(fd);
    /* A log without seals, beside a file that has one, which nobody uses: what an older harness
     * left of the file that lay here. One that is used is another program's, at work. */
    if (answer == SEAL_UNKNOWN && has_seal(l->path) &&
        ask_child(index_is_unused, l->path, l->index.data, l->log.data))
        answer = SEAL_FOREIGN;
    l->foreign_log = answer == SEAL_FOREIGN;
    l->foreign_index = l->foreign_log;
    if (answer == SEAL_NO_LOG && file_exists(l->index.data))
        l->foreign_index = ask_child(index_is_foreign, l->path, l->index.data, l->log.data);
}

/* 1: it is put aside, 0: the folder cannot be written to, -1: error. */
static int put_aside(const struct look *l, struct strbuf *note, struct error *err)
{
    struct strbuf name, log;
    int rc = 1;

    strbuf_init(&name);
    strbuf_init(&log);
    place_name(l->path, "left", &name);
    place_beside(name.data, "-wal", &log);
    /* The index goes first: nobody shall find it without the log that it speaks of. */
    if (unlink(l->index.data) && errno != ENOENT)
        rc = errno == EACCES || errno == EROFS || errno == EPERM ? 0 : -1;
    if (rc > 0 && rename(l->log.data, log.data) && errno != ENOENT)
        rc = errno == EACCES || errno == EROFS || errno == EPERM ? 0 : -1;
    if (rc < 0)
        error_set(err, "%s: belongs to another file and cannot be put aside: %s", l->log.data,
                  strerror(errno));
    else if (rc > 0 && l->foreign_log)
        strbuf_addf(note,
                    "%s: the log beside it was of another file, or of another state of it (it was "
                    "replaced, restored or removed while in use). It was not applied, and is kept "
                    "as %s: with that file as %s beside it, what it holds can be read again",
                    l->path, log.data, name.data);
    strbuf_release(&name);
    strbuf_release(&log);
    return rc;
}

/* ---- the journal of one that was being made ---- */

/* sqlite.org/fileformat2.html, 3 (the rollback journal). */
enum { JOURNAL_HEAD = 28, JOURNAL_BEFORE = 16 /* 4 bytes: pages that the file had */ };

/* SQLite would undo the making by cutting the file to nothing. */
static bool undoes_all(const char *journal)
{
    static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    unsigned char head[JOURNAL_HEAD];
    int fd = open(journal, O_RDONLY | O_CLOEXEC);
    bool undoes = fd >= 0 && read_descriptor(&fd, head, sizeof(head), 0) &&
                  memcmp(head, magic, sizeof(magic)) == 0 &&
                  page_get(head + JOURNAL_BEFORE, 4) == 0;

    if (fd >= 0)
        close(fd);
    return undoes;
}

/* The making of a history writes no runs. */
static bool has_runs(const char *path)
{
    sqlite3 *bare = place_open_bare(path);
    sqlite3_stmt *stmt = NULL;
    bool has = bare &&
               sqlite3_prepare_v2(bare, "SELECT 1 FROM run", -1, &stmt, NULL) == SQLITE_OK &&
               sqlite3_step(stmt) == SQLITE_ROW;

    sqlite3_finalize(stmt);
    sqlite3_close(bare);
    return has;
}

/* Once there are runs the making is over: a journal that is still there is another file's. */
static bool journal_is_foreign(const char *path, struct strbuf *journal)
{
    place_beside(path, "-journal", journal);
    return undoes_all(journal->data) && has_runs(path) && undoes_all(journal->data);
}

static int put_journal_aside(const char *path, struct strbuf *note, struct error *err)
{
    struct strbuf journal, name;
    int rc = 0;

    strbuf_init(&journal);
    strbuf_init(&name);
    if (journal_is_foreign(path, &journal)) {
        place_name(path, "left", &name);
        strbuf_adds(&name, "-journal");
        if (rename(journal.data, name.data) && errno != ENOENT)
            rc = error_set(err,
                           "%s: is of another file, and would cut this one to nothing; it "
                           "cannot be put aside: %s",
                           journal.data, strerror(errno));
        else if (file_exists(name.data))
            strbuf_addf(note,
                        "%s%s: the journal beside it was of another file, which was being made. It "
                        "was not applied, and is kept as %s",
                        note->length ? "\n" : "", path, name.data);
    }
    strbuf_release(&journal);
    strbuf_release(&name);
    return rc;
}

/* One process at a time; a file system that knows no such lock has to do without. */
int place_lock_folder(const char *path)
{
    struct strbuf folder;

    strbuf_init(&folder);
    place_folder(path, &folder);
    int fd = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    strbuf_release(&folder);
    while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
        continue;
    return fd;
}

/* SQLite takes what has the right name and the right numbers in it. Where others may make files
 * beside the history, as in /tmp, that would be a way to write into it without being permitted to.
 */
static int refuse_planted(const char *path, enum store_mode mode, struct error *err)
{
    /* The index is of whoever came first, be it a reader: it does not tell other readers what is in
     * the history, but writers would go by it. */
    static const char *const ends[] = { "-journal", "-wal", "-shm" };
    size_t nr = mode == STORE_WRITE ? 3 : 2;
    struct stat file, st;
    struct strbuf name;
    int rc = 0;

    if (stat(path, &file))
        return 0;
    strbuf_init(&name);
    for (size_t i = 0; rc == 0 && i < nr; i++) {
        place_beside(path, ends[i], &name);
        if (lstat(name.data, &st) == 0 && st.st_size > 0 && st.st_uid != geteuid() &&
            !access_may_write(&file, st.st_uid))
            rc = error_set(err,
                           "%s: was made by the user %u, who may not write to the history that it "
                           "lies beside; it could put anything into it, so it was not applied. "
                           "Remove it, and keep the history in a folder where nobody else makes "
                           "files (`harness history move`)",
                           name.data, (unsigned)st.st_uid);
    }
    strbuf_release(&name);
    return rc;
}

static bool is_any_foreign(const struct look *l)
{
    struct strbuf journal;

    strbuf_init(&journal);
    bool is = l->foreign_log || l->foreign_index || journal_is_foreign(l->path, &journal);
    strbuf_release(&journal);
    return is;
}

static int put_all_aside(struct look *l, bool *foreign, struct strbuf *note, struct error *err)
{
    int rc = 1;

    if (l->foreign_log || l->foreign_index) {
        int folder = place_lock_folder(l->path);
        look_at_files(l); /* another one may have been faster */
        if (l->foreign_log || l->foreign_index)
            rc = put_aside(l, note, err);
        if (folder >= 0)
            close(folder);
        *foreign = rc == 0;
    }
    return rc < 0 ? -1 : put_journal_aside(l->path, note, err);
}

int place_look(const char *path, enum store_mode mode, bool *foreign, struct strbuf *note,
               struct error *err)
{
    char *real = place_true_path(path);
    struct look l = { .path = real };
    int rc = refuse_planted(real, mode, err);

    if (rc) {
        free(real);
        return -1;
    }
    strbuf_init(&l.log);
    strbuf_init(&l.index);
    place_beside(real, "-wal", &l.log);
    place_beside(real, "-shm", &l.index);
    look_at_files(&l);
    if (mode == STORE_LOOK)
        *foreign = is_any_foreign(&l);
    else
        rc = put_all_aside(&l, foreign, note, err);
    strbuf_release(&l.log);
    strbuf_release(&l.index);
    free(real);
    return rc;
}
