/* SPDX-License-Identifier: MIT */
/* Which accepted changes excuse an alarm: by commits, by time, and by what was recorded when they
 * were seen. */
#include "session_git.h"

#include "session/acceptance.h"
#include "session/compare/compare.h"

#include "compare_fixture.h"

#define DAY INT64_C(1700000000000)

static const double same_but_later[] = { 1000100, 1001100, 999100, 1000600, 999600 };
static const double slower_yet[] = { 1210000, 1211000, 1209000, 1210500, 1209500 };
static const double far[] = { 1500000, 1501000, 1499000, 1500500, 1499500 };
static const double far_yet[] = { 2250000, 2251500, 2248500, 2250750, 2249250 };

/* ---- runs ---- */

/* A REF of a run. */
struct named_run {
    char ref[24];
};

/* `where`: "class", as those of new_run(), or another. */
static struct named_run keep_labelled(struct store *store, const char *where, const char *label,
                                      const char *commit, const double *ns, int64_t after_ms)
{
    struct records r = { 0 };
    struct run *run = new_run(&r, DAY + after_ms);
    struct named_run named;

    snprintf(run->machine.class_name, sizeof(run->machine.class_name), "%s", where);
    snprintf(run->machine.id, sizeof(run->machine.id), "%s", where);
    snprintf(run->label, sizeof(run->label), "%s", label);
    snprintf(run->build.commit, sizeof(run->build.commit), "%s", commit);
    fixture_launches(&r, A, ns, 5);
    snprintf(named.ref, sizeof(named.ref), "%lld", (long long)keep_run(store, &r));
    return named;
}

static struct named_run keep_at(struct store *store, const char *commit, const double *ns,
                                int64_t after_ms)
{
    return keep_labelled(store, "class", "", commit, ns, after_ms);
}

/* Compares the runs, and records it: the exit status. `note`: what a note is to say; NULL: any. */
static int compare_runs(struct store *store, const struct named_run *base,
                        const struct named_run *head, const char *note)
{
    struct compare_request r = { .baseline = base->ref, .head = head->ref };
    struct compared c = { .store = store };
    struct error err;

    assert_ok(compare_request_check(&r, &c.rule, &err), &err);
    assert_ok(compare_sides_find(&r, &c, &err), &err);
    assert_ok(compare_sides_decide(&r, &c, &err), &err);
    if (note && !noted(&c.comparison, note))
        fail_msg("no note says \"%s\"", note);
    int status = c.comparison.exit_status;
    compared_release(&c);
    return status;
}

/* What was compared last. */
static void accept_seen(struct store *store)
{
    const struct accept_request request = { .key = A, .reason = "exact", .author = "Ada" };
    struct accepting batch = { .again = 0 };
    struct error err;

    assert_ok(accept_run(store, &request, &batch, &err), &err);
    assert_int_equal(batch.verdicts, 1);
    accepting_release(&batch);
}

/* Its head regressed, and that is meant to be. */
static void see_and_accept(struct store *store, const struct named_run *base,
                           const struct named_run *head)
{
    assert_int_equal(compare_runs(store, base, head, NULL), EXIT_REGRESSION);
    accept_seen(store);
}

/* ---- commits ---- */

struct made_commit {
    char hash[GIT_HASH_SIZE];
};

static struct made_commit newest_commit(void)
{
    struct git_commit found;
    struct made_commit made;
    struct error err;

    assert_ok(git_resolve("HEAD", &found, &err), &err);
    memcpy(made.hash, found.hash, sizeof(made.hash));
    return made;
}

static struct made_commit make_commit(const char *message)
{
    commit(message);
    return newest_commit();
}

/* Both runs in which it was seen are of the commit before it. */
GIT_TEST(a_change_that_is_accepted_before_its_commit)
{
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct made_commit before = make_commit("before"), after = make_commit("after");
    struct named_run base = keep_at(store, before.hash, steady, 0),
                     head = keep_at(store, before.hash, slower, 1000),
                     committed = keep_at(store, after.hash, slower, 2000),
                     without = keep_at(store, after.hash, same_but_later, 3000),
                     again = keep_at(store, after.hash, slower, 4000);

    see_and_accept(store, &base, &head);
    assert_int_equal(compare_runs(store, &base, &head, NULL), EXIT_SAME);
    assert_int_equal(compare_runs(store, &base, &committed, NULL), EXIT_SAME);
    /* The commit after it has it, so the same once more is a change of its own. */
    assert_int_equal(compare_runs(store, &without, &again, NULL), EXIT_REGRESSION);
    store_close(store);
}

/* Beside a base of another commit its own commit names it, whatever was measured when. */
GIT_TEST(a_base_of_the_accepted_commit_has_the_change)
{
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct made_commit before = make_commit("before"), with = make_commit("with"),
                       after = make_commit("after");
    struct named_run base = keep_at(store, before.hash, steady, 1000),
                     other = keep_at(store, with.hash, same_but_later, 0),
                     head = keep_at(store, with.hash, slower, 2000),
                     again = keep_at(store, after.hash, slower, 3000);

    see_and_accept(store, &base, &head);
    assert_int_equal(compare_runs(store, &base, &again, NULL), EXIT_SAME);
    assert_int_equal(compare_runs(store, &other, &again, NULL), EXIT_REGRESSION);
    store_close(store);
}

/* Amended: the commit in which it was seen is none of the head's any more. Whether this clone has
 * it still is by chance; where a branch has it, it was left out of the head. */
GIT_TEST(a_commit_that_was_amended_names_nothing)
{
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct made_commit before = make_commit("before"), with = make_commit("with");

    GIT("commit", "-q", "--allow-empty", "--amend", "-m", "with, in other words");
    struct made_commit amended = newest_commit();
    struct named_run base = keep_at(store, before.hash, steady, 0),
                     head = keep_at(store, with.hash, slower, 1000),
                     now = keep_at(store, amended.hash, slower, 2000),
                     without = keep_at(store, amended.hash, same_but_later, 3000),
                     again = keep_at(store, amended.hash, slower, 4000);
    see_and_accept(store, &base, &head);
    assert_int_equal(compare_runs(store, &base, &now, NULL), EXIT_SAME);
    assert_int_equal(compare_runs(store, &without, &again, NULL), EXIT_REGRESSION);
    GIT("branch", "kept", with.hash);
    assert_int_equal(compare_runs(store, &base, &now, "which the head does not contain"),
                     EXIT_REGRESSION);
    GIT("branch", "-D", "kept");
    GIT("tag", "kept", with.hash);
    assert_int_equal(compare_runs(store, &base, &now, "which the head does not contain"),
                     EXIT_REGRESSION);
    store_close(store);
}

/* As in CI's checkouts of merge requests: no branch has the commit, but it is what is here. The
 * base, measured later, is of a commit before it. */
GIT_TEST(a_commit_without_a_branch_that_is_checked_out_names_its_change)
{
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct made_commit before = make_commit("before");

    GIT("checkout", "-q", "--detach");
    struct made_commit with = make_commit("with");
    struct named_run base = keep_at(store, before.hash, steady, 0),
                     head = keep_at(store, with.hash, slower, 1000),
                     later = keep_at(store, before.hash, same_but_later, 3000),
                     again = keep_at(store, with.hash, slower, 4000);
    see_and_accept(store, &base, &head);
    assert_int_equal(compare_runs(store, &later, &again, NULL), EXIT_SAME);
    store_close(store);
}

/* Of the newest comparison. */
static void assert_settings_have(struct store *store, const char *const *parts)
{
    struct store_comparisons list = { 0 };
    struct error err;

    assert_ok(store_comparison_list(store, 1, &list, &err), &err);
    assert_int_equal(list.nr, 1);
    for (; *parts; parts++)
        if (!strstr(list.items[0].settings, *parts))
            fail_msg("%s is not in %s", *parts, list.items[0].settings);
    store_comparisons_release(&list);
}

/* The base of one class has the change, that of another is older and has another commit. What git
 * and time say of the row's own class is what counts. */
GIT_TEST(each_machine_class_has_the_change_or_not)
{
    static const struct {
        const double *base, *head; /* on the class of which it was accepted */
        bool has;                  /* the base's commit has the change */
        int status;
    } cases[] = {
        { far, far_yet, true, EXIT_REGRESSION },
        { same_but_later, far, false, EXIT_SAME },
    };
    const struct scratch *scratch = *state;
    struct made_commit before = make_commit("before"), with = make_commit("with"),
                       after = make_commit("after"), next = make_commit("next");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct named_run old = { "label:old" }, now = { "label:now" };
        char path[600];
        snprintf(path, sizeof(path), "%s-%zu", scratch->path, i);
        struct store *store = open_history(path, STORE_WRITE);
        struct named_run base = keep_at(store, before.hash, steady, 0),
                         head = keep_at(store, with.hash, far, 1000);
        see_and_accept(store, &base, &head);
        keep_labelled(store, "other", "old", cases[i].has ? before.hash : after.hash, steady, 500);
        keep_labelled(store, "class", "old", cases[i].has ? after.hash : before.hash, cases[i].base,
                      2000);
        keep_labelled(store, "class", "now", next.hash, cases[i].head, 3000);
        keep_labelled(store, "other", "now", next.hash, same_but_later, 4000);
        assert_int_equal(compare_runs(store, &old, &now, NULL), cases[i].status);
        const char *const recorded[] = { "\"commits\":[{\"side\":\"base\"", before.hash, after.hash,
                                         NULL };
        assert_settings_have(store, recorded);
        store_close(store);
    }
}

/* What was accepted of any machine fits both classes: it excuses that of which the base does not
 * have it. */
GIT_TEST(an_acceptance_of_any_machine_is_asked_of_each_class)
{
    const struct scratch *scratch = *state;
    struct store *store = open_history(scratch->path, STORE_WRITE);
    struct named_run old = { "label:old" }, now = { "label:now" };
    struct made_commit before = make_commit("before"), with = make_commit("with"),
                       next = make_commit("next");
    struct acceptance any = {
        .key = (char *)A,
        .metric = (char *)"p50",
        .machine = (char *)"",
        .commit = with.hash,
        .change = 0.1,
        .reason = (char *)"exact",
        .author = (char *)"Ada",
        .accepted_ms = DAY + 10000,
        .seen_ms = DAY + 1000,
    };
    struct error err;

    assert_ok(store_acceptance_add(store, &any, 1, &err), &err);
    keep_labelled(store, "class", "old", before.hash, steady, 500);
    keep_labelled(store, "class", "now", next.hash, slower, 3000);
    assert_int_equal(compare_runs(store, &old, &now, NULL), EXIT_SAME);
    keep_labelled(store, "other", "old", with.hash, slower, 2000);
    keep_labelled(store, "other", "now", next.hash, slower_yet, 4000);
    assert_int_equal(compare_runs(store, &old, &now, NULL), EXIT_REGRESSION);
    store_close(store);
}

/* ---- time ---- */

/* No commits: imports that all have one date, and a clock that went back. */
GIT_TEST(a_base_beside_which_a_change_was_seen_does_not_have_it)
{
    static const int64_t head_after_ms[] = { 0, -2000, 2000 };

    for (size_t i = 0; i < sizeof(head_after_ms) / sizeof(head_after_ms[0]); i++) {
        const struct scratch *scratch = *state;
        char path[600];
        snprintf(path, sizeof(path), "%s-%zu", scratch->path, i);
        struct store *store = open_history(path, STORE_WRITE);
        struct named_run base = keep_at(store, "", steady, 0),
                         head = keep_at(store, "", slower, head_after_ms[i]),
                         other = keep_at(store, "", same_but_later, 4000),
                         again = keep_at(store, "", slower, 5000);
        see_and_accept(store, &base, &head);
        assert_int_equal(compare_runs(store, &base, &head, NULL), EXIT_SAME);
        assert_int_equal(compare_runs(store, &base, &again, NULL), EXIT_SAME);
        assert_int_equal(compare_runs(store, &other, &again, NULL), EXIT_REGRESSION);
        store_close(store);
    }
}

RUN_TESTS(NULL, NULL)
