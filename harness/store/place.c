/* SPDX-License-Identifier: MIT */
#include "store/place.h"
#include "store/untrusted.h"

#include "base/access.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "stats/random.h"
#include "vfs/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void beside(const char *path, const char *suffix, struct strbuf *name)
{
    strbuf_clear(name);
    strbuf_addf(name, "%s%s", path, suffix);
}

void place_name(const char *path, const char *what, struct strbuf *name)
{
    char uuid[37];

    random_uuid(uuid);
    strbuf_clear(name);
    strbuf_addf(name, "%s.%s-%.8s", path, what, uuid);
}

void place_folder(const char *path, struct strbuf *folder)
{
    const char *slash = strrchr(path, '/');

    strbuf_clear(folder);
    if (!slash)
        strbuf_adds(folder, ".");
    else if (slash == path)
        strbuf_adds(folder, "/");
    else
        strbuf_add(folder, path, (size_t)(slash - path));
}

/* ---- reading ---- */

static bool read_descriptor(void *context, void *bytes, size_t nr, int64_t at)
{
    return pread(*(const int *)context, bytes, nr, at) == (ssize_t)nr;
}

static bool read_handle(void *context, void *bytes, size_t nr, int64_t at)
{
    sqlite3_file *file = context;

    return file && file->pMethods && file->pMethods->xRead(file, bytes, (int)nr, at) == SQLITE_OK;
}

static sqlite3_file *handle_of(sqlite3 *db, int which)
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(db, "main", which, &file) == SQLITE_OK ? file : NULL;
}

/* The file as it is without any log. Only through SQLite: closing another descriptor of it would
 * drop the locks that this process has on it. NULL: it cannot be opened. */
static sqlite3 *open_bare(const char *path)
{
    sqlite3 *db = NULL;
    char *name = sql_immutable_name(path);

    if (sqlite3_open_v2(name, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK ||
        untrusted_settings(db) != SQLITE_OK) {
        sqlite3_close(db);
        db = NULL;
    }
    free(name);
    return db;
}

/* By its table of contents: 1: there it is, 0: the file has none, -1: it cannot be read. */
static int seal_of(sqlite3 *bare, unsigned char now[SEAL_NUMBER])
{
    sqlite3_stmt *stmt = NULL;
    int found = -1;

    if (sqlite3_prepare_v2(bare, "SELECT now FROM seal WHERE id = 1", -1, &stmt, NULL) ==
        SQLITE_OK) {
        if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_bytes(stmt, 0) == SEAL_NUMBER) {
            memcpy(now, sqlite3_column_blob(stmt, 0), SEAL_NUMBER);
            found = 1;
        }
    } else if ((sqlite3_errcode(bare) & 0xff) == SQLITE_ERROR) {
        found = 0; /* no such table */
    }
    sqlite3_finalize(stmt);
    return found;
}

/* Nothing of what a log names is in the page where the file should have it. What cannot be read
 * counts as its own: SQLite mends a file by its log. */
static enum seal_answer ask_contents(const char *path, const struct seal_source *log,
                                     const struct seal *first)
{
    unsigned char now[SEAL_NUMBER];
    sqlite3 *bare = open_bare(path);
    int found = bare ? seal_of(bare, now) : -1;

    sqlite3_close(bare);
    if (found > 0)
        return seal_in_log(log, now) ? SEAL_BELONGS : SEAL_FOREIGN;
    return found < 0 || seal_is_first(first) ? SEAL_BELONGS : SEAL_FOREIGN;
}

static enum seal_answer compare(const char *path, const struct seal_source *log,
                                const struct seal_source *main, struct seal *seal, uint32_t *at)
{
    struct seal first;
    enum seal_answer answer = seal_compare(log, main, &first, seal, at);

    if (answer == SEAL_FOREIGN && *at == 0)
        return ask_contents(path, log, &first);
    return answer;
}

/* ---- before a file is opened: its log ---- */

static enum seal_answer look_at_log(const char *path, int fd)
{
    struct seal_source log = { read_descriptor, &fd }, main = { read_handle, NULL };
    struct seal seal;
    struct stat st;
    uint32_t at;
    bool there = stat(path, &st) == 0 && st.st_size > 0;
    sqlite3 *bare = there ? open_bare(path) : NULL;

    if (there && !bare)
        return SEAL_UNKNOWN;
    main.context = bare ? handle_of(bare, SQLITE_FCNTL_FILE_POINTER) : NULL;
    enum seal_answer answer = there ? compare(path, &log, &main, &seal, &at)
                                    : seal_compare(&log, &main, &seal, &seal, &at);
    sqlite3_close(bare);
    return !there && answer != SEAL_NO_LOG ? SEAL_FOREIGN : answer;
}

/* Others may write while we look, and begin the log anew between the one reading and the other:
 * what is foreign stays so. */
static enum seal_answer look_closely(const char *path, int fd)
{
    enum { LOOKS = 4, PAUSE_MS = 3 };
    enum seal_answer answer = SEAL_FOREIGN;

    for (int i = 0; answer == SEAL_FOREIGN && i < LOOKS; i++) {
        if (i > 0)
            sqlite3_sleep(PAUSE_MS);
        answer = look_at_log(path, fd);
    }
    return answer;
}

bool place_log_is_foreign(const char *path)
{
    struct strbuf name;

    strbuf_init(&name);
    beside(path, "-wal", &name);
    int fd = open(name.data, O_RDONLY | O_CLOEXEC);
    bool foreign = fd >= 0 && look_closely(path, fd) == SEAL_FOREIGN;
    if (fd >= 0)
        close(fd);
    strbuf_release(&name);
    return foreign;
}

/* ---- before a file is opened: the index ---- */

enum {
    INDEX_ATTACHED = 128, /* the byte of the index that all have locked who use it */
    INDEX_HEADER = 48,    /* twice */
    INDEX_READY = 12,     /* 1 byte */
    INDEX_PAGE_SIZE = 14, /* 2 bytes, of this machine; 1: 65536 */
    INDEX_FRAMES = 16,    /* 4 bytes: pages in the log */
    INDEX_PAGES = 20,     /* 4 bytes: of the file */
    FILE_SHARED = 0x40000002,
    FILE_SHARED_NR = 510, /* locked in the file by all who have it open with a log */
};

/* Who has locked it; 0: nobody. */
static pid_t holder(int fd, off_t from, off_t nr)
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
    enum { LOOKS = 4 };
    const struct timespec pause = { .tv_nsec = 3000000 };
    int index = open(index_path, O_RDONLY | O_CLOEXEC), file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st, log;

    for (int i = 0; index >= 0 && i < LOOKS; i++) {
        pid_t user = holder(index, INDEX_ATTACHED, 1);
        if (user == 0)
            return false; /* SQLite makes it anew */
        bool here = file >= 0 && holder(file, FILE_SHARED, FILE_SHARED_NR) != 0;
        int64_t length = file >= 0 && fstat(file, &st) == 0 ? st.st_size : 0;
        int64_t log_length = stat(log_path, &log) == 0 ? log.st_size : 0;
        if (here && !lengths_differ(index, length, log_length))
            return false;
        if (holder(index, INDEX_ATTACHED, 1) != user)
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
    return index < 0 || holder(index, INDEX_ATTACHED, 1) == 0;
}

static bool has_seal(const char *path)
{
    unsigned char now[SEAL_NUMBER];
    sqlite3 *bare = open_bare(path);
    bool has = bare && seal_of(bare, now) > 0;

    sqlite3_close(bare);
    return has;
}

/* ---- before a file is opened ---- */

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
    beside(name.data, "-wal", &log);
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

/* ---- before a file is opened: the journal of one that was being made ---- */

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
    sqlite3 *bare = open_bare(path);
    sqlite3_stmt *stmt = NULL;
    bool has = bare &&
               sqlite3_prepare_v2(bare, "SELECT 1 FROM run", -1, &stmt, NULL) == SQLITE_OK &&
               sqlite3_step(stmt) == SQLITE_ROW;

    sqlite3_finalize(stmt);
    sqlite3_close(bare);
    return has;
}

static int put_journal_aside(const char *path, struct strbuf *note, struct error *err)
{
    struct strbuf journal, name;
    int rc = 0;

    strbuf_init(&journal);
    strbuf_init(&name);
    beside(path, "-journal", &journal);
    if (undoes_all(journal.data) && has_runs(path)) {
        place_name(path, "left", &name);
        strbuf_adds(&name, "-journal");
        if (rename(journal.data, name.data))
            rc = error_set(err,
                           "%s: is of another file, and would cut this one to nothing; it "
                           "cannot be put aside: %s",
                           journal.data, strerror(errno));
        else
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
        beside(path, ends[i], &name);
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

/* SQLite has the log beside the file itself, not beside a link to it. */
static char *true_path(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : memory_string(path);
}

int place_look(const char *path, enum store_mode mode, bool *foreign, struct strbuf *note,
               struct error *err)
{
    char *real = true_path(path);
    struct look l = { .path = real };
    int rc = refuse_planted(real, mode, err);

    if (rc) {
        free(real);
        return -1;
    }
    strbuf_init(&l.log);
    strbuf_init(&l.index);
    beside(real, "-wal", &l.log);
    beside(real, "-shm", &l.index);
    look_at_files(&l);
    if (l.foreign_log || l.foreign_index) {
        int folder = place_lock_folder(real);
        look_at_files(&l); /* another one may have been faster */
        if (l.foreign_log || l.foreign_index)
            rc = put_aside(&l, note, err);
        else
            rc = 1;
        if (folder >= 0)
            close(folder);
        *foreign = rc == 0;
    }
    if (rc >= 0)
        rc = put_journal_aside(real, note, err);
    strbuf_release(&l.log);
    strbuf_release(&l.index);
    free(real);
    return rc < 0 ? -1 : 0;
}

/* ---- while a file is open ---- */

static void remember(const char *path, struct place_file *file)
{
    struct stat st;

    *file = (struct place_file) { 0, 0 };
    if (stat(path, &st) == 0)
        *file = (struct place_file) { st.st_dev, st.st_ino };
}

static bool is_at(const char *path, const struct place_file *file)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->number;
}

static const char *name_of(const struct store *s)
{
    const char *name = sqlite3_db_filename(s->db, "main");

    return name && *name ? name : s->path;
}

/* Where the file's table of contents has the seal; 0: it has none. */
static uint32_t seal_page(struct store *s)
{
    struct error ignored;
    int64_t page = 0;

    if (sql_one_int(s, "SELECT coalesce(max(rootpage), 0) FROM sqlite_schema WHERE name = 'seal'",
                    &page, &ignored))
        page = 0;
    return (uint32_t)page;
}

static bool read_own(struct store *s, uint32_t page, struct seal *seal)
{
    size_t size = (size_t)s->place.page_size;

    if (page == 0 || size == 0)
        return false;
    unsigned char *bytes = memory_zeroed(size, 1);
    bool known = read_handle(handle_of(s->db, SQLITE_FCNTL_FILE_POINTER), bytes, size,
                             (int64_t)(page - 1) * (int64_t)size) &&
                 seal_read(bytes, size, seal);
    free(bytes);
    return known;
}

/* What SQL says of the seal: of its log, too, in the transaction that is open. */
static bool ask_seal(struct store *s, const char *text, unsigned char *bytes, size_t size)
{
    struct error ignored;
    struct sql_query q;
    size_t length = 0;

    if (sql_open(&q, s, text, &ignored))
        return false;
    const void *found = sql_step(&q, &ignored) > 0 ? sql_blob(&q, &length) : NULL;
    if (found && length == size)
        memcpy(bytes, found, size);
    sql_close(&q);
    return found && length == size;
}

static bool seal_now(struct store *s, unsigned char now[SEAL_NUMBER])
{
    return ask_seal(s, "SELECT now FROM seal WHERE id = 1", now, SEAL_NUMBER);
}

static bool seal_life(struct store *s, unsigned char life[SEAL_FILE])
{
    return ask_seal(s, "SELECT file FROM seal WHERE id = 1", life, SEAL_FILE);
}

void place_remember(struct store *s)
{
    struct error ignored;
    struct strbuf name;

    strbuf_init(&name);
    remember(name_of(s), &s->place.file);
    beside(name_of(s), "-wal", &name);
    remember(name.data, &s->place.log);
    beside(name_of(s), "-shm", &name);
    remember(name.data, &s->place.index);
    strbuf_release(&name);
    if (sql_one_int(s, "PRAGMA page_size", &s->place.page_size, &ignored) ||
        s->place.page_size > 65536)
        s->place.page_size = 0;
    s->place.page = seal_page(s);
    s->place.sealed = s->place.page > 0 && seal_life(s, s->place.life);
    s->place.known = read_own(s, s->place.page, &s->place.seal);
}

/* The file's own seal changes with each checkpoint, to a number of the log. Where the log is empty,
 * what SQL says is read from the file, or was before somebody wrote another one over it. */
static enum store_fate compare_with_log(struct store *s)
{
    sqlite3_file *file = handle_of(s->db, SQLITE_FCNTL_FILE_POINTER);
    struct seal_source log = { read_handle, handle_of(s->db, SQLITE_FCNTL_JOURNAL_POINTER) };
    struct seal_source main = { read_handle, file };
    unsigned char now[SEAL_NUMBER];
    struct seal seal;
    uint32_t at;
    enum seal_answer answer = compare(name_of(s), &log, &main, &seal, &at);

    s->place.page = at ? at : seal_page(s);
    s->place.known = read_own(s, s->place.page, &seal);
    if (answer == SEAL_NO_LOG || answer == SEAL_UNKNOWN)
        answer = s->place.known && seal_now(s, now) && memcmp(now, seal.now, SEAL_NUMBER) == 0
                     ? SEAL_BELONGS
                     : SEAL_FOREIGN;
    s->place.known &= answer == SEAL_BELONGS;
    if (s->place.known)
        s->place.seal = seal;
    return answer == SEAL_BELONGS ? STORE_IN_PLACE : STORE_OVERWRITTEN;
}

enum store_fate place_fate(struct store *s)
{
    struct seal seal;
    int moved = 0;

    if (!s->db || s->immutable || s->place.file.number == 0)
        return STORE_IN_PLACE;
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved)
        return file_exists(name_of(s)) ? STORE_REPLACED : STORE_MOVED;
    if (!s->place.sealed)
        return STORE_IN_PLACE;
    if (s->place.known && read_own(s, s->place.page, &seal) &&
        memcmp(&seal, &s->place.seal, sizeof(seal)) == 0)
        return STORE_IN_PLACE;
    return compare_with_log(s);
}

int place_new_life(struct store *s, struct error *err)
{
    if (sql_execute(s, "UPDATE seal SET file = randomblob(16)", err))
        return -1;
    return seal_life(s, s->place.life) ? 0 : error_set(err, "%s: has no seal", s->path);
}

const char *place_words(enum store_fate fate)
{
    static const char *const words[] = {
        [STORE_IN_PLACE] = "was kept locked by another process",
        [STORE_MOVED] = "was moved or removed",
        [STORE_REPLACED] = "was replaced by another file",
        [STORE_OVERWRITTEN] = "was overwritten with other content",
        [STORE_RESTORED] = "was restored from a backup",
    };

    return words[fate];
}

void place_follow_link(struct store *s)
{
    const char *name = name_of(s);

    if (s->place.file.number == 0 || is_at(s->path, &s->place.file) || !is_at(name, &s->place.file))
        return;
    strbuf_addf(&s->note, "%s%s leads to another file now; this goes on in %s, where it began",
                s->note.length ? "\n" : "", s->path, name);
    free(s->path);
    s->path = memory_string(name);
}

/* ---- a file that was moved ---- */

/* The present name of a file that this process has open: NULL if it has none. */
static char *present_name(const struct place_file *file)
{
    char link[64], name[PATH_MAX];
    DIR *folder = opendir("/proc/self/fd");
    char *found = NULL;

    for (struct dirent *e; folder && !found && (e = readdir(folder));) {
        snprintf(link, sizeof(link), "/proc/self/fd/%.20s", e->d_name);
        ssize_t nr = is_at(link, file) ? readlink(link, name, sizeof(name) - 1) : -1;
        if (nr <= 0)
            continue;
        name[nr] = '\0';
        if (is_at(name, file))
            found = memory_string(name);
    }
    if (folder)
        closedir(folder);
    return found;
}

static void carry(const struct place_file *what, const char *to)
{
    char *now = present_name(what);

    if (now && strcmp(now, to) != 0)
        rename(now, to);
    free(now);
}

/* Where somebody has opened it by its new name, it has a log there, and ours stays: the next who
 * opens the old name puts it aside. */
void place_follow(struct store *s, char **now)
{
    struct strbuf log, index;

    *now = present_name(&s->place.file);
    if (!*now || strcmp(*now, name_of(s)) == 0)
        return;
    strbuf_init(&log);
    strbuf_init(&index);
    beside(*now, "-wal", &log);
    beside(*now, "-shm", &index);
    if (!file_exists(log.data) && !file_exists(index.data)) {
        carry(&s->place.index, index.data);
        carry(&s->place.log, log.data);
    }
    strbuf_release(&log);
    strbuf_release(&index);
}
