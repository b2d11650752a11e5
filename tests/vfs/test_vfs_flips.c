/* SPDX-License-Identifier: MIT */
/* Bits that change in a history: what is read afterwards is refused or is what it was, `history
 * verify` finds all of them and names the rows, a salvage loses no others. A sample; HARNESS_CASES
 * says how many. Features: U-05. */
#include "history/verify.h"
#include "salvage_files.h"

#include "history/prune.h"
#include "history/restore.h"
#include "knocks.h"
#include "store/verdicts.h"
#include "vfs/page.h"

static int64_t nr_cases(int64_t otherwise)
{
    const char *given = getenv("HARNESS_CASES");

    return given ? strtoll(given, NULL, 10) : otherwise;
}

/* ---- what is done to a file ---- */

enum harm { ONE_BIT, TWO_BITS, ZEROED_SECTOR, HARMS };

static const char *const harms[] = { "one bit", "two bits", "a sector of zeros" };

static void flip(unsigned char *bytes, size_t length, struct random *r, size_t *where)
{
    *where = (size_t)random_below(r, length);
    bytes[*where] ^= (unsigned char)(1u << random_below(r, 8));
}

/* One of the bytes that changed. False: none did. */
static bool do_harm(unsigned char *bytes, size_t length, enum harm harm, struct random *r,
                    size_t *where)
{
    size_t second;

    switch (harm) {
    case ONE_BIT:
        flip(bytes, length, r, where);
        return true;
    case TWO_BITS:
        flip(bytes, length, r, where);
        flip(bytes, length, r, &second);
        return second != *where;
    default:
        *where = (size_t)random_below(r, length / 512) * 512;
        for (size_t i = *where; i < *where + 512; i++)
            if (bytes[i]) {
                memset(bytes + *where, 0, 512);
                return true;
            }
        return false;
    }
}

/* ---- what must hold ---- */

/* What stands beside the runs. */
static int add_baselines(struct store *s, struct strbuf *text, struct error *err)
{
    struct store_baselines all = { 0 };
    int rc = store_baseline_list(s, &all, err);

    for (size_t i = 0; i < all.nr; i++) {
        const struct store_baseline *b = &all.items[i];
        strbuf_addf(text, "baseline %s %lld %s:", b->name, (long long)b->created_ms,
                    b->note ? b->note : "-");
        for (size_t k = 0; k < b->nr_runs; k++)
            strbuf_addf(text, " %lld", (long long)b->run_ids[k]);
        strbuf_adds(text, "\n");
    }
    store_baselines_release(&all);
    return rc;
}

static int add_comparison(struct store *s, int64_t id, struct strbuf *text, struct error *err)
{
    struct store_comparison c = { .id = 0 };
    int rc = store_comparison_load(s, id, &c, err);

    if (rc == 0)
        strbuf_addf(text, "comparison %s %lld %d %s %s %s %s %s %s %d\n", c.uuid,
                    (long long)c.decided_ms, c.rule, c.version, c.base, c.head, c.base_commit,
                    c.head_commit, c.settings, c.exit_status);
    for (size_t i = 0; i < c.nr; i++) {
        const struct store_verdict *v = &c.items[i];
        strbuf_addf(text, "verdict %s %s %s %s %s %s\n", v->key, v->machine, v->metric, v->verdict,
                    v->evidence, v->result);
    }
    store_comparison_release(&c);
    return rc;
}

static int add_comparisons(struct store *s, struct strbuf *text, struct error *err)
{
    struct store_comparisons all = { 0 };
    int rc = store_comparison_list(s, 0, &all, err);

    for (size_t i = 0; rc == 0 && i < all.nr; i++)
        rc = add_comparison(s, all.items[i].id, text, err);
    store_comparisons_release(&all);
    return rc;
}

static int add_acceptances(struct store *s, struct strbuf *text, struct error *err)
{
    struct store_acceptances all = { 0 };
    int rc = store_acceptance_list(s, NULL, &all, err);

    for (size_t i = 0; i < all.nr; i++) {
        const struct acceptance *a = &all.items[i];
        strbuf_addf(text, "acceptance %s %s %s %s %.17g %s %s %lld %lld\n", a->key, a->metric,
                    a->machine, a->commit, a->change, a->reason, a->author,
                    (long long)a->accepted_ms, (long long)a->seen_ms);
    }
    store_acceptances_release(&all);
    return rc;
}

static int add_annotations(struct store *s, struct strbuf *text, struct error *err)
{
    struct store_annotations all = { 0 };
    int rc = store_annotation_list(s, 0, &all, err);

    for (size_t i = 0; i < all.nr; i++)
        strbuf_addf(text, "annotation %lld %lld %s\n", (long long)all.items[i].run,
                    (long long)all.items[i].written_ms, all.items[i].text);
    store_annotations_release(&all);
    return rc;
}

/* With the roofs that belong to it. */
static int add_runs(struct store *s, struct strbuf *text, struct error *err)
{
    struct store_listing listing = { 0 };
    int rc = store_list_runs(s, NULL, 0, &listing, err);

    for (size_t i = 0; rc == 0 && i < listing.nr; i++) {
        struct records records = { 0 };
        rc = store_load(s, &listing.items[i].run.id, 1, NULL, &records, err);
        char *json = json_take_text(records_to_json(&records));
        strbuf_addf(text, "%s\n", json);
        free(json);
        records_release(&records);
    }
    store_listing_release(&listing);
    return rc;
}

/* All that a history says: NULL where it refuses. */
static char *read_all_or_refuse(const char *path)
{
    struct strbuf text;
    struct error err;
    struct store *s;

    if (store_open(&s, path, STORE_READ, &err))
        return NULL;
    strbuf_init(&text);
    bool all = add_runs(s, &text, &err) == 0 && add_baselines(s, &text, &err) == 0 &&
               add_comparisons(s, &text, &err) == 0 && add_acceptances(s, &text, &err) == 0 &&
               add_annotations(s, &text, &err) == 0;
    store_close(s);
    if (all)
        return strbuf_detach(&text);
    strbuf_release(&text);
    return NULL;
}

static char *read_all(const char *path)
{
    char *text = read_all_or_refuse(path);

    assert_non_null(text);
    return text;
}

/* Roofs, verdicts and acceptances beside the runs. */
static void add_rest(const char *path)
{
    enum { ROWS = 40 };
    const struct roof roofs[] = {
        { .name = "flops.fp32", .device = "cpu-2t", .unit = "FLOP/s", .value = 1.5e11 },
        { .name = "bandwidth.dram", .device = "cpu-2t", .unit = "B/s", .value = 2e10 },
    };
    struct store *s = open_store(path, STORE_WRITE);
    struct run run = sample_run();
    struct error err;

    assert_ok(store_add_roofs(s, &run.machine, "", roofs, 2, &err), &err);
    assert_ok(sql_execute(s,
                          "INSERT INTO comparison VALUES (1, '00000009-0000-4000-8000-000000000009'"
                          ", 1, 2, '0.1.0', 'a', 'b', '', '', '{}', 0, 0)",
                          &err),
              &err);
    for (int i = 0; i < ROWS; i++) {
        char text[400];
        snprintf(text, sizeof(text),
                 "INSERT INTO verdict VALUES (%d, 1, 'key-%d', 'class-a', 'p50', 'same', "
                 "'{\"launches\":[%d,%d.5]}', '{\"change\":0.0%d}');"
                 "INSERT INTO acceptance VALUES (%d, 'key-%d', 'p50', '', '', 0.0%d, 'why', 'me', "
                 "%d, %d)",
                 i + 1, i, i, i, i + 1, i + 1, i, i + 1, i, i + 1);
        assert_ok(sql_execute(s, text, &err), &err);
    }
    store_close(s);
}

/* What verify says; the file is not opened, or not sound, in any case. */
static void verify_must_fail(const char *path, struct error *err, const char *what, size_t where)
{
    struct store_health health;
    struct store *s;

    if (store_open(&s, path, STORE_READ, err))
        return;
    if (store_verify(s, &health, err) == 0)
        fail_msg("%s at byte %zu: verify did not find it", what, where);
    store_close(s);
}

/* Of a damaged page: its number, or that the first bytes of the file are not what they were. */
static void assert_names_page(const struct error *err, size_t where)
{
    char page[40];

    snprintf(page, sizeof(page), "page %zu is damaged", where / PAGE + 1);
    if (!strstr(err->message, page) && where >= HEADER_SIZE)
        fail_msg("byte %zu: \"%s\" is not in: %s", where, page, err->message);
}

static bool is_in_spans(const struct salvaged *out, const char *table, int64_t row)
{
    for (size_t i = 0; i < out->tables.nr; i++) {
        const struct salvaged_table *t = &out->tables.items[i];
        if (strcmp(t->name, table) != 0)
            continue;
        for (int k = 0; k < t->nr_spans; k++)
            if (row >= t->spans[k].first && row <= t->spans[k].last)
                return true;
    }
    return false;
}

/* Every measurement that is not in the new file was named, or went with a launch or run that was.
 */
static void assert_losses_are_named(const struct files *f, const struct salvaged *out)
{
    static const char text[] =
        "SELECT m.id, m.launch, l.run FROM measurement m JOIN launch l ON "
        "l.id = m.launch WHERE m.id NOT IN (SELECT id FROM "
        "saved.measurement)";
    char attach[220];
    sqlite3_stmt *stmt;
    sqlite3 *db;

    snprintf(attach, sizeof(attach), "ATTACH '%s' AS saved", f->saved);
    assert_int_equal(sqlite3_open_v2(f->sound, &db, SQLITE_OPEN_READWRITE, PAGE_CHECKSUM_VFS),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, attach, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        if (!is_in_spans(out, "measurement", sqlite3_column_int64(stmt, 0)) &&
            !is_in_spans(out, "launch", sqlite3_column_int64(stmt, 1)) &&
            !is_in_spans(out, "run", sqlite3_column_int64(stmt, 2)) && !out->start_replaced)
            fail_msg("measurement %lld is lost and was not named",
                     (long long)sqlite3_column_int64(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

struct flipping {
    struct files f;
    unsigned char *bytes;
    size_t length;
    char *text; /* all that the sound file says */
    int64_t refused, same, named;
};

static void try_one(struct flipping *t, struct random *r, enum harm harm, bool with_salvage)
{
    unsigned char *copy = memory_zeroed(t->length, 1);
    struct error err;
    size_t where;

    memcpy(copy, t->bytes, t->length);
    while (!do_harm(copy, t->length, harm, r, &where))
        memcpy(copy, t->bytes, t->length);
    assert_ok(file_write(t->f.damaged, (char *)copy, t->length, &err), &err);
    free(copy);
    verify_must_fail(t->f.damaged, &err, harms[harm], where);
    if (harm != TWO_BITS)
        assert_names_page(&err, where);
    t->named += strstr(err.message, " of ") != NULL;
    char *text = read_all_or_refuse(t->f.damaged);
    if (text && strcmp(text, t->text) != 0)
        fail_msg("%s at byte %zu: the export changed", harms[harm], where);
    t->refused += !text;
    t->same += text != NULL;
    free(text);
    if (with_salvage) {
        struct salvaged out = salvage(&t->f);
        assert_nothing_made_up(&t->f);
        assert_losses_are_named(&t->f, &out);
        salvaged_release(&out);
    }
}

SCRATCH_TEST(test_flips)
{
    static const char *const beside[] = { "bandwidth.dram", "baseline main", "verdict key-39",
                                          "acceptance key-39", "new BIOS" };
    struct flipping t = { .f = make_files(state) };
    int64_t cases = nr_cases(150), salvage_each = 30;
    uint64_t seed = knock_seed();
    struct random r;
    struct error err;

    random_seed(&r, seed);
    add_rest(t.f.sound);
    t.bytes = (unsigned char *)file_read(t.f.sound, FILE_RECORDS_MOST, &t.length, &err);
    t.text = read_all(t.f.sound);
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
        assert_non_null(strstr(t.text, beside[i]));
    for (int64_t i = 0; i < cases; i++)
        try_one(&t, &r,
                i % 5 < 3    ? ONE_BIT
                : i % 5 == 3 ? TWO_BITS
                             : ZEROED_SECTOR,
                i % salvage_each == 0);
    knock("bits of a history changed: one, two, a sector", (long)cases, (long)cases,
          "refused (%lld) or the same export (%lld), all found (seed %" PRIu64 ")",
          (long long)t.refused, (long long)t.same, seed);
    free(t.text);
    free(t.bytes);
}

/* Pages are where they should be: one in another's place is damaged, though its sum would hold at
 * home. */
SCRATCH_TEST(test_page_astray)
{
    struct files f = make_files(state);
    struct error err;
    size_t length;
    char *bytes = file_read(f.sound, FILE_RECORDS_MOST, &length, &err);

    memcpy(bytes + (size_t)20 * PAGE, bytes + (size_t)30 * PAGE, PAGE);
    assert_ok(file_write(f.damaged, bytes, length, &err), &err);
    verify_must_fail(f.damaged, &err, "a page of another place", (size_t)20 * PAGE);
    assert_names_page(&err, (size_t)20 * PAGE);
    free(bytes);
}

/* The mark that pages have sums cannot be lost unseen either. */
SCRATCH_TEST(test_lost_mark)
{
    struct files f = make_files(state);
    struct error err;
    size_t length;
    char *bytes = file_read(f.sound, FILE_RECORDS_MOST, &length, &err);

    for (int value = 0; value < 256; value++) {
        bytes[HEADER_RESERVED] = (char)value;
        if (value == PAGE_CHECKSUM_BYTES)
            continue;
        assert_ok(file_write(f.damaged, bytes, length, &err), &err);
        verify_must_fail(f.damaged, &err, "the mark", HEADER_RESERVED);
        char *text = read_all_or_refuse(f.damaged);
        assert_null(text);
    }
    free(bytes);
}

/* ---- a backup in the place of a damaged file ---- */

/* What was there is kept as it was, and the backup is there. */
static void restore_over(const struct files *f, const char *damaged, size_t length,
                         const char *sound_text)
{
    struct store_restored out;
    struct error err;

    assert_ok(file_write(f->damaged, damaged, length, &err), &err);
    assert_ok(store_restore(f->damaged, f->sound, NULL, &out, &err), &err);
    assert_true(out.aside);
    assert_same_bytes(out.kept.data, damaged, length);
    assert_int_equal(out.now.measurements, MEASUREMENTS);
    assert_int_equal(remove(out.kept.data), 0);
    store_restored_release(&out);
    char *text = all_runs_as_text(f->damaged);
    assert_string_equal(text, sound_text);
    free(text);
}

/* Wherever the bit lies: at opening, in what is looked at, or in no row at all. */
SCRATCH_TEST(test_restore_over_flips)
{
    struct files f = make_files(state);
    struct random r;
    struct error err;
    size_t length;
    uint64_t seed = knock_seed();
    char *bytes = file_read(f.sound, FILE_RECORDS_MOST, &length, &err);
    char *text = all_runs_as_text(f.sound);
    int64_t nr = 0, each = getenv("HARNESS_CASES") ? 1 : 4;

    random_seed(&r, seed);
    for (int64_t page = 0; page < f.pages; page += page < 8 ? 1 : each, nr++) {
        size_t where = (size_t)page * PAGE + (size_t)random_below(&r, PAGE);
        char bit = (char)(1u << random_below(&r, 8));
        bytes[where] ^= bit;
        restore_over(&f, bytes, length, text);
        bytes[where] ^= bit;
    }
    knock("a backup restored over a history with a changed bit", (long)nr, (long)nr,
          "its content is there, the damaged file is kept as it was (seed %" PRIu64 ")", seed);
    free(text);
    free(bytes);
}

/* SQLite's own programs read such a file, and who writes with them is told. */
SCRATCH_TEST(test_other_programs)
{
    struct files f = make_files(state);
    struct error err;
    sqlite3_stmt *stmt;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(f.sound, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM measurement", -1, &stmt, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(stmt, 0), MEASUREMENTS);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    assert_sound(f.sound);
    execute_elsewhere(f.sound, "UPDATE run SET label = 'mine' WHERE id = 3");
    verify_must_fail(f.sound, &err, "another program", 0);
    assert_non_null(strstr(err.message, "another program"));
}

/* ---- the log that a dead writer leaves ---- */

enum { LOG_RUNS = 12, LOG_FRAME = 24 + PAGE };

static void add_suffix(const char *path, const char *suffix, char out[200])
{
    snprintf(out, 200, "%s%s", path, suffix);
}

/* A history whose newest runs are in the log alone. */
static void make_logged(struct files *f)
{
    char log[200], log_copy[200];
    struct error err;
    struct store *s = open_store(f->sound, STORE_WRITE);

    assert_ok(sql_execute(s, "PRAGMA wal_autocheckpoint = 0", &err), &err);
    for (unsigned i = 0; i < LOG_RUNS; i++) {
        struct run run = sample_run();
        run.started_ms += i;
        assert_ok(store_begin_run(s, &run, &err), &err);
        add_launch_of(s, run.id, 0, 0, 1);
    }
    copy_bytes(f->sound, f->damaged);
    add_suffix(f->sound, "-wal", log);
    add_suffix(f->saved, "-wal", log_copy);
    copy_bytes(f->sound, f->saved); /* the file and the log, put aside */
    copy_bytes(log, log_copy);
    store_close(s);
}

static int64_t open_and_count(const char *path, char **note)
{
    struct store *s = open_store(path, STORE_READ);
    struct error err;
    int64_t nr;

    *note = store_take_note(s);
    assert_ok(sql_one_int(s, "SELECT count(*) FROM measurement", &nr, &err), &err);
    store_close(s);
    assert_sound(path);
    return nr;
}

static bool is_blind_spot(size_t where, size_t length)
{
    size_t last = 32 + (length - 32) / LOG_FRAME * LOG_FRAME - LOG_FRAME;

    return where >= last && where < last + 16; /* number, commit mark and salts of the last page */
}

/* What is lost is said before it is gone, and the log is kept; also where the history is a link. */
SCRATCH_TEST(test_flips_in_a_log)
{
    struct files f = make_files(state);
    int64_t cases = nr_cases(150) / 3, lost = 0;
    char log[200], log_aside[200], kept[230], link_path[160];
    uint64_t seed = knock_seed();
    struct random r;
    struct error err;
    size_t length;
    char *note;

    random_seed(&r, seed);
    make_logged(&f);
    path_in(*state, "link.db", link_path);
    assert_int_equal(symlink(f.damaged, link_path), 0);
    add_suffix(f.damaged, "-wal", log);
    add_suffix(f.saved, "-wal", log_aside);
    snprintf(kept, sizeof(kept), "%s.damaged.1", log);
    char *bytes = file_read(log_aside, FILE_RECORDS_MOST, &length, &err);
    for (int64_t i = 0; i < cases; i++) {
        size_t where = (size_t)random_below(&r, length);
        copy_bytes(f.saved, f.damaged);
        bytes[where] ^= (char)(1 << random_below(&r, 8));
        assert_ok(file_write(log, bytes, length, &err), &err);
        int64_t nr = open_and_count(i % 2 ? link_path : f.damaged, &note);
        assert_true(nr >= MEASUREMENTS && nr <= MEASUREMENTS + LOG_RUNS);
        if (nr < MEASUREMENTS + LOG_RUNS && !note && !is_blind_spot(where, length))
            fail_msg("byte %zu of %zu: %lld measurements are lost, and nothing was said", where,
                     length, (long long)(MEASUREMENTS + LOG_RUNS - nr));
        assert_int_equal(note != NULL, file_exists(kept));
        lost += note != NULL;
        remove(kept);
        free(note);
        copy_bytes(log_aside, log);
        free(bytes);
        bytes = file_read(log_aside, FILE_RECORDS_MOST, &length, &err);
    }
    knock("a bit of the log of a dead writer changed", (long)cases, (long)cases,
          "all before it is there, what is lost is said and the log kept (%lld) (seed %" PRIu64 ")",
          (long long)lost, seed);
    free(bytes);
}

/* A log as long as nobody has room for, with a frame at its end, at no cost: looking through it
 * takes no time, and a copy of it no room. */
static void make_log_long(const char *log, bool damaged)
{
    const off_t frames = (off_t)1 << 28, length = 32 + frames * LOG_FRAME;
    unsigned char frame[LOG_FRAME];
    int fd = open(log, O_RDWR | O_CLOEXEC);

    assert_int_equal(pread(fd, frame, LOG_FRAME, 32), LOG_FRAME);
    if (ftruncate(fd, length))
        skip(); /* no such files here */
    assert_int_equal(pwrite(fd, frame, LOG_FRAME, length - LOG_FRAME), LOG_FRAME);
    frame[100] ^= 1;
    if (damaged)
        assert_int_equal(pwrite(fd, frame, LOG_FRAME, 32), LOG_FRAME);
    close(fd);
}

SCRATCH_TEST(test_holes_in_a_log)
{
    enum { SECONDS = 100 }; /* reading all of it takes ten minutes */
    struct files f = make_files(state);
    char log[200], log_aside[200], kept[230], *note;
    struct stat st;

    make_logged(&f);
    add_suffix(f.damaged, "-wal", log);
    add_suffix(f.saved, "-wal", log_aside);
    snprintf(kept, sizeof(kept), "%s.damaged.1", log);
    alarm(SECONDS);
    for (int damaged = 0; damaged < 2; damaged++) {
        copy_bytes(f.saved, f.damaged);
        copy_bytes(log_aside, log);
        make_log_long(log, damaged);
        int64_t nr = open_and_count(f.damaged, &note);
        assert_int_equal(nr, damaged ? MEASUREMENTS : MEASUREMENTS + LOG_RUNS);
        assert_int_equal(note != NULL, damaged);
        assert_int_equal(file_exists(kept), damaged);
        free(note);
    }
    alarm(0);
    assert_int_equal(stat(kept, &st), 0);
    assert_true((int64_t)st.st_blocks * 512 < 1 << 20);
    knock("a log of 1 TiB that is nearly all holes", 2, 2,
          "applied as far as it holds, or kept as it is, at once");
}

/* ---- files without checksums ---- */

static bool is_watched(const char *path)
{
    struct store *s = open_store(path, STORE_READ);
    struct store_health health;
    struct error err;

    assert_ok(store_verify(s, &health, &err), &err);
    store_close(s);
    return health.watched;
}

static char *open_for_its_note(const char *path)
{
    struct store *s = open_store(path, STORE_WRITE);
    char *note = store_take_note(s);

    add_run_of(s, 77, 2, NULL);
    store_close(s);
    return note;
}

/* What an older harness made is read as it is, and gets sums when it is upgraded. */
SCRATCH_TEST(test_upgrades)
{
    const struct scratch *scratch = *state;
    char old[160];

    path_in(scratch, "old.db", old);
    for (int version = 1; version <= 3; version++) {
        remove(old);
        make_version(old, version);
        char *before = all_runs_as_text(old);
        assert_false(is_watched(old));
        struct store *s = open_store(old, STORE_WRITE);
        assert_null(store_take_note(s));
        struct store *other = open_store(old, STORE_WRITE); /* all others are let in again */
        add_run_of(other, 3, 2, NULL);
        store_close(other);
        store_close(s);
        assert_true(is_watched(old));
        char *after = all_runs_as_text(old);
        assert_non_null(strstr(after, before));
        free(before);
        free(after);
    }
    knock("a history of an older version, upgraded", 3, 3, "as it was, with checksums");
}

/* Not where others have the file open, who may be of an older version, nor where it takes long:
 * then it is said, and what writes files anew does it. */
SCRATCH_TEST(test_upgrades_without)
{
    const struct scratch *scratch = *state;
    char old[160], *note;

    path_in(scratch, "used.db", old);
    make_version(old, 3);
    execute_in(old, "PRAGMA journal_mode = WAL");
    struct store *reader = open_store(old, STORE_READ);
    note = open_for_its_note(old);
    assert_non_null(note);
    assert_non_null(strstr(note, "has no checksums"));
    assert_non_null(strstr(note, "prune --vacuum"));
    free(note);
    store_close(reader);
    assert_false(is_watched(old));
    note = open_for_its_note(old); /* said once */
    assert_null(note);

    path_in(scratch, "long.db", old);
    make_version(old, 3);
    execute_in(old,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
               "INSERT INTO annotation (run, written_ms, text) SELECT 7, i, "
               "hex(randomblob(1000000)) FROM n");
    note = open_for_its_note(old);
    assert_non_null(note);
    assert_non_null(strstr(note, "too long"));
    free(note);
    assert_false(is_watched(old));
}

/* One that has none is read and written as it is; what is written anew has sums. */
SCRATCH_TEST(test_older_files)
{
    const struct scratch *scratch = *state;
    char old[160], copy[160], saved[160];
    struct salvaged out;
    struct error err;

    path_in(scratch, "old.db", old);
    path_in(scratch, "copy.db", copy);
    path_in(scratch, "saved.db", saved);
    make_version(old, 3);
    execute_in(old, "PRAGMA journal_mode = WAL");
    struct store *reader = open_store(old, STORE_READ);
    make_runs(old, 1, 20, 3);
    store_close(reader);
    assert_false(is_watched(old));
    struct store *s = open_store(old, STORE_WRITE);
    assert_ok(store_backup(s, copy, &err), &err);
    store_close(s);
    assert_true(is_watched(copy));
    assert_ok(store_salvage(old, saved, &out, &err), &err);
    salvaged_release(&out);
    assert_true(is_watched(saved));
    char *before = all_runs_as_text(old);
    s = open_store(old, STORE_WRITE);
    struct store *other = open_store(old, STORE_WRITE); /* knows the file as it was */
    assert_int_equal(count_in(old, "SELECT count(*) FROM run"), 21);
    assert_ok(store_vacuum(s, &err), &err);
    add_run_of(other, 99, 2, NULL);
    store_close(s);
    add_run_of(other, 100, 2, NULL);
    store_close(other);
    assert_true(is_watched(old));
    char *after = all_runs_as_text(copy);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

RUN_TESTS(NULL, NULL)
