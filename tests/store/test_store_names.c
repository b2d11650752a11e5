/* SPDX-License-Identifier: MIT */
/* Names, numbers and dates of strangers: one rule where they are saved, merged, imported and read.
 * Features: U-05. */
#include "history/verify.h"
#include "store_histories.h"

#include "base/clean.h"
#include "core/names.h"
#include "history/merge.h"
#include "history/restore.h"
#include "history/salvage.h"
#include "knocks.h"
#include "store/verdicts.h"

#include <math.h>

/* As text of SQL. */
static const char *const bad_names[] = { "'$(touch${IFS}X)'",
                                         "'`touch X`'",
                                         "'a b'",
                                         "'a''b'",
                                         "'a\"b'",
                                         "'<script>'",
                                         "''",
                                         "'latest'",
                                         "'12'",
                                         "'--db=/etc/passwd'",
                                         "'a;b'",
                                         "'a' || char(27) || '[2J'",
                                         "'a' || char(10)",
                                         "'a' || char(0x202e)",
                                         "'~root'",
                                         "CAST(x'61ff' AS TEXT)",
                                         "printf('%0200d', 1)" };

enum { BAD_NAMES = sizeof(bad_names) / sizeof(bad_names[0]) };

static void name_first_baseline(const char *path, const char *sql)
{
    char script[200];

    snprintf(script, sizeof(script), "UPDATE baseline SET name = %s WHERE id = 1", sql);
    execute_in(path, script);
}

static void make_named(const char *path)
{
    struct error err;

    remove(path);
    make_runs(path, 0, 2, 1);
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(store_baseline_save(s, "first", (int64_t[]) { 1 }, 1, 5, NULL, false, &err), &err);
    assert_ok(store_baseline_save(s, "second", (int64_t[]) { 2 }, 1, 5, NULL, false, &err), &err);
    store_close(s);
}

/* A merge takes the runs and the other names, and says which name it did not take. */
SCRATCH_TEST(test_merged_names)
{
    const struct scratch *scratch = *state;
    char theirs[160];
    struct error err;

    path_in(scratch, "theirs.db", theirs);
    for (size_t i = 0; i < BAD_NAMES; i++) {
        struct store_merged merged = { 0 };
        struct store_baselines names = { 0 };
        make_named(theirs);
        name_first_baseline(theirs, bad_names[i]);
        remove(scratch->path);
        struct store *s = open_store(scratch->path, STORE_WRITE);
        assert_ok(store_merge(s, theirs, &merged, &err), &err);
        assert_int_equal(merged.runs_new, 2);
        assert_int_equal(merged.baselines, 1);
        assert_int_equal(merged.conflicts.nr, 1);
        assert_non_null(strstr(merged.conflicts.items[0], "not taken along"));
        assert_true(name_is_line(merged.conflicts.items[0]));
        assert_ok(store_baseline_list(s, &names, &err), &err);
        assert_int_equal(names.nr, 1);
        assert_string_equal(names.items[0].name, "second");
        store_baselines_release(&names);
        store_merged_release(&merged);
        store_close(s);
    }
    knock("a baseline's name that is a command or markup, merged", BAD_NAMES, BAD_NAMES,
          "not taken along, and said");
}

/* One that is there already, from before the rule: listed never, found by verify, left out by a
 * salvage. */
SCRATCH_TEST(test_names_in_a_file)
{
    const struct scratch *scratch = *state;
    char saved[160];
    struct error err;

    path_in(scratch, "saved.db", saved);
    for (size_t i = 0; i < BAD_NAMES; i++) {
        struct store_baselines names = { 0 };
        struct store_health health;
        struct salvaged out;
        make_named(scratch->path);
        name_first_baseline(scratch->path, bad_names[i]);
        struct store *s = open_store(scratch->path, STORE_READ);
        assert_int_equal(store_baseline_list(s, &names, &err), -1);
        assert_non_null(strstr(err.message, "baseline 1 "));
        assert_true(name_is_line(err.message));
        assert_int_equal(store_verify(s, &health, &err), -1);
        assert_non_null(strstr(err.message, "baseline 1 "));
        store_baselines_release(&names);
        store_close(s);
        remove(saved);
        assert_ok(store_salvage(scratch->path, saved, &out, &err), &err);
        assert_sound(saved);
        assert_int_equal(count_in(saved, "SELECT count(*) FROM baseline"), 1);
        salvaged_release(&out);
    }
}

/* What reading makes of a value: refused with the row named, or read as not known. */
static const struct odd {
    const char *script, *named; /* named NULL: it is read */
} odd[] = {
    { "UPDATE measurement SET flops = 9e999 WHERE id = 2", NULL },
    { "UPDATE measurement SET flops = 1e300, bytes = 1e-300 WHERE id = 2", NULL },
    { "UPDATE measurement SET bytes = -1 WHERE id = 2", NULL },
    { "UPDATE measurement SET seconds = -9e999 WHERE id = 2", NULL },
    { "UPDATE measurement SET telemetry = '{\"x\":1e300}' WHERE id = 2", NULL },
    { "UPDATE measurement SET clock = 'a' || char(27) WHERE id = 2", NULL },
    { "UPDATE run SET label = 'a' || char(0xad) || 'b' WHERE id = 1", NULL },
    { "UPDATE build SET branch = CAST(x'61c3' AS TEXT)", NULL },
    { "UPDATE machine SET cpu = 'a' || char(27) || '[2J'", NULL },
    { "UPDATE measurement SET telemetry = '{\"x\\u001b\":1}' WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET footprint = -1 WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET footprint = 9223372036854775807 WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET batch = -1 WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET started_ms = 9223372036854775807 WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET clock = printf('%0999d', 1) WHERE id = 2", "measurement 2" },
    { "UPDATE measurement SET samples = x'02ffff3f000000', nr_samples = 1048575 WHERE id = 2",
      "measurement 2" },
    { "UPDATE run SET started_ms = 9223372036854775807 WHERE id = 1", "run" },
    { "UPDATE run SET uuid = 'a' || char(27) WHERE id = 1", "run" },
    { "UPDATE machine SET class = 'a' || char(0x202e) || 'b'", "machine" },
    { "UPDATE machine SET memory = -1", "machine" },
    { "UPDATE benchmark SET key = 'a' || char(27) || '[31m' WHERE id = 1", "benchmark" },
    { "UPDATE benchmark SET kernel = CAST(x'61ff' AS TEXT) WHERE id = 1", "benchmark" },
    { "UPDATE benchmark_dim SET value = 9223372036854775807 WHERE benchmark = 1", "dim" },
    { "UPDATE benchmark_dim SET name = char(27) WHERE benchmark = 1", "dim" },
    { "UPDATE run SET environment = printf('%.*c', 5000000, 'x') WHERE id = 1", "run" },
};

enum { ODD = sizeof(odd) / sizeof(odd[0]) };

static void assert_within(const struct records *r)
{
    for (size_t i = 0; i < r->nr; i++) {
        const struct measurement *m = &r->items[i].m;
        assert_true(fact_is_amount(m->flops) && fact_is_amount(m->bytes));
        assert_true(fact_is_amount(m->seconds) && fact_is_count(m->footprint));
        assert_true(name_is_line(m->bench.key) && fact_is_date(m->started_ms));
        for (int k = 0; k < m->nr_telemetry; k++)
            assert_true(fact_is_finite(m->telemetry[k].value));
    }
}

SCRATCH_TEST(test_odd_values)
{
    const struct scratch *scratch = *state;
    char saved[160];
    struct error err;

    path_in(scratch, "saved.db", saved);
    for (size_t i = 0; i < ODD; i++) {
        struct records records = { 0 };
        struct store_health health;
        struct salvaged out;
        remove(scratch->path);
        make_runs(scratch->path, 0, 1, 2);
        execute_in(scratch->path, odd[i].script);
        struct store *s = open_store(scratch->path, STORE_READ);
        int rc = store_load(s, (int64_t[]) { 1 }, 1, NULL, &records, &err);
        if (rc != (odd[i].named ? -1 : 0))
            fail_msg("%s: %s", odd[i].script, rc ? err.message : "was read");
        if (odd[i].named && !strstr(err.message, odd[i].named))
            fail_msg("%s: \"%s\" is not in: %s", odd[i].script, odd[i].named, err.message);
        assert_within(&records);
        assert_int_equal(store_verify(s, &health, &err), -1);
        records_release(&records);
        store_close(s);
        remove(saved);
        assert_ok(store_salvage(scratch->path, saved, &out, &err), &err);
        assert_sound(saved);
        salvaged_release(&out);
    }
    knock("values that no harness writes, in a sound file", ODD, ODD,
          "refused with the row named, or read as not known; `history verify` finds all");
}

static void make_compared(const char *path)
{
    struct store_comparison c = {
        .base = "main", .head = "latest", .base_commit = "", .head_commit = "", .settings = "{}"
    };
    struct error err;

    remove(path);
    make_runs(path, 0, 1, 2);
    struct store *s = open_store(path, STORE_WRITE);
    assert_ok(store_comparison_add(s, &c, &err), &err);
    store_close(s);
}

/* What only has to be read as something else keeps nobody from the rest: a backup is restored, also
 * over a history that has such values, which is not put aside for them. */
SCRATCH_TEST(test_odd_values_are_restored)
{
    static const char *const scripts[] = {
        "UPDATE run SET label = 'a' || char(27)",
        "UPDATE build SET branch = CAST(x'61c3' AS TEXT)",
        "UPDATE comparison SET version = char(27)",
        "UPDATE measurement SET clock = char(27)",
        "UPDATE measurement SET flops = 9e999",
    };
    const struct scratch *scratch = *state;
    char backup[160];
    struct error err;

    path_in(scratch, "backup.db", backup);
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct store_health health;
        make_compared(backup);
        execute_in(backup, scripts[i]);
        remove(scratch->path);
        for (int again = 0; again < 2; again++) {
            struct store_restored out;
            assert_ok(store_restore(scratch->path, backup, NULL, &out, &err), &err);
            assert_false(out.aside);
            assert_int_equal(out.now.measurements, 4);
            store_restored_release(&out);
        }
        struct store *s = open_store(scratch->path, STORE_READ);
        assert_int_equal(store_verify(s, &health, &err), -1);
        assert_true(health.odd > 0 && health.odd == health.problems);
        assert_ok(store_verify_readable(s, &health, &err), &err);
        store_close(s);
    }
}

/* The same values do not come in by a merge: it ends with the row named, or takes what reading
 * takes. */
SCRATCH_TEST(test_merged_values)
{
    const struct scratch *scratch = *state;
    char theirs[160];
    struct error err;

    path_in(scratch, "theirs.db", theirs);
    for (size_t i = 0; i < ODD; i++) {
        struct store_merged merged = { 0 };
        remove(theirs);
        remove(scratch->path);
        make_runs(theirs, 0, 1, 2);
        execute_in(theirs, odd[i].script);
        struct store *s = open_store(scratch->path, STORE_WRITE);
        int rc = store_merge(s, theirs, &merged, &err);
        if (rc != (odd[i].named ? -1 : 0))
            fail_msg("%s: %s", odd[i].script, rc ? err.message : "was merged");
        if (rc)
            assert_int_equal(count_in(scratch->path, "SELECT count(*) FROM run"), 0);
        else
            assert_ok(store_merge(s, theirs, &merged, &err), &err);
        assert_int_equal(merged.runs_new, rc ? 0 : 1);
        assert_int_equal(merged.runs_known, rc ? 0 : 1); /* the second time */
        assert_int_equal(merged.conflicts.nr, 0);
        store_merged_release(&merged);
        store_close(s);
        assert_sound(scratch->path);
    }
}

/* What reading would refuse is not written either, and what it takes for something else is written
 * as that. */
SCRATCH_TEST(test_written_values)
{
    const struct scratch *scratch = *state;
    struct store *s = open_store(scratch->path, STORE_WRITE);
    struct run run = sample_run();
    struct launch launch = { .seq = 0 };
    struct records records = { 0 };
    struct error err;
    int64_t id;

    snprintf(run.label, sizeof(run.label), "a\xc2\xad\033b");
    snprintf(run.build.branch, sizeof(run.build.branch), "half of a \xc3");
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_ok(store_begin_launch(s, run.id, &launch, &id, &err), &err);
    struct measurement m = sample_measurement(1);
    m.footprint = -1;
    assert_int_equal(store_add_measurement(s, id, &m, &err), -1);
    m.footprint = 1;
    snprintf(m.bench.key, sizeof(m.bench.key), "a\033[31mb");
    assert_int_equal(store_add_measurement(s, id, &m, &err), -1);
    snprintf(m.bench.key, sizeof(m.bench.key), "a/b");
    m.flops = INFINITY;
    measurement_add_telemetry(&m, "x", 1e300);
    snprintf(m.clock, sizeof(m.clock), "a\nb");
    assert_ok(store_add_measurement(s, id, &m, &err), &err);
    measurement_release(&m);
    assert_ok(store_load(s, &run.id, 1, NULL, &records, &err), &err);
    assert_string_equal(records.runs[0].label, "a??b");
    assert_string_equal(records.runs[0].build.branch, "half of a ?");
    assert_string_equal(records.items[0].m.clock, "a?b");
    records_release(&records);
    store_close(s);
    assert_sound(scratch->path);
}

TEST(test_mending)
{
    static const struct {
        const char *text, *mended;
    } cases[] = {
        { "plain \xc2\xb5 \xe2\x82\xac", "plain \xc2\xb5 \xe2\x82\xac" },
        { "a\033[31mb\n\x7f", "a?[31mb??" },
        { "\xe2\x80\xae"
          "abc\xff",
          "?abc?" },
        { "\xc2\x9bm\xef\xbb\xbf", "?m?" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        bool line = strcmp(cases[i].text, cases[i].mended) == 0;
        snprintf(text, sizeof(text), "%s", cases[i].text);
        assert_int_equal(name_is_line(text), line);
        assert_int_equal(name_mend(text), !line);
        assert_string_equal(text, cases[i].mended);
        assert_true(name_is_line(text));
    }
}

static size_t encode(uint32_t code, char out[5])
{
    size_t nr = 0;

    if (code < 0x80) {
        out[nr++] = (char)code;
    } else if (code < 0x800) {
        out[nr++] = (char)(0xc0 | code >> 6);
        out[nr++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out[nr++] = (char)(0xe0 | code >> 12);
        out[nr++] = (char)(0x80 | (code >> 6 & 0x3f));
        out[nr++] = (char)(0x80 | (code & 0x3f));
    } else {
        out[nr++] = (char)(0xf0 | code >> 18);
        out[nr++] = (char)(0x80 | (code >> 12 & 0x3f));
        out[nr++] = (char)(0x80 | (code >> 6 & 0x3f));
        out[nr++] = (char)(0x80 | (code & 0x3f));
    }
    out[nr] = '\0';
    return nr;
}

/* What a history may hold is what is shown as it is: one rule. */
TEST(test_one_rule)
{
    char text[5];

    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        encode(code, text);
        if (name_is_line(text) != clean_is(text))
            fail_msg("U+%04X: a name %s, shown %s", code, name_is_line(text) ? "may" : "may not",
                     clean_is(text) ? "as it is" : "as something else");
    }
}

/* A history that can be read can be exported, and the export be read. */
SCRATCH_TEST(test_export_of_what_is_read)
{
    static const char *const scripts[] = {
        "UPDATE measurement SET flops = 1e24, bytes = 1e24, seconds = 1e24, tolerance = 1e24",
        "UPDATE measurement SET checked = 1e24, footprint = 9007199254740992, max_error = 9e999",
        "UPDATE measurement SET flops = 2e24, bytes = 1e29, seconds = 1e30, tolerance = 3e24",
        "UPDATE measurement SET telemetry = '{\"x\":1e24,\"y\":-1e24,\"z\":1e25,\"u\":-1e30}'",
        "UPDATE ceiling SET value = 1e24, low = 1e24, high = 1e24, spec = 1e24",
        "UPDATE ceiling SET value = 1e25, low = 1e26, high = 1e30, spec = 2e24",
        "UPDATE run SET started_ms = -2208988800000, ended_ms = 253402300799999",
        "UPDATE benchmark_dim SET value = -9007199254740992",
    };
    const struct roof roof = { .name = "flops.fp32", .device = "cpu-2t", .unit = "FLOP/s" };
    const struct scratch *scratch = *state;
    struct error err;

    for (size_t i = 0; i < ODD + sizeof(scripts) / sizeof(scripts[0]); i++) {
        const char *script = i < ODD ? odd[i].script : scripts[i - ODD];
        struct records out = { 0 }, in = { 0 };
        struct run run = sample_run();
        if (i < ODD && odd[i].named)
            continue;
        remove(scratch->path);
        make_runs(scratch->path, 0, 1, 2);
        struct store *s = open_store(scratch->path, STORE_WRITE);
        assert_ok(store_add_roofs(s, &run.machine, "", &roof, 1, &err), &err);
        store_close(s);
        execute_in(scratch->path, script);
        s = open_store(scratch->path, STORE_READ);
        assert_ok(store_load(s, (int64_t[]) { 1 }, 1, NULL, &out, &err), &err);
        store_close(s);
        char *text = json_take_text(records_to_json(&out));
        cJSON *json = cJSON_Parse(text);
        if (!json || records_from_json(json, &in, &err))
            fail_msg("%s: %s", script, json ? err.message : "no JSON");
        assert_int_equal(in.nr, out.nr);
        cJSON_Delete(json);
        free(text);
        records_release(&out);
        records_release(&in);
    }
}

RUN_TESTS(NULL, NULL)
