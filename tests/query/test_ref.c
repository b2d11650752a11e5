/* SPDX-License-Identifier: MIT */
/* Which runs a REF names, and what the error says when it names none. Features: U-06, U-12. */
#include "query/ref.h"
#include "test_store.h"

#define COMMIT_A "aaaaaaa111111111111111111111111111111111"
#define COMMIT_B "bbbbbbb222222222222222222222222222222222"
#define COMMIT_C "ccccccc333333333333333333333333333333333"

/* One history for all: the row's index + 1 is the run's id. */
static const struct row {
    int64_t started, ended;
    const char *uuid, *label, *branch, *commit, *class_name;
    bool dirty;
    enum run_kind kind;
} rows[] = {
    { 100, 101, "00000001-0000-4000-8000-000000000001", "", "main", COMMIT_A, "class-a", false,
      RUN_MEASURED },
    { 200, 201, "00000001-0000-4000-8000-000000000002", "", "main", COMMIT_B, "class-a", false,
      RUN_MEASURED },
    { 300, 301, "33333333-0000-4000-8000-000000000003", "", "main", COMMIT_B, "class-a", false,
      RUN_MEASURED },
    { 400, 401, "44444444-0000-4000-8000-000000000004", "try", "main", COMMIT_B, "class-a", true,
      RUN_MEASURED },
    { 500, 501, "55555555-0000-4000-8000-000000000005", "try", "main", COMMIT_B, "class-a", true,
      RUN_MEASURED },
    { 600, 601, "66666666-0000-4000-8000-000000000006", "", "dev", COMMIT_A, "class-a", true,
      RUN_MEASURED },
    { 700, 701, "77777777-0000-4000-8000-000000000007", "", "dev", COMMIT_A, "class-a", true,
      RUN_MEASURED },
    { 800, 801, "88888888-0000-4000-8000-000000000008", "", "gpu", COMMIT_A, "class-b", false,
      RUN_MEASURED },
    { 900, 0, "99999999-0000-4000-8000-000000000009", "", "main", COMMIT_A, "class-a", false,
      RUN_MEASURED },
    { 650, 651, "abcdef12-0000-4000-8000-000000000010", "7", "", "", "class-a", false,
      RUN_MEASURED },
};

enum { NR_ROWS = sizeof(rows) / sizeof(rows[0]) };

struct history {
    struct scratch *scratch;
    struct store *store;
};

static void add_row(struct store *s, const struct row *row, int64_t id)
{
    struct run run = sample_run();
    struct error err;

    run.started_ms = row->started;
    run.ended_ms = row->ended;
    snprintf(run.uuid, sizeof(run.uuid), "%s", row->uuid);
    snprintf(run.label, sizeof(run.label), "%s", row->label);
    snprintf(run.build.branch, sizeof(run.build.branch), "%s", row->branch);
    snprintf(run.build.commit, sizeof(run.build.commit), "%s", row->commit);
    snprintf(run.machine.class_name, sizeof(run.machine.class_name), "%s", row->class_name);
    run.build.dirty = row->dirty;
    run.kind = row->kind;
    assert_ok(store_begin_run(s, &run, &err), &err);
    assert_int_equal(run.id, id);
}

static void add_rows(struct store *s)
{
    for (size_t i = 0; i < NR_ROWS; i++)
        add_row(s, &rows[i], (int64_t)i + 1);
}

static int setup(void **state)
{
    struct error err;
    struct history *h = memory_zeroed(1, sizeof(*h));

    if (scratch_setup((void **)&h->scratch) ||
        store_open(&h->store, h->scratch->path, STORE_WRITE, &err))
        return -1;
    *state = h;
    return 0;
}

static int teardown(void **state)
{
    struct history *h = *state;
    void *scratch = h->scratch;

    store_close(h->store);
    free(h);
    return scratch_teardown(&scratch);
}

static const char *const only_a[] = { "class-a" }, *const only_b[] = { "class-b" },
                         *const only_c[] = { "class-c" },
                         *const a_and_b[] = { "class-a", "class-b" };

/* `expected` is "2 3"; "" means that REF names nothing. */
static void assert_names(struct store *s, const char *ref, const struct ref_scope *scope,
                         const char *expected)
{
    struct error err;
    struct ref_runs runs;
    char got[128] = "";

    int rc = ref_resolve(s, ref, scope, &runs, &err);
    for (size_t i = 0; i < runs.nr; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%d", i ? " " : "",
                 (int)runs.ids[i]);
    if (rc && expected[0])
        fail_msg("%s: %s", ref, err.message);
    assert_string_equal(got, expected);
    assert_int_equal(rc, expected[0] ? 0 : -1);
    assert_int_equal(runs.nothing, rc != 0);
    ref_runs_release(&runs);
}

/* Everything but these runs; release `loaded`. */
static struct ref_scope without(struct store *s, const int64_t *ids, size_t nr,
                                struct records *loaded)
{
    struct error err;

    *loaded = (struct records) { 0 };
    assert_ok(store_load(s, ids, nr, NULL, loaded, &err), &err);
    return (struct ref_scope) { .exclude = loaded->runs, .nr_exclude = loaded->nr_runs };
}

static void test_rules(void **state)
{
    static const struct {
        const char *ref, *expected;
    } cases[] = {
        { "latest", "8" }, /* the newest finished one */
        { "3", "3" },      /* a run id */
        { "9", "9" },      /* an unfinished one, asked for by name */
        { "333333", "3" }, /* the start of a uuid */
        { "33333333-0000-4000-8000-000000000003", "3" },
        { "ABCDEF", "10" }, /* in any case */
        { "try", "4 5" },   /* a label */
        { "7", "7" },       /* a run before the label "7" */
        { "label:7", "10" },
        { "main", "2 3" },    /* newest commit, without uncommitted changes */
        { "dev", "7" },       /* only those there: the newest alone */
        { "bbbbbbb", "2 3" }, /* a commit */
        { COMMIT_A, "1 8" },  /* not the unfinished run 9, not the dirty 6 and 7 */
        { "branch:main", "2 3" },
        { "run:4", "4" },
        { "commit:" COMMIT_B, "2 3" },
    };
    struct history *h = *state;

    add_rows(h->store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_names(h->store, cases[i].ref, NULL, cases[i].expected);
}

static void test_names_nothing(void **state)
{
    static const char *const refs[] = { "",         "nope",       "33333",     "aaaaaa", "99",
                                        "commit:",  "branch:",    "label:",    "run:",   "-1",
                                        "run:main", "branch:try", "latest:3x", "3x",     "0x3" };
    struct history *h = *state;

    add_rows(h->store);
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
        assert_names(h->store, refs[i], NULL, "");
}

static void test_baseline_comes_first(void **state)
{
    static const int64_t ids[] = { 8, 1, 9 };
    static const struct ref_scope class_a = { .classes = only_a, .nr_classes = 1 },
                                  class_c = { .classes = only_c, .nr_classes = 1 };
    struct history *h = *state;
    struct records head;
    struct error err;

    add_rows(h->store);
    const struct ref_scope others = without(h->store, ids, 3, &head);
    assert_ok(store_baseline_save(h->store, "main", ids, 3, 1, NULL, false, &err), &err);
    assert_names(h->store, "main", NULL, "1 8 9");
    assert_names(h->store, "main", &class_a, "1 9");
    assert_names(h->store, "main", &others, ""); /* and no branch in its place */
    assert_names(h->store, "main", &class_c, "");
    assert_names(h->store, "branch:main", &others, "2 3");
    assert_names(h->store, "branch:main", NULL, "2 3");
    assert_ok(store_baseline_remove(h->store, "main", &err), &err);
    assert_names(h->store, "main", NULL, "2 3");
    records_release(&head);
}

static void test_scope(void **state)
{
    static const int64_t exclude[] = { 2, 3 };
    static const struct ref_scope class_a = { .classes = only_a, .nr_classes = 1 },
                                  class_b = { .classes = only_b, .nr_classes = 1 };
    struct history *h = *state;
    struct records head;

    add_rows(h->store);
    const struct ref_scope others = without(h->store, exclude, 2, &head);
    assert_names(h->store, "latest", &class_a, "7");
    assert_names(h->store, "latest", &class_b, "8");
    assert_names(h->store, COMMIT_A, &class_a, "1");
    assert_names(h->store, "main", &others, "1"); /* the commit before the head's */
    assert_names(h->store, "3", &class_b, "3");
    records_release(&head);
}

static void assert_error_has(struct store *s, const char *ref, const struct ref_scope *scope,
                             const char *const *parts)
{
    struct error err;
    struct ref_runs runs;

    assert_int_equal(ref_resolve(s, ref, scope, &runs, &err), -1);
    for (; *parts; parts++)
        if (!strstr(err.message, *parts))
            fail_msg("\"%s\" is not in: %s", *parts, err.message);
    ref_runs_release(&runs);
}

/* On two classes, after those of `rows`. */
static const struct row of_two_classes[] = {
    { 910, 911, "aaaa0011-0000-4000-8000-000000000011", "apart", "main", COMMIT_C, "class-b", false,
      RUN_MEASURED },
    { 920, 921, "aaaa0012-0000-4000-8000-000000000012", "apart", "main", COMMIT_B, "class-a", false,
      RUN_MEASURED },
    { 930, 931, "aaaa0013-0000-4000-8000-000000000013", "alike", "", COMMIT_B, "class-b", false,
      RUN_MEASURED },
    { 940, 941, "aaaa0014-0000-4000-8000-000000000014", "alike", "", COMMIT_B, "class-a", false,
      RUN_MEASURED },
    { 950, 951, "aaaa0015-0000-4000-8000-000000000015", "alike", "", COMMIT_B, "class-b", false,
      RUN_MEASURED },
};

static void add_two_classes(struct store *s)
{
    static const int64_t ids[] = { 11, 14 };
    struct error err;

    add_rows(s);
    for (int i = 0; i < 5; i++)
        add_row(s, &of_two_classes[i], 11 + i);
    assert_ok(store_baseline_save(s, "both", ids, 2, 1, NULL, false, &err), &err);
}

struct meaning {
    const char *ref, *expected, *what;
};

static void assert_means(struct store *s, const struct ref_scope *scope, const struct meaning *m,
                         size_t nr)
{
    struct error err;
    struct ref_runs runs;

    for (size_t i = 0; i < nr; i++) {
        assert_names(s, m[i].ref, scope, m[i].expected);
        assert_ok(ref_resolve(s, m[i].ref, scope, &runs, &err), &err);
        assert_string_equal(runs.what, m[i].what);
        ref_runs_release(&runs);
    }
}

/* Of each class what the name means there: the newest of one may be older than that of another. */
static void test_several_classes(void **state)
{
    static const struct meaning apart[] = {
        { "apart", "11 12", "label apart at bbbbbbb (1 run) and label apart at ccccccc (1 run)" },
        { "alike", "13 14 15", "label alike at bbbbbbb (3 runs)" },
        { "both", "11 14", "baseline both (2 runs)" },
        { "main", "2 3 11 12",
          "branch main at bbbbbbb (3 runs) and branch main at ccccccc (1 run)" },
        { "latest", "14 15", "latest run 14 and latest run 15" },
        { "gpu", "8", "branch gpu at aaaaaaa (1 run)" }, /* one class alone has it */
        { "3", "3", "run 3" },
    };
    static const char *const elsewhere[] = {
        "never measured on these machine classes (class-c, class-a)", "such as class-b", NULL
    };
    static const char *const c_and_a[] = { "class-c", "class-a" };
    static const struct ref_scope scope = { .classes = a_and_b, .nr_classes = 2 },
                                  other = { .classes = c_and_a, .nr_classes = 2 };
    struct history *h = *state;

    add_two_classes(h->store);
    assert_means(h->store, &scope, apart, sizeof(apart) / sizeof(apart[0]));
    assert_error_has(h->store, "gpu", &other, elsewhere);
}

/* Where they are not told apart, the newest of all of them: of one commit. */
static void test_several_classes_together(void **state)
{
    static const struct meaning joined[] = {
        { "apart", "12", "label apart at bbbbbbb (1 run)" },
        { "alike", "13 14 15", "label alike at bbbbbbb (3 runs)" },
        { "both", "11 14", "baseline both (2 runs)" },
        { "main", "2 3 12", "branch main at bbbbbbb (3 runs)" },
        { "latest", "15", "latest run 15" },
        { "gpu", "8", "branch gpu at aaaaaaa (1 run)" },
    };
    static const char *const elsewhere[] = { "never measured on this machine class (class-a)",
                                             "such as class-b", NULL };
    static const struct ref_scope scope = { .classes = a_and_b, .nr_classes = 2, .together = true },
                                  other = { .classes = only_a, .nr_classes = 1, .together = true };
    struct history *h = *state;

    add_two_classes(h->store);
    assert_means(h->store, &scope, joined, sizeof(joined) / sizeof(joined[0]));
    assert_error_has(h->store, "gpu", &other, elsewhere);
}

static void test_errors_help(void **state)
{
    static const int64_t ids[] = { 1, 8 };
    static const struct ref_scope class_a = { .classes = only_a, .nr_classes = 1 };
    static const char *const empty[] = { "history.db", "no runs yet", NULL };
    static const char *const unknown[] = {
        "\"mian\"; did you mean \"main\"? Baselines: stable. Branches: main",
        "gpu",
        "Newest runs: 9 (1970-",
        "unfinished",
        "aaaaaaa",
        NULL
    };
    static const char *const elsewhere[] = { "\"gpu\"", "class-a", "class-b", NULL };
    static const char *const itself[] = { "\"gpu\"", "run 8", NULL };
    static const char *const several[] = { "several", "00000001-0000-4000-8000-000000000001",
                                           NULL };
    struct history *h = *state;
    struct records head;
    struct error err;

    assert_error_has(h->store, "main", NULL, empty);
    add_rows(h->store);
    const struct ref_scope not_8 = without(h->store, &ids[1], 1, &head);
    assert_ok(store_baseline_save(h->store, "stable", ids, 1, 1, NULL, false, &err), &err);
    assert_error_has(h->store, "mian", NULL, unknown);
    assert_error_has(h->store, "gpu", &class_a, elsewhere);
    assert_error_has(h->store, "gpu", &not_8, itself);
    assert_error_has(h->store, "00000001", NULL, several);
    records_release(&head);
}

static void test_describes_itself(void **state)
{
    static const struct {
        const char *ref, *what;
    } cases[] = {
        { "main", "branch main at bbbbbbb (2 runs)" },
        { "dev", "branch dev at aaaaaaa with uncommitted changes (1 run)" },
        { "try", "label try at bbbbbbb with uncommitted changes (2 runs)" },
        { "latest", "latest run 8" },
        { "3", "run 3" },
    };
    struct history *h = *state;
    struct error err;
    struct ref_runs runs;

    add_rows(h->store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_ok(ref_resolve(h->store, cases[i].ref, NULL, &runs, &err), &err);
        assert_string_equal(runs.what, cases[i].what);
        ref_runs_release(&runs);
    }
}

/* Halves of A/B comparisons and runs of self-tests are asked for by name, or not at all. */
static void test_trials_are_left_out(void **state)
{
    static const struct row trials[] = {
        { 910, 911, "aaaa0011-0000-4000-8000-000000000011", "ab head", "main", COMMIT_B, "class-a",
          false, RUN_TRIAL },
        { 920, 921, "aaaa0012-0000-4000-8000-000000000012", "selftest", "main", COMMIT_A, "class-a",
          false, RUN_TRIAL },
        { 930, 931, "aaaa0013-0000-4000-8000-000000000013", "", "tried", COMMIT_C, "class-a", false,
          RUN_TRIAL },
    };
    static const struct {
        const char *ref, *expected;
    } cases[] = {
        { "latest", "8" },   { "main", "2 3" }, { COMMIT_B, "2 3" },        { COMMIT_A, "1 8" },
        { "ab head", "11" }, { "11", "11" },    { "label:selftest", "12" }, { "aaaa0013", "13" },
        { "kept", "11 12" }, { "tried", "" },   { COMMIT_C, "" },
    };
    static const int64_t ids[] = { 11, 12 };
    static const char *const left_out[] = { "\"tried\" names no run that counts", "A/B",
                                            "13 (1970-", "a trial", NULL };
    struct history *h = *state;
    struct error err;

    add_rows(h->store);
    for (int i = 0; i < 3; i++)
        add_row(h->store, &trials[i], 11 + i);
    assert_ok(store_baseline_save(h->store, "kept", ids, 2, 1, NULL, false, &err), &err);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_names(h->store, cases[i].ref, NULL, cases[i].expected);
    assert_error_has(h->store, "tried", NULL, left_out);
    assert_error_has(h->store, "branch:tried", NULL, left_out + 1);
}

/* A profile stands for a name only where no ordinary run does, and never beside one. */
static void test_profiles_are_no_runs(void **state)
{
    static const struct row profiles[] = {
        { 910, 911, "aaaa0011-0000-4000-8000-000000000011", "seen", "main", COMMIT_B, "class-a",
          false, RUN_PROFILE },
        { 920, 921, "aaaa0012-0000-4000-8000-000000000012", "seen", "seen", COMMIT_C, "class-a",
          false, RUN_PROFILE },
        { 930, 931, "aaaa0013-0000-4000-8000-000000000013", "seen", "seen", COMMIT_C, "class-a",
          false, RUN_PROFILE },
        { 940, 941, "aaaa0014-0000-4000-8000-000000000014", "try", "main", COMMIT_B, "class-a",
          true, RUN_PROFILE },
        { 950, 951, "aaaa0015-0000-4000-8000-000000000015", "slower", "main", COMMIT_B, "class-a",
          false, RUN_TRIAL },
    };
    static const struct {
        const char *ref, *expected;
    } cases[] = {
        { "latest", "8" },   { "main", "2 3" },          { COMMIT_B, "2 3" },
        { COMMIT_A, "1 8" }, { "try", "4 5" },           { "seen", "12 13" },
        { "11", "11" },      { "branch:seen", "12 13" }, { "label:slower", "15" },
    };
    struct history *h = *state;

    add_rows(h->store);
    for (int i = 0; i < 5; i++)
        add_row(h->store, &profiles[i], 11 + i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_names(h->store, cases[i].ref, NULL, cases[i].expected);
}

struct part {
    const char *sweep;
    unsigned index;
    const char *plan, *class_name;
};

static void add_part(struct store *s, const struct part *part, int64_t started)
{
    struct run run = sample_run();
    struct error err;

    run.started_ms = started;
    run.ended_ms = started + 1;
    run.shard.index = part->index;
    run.shard.count = 2;
    snprintf(run.shard.sweep, sizeof(run.shard.sweep), "%s", part->sweep);
    snprintf(run.shard.plan, sizeof(run.shard.plan), "%s", part->plan);
    snprintf(run.machine.class_name, sizeof(run.machine.class_name), "%s", part->class_name);
    assert_ok(store_begin_run(s, &run, &err), &err);
}

/* Parts of other plans leave a benchmark out, or have it twice; on other machines benchmarks are
 * called otherwise, and so are plans. */
static void test_parts_of_a_sweep(void **state)
{
    static const struct part parts[] = {
        { "alike", 1, "p", "class-a" },  { "alike", 2, "p", "class-a" },
        { "unlike", 1, "p", "class-a" }, { "unlike", 2, "q", "class-a" },
        { "mixed", 1, "p", "class-a" },  { "mixed", 2, "q", "class-b" },
        { "older", 1, "", "class-a" },   { "older", 2, "q", "class-a" },
        { "again", 1, "p", "class-a" },  { "again", 2, "q", "class-a" },
        { "again", 2, "p", "class-a" }, /* in the place of the other */
    };
    static const struct {
        const char *ref, *what;
    } cases[] = {
        { "sweep:alike", "sweep alike (2 runs)" },
        { "unlike", "sweep unlike (2 runs, not divided alike)" },
        { "mixed", "sweep mixed (2 runs)" },
        { "older", "sweep older (2 runs)" },
        { "latest", "latest sweep again (2 runs)" },
    };
    struct history *h = *state;
    struct error err;
    struct ref_runs runs;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        add_part(h->store, &parts[i], 100 * ((int64_t)i + 1));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_ok(ref_resolve(h->store, cases[i].ref, NULL, &runs, &err), &err);
        assert_string_equal(runs.what, cases[i].what);
        ref_runs_release(&runs);
    }
}

/* What is left of a sweep whose part was measured again is no base for the rest of it. */
static void test_repeated_parts_of_the_head(void **state)
{
    static const struct part parts[] = {
        { "before", 1, "p", "class-a" }, { "before", 2, "p", "class-a" },
        { "after", 1, "p", "class-a" },  { "after", 2, "p", "class-a" },
        { "after", 1, "p", "class-a" }, /* in the place of the other */
    };
    static const int64_t after[] = { 4, 5 }, replaced[] = { 3 };
    static const char *const refs[] = { "latest", "branch:main", "label:before", "1f3a9c2" };
    static const char *const itself[] = { "nothing but what is being compared", NULL };
    struct history *h = *state;
    struct records head, older;
    struct error err;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        add_part(h->store, &parts[i], 100 * ((int64_t)i + 1));
    const struct ref_scope others = without(h->store, after, 2, &head),
                           newer = without(h->store, replaced, 1, &older);
    assert_names(h->store, "latest", NULL, "4 5");
    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++)
        assert_names(h->store, refs[i], &others, "1 2");
    assert_error_has(h->store, "sweep:after", &others, itself);
    assert_names(h->store, "latest", &newer, "4 5"); /* it was not measured before that */
    assert_ok(store_baseline_save(h->store, "kept", replaced, 1, 1, NULL, false, &err), &err);
    assert_names(h->store, "kept", &others, "3"); /* asked for by name */
    records_release(&head);
    records_release(&older);
}

/* A name that is used each night, of one build, has a base: the night before. */
static void test_sweeps_of_one_name(void **state)
{
    static const struct part nights[] = {
        { "night", 1, "p", "class-a" }, { "night", 2, "p", "class-a" }, /* the night before */
        { "night", 1, "p", "class-b" },                                 /* elsewhere */
        { "night", 1, "p", "class-a" },                                 /* left of this night */
        { "night", 2, "p", "class-a" }, { "night", 1, "p", "class-a" },
    };
    static const int64_t last[] = { 5, 6 }, all[] = { 1, 2, 4, 5, 6 };
    static const struct ref_scope class_a = { .classes = only_a, .nr_classes = 1 };
    struct history *h = *state;
    struct records head, known;

    for (size_t i = 0; i < sizeof(nights) / sizeof(nights[0]); i++)
        add_part(h->store, &nights[i], 100 * ((int64_t)i + 1));
    struct ref_scope others = without(h->store, last, 2, &head),
                     elsewhere = without(h->store, all, 5, &known);
    assert_names(h->store, "latest", &class_a, "5 6");
    assert_names(h->store, "branch:main", &others, "1 2 3"); /* of class b nothing came again */
    assert_names(h->store, "latest", &elsewhere, "3");
    others.classes = only_a;
    others.nr_classes = 1;
    assert_names(h->store, "latest", &others, "1 2");
    assert_names(h->store, "branch:main", &others, "1 2");
    records_release(&head);
    records_release(&known);
}

/* A name is no suggestion for itself. */
static void test_all_unfinished(void **state)
{
    static const char *const parts[] = { "\"latest\" names no run that counts",
                                         "unfinished ones are reached by number or baseline alone",
                                         NULL };
    struct history *h = *state;
    struct error err;
    struct ref_runs runs;

    add_row(h->store, &rows[8], 1);
    assert_error_has(h->store, "latest", NULL, parts);
    assert_int_equal(ref_resolve(h->store, "latest", NULL, &runs, &err), -1);
    assert_null(strstr(err.message, "did you mean"));
    ref_runs_release(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_baseline_comes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scope, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several_classes_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors_help, setup, teardown),
        cmocka_unit_test_setup_teardown(test_describes_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trials_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_profiles_are_no_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts_of_a_sweep, setup, teardown),
        cmocka_unit_test_setup_teardown(test_repeated_parts_of_the_head, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sweeps_of_one_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_unfinished, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
