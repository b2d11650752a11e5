/* SPDX-License-Identifier: MIT */
#include "store/untrusted.h"

/* ---- settings ---- */

static const struct setting {
    int what, on;
} settings[] = {
    { SQLITE_DBCONFIG_DEFENSIVE, 1 },      { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
    { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
    { SQLITE_DBCONFIG_DQS_DDL, 0 },        { SQLITE_DBCONFIG_DQS_DML, 0 },
};

static const struct limit {
    int what, most;
} limits[] = {
    { SQLITE_LIMIT_LENGTH, UNTRUSTED_VALUE_MAX },
    { SQLITE_LIMIT_SQL_LENGTH, UNTRUSTED_SQL_MAX },
    { SQLITE_LIMIT_COLUMN, 100 },
    { SQLITE_LIMIT_EXPR_DEPTH, 256 }, /* of the longest condition (query/query_parts.h), */
    { SQLITE_LIMIT_COMPOUND_SELECT, 10 },
    { SQLITE_LIMIT_VDBE_OP, 25000 },
    { SQLITE_LIMIT_FUNCTION_ARG, 16 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096 },
    { SQLITE_LIMIT_VARIABLE_NUMBER, 4096 }, /* and its values, beside runs */
    { SQLITE_LIMIT_TRIGGER_DEPTH, 10 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 },
    { SQLITE_LIMIT_ATTACHED, 1 }, /* VACUUM's */
};

int untrusted_settings(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        int rc = sqlite3_db_config(db, settings[i].what, settings[i].on, NULL);
        if (rc != SQLITE_OK)
            return rc;
    }
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        sqlite3_limit(db, limits[i].what, limits[i].most);
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

/* ---- steps ---- */

enum {
    TURN = 10000,       /* instructions of SQLite's machine */
    TURNS_LEAST = 2000, /* in any file: half a second */
    BYTES_A_TURN = 200, /* 50 instructions a byte: a join of the longest kind needs one or two */
};

/* What is on the disk of an open file. Its length is asked through SQLite's own handle, see
 * read_header() in store_schema.c; where another file has its name by now, that is all that can be
 * known. */
static int64_t bytes_behind(sqlite3_file *file, const char *name)
{
    sqlite3_int64 length = 0;
    struct stat st;

    if (!file || !file->pMethods || file->pMethods->xFileSize(file, &length) != SQLITE_OK)
        return 0;
    return name && stat(name, &st) == 0 && st.st_size == length ? untrusted_bytes(&st) : length;
}

static int64_t bytes_of(struct store *s)
{
    const char *name = sqlite3_db_filename(s->db, "main");
    sqlite3_file *file = NULL, *log = NULL;

    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    /* What was written last may be in the log alone. */
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return bytes_behind(file, name) + bytes_behind(log, name ? sqlite3_filename_wal(name) : NULL);
}

static int takes_too_long(void *context)
{
    struct store *s = context;

    if (s->stop && s->stop(s->stop_context))
        return 1;
    if (++s->turns <= s->turns_most)
        return 0;
    s->turns_most = TURNS_LEAST + bytes_of(s) / BYTES_A_TURN; /* it grows while we write */
    return s->turns > s->turns_most;
}

void untrusted_limit_steps(struct store *s)
{
    s->turns_most = TURNS_LEAST;
    sqlite3_progress_handler(s->db, TURN, takes_too_long, s);
}

void untrusted_begin(struct store *s, sqlite3_stmt *stmt)
{
    if (s->outermost && sqlite3_stmt_busy(s->outermost))
        return;
    s->outermost = stmt;
    s->turns = 0;
}

/* ---- holes ---- */

enum {
    BLOCK = 512,      /* st_blocks counts these, whatever the file system has */
    COMPRESSED = 8,   /* times smaller; zstd makes a history a third as large */
    LONGER_MOST = 64, /* times longer than what is in it, and */
    ROOM = 64 << 12,  /* 64 pages more, in a short one */
};

/* Some file systems do not tell, and say 0. */
static int64_t bytes_on_disk(const struct stat *st)
{
    return st->st_blocks > 0 ? (int64_t)st->st_blocks * BLOCK : st->st_size;
}

int64_t untrusted_bytes(const struct stat *st)
{
    int64_t most;

    if (__builtin_mul_overflow(bytes_on_disk(st), (int64_t)COMPRESSED, &most) || most > st->st_size)
        return st->st_size;
    return most;
}

int64_t untrusted_length_most(const struct stat *st)
{
    int64_t most;

    return __builtin_mul_overflow(bytes_on_disk(st) + ROOM, (int64_t)LONGER_MOST, &most) ? INT64_MAX
                                                                                         : most;
}
