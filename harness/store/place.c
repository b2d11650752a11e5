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

void place_beside(const char *path, const char *suffix, struct strbuf *name)
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

bool place_read_handle(void *context, void *bytes, size_t nr, int64_t at)
{
    sqlite3_file *file = context;

    return file && file->pMethods && file->pMethods->xRead(file, bytes, (int)nr, at) == SQLITE_OK;
}

sqlite3_file *place_handle(sqlite3 *db, int which)
{
    sqlite3_file *file = NULL;

    return sqlite3_file_control(db, "main", which, &file) == SQLITE_OK ? file : NULL;
}

sqlite3 *place_open_bare(const char *path)
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

int place_bare_seal(sqlite3 *bare, unsigned char now[SEAL_NUMBER])
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
    sqlite3 *bare = place_open_bare(path);
    int found = bare ? place_bare_seal(bare, now) : -1;

    sqlite3_close(bare);
    if (found > 0)
        return seal_in_log(log, now) ? SEAL_BELONGS : SEAL_FOREIGN;
    return found < 0 || seal_is_first(first) ? SEAL_BELONGS : SEAL_FOREIGN;
}

enum seal_answer place_compare_log(const char *path, const struct seal_source *log,
                                   const struct seal_source *main, struct seal *seal, uint32_t *at)
{
    struct seal first;
    enum seal_answer answer = seal_compare(log, main, &first, seal, at);

    if (answer == SEAL_FOREIGN && *at == 0)
        return ask_contents(path, log, &first);
    return answer;
}

/* ---- while a file is open ---- */

static void remember_file(const char *path, struct place_file *file)
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
    bool known = place_read_handle(place_handle(s->db, SQLITE_FCNTL_FILE_POINTER), bytes, size,
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

void place_find_seal(struct store *s)
{
    s->place.page = seal_page(s);
    s->place.sealed = s->place.page > 0 && seal_life(s, s->place.life);
}

void place_remember(struct store *s)
{
    struct error ignored;
    struct strbuf name;

    strbuf_init(&name);
    remember_file(name_of(s), &s->place.file);
    place_beside(name_of(s), "-wal", &name);
    remember_file(name.data, &s->place.log);
    place_beside(name_of(s), "-shm", &name);
    remember_file(name.data, &s->place.index);
    strbuf_release(&name);
    if (sql_one_int(s, "PRAGMA page_size", &s->place.page_size, &ignored) ||
        s->place.page_size > 65536)
        s->place.page_size = 0;
    place_find_seal(s);
    s->place.known = read_own(s, s->place.page, &s->place.seal);
}

/* The file's own seal changes with each checkpoint, to a number of the log. Where the log is empty,
 * what SQL says is read from the file, or was before somebody wrote another one over it. */
static enum store_fate compare_with_log(struct store *s)
{
    sqlite3_file *file = place_handle(s->db, SQLITE_FCNTL_FILE_POINTER);
    struct seal_source log = { place_read_handle,
                               place_handle(s->db, SQLITE_FCNTL_JOURNAL_POINTER) };
    struct seal_source main = { place_read_handle, file };
    unsigned char now[SEAL_NUMBER];
    struct seal seal;
    uint32_t at;
    enum seal_answer answer = place_compare_log(name_of(s), &log, &main, &seal, &at);

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
    /* A look that failed says so, too: one more of our own, before anything is kept elsewhere. */
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved &&
        !is_at(name_of(s), &s->place.file))
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

static void carry_file(const struct place_file *what, const char *to)
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
    place_beside(*now, "-wal", &log);
    place_beside(*now, "-shm", &index);
    if (!file_exists(log.data) && !file_exists(index.data)) {
        carry_file(&s->place.index, index.data);
        carry_file(&s->place.log, log.data);
    }
    strbuf_release(&log);
    strbuf_release(&index);
}
