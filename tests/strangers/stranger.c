/* SPDX-License-Identifier: MIT */
#include "stranger.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "core/names.h"
#include "store_histories.h"
#include "vfs/page.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, RUNS = 6, RESULTS = 3, CHANGES_MOST = 3, LENGTH_MOST = 64 << 20 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void stranger_base(const char *path)
{
    struct error err;
    struct store *s = open_store(path, STORE_WRITE);

    for (unsigned i = 0; i < RUNS; i++)
        add_run_of(s, i, RESULTS, "{\"sampling\":{\"min_time\":0.1}}");
    assert_ok(store_baseline_save(s, "main", (int64_t[]) { 1, 2 }, 2, 5, "note", false, &err),
              &err);
    store_close(s);
    execute_in(path,
               "PRAGMA journal_mode = DELETE;"
               "INSERT INTO annotation (run, written_ms, text) VALUES (1, 1, 'new BIOS');"
               "INSERT INTO ceiling (machine, epoch, device, name, unit, value, low, high, spec, "
               "measured_ms) VALUES (1, '', 'cpu-2t', 'bandwidth.dram', 'B/s', 1e10, 9e9, 1.1e10, "
               "0, 1);"
               "INSERT INTO comparison VALUES (1, '00000009-0000-4000-8000-000000000009', 1, 2, "
               "'0.1.0', 'a', 'b', '', '', '{}', 0, 0);"
               "INSERT INTO verdict VALUES (1, 1, 'k', 'class-a', 'p50', 'same', '{}', '{}');"
               "INSERT INTO acceptance VALUES (1, 'k', 'p50', '', '', NULL, 'why', 'me', 1, "
               "0)");
}

/* As another program: what SQLite itself refuses is no case. */
static void try_in(const char *path, const char *script)
{
    int flags = SQLITE_OPEN_READWRITE;
    sqlite3 *db;

    page_checksum_register();
    if (sqlite3_open_v2(path, &db, flags, PAGE_CHECKSUM_VFS) == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_exec(db, script, NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

static const char *one_of(const char *const *list, size_t nr, struct random *r)
{
    return list[random_below(r, nr)];
}

/* ---- objects ---- */

static const char *const objects[] = {
    "CREATE TRIGGER evil AFTER INSERT ON measurement BEGIN UPDATE measurement SET flops = 1e30; "
    "END",
    "CREATE TRIGGER evil BEFORE DELETE ON run BEGIN DELETE FROM measurement; END",
    "CREATE TRIGGER evil AFTER INSERT ON annotation BEGIN INSERT INTO annotation (run, written_ms, "
    "text) VALUES (1, NEW.written_ms + 1, 'x'); END",
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i "
    "FROM n",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = "
    "'CREATE VIEW run AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i "
    "AS id FROM n' WHERE name = 'run'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (vendor IN "
    "(0, 1))', 'CHECK (length(hex(randomblob(30000000))) > 0)')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'label TEXT NOT "
    "NULL', 'label TEXT AS (hex(zeroblob(30000000)))') WHERE name = 'run'",
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE "
    "VIRTUAL TABLE x USING fts5(y)')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE run (' || "
    "hex(zeroblob(400000)) || ')' WHERE name = 'run'",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'benchmark_dim'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'launch'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
    "sqlite_schema WHERE name = 'machine') WHERE name = 'run'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'build'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'run' WHERE name = 'build'",
    "CREATE INDEX e ON run (hex(label) || hex(zeroblob(100000)))",
    "CREATE INDEX e ON run (label) WHERE length(suite) > 0",
    "CREATE TABLE mail (text); INSERT INTO mail VALUES (zeroblob(1000000))",
    "ALTER TABLE run ADD COLUMN mood TEXT",
    "PRAGMA application_id = 7",
    "PRAGMA user_version = 2",
    "PRAGMA user_version = -5",
    "PRAGMA user_version = 0",
    "ANALYZE; UPDATE sqlite_stat1 SET stat = '1 1 1 unordered sz=1'",
    "DROP INDEX measurement_by_launch",
};

/* ---- names and texts ---- */

static const char *const text_columns[] = {
    "run.label",
    "run.suite",
    "run.uuid",
    "run.kind",
    "run.ab_id",
    "run.ab_side",
    "run.sweep",
    "run.shard_plan",
    "run.environment",
    "run.settings",
    "machine.class",
    "machine.cpu",
    "machine.fingerprint",
    "machine.gpu",
    "build.commit_hash",
    "build.branch",
    "build.flags",
    "build.version",
    "benchmark.key",
    "benchmark.kernel",
    "benchmark.variant",
    "benchmark.device",
    "benchmark.math",
    "benchmark.cache",
    "benchmark.fill",
    "benchmark_dim.name",
    "measurement.message",
    "measurement.telemetry",
    "measurement.clock",
    "measurement.outcome",
    "measurement.stop",
    "launch.error_text",
    "baseline.name",
    "baseline.note",
    "annotation.text",
    "ceiling.name",
    "ceiling.device",
    "ceiling.unit",
    "comparison.base",
    "comparison.settings",
    "verdict.key",
    "verdict.metric",
    "verdict.evidence",
    "acceptance.key",
    "acceptance.reason",
};

static const char *const texts[] = {
    "'$(touch X)'",
    "'`touch X`'",
    "'a; touch X'",
    "'\"$(touch X)\"'",
    "'$(touch${IFS}X)'",
    "'<script>alert(1)</script>'",
    "'</script><img src=x onerror=alert(1)>'",
    "'a|b\\c'",
    "char(27) || '[2J' || char(27) || ']0;x' || char(7)",
    "'a' || char(0x202e) || 'b'",
    "'a' || char(0) || 'b'",
    "'a' || char(10) || 'touch X' || char(10)",
    "char(0x9b) || '31m'",
    "CAST(x'61ff80c0' AS TEXT)",
    "CAST(x'eda080' AS TEXT)",
    "printf('%.*c', 1000000, 'x')",
    "printf('%.*c', 255, 'x')",
    "''",
    "'--help'",
    "'../../X'",
    "'%s%n%999999d'",
    "'latest'",
    "'{\"a\":' || printf('%.*c', 200000, '[') || '}'",
    "'{\"a\":1e999}'",
    "'[]'",
    "'null'",
    "'{\"x\":1e300,\"y\":-1e17,\"z\":1e-300}'",
    "'{\"sweep\":\"$(touch X)\",\"shard\":\"1/2\"}'",
    "'@SUM(1+1)'",
    "'=cmd|x'",
    "'\"],\"x\":[\"'",
};

/* ---- numbers ---- */

static const char *const number_columns[] = {
    "run.started_ms",
    "run.ended_ms",
    "run.machine",
    "run.ab_block",
    "run.shard",
    "run.shards",
    "launch.seq",
    "launch.started_ms",
    "launch.run",
    "launch.exit_status",
    "benchmark_dim.value",
    "measurement.flops",
    "measurement.bytes",
    "measurement.tokens",
    "measurement.footprint",
    "measurement.batch",
    "measurement.warmups",
    "measurement.max_error",
    "measurement.seconds",
    "measurement.checked",
    "measurement.tolerance",
    "measurement.nr_samples",
    "measurement.started_ms",
    "measurement.benchmark",
    "machine.cores",
    "machine.memory",
    "machine.l3",
    "ceiling.value",
    "ceiling.low",
    "ceiling.high",
    "ceiling.spec",
    "ceiling.measured_ms",
    "baseline.created_ms",
    "annotation.written_ms",
    "comparison.decided_ms",
    "acceptance.change",
    "build.dirty",
};

static const char *const numbers[] = {
    "9e999",
    "-9e999",
    "1e300",
    "1e-300",
    "-1",
    "0",
    "9223372036854775807",
    "-9223372036854775807 - 1",
    "9007199254740993",
    "1e17",
    "NULL",
    "2147483648",
    "id * 1e12",
    "id",
};

/* ---- samples ---- */

static const char *const samples[] = {
    "x''",
    "x'01'",
    "x'0105'",
    "zeroblob(8000000)",
    "randomblob(1000000)",
    "x'02ffff3f000000'",
    "x'02' || x'ffff3f'",
    "x'01ffffffffffffffffff01'",
    "x'03'",
    "NULL",
    "CAST(x'02ffff3f' || zeroblob(260) AS BLOB)",
    "CAST(x'01c0843d' || zeroblob(1000000) AS BLOB)",
};

static void change_column(const char *path, const char *column, const char *value, struct random *r)
{
    char script[400];
    int table = (int)strcspn(column, ".");

    snprintf(script, sizeof(script), "UPDATE %.*s SET %s = %s%s", table, column, column + table + 1,
             value, random_below(r, 2) ? "" : " WHERE rowid = 1");
    try_in(path, script);
}

/* ---- holes ---- */

/* As long as nobody has room for, at no cost: behind what is there, or with a last page behind all
 * of it; and sometimes so that SQLite believes the length and not the header. */
static void change_length(const char *path, struct random *r, char *what, size_t size)
{
    static const int log2[] = { 24, 30, 33, 36, 40 };
    off_t length = (off_t)1 << log2[random_below(r, COUNT(log2))];
    bool last = random_below(r, 2), believed = random_below(r, 2);
    unsigned char page[PAGE];
    int fd = open(path, O_RDWR | O_CLOEXEC);

    snprintf(what, size, "%lld MiB long%s%s", (long long)length >> 20, last ? " with an end" : "",
             believed ? ", believed" : "");
    if (fd < 0 || pread(fd, page, PAGE, 0) != PAGE || ftruncate(fd, length))
        fail_msg("%s", strerror(errno));
    if (last && pwrite(fd, page, PAGE, length - PAGE) != PAGE)
        fail_msg("%s", strerror(errno));
    if (believed) {
        page_put(page + HEADER_PAGES, (uint32_t)(length / PAGE), 4);
        page_checksum_seal(page, PAGE, 1);
        if (pwrite(fd, page, PAGE, 0) != PAGE)
            fail_msg("%s", strerror(errno));
    }
    close(fd);
}

/* ---- pages ---- */

static void change_pages(const char *path, struct random *r, char *what, size_t size)
{
    struct error err;
    size_t length;
    unsigned char *bytes = (unsigned char *)file_read(path, LENGTH_MOST, &length, &err);
    if (!bytes) { /* it has become so long already */
        change_length(path, r, what, size);
        return;
    }
    uint32_t pages = (uint32_t)(length / PAGE);
    uint32_t page = 1 + (uint32_t)random_below(r, pages);
    unsigned char *p = bytes + (size_t)(page - 1) * PAGE;
    int kind = (int)random_below(r, 6);

    snprintf(what, size, "page %u, kind %d", page, kind);
    if (kind == 0) { /* each child is this page or another one */
        for (uint32_t at = INNER_LAST; at < 60; at += 4)
            page_put(p + (page == 1 ? HEADER_SIZE : 0) + at,
                     random_below(r, 2) ? page : (uint32_t)random_below(r, pages + 3), 4);
    } else if (kind == 1) {
        memcpy(p, bytes + random_below(r, pages) * PAGE, PAGE);
    } else if (kind == 2) { /* an inner page whose children are all one page */
        memset(p, 0, PAGE);
        p[0] = random_below(r, 2) ? PAGE_INNER : 2;
        page_put(p + PAGE_CELLS, 200, 2);
        page_put(p + INNER_LAST, (uint32_t)random_below(r, pages) + 1, 4);
        for (uint32_t i = 0; i < 200; i++) {
            page_put(p + INNER_CELLS + 2 * i, 1000 + 12 * i, 2);
            page_put(p + 1000 + 12 * i, (uint32_t)random_below(r, 3) ? page : page % pages + 1, 4);
            p[1004 + 12 * i] = (unsigned char)(0x80 | i >> 7);
            p[1005 + 12 * i] = i & 0x7f;
        }
    } else if (kind == 3) {
        for (int i = 0; i < 20; i++)
            p[random_below(r, PAGE)] = (unsigned char)random_below(r, 256);
    } else if (kind == 4) { /* the header's lengths, the list of free pages */
        page_put(bytes + HEADER_PAGES, (uint32_t)random_below(r, 2 * pages), 4);
        page_put(bytes + HEADER_FREE_FIRST, (uint32_t)random_below(r, 2 * pages), 4);
        page_put(bytes + HEADER_FREE, 0xffffffffU, 4);
    } else { /* lengths of rows: the end of one goes on in pages that lead to each other */
        for (uint32_t at = PAGE / 2; at < PAGE - 16; at += 97)
            memcpy(p + at, "\x8f\xff\xff\x7f", 4);
    }
    for (uint32_t nr = 1; nr <= pages; nr++)
        page_checksum_seal(bytes + (size_t)(nr - 1) * PAGE, PAGE, nr);
    file_write(path, (char *)bytes, length, &err);
    free(bytes);
}

static void change_value(const char *path, uint64_t kind, struct random *r, char *what, size_t size)
{
    const char *column, *value;

    switch (kind) {
    case 0:
        column = one_of(number_columns, COUNT(number_columns), r);
        value = one_of(numbers, COUNT(numbers), r);
        break;
    case 1:
        column = "measurement.samples";
        value = one_of(samples, COUNT(samples), r);
        break;
    default:
        column = one_of(text_columns, COUNT(text_columns), r);
        value = one_of(texts, COUNT(texts), r);
    }
    snprintf(what, size, "%s = %s", column, value);
    change_column(path, column, value, r);
    if (strcmp(column, "measurement.samples") == 0 && random_below(r, 2))
        try_in(path, "UPDATE measurement SET nr_samples = 1048575");
}

static void change_any(const char *path, struct random *r, char *what, size_t size)
{
    uint64_t kind = random_below(r, 11);

    if (kind == 10) {
        change_length(path, r, what, size);
        return;
    }
    kind /= 2;
    if (kind == 0) {
        const char *script = one_of(objects, COUNT(objects), r);
        snprintf(what, size, "%s", script);
        try_in(path, script);
    } else if (kind == 1) {
        change_pages(path, r, what, size);
    } else {
        change_value(path, kind - 2, r, what, size);
    }
}

static void change_one_value(const char *path, struct random *r, char *what, size_t size)
{
    uint64_t kind = random_below(r, 8); /* mostly texts: there are most of them */

    change_value(path, kind, r, what, size);
}

static void change_some(stranger_fn *change, const char *path, struct random *r, char *what,
                        size_t size)
{
    size_t nr = 1 + (size_t)random_below(r, CHANGES_MOST), used = 0;

    for (size_t i = 0; i < nr && used + 2 < size; i++) {
        if (i > 0)
            used += (size_t)snprintf(what + used, size - used, "; ");
        change(path, r, what + used, size - used);
        used = strlen(what);
    }
}

void stranger_change(const char *path, struct random *r, char *what, size_t size)
{
    change_some(change_any, path, r, what, size);
}

void stranger_change_values(const char *path, struct random *r, char *what, size_t size)
{
    change_some(change_one_value, path, r, what, size);
}

/* ---- around a case ---- */

void stranger_aside(stranger_fn *change, uint64_t seed, char what[STRANGER_WORDS])
{
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct random r;
        random_seed(&r, seed);
        change("h.db", &r, what, STRANGER_WORDS);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

long stranger_cases(long otherwise, uint64_t seed, stranger_case_fn *try_one, void *context)
{
    const char *given = getenv("HARNESS_CASES");
    long cases = given ? strtol(given, NULL, 10) : otherwise;
    struct error err;
    size_t length;

    stranger_remove();
    stranger_base("h.db");
    char *base = file_read("h.db", FILE_RECORDS_MOST, &length, &err);
    char *what =
        mmap(NULL, STRANGER_WORDS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(base && what != MAP_FAILED);
    for (long i = 0; i < cases; i++)
        try_one(base, length, seed + (uint64_t)i, what, context);
    munmap(what, STRANGER_WORDS);
    free(base);
    return cases;
}

const char *stranger_harness;

int stranger_main(int argc, char **argv, void (*test)(void **state))
{
    const struct CMUnitTest tests[] = { { .name = "strangers", .test_func = test } };

    if (argc != 3 || (mkdir(argv[2], 0777) && errno != EEXIST) || chdir(argv[2])) {
        fprintf(stderr, "usage: %s HARNESS FOLDER\n", argv[0]);
        return 2;
    }
    stranger_harness = argv[1];
    mkdir(".git", 0777); /* the top of a project: nothing above counts */
    setenv("HOME", argv[2], 1);
    unsetenv("HARNESS_DB");
    return cmocka_run_group_tests(tests, NULL, NULL);
}

void stranger_remove(void)
{
    static const char *const names[] = {
        "h.db",      "h.db-wal",     "h.db-shm",     "h.db-journal", "to.db",
        "to.db-wal", "to.db-shm",    "copy.db",      "saved.db",     "report.html",
        "moved.db",  "moved.db-wal", "moved.db-shm",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        unlink(names[i]);
}

void stranger_put(const char *bytes, size_t length)
{
    struct error err;

    stranger_remove();
    assert_ok(file_write("h.db", bytes, length, &err), &err);
}

/* Holes stay holes. */
static void copy_file(const char *from, const char *to)
{
    static char piece[1 << 16];
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    off_t length = lseek(in, 0, SEEK_END), at = 0;

    assert_true(in >= 0 && out >= 0 && ftruncate(out, length) == 0);
    while (at < length && (at = lseek(in, at, SEEK_DATA)) >= 0) {
        off_t end = lseek(in, at, SEEK_HOLE);
        while (at < end) {
            ssize_t nr = pread(in, piece, sizeof(piece), at);
            assert_true(nr > 0 && pwrite(out, piece, (size_t)nr, at) == nr);
            at += nr;
        }
    }
    close(in);
    close(out);
}

void stranger_keep(void)
{
    copy_file("h.db", "kept.db");
}

void stranger_put_kept(void)
{
    stranger_remove();
    copy_file("kept.db", "h.db");
}

bool stranger_is_plain(const char *text, size_t length, bool cut)
{
    bool plain = cut || memchr(text, '\0', length) == NULL;
    struct strbuf copy;

    strbuf_init(&copy);
    strbuf_add(&copy, text, length);
    for (char *line = copy.data, *end; plain && line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        for (char *p = line; *p; p++)
            if (*p == '\t')
                *p = ' ';
        plain = name_is_line(line) || (!end && cut);
    }
    strbuf_release(&copy);
    return plain;
}
