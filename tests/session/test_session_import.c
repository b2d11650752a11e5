/* SPDX-License-Identifier: MIT */
/* Files of other programs on their way to one run: what goes together, what is known, what comes of
 * them. How each format is read is in tests/importers. */
#include "session_testing.h"

#include "core/clock.h"
#include "json_facts.h"
#include "machine/environment.h"
#include "session/import_run.h"
#include "session/measure/number_options.h"

/* A file of Google Benchmark with one time, and this in its context. */
static void put_gbench(const char *path, const char *context, double ns)
{
    struct strbuf text;

    strbuf_init(&text);
    strbuf_addf(&text,
                "{\"context\":{\"num_cpus\":2%s},\"benchmarks\":[{\"name\":\"BM_Sort/64\","
                "\"run_type\":\"iteration\",\"iterations\":10,\"real_time\":%g,\"cpu_time\":%g,"
                "\"time_unit\":\"ns\"}]}",
                context, ns, ns);
    put_file(path, text.data);
    strbuf_release(&text);
}

static int read_files(struct import_job *job, char *a, char *b, struct error *err)
{
    char *paths[] = { a, b };

    err->message[0] = '\0';
    return import_job_read(job, b ? 2 : 1, paths, err);
}

/* What was merged, into the history. */
static int64_t keep_merged(struct import_job *job, struct store *store)
{
    struct records merged;

    import_job_merge(job, &merged);
    assert_int_equal(merged.nr_runs, 1);
    return keep_run(store, &merged);
}

/* ---- what is said, and what goes together ---- */

PLACE_TEST(what_is_said_goes_over_the_file)
{
    static const struct {
        struct import_said said;
        const char *label, *commit, *branch, *class; /* class NULL: of this machine */
        int64_t started_ms;
    } cases[] = {
        { { .label = NULL }, "", "aaaaaaa1", "side", "2c", 1796198400000 },
        { { .label = "night" }, "night", "aaaaaaa1", "side", "2c", 1796198400000 },
        { { .commit = "bbbbbbb2", .branch = "main", .machine = "ci-box", .date_ms = 5000 },
          "",
          "bbbbbbb2",
          "main",
          "ci-box",
          5000 },
        { { .machine = "this" }, "", "aaaaaaa1", "side", NULL, 1796198400000 },
    };
    struct machine here;
    struct error err;

    assert_ok(environment_machine(&here, &err), &err);
    put_gbench("a.json",
               ",\"commit\":\"aaaaaaa1\",\"branch\":\"side\",\"date\":\"2026-12-02T08:00:00Z\"",
               100);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .said = cases[i].said };
        char path[] = "a.json";
        assert_ok(read_files(&job, path, NULL, &err), &err);
        const struct records *r = &job.parts.items[0].imported.records;
        const struct run *run = &r->runs[0];
        assert_string_equal(run->label, cases[i].label);
        assert_string_equal(run->build.commit, cases[i].commit);
        assert_string_equal(run->build.branch, cases[i].branch);
        assert_string_equal(run->machine.class_name,
                            cases[i].class ? cases[i].class : here.class_name);
        assert_int_equal(run->started_ms, cases[i].started_ms);
        assert_int_equal(run->ended_ms, cases[i].started_ms);
        assert_int_equal(r->items[0].m.started_ms, cases[i].started_ms);
        import_job_release(&job);
    }
}

/* A file without a date is of when it was written. */
PLACE_TEST(without_a_date_it_is_when_it_was_written)
{
    struct import_job job = { .said = { .label = NULL } };
    char path[] = "a.json";
    struct error err;
    int64_t before = clock_epoch_ms();

    put_gbench(path, "", 100);
    assert_ok(read_files(&job, path, NULL, &err), &err);
    const struct import_part *part = &job.parts.items[0];
    int64_t started = part->imported.records.runs[0].started_ms;
    assert_int_equal(started, part->imported.written_ms);
    assert_in_range(started, before - 2000, clock_epoch_ms() + 2000); /* file systems round */
    import_job_release(&job);
}

#define COMMIT_A    ",\"commit\":\"aaaaaaa1\""
#define COMMIT_B    ",\"commit\":\"bbbbbbb2\""
#define LARGE_CACHE ",\"caches\":[{\"type\":\"Unified\",\"level\":3,\"size\":1048576}]"
#define OWN_RECORDS "records of harness"

/* A context, a whole file, or our own records. */
static void put_part(const char *path, const char *text, double ns)
{
    if (strcmp(text, OWN_RECORDS) == 0)
        put_records(path, "null/copy/right/fp32/batch=1,seq=16/fake/warm", &ns, 1);
    else if (text[0] == '{')
        put_file(path, text);
    else
        put_gbench(path, text, ns);
}

PLACE_TEST(files_of_one_call_go_together)
{
    static const char hyperfine[] =
        "{\"results\":[{\"command\":\"sort\",\"mean\":0.5,\"times\":[0.5]}]}";
    static const struct {
        const char *a, *b; /* see put_part() */
        struct import_said said;
        const char *says; /* NULL: they do */
    } cases[] = {
        { COMMIT_A, COMMIT_A, { .label = NULL }, NULL },
        { COMMIT_A, COMMIT_B, { .label = NULL }, "b.json of \"bbbbbbb2\"" },
        { COMMIT_A, COMMIT_B, { .label = NULL }, "say it for both by --commit" },
        { COMMIT_A, "", { .label = NULL }, "of \"unknown\"" },
        { COMMIT_A, COMMIT_B, { .commit = "ccccccc3" }, NULL },
        { ",\"branch\":\"x\"", ",\"branch\":\"y\"", { .label = NULL }, "by --branch" },
        { ",\"branch\":\"x\"", ",\"branch\":\"y\"", { .branch = "x" }, NULL },
        { "", LARGE_CACHE, { .label = NULL }, "say it for both by --machine" },
        { "", LARGE_CACHE, { .machine = "box" }, NULL },
        { "", hyperfine, { .machine = "box" }, "the program \"Google Benchmark\"" },
        { OWN_RECORDS, "", { .label = NULL }, "imported by themselves" },
        { OWN_RECORDS, NULL, { .label = NULL }, NULL },
        { OWN_RECORDS, NULL, { .label = "x" }, "none of --label, --commit" },
        { OWN_RECORDS, NULL, { .project = "x" }, "none of --label, --commit" },
        { OWN_RECORDS, NULL, { .date_ms = 1 }, "none of --label, --commit" },
        { OWN_RECORDS, NULL, { .in_turn = "x" }, "--in-turn and --better" },
        { "{\"what\":1}", NULL, { .label = NULL }, "a.json" },
    };
    char a[] = "a.json", b[] = "b.json";
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .said = cases[i].said };
        const char *const texts[] = { cases[i].a, cases[i].b };
        for (int k = 0; k < 2 && texts[k]; k++)
            put_part(k ? b : a, texts[k], 100 + k);
        int rc = read_files(&job, a, cases[i].b ? b : NULL, &err);
        if ((rc != 0) != (cases[i].says != NULL) || (rc && !strstr(err.message, cases[i].says)))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        import_job_release(&job);
    }
}

PLACE_TEST(options_of_one_program_are_refused_of_others)
{
    static const char hyperfine[] = "{\"results\":[{\"command\":\"sort\",\"times\":[0.5]}]}";
    static const char csv[] =
        "name,iterations,real_time,cpu_time,time_unit,label\nBM_A,10,5,4,ns,\n";
    static const struct {
        const char *text; /* see put_part() */
        struct import_options options;
        const char *says; /* NULL: it is taken */
    } cases[] = {
        { "", { .cpu_time = true, .repetitions = true }, NULL },
        { csv, { .cpu_time = true }, NULL },
        { csv,
          { .repetitions = true },
          "--repetitions is for the format gbench; this is gbench_csv" },
        { hyperfine,
          { .cpu_time = true },
          "a.json: --cpu-time is for the formats gbench and gbench_csv; this is hyperfine" },
        { hyperfine, { .repetitions = true }, "this is hyperfine" },
        { OWN_RECORDS, { .cpu_time = true }, "this is records" },
        { OWN_RECORDS, { .format = IMPORT_RECORDS }, NULL },
    };
    char a[] = "a.json";
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .options = cases[i].options };
        if (cases[i].text == csv)
            put_file(a, csv);
        else
            put_part(a, cases[i].text, 100);
        int rc = read_files(&job, a, NULL, &err);
        if ((rc != 0) != (cases[i].says != NULL) || (rc && !strstr(err.message, cases[i].says)))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        import_job_release(&job);
    }
}

PLACE_TEST(two_hosts_of_a_class_are_noted)
{
    static const struct {
        const char *a, *b;
        bool noted;
    } cases[] = {
        { ",\"host_name\":\"one\"", ",\"host_name\":\"one\"", false },
        { ",\"host_name\":\"one\"", "", false },
        { ",\"host_name\":\"one\"", ",\"host_name\":\"two\"", true },
    };
    char a[] = "a.json", b[] = "b.json";
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .said = { .machine = "box" } };
        put_gbench(a, cases[i].a, 100);
        put_gbench(b, cases[i].b, 101);
        assert_ok(read_files(&job, a, b, &err), &err);
        const struct string_list *notes = &job.parts.items[1].imported.notes;
        bool noted = notes->nr > 0 && strstr(notes->items[notes->nr - 1], "host two");
        assert_int_equal(noted, cases[i].noted);
        import_job_release(&job);
    }
}

/* ---- what is known ---- */

PLACE_TEST(what_the_history_has_is_marked)
{
    static const struct {
        struct import_said said;
        bool there;
    } cases[] = {
        { { .label = "night", .commit = "aaaaaaa1", .branch = "main", .project = "p" }, true },
        { { .label = "day", .commit = "aaaaaaa1", .branch = "main", .project = "p" }, false },
        { { .label = "night", .commit = "bbbbbbb2", .branch = "main", .project = "p" }, false },
        { { .label = "night", .commit = "aaaaaaa1", .branch = "side", .project = "p" }, false },
        { { .label = "night", .commit = "aaaaaaa1", .branch = "main", .project = "q" }, false },
        { { .label = "night", .commit = "aaaaaaa1", .branch = "main" }, false },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    char a[] = "a.json", b[] = "b.json";
    struct error err;

    put_gbench(a, "", 100);
    put_gbench(b, "", 200);
    struct import_job first = { .said = cases[0].said };
    assert_ok(read_files(&first, a, NULL, &err), &err);
    assert_ok(import_job_known(&first, store, &err), &err); /* nothing is, of nothing */
    assert_int_equal(first.parts.items[0].there, 0);
    int64_t id = keep_merged(&first, store);
    import_job_release(&first);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .said = cases[i].said };
        assert_ok(read_files(&job, a, b, &err), &err);
        assert_ok(import_job_known(&job, store, &err), &err);
        assert_int_equal(job.parts.items[0].there, cases[i].there ? id : 0);
        assert_int_equal(job.parts.items[1].there, 0);
        import_job_release(&job);
    }
    store_close(store);
}

PLACE_TEST(only_what_is_new_is_merged)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    char a[] = "a.json", b[] = "b.json", copy[] = "copy.json", same[] = "./b.json";
    char *paths[] = { a, b, copy, same };
    struct import_job once = { .said = { .label = NULL } }, again = once, third = once;
    struct records merged;
    struct error err;

    put_gbench(a, "", 100);
    put_gbench(b, "", 200);
    put_gbench(copy, "", 100);
    assert_ok(read_files(&once, a, NULL, &err), &err);
    keep_merged(&once, store);
    assert_ok(import_job_read(&again, 4, paths, &err), &err);
    assert_ok(import_job_known(&again, store, &err), &err);
    assert_false(again.parts.items[1].twice);
    assert_true(again.parts.items[2].there);
    assert_true(again.parts.items[3].twice && !again.parts.items[3].there);
    import_job_merge(&again, &merged);
    assert_int_equal(merged.nr, 1);
    assert_int_equal(merged.items[0].m.samples[0] / merged.items[0].m.batch, 200);
    keep_run(store, &merged);
    assert_ok(import_job_read(&third, 4, paths, &err), &err);
    assert_ok(import_job_known(&third, store, &err), &err);
    import_job_merge(&third, &merged);
    assert_int_equal(merged.nr_runs, 0);
    import_job_release(&once);
    import_job_release(&again);
    import_job_release(&third);
    store_close(store);
}

/* Two benchmarks of github-action-benchmark, whose numbers are no times. */
static void put_points(const char *path)
{
    put_file(path,
             "[{\"name\":\"a\",\"unit\":\"points\",\"value\":3},"
             "{\"name\":\"b\",\"unit\":\"points\",\"value\":4}]");
}

static void assert_noted(const struct import_part *part, const char *what)
{
    const struct string_list *notes = &part->imported.notes;
    const char *last = notes->nr ? notes->items[notes->nr - 1] : "";

    if (strstr(last, what ? what : "in the history already") ? !what : what != NULL)
        fail_msg("\"%s\" in place of \"%s\"", last, what ? what : "");
}

/* What is said of a file that is known has no effect: it is refused where it says what the numbers
 * are, and noted where it says when and where they were measured, as a job does each night. */
PLACE_TEST(what_is_known_otherwise_is_refused)
{
    static const struct {
        bool points; /* of put_points(); else times */
        struct import_said said;
        bool cpu_time, repetitions;
        const char *better, *says, *notes; /* says NULL: nothing is new */
    } cases[] = {
        { false, { .label = NULL }, false, false, NULL, NULL, NULL },
        { false, { .machine = "box", .date_ms = 5000, .in_turn = "s" }, 0, 0, NULL, NULL, NULL },
        { false, { .machine = "crate" }, false, false, NULL, "by this --machine", NULL },
        { false, { .machine = "this" }, false, false, NULL, NULL, "by this --machine" },
        { false, { .date_ms = 6000 }, false, false, NULL, NULL, "by this --date" },
        { false, { .in_turn = "t" }, false, false, NULL, NULL, "by this --in-turn" },
        { false, { .date_ms = 6000 }, true, false, NULL, "by this --cpu-time", NULL },
        { false, { .label = NULL }, false, true, NULL, "by this --repetitions", NULL },
        { true, { .label = NULL }, false, false, NULL, NULL, NULL },
        { true, { .label = NULL }, false, false, "higher", NULL, NULL },
        { true, { .label = NULL }, false, false, "lower", "by this --better", NULL },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct string_list higher = { 0 };
    char times[] = "a.json", points[] = "b.json";
    struct import_job one = { .said = cases[1].said },
                      two = { .options = { .betters = &higher, .is_word = number_is_word } };
    struct error err;

    put_gbench(times, "", 100);
    put_points(points);
    string_list_add(&higher, "higher");
    assert_ok(read_files(&one, times, NULL, &err), &err);
    keep_merged(&one, store);
    assert_ok(read_files(&two, points, NULL, &err), &err);
    keep_merged(&two, store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct string_list betters = { 0 };
        struct import_job job = { .said = cases[i].said,
                                  .options = { .betters = &betters,
                                               .is_word = number_is_word,
                                               .cpu_time = cases[i].cpu_time,
                                               .repetitions = cases[i].repetitions } };
        if (cases[i].better)
            string_list_add(&betters, cases[i].better);
        char *path = cases[i].points ? points : times;
        assert_ok(read_files(&job, path, path, &err), &err); /* both are of the one run */
        int rc = import_job_known(&job, store, &err);
        assert_true(job.parts.items[0].there > 0);
        if ((rc != 0) != (cases[i].says != NULL) || (rc && !strstr(err.message, cases[i].says)))
            fail_msg("case %zu: %d \"%s\"", i, rc, err.message);
        for (size_t k = 0; k < 2; k++)
            assert_noted(&job.parts.items[k], cases[i].notes);
        import_job_release(&job);
        string_list_release(&betters);
    }
    import_job_release(&one);
    import_job_release(&two);
    string_list_release(&higher);
    store_close(store);
}

PLACE_TEST(equal_files_of_one_call_are_launches)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    char a[] = "a.json", b[] = "b.json", c[] = "c.json", again[] = "./a.json";
    char *paths[] = { a, b, again, c };
    struct import_job job = { .said = { .label = "counts" } }, repeated = job;
    struct records merged;
    struct error err;

    put_gbench(a, "", 20);
    put_gbench(b, "", 20);
    put_gbench(c, "", 25);
    assert_ok(import_job_read(&job, 4, paths, &err), &err);
    assert_ok(import_job_known(&job, store, &err), &err);
    const struct string_list *notes = &job.parts.items[1].imported.notes;
    assert_true(notes->nr > 0 && strstr(notes->items[notes->nr - 1], "a launch of its own"));
    assert_true(job.parts.items[2].twice);
    import_job_merge(&job, &merged);
    assert_int_equal(merged.nr, 3);
    for (int i = 0; i < 3; i++) {
        const struct measurement *m = &merged.items[i].m;
        assert_int_equal(merged.items[i].launch_seq, i);
        assert_int_equal(m->samples[0] / m->batch, i < 2 ? 20 : 25);
    }
    keep_run(store, &merged);
    assert_ok(import_job_read(&repeated, 4, paths, &err), &err);
    assert_ok(import_job_known(&repeated, store, &err), &err);
    import_job_merge(&repeated, &merged);
    assert_int_equal(merged.nr_runs, 0);
    import_job_release(&job);
    import_job_release(&repeated);
    store_close(store);
}

/* As a pattern for all that is in the folder names them. */
PLACE_TEST(files_of_one_folder_of_criterion_are_one_launch)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    char sample[] = "sort/new/sample.json", estimates[] = "sort/new/estimates.json";
    struct import_job job = { .said = { .label = NULL } };
    struct error err;

    put_file(sample, "{\"sampling_mode\":\"Flat\",\"iters\":[1,2],\"times\":[10,20]}");
    put_file(estimates, "{\"mean\":{\"confidence_interval\":{},\"point_estimate\":15}}");
    assert_ok(read_files(&job, sample, estimates, &err), &err);
    assert_ok(import_job_known(&job, store, &err), &err);
    assert_true(job.parts.items[1].twice && !job.parts.items[0].twice);
    import_job_release(&job);
    store_close(store);
}

/* ---- the run ---- */

PLACE_TEST(files_are_launches_of_one_run)
{
    static const char facts[] =
        "launches=2; import.tool=Google Benchmark; import.project=p; "
        "import.cpu_time=true; #import.files=2; import.files.0.name=a.json; "
        "import.files.1.name=b.json; !import.repetitions_as_launches";
    struct import_job job = { .options = { .cpu_time = true },
                              .said = { .project = "p", .in_turn = "session-1" } };
    char a[] = "sub/a.json", b[] = "b.json";
    struct records merged;
    struct error err;

    put_gbench(a, ",\"date\":\"2026-12-02T09:00:00Z\"", 100);
    put_gbench(b, ",\"date\":\"2026-12-02T08:00:00Z\"", 200);
    assert_ok(read_files(&job, a, b, &err), &err);
    import_job_merge(&job, &merged);
    const struct run *run = &merged.runs[0];
    assert_int_equal(run->kind, RUN_IMPORTED);
    assert_int_equal(run->ended_ms - run->started_ms, 3600000);
    assert_string_equal(run->ab.id, "session-1");
    assert_int_equal(run->ab.block, 1);
    assert_int_equal(merged.nr, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(merged.items[i].launch_seq, i);
    cJSON *settings = json_parse(run->settings, strlen(run->settings), "settings", &err);
    assert_facts(settings, facts);
    cJSON_Delete(settings);
    records_release(&merged);
    import_job_release(&job);
}

/* The same content under the same words is the same run wherever it is imported. */
PLACE_TEST(the_number_of_a_run_follows_from_its_content)
{
    static const struct {
        struct import_said said;
        double ns;
        bool same;
    } cases[] = {
        { { .label = "x" }, 100, true },
        { { .label = "x", .date_ms = 5000 }, 100, true },
        { { .label = "y" }, 100, false },
        { { .label = "x", .commit = "aaaaaaa1" }, 100, false },
        { { .label = "x" }, 101, false },
        { { .label = "x", .branch = "main" }, 100, false },
        { { .label = "x", .project = "p" }, 100, false },
    };
    char first[37] = "", path[] = "a.json";
    struct error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct import_job job = { .said = cases[i].said };
        struct records merged;
        put_gbench(path, "", cases[i].ns);
        assert_ok(read_files(&job, path, NULL, &err), &err);
        import_job_merge(&job, &merged);
        if (i == 0)
            memcpy(first, merged.runs[0].uuid, sizeof(first));
        assert_int_equal(strcmp(first, merged.runs[0].uuid) == 0, cases[i].same);
        records_release(&merged);
        import_job_release(&job);
    }
}

RUN_TESTS(NULL, NULL)
