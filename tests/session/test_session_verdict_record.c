/* SPDX-License-Identifier: MIT */
/* What a history keeps of a comparison: verdicts, sides and their commits. */
#include "session_testing.h"

#include "session/verdict_record.h"

#include "compare_fixture.h"

#define NR(list) (sizeof(list) / sizeof((list)[0]))

/* ---- the sides of a verdict ---- */

struct side_run {
    const char *machine, *commit;
};

static void add_runs(struct records *r, const struct side_run *runs, size_t most)
{
    for (size_t i = 0; i < most && runs[i].machine; i++) {
        struct run *run = fixture_run(r, runs[i].machine, (int64_t)i + 1);
        snprintf(run->build.commit, sizeof(run->build.commit), "%s", runs[i].commit);
    }
}

TEST(a_side_has_a_commit_where_all_its_runs_have_it)
{
    static const struct {
        struct side_run runs[4];
        const char *asked, *commit;
        const char *machine; /* of all */
    } cases[] = {
        { { { NULL, NULL } }, "", "", "" },
        { { { NULL, NULL } }, "a", "", "" },
        { { { "a", "1f" } }, "", "1f", "a" },
        { { { "a", "1f" } }, "a", "1f", "a" },
        { { { "a", "1f" } }, "A", "", "a" },
        { { { "a", "1f" }, { "a", "1f" }, { "a", "1f" } }, "", "1f", "a" },
        { { { "a", "1f" }, { "a", "2e" }, { "a", "1f" } }, "", "", "a" },
        { { { "a", "1f" }, { "a", "1f2e" } }, "", "", "a" }, /* begins alike */
        { { { "a", "" }, { "a", "1f" } }, "", "", "a" },     /* one is not known */
        { { { "a", "1f" }, { "a", "" } }, "", "", "a" },
        { { { "a", "1f" }, { "b", "2e" } }, "", "", "" },
        { { { "a", "1f" }, { "b", "2e" } }, "a", "1f", "" },
        { { { "a", "1f" }, { "b", "2e" } }, "b", "2e", "" },
        { { { "a", "1f" }, { "b", "2e" }, { "b", "3d" } }, "b", "", "" },
        { { { "a", "1f" }, { "b", "1f" } }, "", "1f", "" },
        { { { "", "1f" }, { "", "1f" } }, "", "1f", "" },
    };

    for (size_t i = 0; i < NR(cases); i++) {
        struct records r = { 0 };
        add_runs(&r, cases[i].runs, NR(cases[i].runs));
        const char *commit = verdict_side_commit(&r, cases[i].asked),
                   *machine = verdict_side_machine(&r);
        if (strcmp(commit, cases[i].commit) != 0 || strcmp(machine, cases[i].machine) != 0)
            fail_msg("case %zu: commit \"%s\" on \"%s\"", i, commit, machine);
        records_release(&r);
    }
}

/* ---- the record of a verdict ---- */

/* Base and head of one class, of which A regressed and C did not. */
static struct pair make_pair(void)
{
    struct pair p = pair_new("class", "class");

    fixture_launches(&p.base, A, steady, 5);
    fixture_launches(&p.head, A, slower, 5);
    fixture_launches(&p.base, C, steady, 5);
    fixture_launches(&p.head, C, steady, 5);
    pair_fill(&p);
    return p;
}

static size_t count_kept(struct store *store)
{
    struct store_comparisons list = { 0 };
    struct error err;

    assert_ok(store_comparison_list(store, 0, &list, &err), &err);
    size_t nr = list.nr;
    store_comparisons_release(&list);
    return nr;
}

/* The newest that is kept. */
static struct store_comparison load_kept(struct store *store)
{
    struct store_comparisons list = { 0 };
    struct store_comparison kept;
    struct error err;

    assert_ok(store_comparison_list(store, 1, &list, &err), &err);
    assert_int_equal(list.nr, 1);
    assert_ok(store_comparison_load(store, list.items[0].id, &kept, &err), &err);
    store_comparisons_release(&list);
    return kept;
}

SCRATCH_TEST(a_verdict_is_kept_with_all_it_rests_on)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct pair p = make_pair();
    struct notes notes;

    notes_init(&notes);
    snprintf(p.base.runs[0].build.commit, sizeof(p.base.runs[0].build.commit), "1f");
    p.head.runs[0].started_ms = 7000;
    fixture_run(&p.head, "class", 5000); /* the first of the head; its commit is not known */
    struct comparison c = compare(&p, &defaults);
    const struct verdict_sides sides = { "the base", "the head", &p.base, &p.head };
    verdict_keep(store, &sides, &c, &notes.sink);
    assert_int_equal(notes.text.length, 0);
    struct store_comparison kept = load_kept(store);
    assert_int_equal(kept.rule, COMPARE_RULE);
    assert_string_equal(kept.base, "the base");
    assert_string_equal(kept.head, "the head");
    assert_string_equal(kept.base_commit, "1f");
    assert_string_equal(kept.head_commit, "");
    assert_int_equal(kept.exit_status, c.exit_status);
    assert_int_equal(kept.head_ms, 5000);
    assert_true(kept.decided_ms > INT64_C(1700000000000));
    assert_true(kept.version[0]);
    assert_int_equal(kept.nr, c.nr);
    for (size_t i = 0; i < kept.nr; i++) {
        const struct store_verdict *v = &kept.items[i];
        assert_string_equal(v->key, c.rows[i].item->bench->key);
        assert_string_equal(v->machine, "class");
        assert_string_equal(v->metric, "p50");
        assert_string_equal(v->verdict, strcmp(v->key, A) == 0 ? "regressed" : "same");
        assert_true(v->evidence[0] == '{' && v->result[0] == '{');
    }
    store_comparison_release(&kept);
    pair_release(&p, &c);
    strbuf_release(&notes.text);
    store_close(store);
}

/* "base a 1f, head b 2e" */
static void expect_commits(const char *settings, const char *expected)
{
    struct error err;
    cJSON *json = json_parse(settings, strlen(settings), "settings", &err), *entry;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "commits");
    struct strbuf text;

    strbuf_init(&text);
    assert_non_null(json);
    assert_close(json_number(json, "delta", NAN), defaults.delta, 0); /* with the rest as it is */
    cJSON_ArrayForEach(entry, list)
    {
        strbuf_addf(&text, "%s%s %s %s", text.length ? ", " : "", json_string(entry, "side", "?"),
                    json_string(entry, "machine", "?"), json_string(entry, "commit", "?"));
    }
    assert_string_equal(text.data, expected);
    assert_int_equal(list != NULL, expected[0] != '\0'); /* no list of nothing */
    strbuf_release(&text);
    cJSON_Delete(json);
}

/* The commits are of each side that has no single one, each once. */
SCRATCH_TEST(a_side_of_several_commits_is_kept_with_them)
{
    static const struct {
        struct side_run base[4], head[4];
        const char *commits;
    } cases[] = {
        { { { "a", "1f" } }, { { "a", "2e" } }, "" },
        { { { "a", "1f" }, { "a", "1f" } }, { { "b", "1f" } }, "" },
        { { { "a", "1f" }, { "b", "2e" } }, { { "a", "3d" } }, "base a 1f, base b 2e" },
        { { { "a", "1f" } }, { { "a", "2e" }, { "b", "3d" } }, "head a 2e, head b 3d" },
        { { { "a", "1f" }, { "a", "2e" }, { "a", "1f" }, { "b", "1f" } },
          { { "a", "1f" }, { "b", "2e" } },
          "base a 1f, base a 2e, base b 1f, head a 1f, head b 2e" },
        { { { "a", "" }, { "a", "1f" } }, { { "a", "2e" } }, "base a 1f" },
        { { { "a", "" } }, { { "a", "" } }, "" },
        { { { NULL, NULL } }, { { NULL, NULL } }, "" },
    };
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct pair p = make_pair();
    struct comparison c = compare(&p, &defaults);

    for (size_t i = 0; i < NR(cases); i++) {
        struct records base = { 0 }, head = { 0 };
        const struct verdict_sides sides = { "the base", "the head", &base, &head };
        add_runs(&base, cases[i].base, NR(cases[i].base));
        add_runs(&head, cases[i].head, NR(cases[i].head));
        verdict_keep(store, &sides, &c, NULL);
        struct store_comparison kept = { .id = 0 };
        struct error err;
        assert_ok(store_comparison_load(store, (int64_t)i + 1, &kept, &err), &err);
        expect_commits(kept.settings, cases[i].commits);
        assert_int_equal(kept.head_ms, head.nr_runs ? 1 : 0); /* unknown, and not the end of time */
        store_comparison_release(&kept);
        records_release(&base);
        records_release(&head);
    }
    pair_release(&p, &c);
    store_close(store);
}

SCRATCH_TEST(no_rows_are_not_kept_and_a_failure_is_told)
{
    struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct pair p = make_pair();
    struct comparison c = compare(&p, &defaults);
    const struct verdict_sides sides = { "the base", "the head", &p.base, &p.head };
    size_t nr = c.nr;
    struct notes notes;

    notes_init(&notes);
    c.nr = 0;
    verdict_keep(store, &sides, &c, &notes.sink);
    c.nr = nr;
    assert_int_equal(count_kept(store), 0);
    assert_int_equal(notes.text.length, 0);
    execute_in(scratch->path, "PRAGMA foreign_keys = OFF; DROP TABLE verdict");
    verdict_keep(store, &sides, &c, &notes.sink);
    assert_has(notes.text.data, "these verdicts are not recorded: ");
    assert_has(notes.text.data, scratch->path);
    assert_int_equal(count_kept(store), 0); /* no half of it */
    strbuf_release(&notes.text);
    pair_release(&p, &c);
    store_close(store);
}

RUN_TESTS(NULL, NULL)
