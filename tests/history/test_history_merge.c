/* SPDX-License-Identifier: MIT */
/* One history out of many: nothing lost, nothing twice, conflicts told, the other files as they
 * were, and a merge that is killed does no harm. Features: U-11. */
#include "history/restore.h"
#include "store_histories.h"

#include "core/clock.h"
#include "history/merge.h"
#include "history/prune.h"
#include "knocks.h"
#include "store/annotations.h"
#include "store/tuned.h"
#include "store/verdicts.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

struct two {
    char ours[160], theirs[160];
};

static struct two two_paths(void **state)
{
    struct two two;

    path_in(*state, "ours.db", two.ours);
    path_in(*state, "theirs.db", two.theirs);
    return two;
}

static struct store_merged merge(const char *to, const char *from)
{
    struct store *s = open_store(to, STORE_WRITE);
    struct store_merged merged = { 0 };
    struct error err;

    assert_ok(store_merge_check(to, from, &err), &err);
    assert_ok(store_merge(s, from, &merged, &err), &err);
    store_close(s);
    assert_sound(to);
    return merged;
}

/* Merges and expects so many new and known runs, and no conflict. */
static void merge_expecting(const char *to, const char *from, int64_t new_runs, int64_t known)
{
    struct store_merged merged = merge(to, from);

    assert_int_equal(merged.runs_new, new_runs);
    assert_int_equal(merged.runs_known, known);
    assert_int_equal(merged.runs_grown, 0);
    assert_int_equal(merged.conflicts.nr, 0);
    store_merged_release(&merged);
}

static void assert_same_runs(const char *a, const char *b)
{
    char *first = all_runs_as_text(a), *second = all_runs_as_text(b);

    assert_string_equal(first, second);
    free(first);
    free(second);
}

SCRATCH_TEST(test_two_and_twice)
{
    struct two p = two_paths(state);
    char together[160];

    make_runs(p.ours, 0, 3, 5);
    make_runs(p.theirs, 3, 4, 6);
    path_in(*state, "both.db", together);
    merge_expecting(together, p.theirs, 4, 0); /* a new file: the order of merging is no matter */
    merge_expecting(together, p.ours, 3, 0);
    merge_expecting(p.ours, p.theirs, 4, 0);
    assert_same_runs(p.ours, together);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM measurement"), 3 * 10 + 4 * 12);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM benchmark"), 7);
    merge_expecting(p.ours, p.theirs, 0, 4);
    merge_expecting(p.ours, together, 0, 7);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM measurement"), 3 * 10 + 4 * 12);
    assert_same_runs(p.ours, together);
}

/* The bytes of the file, and no company beside it. */
SCRATCH_TEST(test_source_stays)
{
    struct two p = two_paths(state);
    size_t before_length, after_length;
    struct error err;

    make_runs(p.theirs, 0, 5, 4);
    char *before = file_read(p.theirs, FILE_RECORDS_MOST, &before_length, &err);
    merge_expecting(p.ours, p.theirs, 5, 0);
    char *after = file_read(p.theirs, FILE_RECORDS_MOST, &after_length, &err);
    assert_int_equal(before_length, after_length);
    assert_memory_equal(before, after, before_length);
    free(before);
    free(after);
}

/* A writer died: what is in its log alone comes along, and stays in the log; also through a link,
 * beside which there is no log. */
SCRATCH_TEST(test_left_log)
{
    struct two p = two_paths(state);
    static const char *const suffixes[] = { "", "-wal" };
    char live[160], link_path[160], name[2][180];
    size_t before_length[2], after_length;
    char *before[2];
    struct error err;

    path_in(*state, "live.db", live);
    struct store *s = open_store(live, STORE_WRITE);
    assert_ok(sql_execute(s, "PRAGMA wal_autocheckpoint = 0", &err), &err);
    add_run_of(s, 1, 4, NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof(name[i]), "%s%s", live, suffixes[i]);
        before[i] = file_read(name[i], FILE_RECORDS_MOST, &before_length[i], &err);
        snprintf(name[i], sizeof(name[i]), "%s%s", p.theirs, suffixes[i]);
        assert_ok(file_write(name[i], before[i], before_length[i], &err), &err);
    }
    add_run_of(s, 2, 4, NULL); /* not theirs */
    store_close(s);
    assert_true(before_length[1] > 0);
    path_in(*state, "link.db", link_path);
    assert_int_equal(symlink(p.theirs, link_path), 0);
    merge_expecting(p.ours, p.theirs, 1, 0);
    merge_expecting(p.ours, p.theirs, 0, 1);
    merge_expecting(p.ours, link_path, 0, 1);
    for (int i = 0; i < 2; i++) {
        char *after = file_read(name[i], FILE_RECORDS_MOST, &after_length, &err);
        assert_int_equal(after_length, before_length[i]);
        assert_memory_equal(after, before[i], after_length);
        free(after);
        free(before[i]);
    }
}

SCRATCH_TEST(test_older_versions)
{
    struct two p = two_paths(state);

    for (int version = 1; version <= 3; version++) {
        size_t before_length, after_length;
        struct error err;
        remove(p.theirs);
        make_version(p.theirs, version);
        char *before = file_read(p.theirs, FILE_RECORDS_MOST, &before_length, &err);
        merge_expecting(p.ours, p.theirs, version == 1, version > 1);
        char *after = file_read(p.theirs, FILE_RECORDS_MOST, &after_length, &err);
        assert_int_equal(before_length, after_length);
        assert_memory_equal(before, after, before_length);
        free(before);
        free(after);
    }
    assert_int_equal(count_in(p.ours, "SELECT nr_samples FROM measurement"), 3);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM baseline_run"), 1);
    assert_same_runs(p.ours, p.theirs);
}

static void copy_history(const char *from, const char *to)
{
    struct store *s = open_store(from, STORE_READ);
    struct error err;

    assert_ok(store_backup(s, to, &err), &err);
    store_close(s);
}

static void expect_conflict(const char *ours, const char *theirs, const char *text)
{
    char *before = all_runs_as_text(ours);
    struct store_merged merged = merge(ours, theirs);
    char *after = all_runs_as_text(ours);

    assert_int_equal(merged.conflicts.nr, 1);
    if (!strstr(merged.conflicts.items[0], text))
        fail_msg("\"%s\" is not in: %s", text, merged.conflicts.items[0]);
    assert_string_equal(before, after);
    store_merged_release(&merged);
    free(before);
    free(after);
}

SCRATCH_TEST(test_other_content)
{
    static const struct {
        const char *change, *says;
    } changes[] = {
        { "UPDATE measurement SET footprint = 99999 WHERE id = 7", "other measurements" },
        { "UPDATE measurement SET samples = x'0103d8040104', nr_samples = 3 WHERE id = 8",
          "other measurements" },
        { "DELETE FROM measurement WHERE id = 3", "other measurements" },
        { "UPDATE run SET label = 'after' WHERE id = 2", "settings" },
        { "UPDATE run SET ended_ms = ended_ms + 1 WHERE id = 1", "another end" },
    };
    struct two p = two_paths(state);

    make_runs(p.ours, 0, 3, 5);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        copy_history(p.ours, p.theirs);
        execute_in(p.theirs, changes[i].change);
        expect_conflict(p.ours, p.theirs, changes[i].says);
        remove(p.theirs);
    }
}

/* What was exported and read in again is the same run, though nobody said when a launch began. */
SCRATCH_TEST(test_exported_and_imported)
{
    struct records out = { 0 }, in = { 0 };
    struct two p = two_paths(state);
    struct error err;
    bool added;

    make_runs(p.ours, 0, 1, 5);
    struct store *s = open_store(p.ours, STORE_READ);
    assert_ok(store_load(s, (const int64_t[]) { 1 }, 1, NULL, &out, &err), &err);
    store_close(s);
    char *text = json_take_text(records_to_json(&out));
    cJSON *json = cJSON_Parse(text);
    assert_ok(records_from_json(json, &in, &err), &err);
    s = open_store(p.theirs, STORE_WRITE);
    assert_ok(store_add_run(s, &in, 0, &added, &err), &err);
    store_close(s);
    assert_int_equal(count_in(p.theirs, "SELECT count(DISTINCT started_ms) FROM launch"), 1);
    merge_expecting(p.theirs, p.ours, 0, 1);
    merge_expecting(p.ours, p.theirs, 0, 1);
    cJSON_Delete(json);
    free(text);
    records_release(&out);
    records_release(&in);
}

/* A copy of a run that is going on, merged before and after it has ended. */
SCRATCH_TEST(test_growing_run)
{
    struct two p = two_paths(state);
    char early[160];
    struct run run = sample_run();
    struct error err;

    path_in(*state, "early.db", early);
    struct store *s = open_store(p.theirs, STORE_WRITE);
    assert_ok(store_begin_run(s, &run, &err), &err);
    add_launch_of(s, run.id, 0, 0, 5);
    store_close(s);
    copy_history(p.theirs, early);
    merge_expecting(p.ours, p.theirs, 1, 0);
    merge_expecting(p.ours, p.theirs, 0, 1);
    s = open_store(p.ours, STORE_WRITE); /* what is said of it here stays */
    assert_ok(store_annotate(s, 1, 5, "look at this", &err), &err);
    store_close(s);
    s = open_store(p.theirs, STORE_WRITE);
    add_launch_of(s, run.id, 1, 20, 5);
    assert_ok(store_end_run(s, run.id, 99, &err), &err);
    store_close(s);
    struct store_merged merged = merge(p.ours, p.theirs);
    assert_int_equal(merged.runs_grown, 1);
    assert_int_equal(merged.conflicts.nr, 0);
    store_merged_release(&merged);
    assert_same_runs(p.ours, p.theirs);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM annotation"), 1);
    merge_expecting(p.ours, early, 0, 1); /* the older copy takes nothing back */
    assert_same_runs(p.ours, p.theirs);
}

static void add_late(struct store *s, int64_t run, int seq, unsigned number)
{
    struct measurement m = sample_measurement(number);
    struct error err;
    int64_t launch;

    assert_ok(store_find_launch(s, run, seq, &launch, &err), &err);
    assert_ok(store_add_measurement(s, launch, &m, &err), &err);
    measurement_release(&m);
}

/* What was disturbed is measured again behind all launches, and belongs to earlier ones. */
SCRATCH_TEST(test_growing_run_measured_again)
{
    struct two p = two_paths(state);
    char early[160];
    struct run run = sample_run();
    struct error err;

    path_in(*state, "early.db", early);
    struct store *s = open_store(p.theirs, STORE_WRITE);
    assert_ok(store_begin_run(s, &run, &err), &err);
    for (int seq = 0; seq < 3; seq++)
        add_launch_of(s, run.id, seq, 10 * (unsigned)seq, 4);
    store_close(s);
    merge_expecting(p.ours, p.theirs, 1, 0);
    copy_history(p.theirs, early);
    s = open_store(p.theirs, STORE_WRITE);
    add_late(s, run.id, 0, 4);
    add_late(s, run.id, 1, 14);
    assert_ok(store_end_run(s, run.id, 99, &err), &err);
    store_close(s);
    struct store_merged merged = merge(p.ours, p.theirs);
    assert_int_equal(merged.runs_grown, 1);
    assert_int_equal(merged.conflicts.nr, 0);
    store_merged_release(&merged);
    assert_same_runs(p.ours, p.theirs);
    merge_expecting(p.ours, early, 0, 1);
    /* One that went on in another way is still another. */
    s = open_store(early, STORE_WRITE);
    add_late(s, run.id, 0, 5);
    store_close(s);
    merged = merge(p.ours, early);
    assert_int_equal(merged.conflicts.nr, 1);
    store_merged_release(&merged);
    assert_same_runs(p.ours, p.theirs);
}

static void add_all_kinds(const char *path)
{
    const struct roof roof = { .name = "bandwidth.dram",
                               .device = "cpu-4t",
                               .unit = "B/s",
                               .value = 2e10,
                               .low = NAN,
                               .high = 2.1e10,
                               .measured_ms = 77 };
    struct acceptance accepted = { .key = "a",
                                   .metric = "p50",
                                   .machine = "",
                                   .commit = "",
                                   .change = NAN,
                                   .reason = "meant",
                                   .author = "" };
    struct store_selftest test = {
        .machine = "class-a", .device = "cpu-4t", .kind = "aa", .result = "{}"
    };
    struct store_tuned tuned = { .key = "mine/a/tile/fp32/n=8/cpu-4t/warm",
                                 .machine = "0123456789abcdef",
                                 .code = "k.so",
                                 .setting = "BM=64",
                                 .run = "aaaaaaaa-0000-4000-8000-000000000001",
                                 .result = "{}" };
    struct store_comparison c = {
        .base = "main", .head = "latest", .base_commit = "", .head_commit = "", .settings = "{}"
    };
    struct store *s = open_store(path, STORE_WRITE);
    struct machine machine = sample_run().machine;
    struct error err;

    assert_ok(store_add_roofs(s, &machine, "epoch", &roof, 1, &err), &err);
    assert_ok(store_acceptance_add(s, &accepted, 1, &err), &err);
    assert_ok(store_selftest_add(s, &test, &err), &err);
    assert_ok(store_tuned_add(s, &tuned, &err), &err);
    *store_comparison_push(&c) =
        (struct store_verdict) { "k", "class-a", "p50", "same", "{}", "{}" };
    assert_ok(store_comparison_add(s, &c, &err), &err);
    free(c.items);
    assert_ok(store_baseline_save(s, "good", (const int64_t[]) { 1, 2 }, 2, 5, "note", false, &err),
              &err);
    assert_ok(store_annotate(s, 2, 6, "new BIOS", &err), &err);
    store_close(s);
}

static void expect_kinds(const char *to, const char *from, int64_t each)
{
    struct store_merged m = merge(to, from);

    assert_int_equal(m.conflicts.nr, 0);
    assert_int_equal(m.roofs, each);
    assert_int_equal(m.acceptances, each);
    assert_int_equal(m.selftests, each);
    assert_int_equal(m.tuned, each);
    assert_int_equal(m.comparisons, each);
    assert_int_equal(m.baselines, each);
    assert_int_equal(m.annotations, each);
    store_merged_release(&m);
}

/* What is no run comes along once; NULLs count as equal. */
SCRATCH_TEST(test_all_kinds)
{
    struct two p = two_paths(state);

    make_runs(p.theirs, 0, 2, 3);
    add_all_kinds(p.theirs);
    make_runs(p.ours, 9, 1, 3); /* so that numbers differ */
    expect_kinds(p.ours, p.theirs, 1);
    expect_kinds(p.ours, p.theirs, 0);
    assert_int_equal(count_in(p.ours, "SELECT sum(run) FROM baseline_run"), 2 + 3);
    assert_int_equal(count_in(p.ours, "SELECT run FROM annotation"), 3);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM verdict"), 1);
    execute_in(p.theirs, "UPDATE verdict SET verdict = 'regressed'");
    expect_conflict(p.ours, p.theirs, "comparison 1");
    execute_in(p.theirs,
               "UPDATE verdict SET verdict = 'same'; DELETE FROM baseline_run WHERE run=1");
    expect_conflict(p.ours, p.theirs, "baseline \"good\"");
}

/* What would not be sound here is refused, and named. */
SCRATCH_TEST(test_no_json)
{
    static const struct {
        const char *change, *says;
    } changes[] = {
        { "UPDATE comparison SET settings = ''", "comparison.settings" },
        { "UPDATE verdict SET result = '{'", "verdict.result" },
        { "UPDATE verdict SET evidence = '{\"a\":\"\\ud800\"}'", "verdict.evidence" },
        { "UPDATE selftest SET result = 'x'", "selftest.result" },
        { "UPDATE tuned SET result = 'x'", "tuned.result" },
    };
    struct two p = two_paths(state);

    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        struct store_merged merged = { 0 };
        struct error err;
        remove(p.ours);
        remove(p.theirs);
        make_runs(p.theirs, 0, 2, 3);
        add_all_kinds(p.theirs);
        execute_in(p.theirs, changes[i].change);
        struct store *s = open_store(p.ours, STORE_WRITE);
        assert_int_equal(store_merge(s, p.theirs, &merged, &err), -1);
        if (!strstr(err.message, changes[i].says) || !strstr(err.message, "no JSON"))
            fail_msg("\"%s\" is not in: %s", changes[i].says, err.message);
        store_merged_release(&merged);
        store_close(s);
        assert_sound(p.ours);
    }
}

/* Odd words come in as they are read, once. */
SCRATCH_TEST(test_odd_words)
{
    struct two p = two_paths(state);

    make_runs(p.theirs, 0, 2, 3);
    add_all_kinds(p.theirs);
    execute_in(p.theirs,
               "UPDATE comparison SET version = char(27); UPDATE tuned SET driver = "
               "char(27)");
    expect_kinds(p.ours, p.theirs, 1);
    expect_kinds(p.ours, p.theirs, 0);
    assert_int_equal(count_in(p.ours, "SELECT version = '?' FROM comparison"), 1);
}

/* Summaries on one side are no other content. */
SCRATCH_TEST(test_thinned)
{
    struct two p = two_paths(state);
    const struct store_prune rules = { .trust_clock = true,
                                       .now_ms = clock_epoch_ms(),
                                       .samples_ms = 1 };
    struct store_pruned pruned;
    struct error err;

    make_runs(p.ours, 0, 2, 4);
    execute_in(p.ours, "UPDATE run SET started_ms = started_ms - 1000000000000");
    copy_history(p.ours, p.theirs);
    struct store *s = open_store(p.theirs, STORE_WRITE);
    assert_ok(store_prune(s, &rules, &pruned, &err), &err);
    assert_int_equal(pruned.thinned, 2);
    store_close(s);
    merge_expecting(p.ours, p.theirs, 0, 2);
    remove(p.ours);
    merge_expecting(p.ours, p.theirs, 2, 0);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM run WHERE thinned_ms > 0"), 2);
}

SCRATCH_TEST(test_refused)
{
    struct two p = two_paths(state);
    char link_path[160];
    struct store_merged merged = { 0 };
    struct error err;

    make_runs(p.ours, 0, 1, 2);
    make_version(p.theirs, 3);
    execute_in(p.theirs, "PRAGMA user_version = 4711");
    path_in(*state, "link.db", link_path);
    assert_int_equal(symlink(p.ours, link_path), 0);
    struct store *s = open_store(p.ours, STORE_WRITE);
    assert_int_equal(store_merge_check(p.ours, p.ours, &err), -1);
    assert_non_null(strstr(err.message, "itself"));
    assert_int_equal(store_merge_check(p.ours, link_path, &err), -1);
    assert_int_equal(store_merge(s, link_path, &merged, &err), -1);
    assert_int_equal(store_merge_check(p.ours, p.theirs, &err), -1);
    assert_non_null(strstr(err.message, "newer harness"));
    assert_int_equal(store_merge_check(p.ours, "/nowhere/h.db", &err), -1);
    store_close(s);
}

static void merge_in_child(const char *to, const char *from)
{
    struct store_merged merged = { 0 };
    struct error err;
    struct store *s;
    int rc = store_open(&s, to, STORE_WRITE, &err) || store_merge(s, from, &merged, &err);

    store_close(s);
    _exit(rc ? 1 : 0);
}

/* Killed at random moments: a sound file each time, with whole runs alone; in the end all. */
SCRATCH_TEST(test_killed)
{
    struct two p = two_paths(state);
    struct random r;
    int status = 0, kills = 0;

    make_runs(p.theirs, 0, 60, 7);
    uint64_t seed = knock_seed();
    random_seed(&r, seed);
    for (int i = 0; i < 200; i++) {
        struct timespec delay = { .tv_nsec = (long)random_below(&r, 6000000) };
        pid_t pid = fork();
        if (pid == 0)
            merge_in_child(p.ours, p.theirs);
        nanosleep(&delay, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            if (kills > 0)
                break;
            assert_int_equal(unlink(p.ours), 0); /* too late for the first: from the beginning */
            continue;
        }
        kills++;
        if (!file_exists(p.ours) || count_in(p.theirs, "SELECT 1") != 1)
            continue;
        struct store *s = open_store(p.ours, STORE_WRITE); /* makes it a history if it died early */
        store_close(s);
        assert_sound(p.ours);
        assert_int_equal(count_in(p.ours, "SELECT count(*) FROM measurement"),
                         14 * count_in(p.ours, "SELECT count(*) FROM run"));
    }
    assert_true(kills > 0);
    struct store_merged merged = merge(p.ours, p.theirs);
    assert_int_equal(merged.conflicts.nr, 0);
    store_merged_release(&merged);
    assert_same_runs(p.ours, p.theirs);
    knock("kill -9 of `history merge`", kills, kills,
          "whole runs alone, the next merge has all (seed %" PRIu64 ")", seed);
}

/* Four at once into one file, two of the same. */
SCRATCH_TEST(test_at_once)
{
    struct two p = two_paths(state);
    char other[160];
    pid_t pids[4];
    int status;

    path_in(*state, "other.db", other);
    make_runs(p.theirs, 0, 20, 5);
    make_runs(other, 20, 20, 5);
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            merge_in_child(p.ours, i % 2 ? other : p.theirs);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_sound(p.ours);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM run"), 40);
    assert_int_equal(count_in(p.ours, "SELECT count(*) FROM measurement"), 400);
    knock("four merges at once into one file", 4, 4, "each run once, nothing lost");
}

RUN_TESTS(NULL, NULL)
