/* SPDX-License-Identifier: MIT */
/* What git is asked: commits and their order, the state of the tree, and what of it a trend shows.
 * On a small repository:
 *
 *     start (v1) -- second -- merge -- after (main)
 *          \                  /
 *           -- side one -- side two (side)          apart: a commit of its own
 */
#include "session_git.h"

#include "session/builds/repository.h"

/* A title of 94 bytes, behind which stands a letter of two. */
#define LONG_TITLE                                                                                 \
    "After 89 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "       \
    "01234567"

/* ---- the repository ---- */

static void make_repository(void)
{
    put_file("file", "one\n");
    GIT("add", "file");
    commit("Start");
    GIT("tag", "v1");
    GIT("checkout", "-q", "-b", "side");
    commit("Side one");
    commit("Side two");
    GIT("checkout", "-q", "main");
    commit("Second");
    GIT("merge", "-q", "--no-ff", "-m", "Merge the side", "side");
    commit(LONG_TITLE "\xc3\xa9\n\nWhy.");
    GIT("checkout", "-q", "--orphan", "apart");
    commit("Apart");
    GIT("checkout", "-q", "main");
}

/* For all tests of the file: whoever changes it puts it back. */
static int repository_setup(void **state)
{
    if (git_setup(state))
        return -1;
    make_repository();
    return 0;
}

/* The commits of the picture, each asked for once. */
static const struct git_commit *commit_of(const char *ref)
{
    static const char *const refs[] = {
        "v1", "side~1", "side", "main~2", "main~1", "main", "apart"
    };
    static struct git_commit known[sizeof(refs) / sizeof(refs[0])];
    struct error err;

    for (size_t i = 0; i < sizeof(refs) / sizeof(refs[0]); i++) {
        if (strcmp(refs[i], ref) != 0)
            continue;
        if (!known[i].hash[0])
            assert_ok(git_resolve(ref, &known[i], &err), &err);
        return &known[i];
    }
    fail_msg("no commit %s", ref);
    return NULL;
}

/* ---- commits ---- */

TEST(what_a_ref_is)
{
    static const struct {
        const char *ref, *title; /* NULL: an error that says ... */
        const char *says;
    } cases[] = {
        { "v1", "Start", NULL },
        { "side", "Side two", NULL },
        { "main~1", "Merge the side", NULL },
        { "main^^2", "Side two", NULL },
        { "main^{/Second}", "Second", NULL },
        { "main", LONG_TITLE, NULL }, /* cut before half a letter */
        { "mian", NULL, "git knows no commit \"mian\" in /" },
        { "mian", NULL, "did you mean \"main\"?" },
        { "v1:file", NULL, "no commit \"v1:file\"" },
        { "-q", NULL, "no commit \"-q\"" },
        { "", NULL, "no commit \"\"" },
        { "main..side", NULL, "no commit" },
        { "0123456789012345678901234567890123456789", NULL, "no commit \"0123456789" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct git_commit c;
        struct error err = { "" };
        int rc = git_resolve(cases[i].ref, &c, &err);
        if (cases[i].says) {
            assert_fails(rc, &err, cases[i].says);
            continue;
        }
        assert_ok(rc, &err);
        assert_string_equal(c.title, cases[i].title);
        assert_int_equal(strlen(c.hash), 40);
    }
}

TEST(what_lies_between_two_commits)
{
    static const struct {
        const char *good, *bad, *first, *last; /* first NULL: an error that says `last` */
        size_t nr, side;
    } cases[] = {
        { "v1", "main", "Second", LONG_TITLE, 3, 2 },
        { "v1", "side", "Side one", "Side two", 2, 0 },
        { "v1", "main~2", "Second", "Second", 1, 0 },
        { "main~1", "main", LONG_TITLE, LONG_TITLE, 1, 0 },
        /* in by the merge: what the main line has since the two parted is to blame, too */
        { "side", "main", "Second", LONG_TITLE, 3, 0 },
        { "side~1", "main~1", "Second", "Merge the side", 2, 1 },
        { "main", "main", NULL, "are the same one", 0, 0 },
        { "main", "v1", NULL, "comes before the good one", 0, 0 },
        { "side", "main~2", NULL, "is that one good?", 0, 0 },
        { "apart", "main", NULL, "have no history in common", 0, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct git_commit *bad = commit_of(cases[i].bad);
        struct git_range range;
        struct error err = { "" };
        int rc = git_range(commit_of(cases[i].good), bad, &range, &err);
        if (!cases[i].first) {
            assert_fails(rc, &err, cases[i].last);
        } else {
            assert_ok(rc, &err);
            assert_int_equal(range.nr, cases[i].nr);
            assert_int_equal(range.side, cases[i].side);
            assert_string_equal(range.items[0].title, cases[i].first);
            assert_string_equal(range.items[range.nr - 1].title, cases[i].last);
            assert_string_equal(range.items[range.nr - 1].hash, bad->hash);
        }
        git_range_release(&range);
    }
}

TEST(more_of_a_commit)
{
    static const struct {
        const char *ref, *message;
        size_t parents;
    } cases[] = {
        { "v1", "Start", 0 },
        { "main~2", "Second", 1 },
        { "main~1", "Merge the side", 2 },
        { "main", LONG_TITLE "\xc3\xa9\n\nWhy.", 1 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct git_details details;
        struct error err;
        assert_ok(git_details(cases[i].ref, &details, &err), &err);
        assert_string_equal(details.author, "An Author <a@example.com>");
        assert_string_equal(details.message, cases[i].message);
        assert_int_equal(details.date_ms, 1767323045000);
        assert_int_equal(details.parents, cases[i].parents);
        git_details_release(&details);
    }
    struct git_details none;
    struct error err;
    assert_fails(git_details("nowhere", &none, &err), &err, "git log: ");
    git_details_release(&none);
}

/* ---- the tree ---- */

TEST(a_tree_is_clean_changed_or_not_known)
{
    assert_int_equal(git_tree_dirty(), 0);
    put_file("new", "of no commit\n");
    assert_int_equal(git_tree_dirty(), 0);
    put_file("file", "two\n");
    assert_int_equal(git_tree_dirty(), 1);
    GIT("config", "filter.x.clean", "cat"); /* a program that would be run */
    assert_int_equal(git_tree_dirty(), -1);
    GIT("config", "--unset", "filter.x.clean");
    GIT("add", "file");
    assert_int_equal(git_tree_dirty(), 1);
    assert_int_equal(rename(".git", "gone"), 0);
    assert_int_equal(git_tree_dirty(), -1);
    assert_int_equal(rename("gone", ".git"), 0);
    GIT("checkout", "-q", "-f", "main");
}

/* Of the 95 bytes of a branch these leave one. */
#define LONG                                                                                       \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "23"

TEST(a_tree_is_of_a_commit_and_a_branch)
{
    static const struct {
        const char *checkout;
        const char *variables[3][2]; /* a value "HEAD" is its hash */
        const char *branch;
    } cases[] = {
        { "main", { { NULL } }, "main" },
        { "side", { { "GITHUB_SHA", "HEAD" }, { "GITHUB_REF_NAME", "ci" } }, "side" },
        { "v1", { { NULL } }, "" },
        { "v1", { { "GITHUB_SHA", "HEAD" }, { "GITHUB_REF_NAME", "12/merge" } }, "12/merge" },
        { "v1", { { "GITHUB_SHA", "0123" }, { "GITHUB_REF_NAME", "12/merge" } }, "" },
        { "v1", { { "GITHUB_SHA", "HEAD" }, { "GITHUB_REF_NAME", LONG "\xc3\xa9" } }, LONG },
        { "v1",
          { { "GITHUB_SHA", "HEAD" }, { "GITHUB_REF_NAME", "v1" }, { "GITHUB_REF_TYPE", "tag" } },
          "" },
        { "v1", { { "CI_COMMIT_SHA", "HEAD" }, { "CI_COMMIT_BRANCH", "lab" } }, "lab" },
        { "v1",
          { { "CI_COMMIT_SHA", "HEAD" }, { "CI_MERGE_REQUEST_REF_PATH", "refs/mr/3" } },
          "refs/mr/3" },
    };
    put_folder("sub");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct build b = { .commit = "from the build", .branch = "so is this", .dirty = true };
        struct error err;
        const char *head = commit_of(cases[i].checkout)->hash;
        GIT("checkout", "-q", cases[i].checkout);
        for (int k = 0; k < 3 && cases[i].variables[k][0]; k++) {
            bool is_head = strcmp(cases[i].variables[k][1], "HEAD") == 0;
            setenv(cases[i].variables[k][0], is_head ? head : cases[i].variables[k][1], 1);
        }
        assert_int_equal(chdir("sub"), 0);
        assert_ok(git_tree_describe(&b, &err), &err);
        assert_int_equal(chdir(".."), 0);
        assert_string_equal(b.commit, head);
        assert_string_equal(b.branch, cases[i].branch);
        assert_false(b.dirty);
        for (int k = 0; k < 3 && cases[i].variables[k][0]; k++)
            unsetenv(cases[i].variables[k][0]);
    }
    put_file("file", "two\n");
    struct build b = { .dirty = false };
    struct error err;
    assert_ok(git_tree_describe(&b, &err), &err);
    assert_true(b.dirty);
    GIT("checkout", "-q", "-f", "main");
}

TEST(outside_of_a_repository_nothing_is_known)
{
    struct build b = { .commit = "from the build", .branch = "so is this", .dirty = true };
    struct git_commit c;
    struct error err;

    assert_int_equal(rename(".git", "gone"), 0);
    assert_ok(git_tree_describe(&b, &err), &err);
    assert_string_equal(b.commit, "");
    assert_string_equal(b.branch, "");
    assert_false(b.dirty);
    assert_fails(git_resolve("main", &c, &err), &err, "not a git repository");
    struct repository *r = repository_create();
    const struct trend_repository *asked = repository_for_trends(r);
    assert_null(asked->address(asked->context, "0123456"));
    repository_free(r);
    repository_free(NULL);
    assert_int_equal(rename("gone", ".git"), 0);
}

/* Puts a program of that name in front of git, or takes it away again (NULL). */
static void put_git(const char *script)
{
    static char *before;
    struct strbuf path;

    if (!script) {
        setenv("PATH", before, 1);
        free(before);
        before = NULL;
        return;
    }
    before = memory_string(getenv("PATH"));
    put_file("first/git", script);
    assert_int_equal(chmod("first/git", 0755), 0);
    char *here = getcwd(NULL, 0);
    strbuf_init(&path);
    strbuf_addf(&path, "%s/first:%s", here, before);
    setenv("PATH", path.data, 1);
    strbuf_release(&path);
    free(here);
}

/* One of another user's, and one that git does not come to look at. */
TEST(a_repository_that_git_does_not_tell_of)
{
    static const struct {
        const char *git, *says;
    } cases[] = {
        { "#!/bin/sh\necho 'fatal: detected dubious ownership in repository' >&2\nexit 128\n",
          "dubious ownership" },
        { "#!/bin/sh\nkill -9 $$\n", "killed" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct build b = { .commit = "from the build", .branch = "so is this", .dirty = true };
        struct error err;
        put_git(cases[i].git);
        assert_fails(git_tree_describe(&b, &err), &err, cases[i].says);
        assert_string_equal(b.commit, "");
        assert_string_equal(b.branch, "");
        assert_int_equal(rename(".git", "gone"), 0);
        assert_ok(git_tree_describe(&b, &err), &err);
        assert_int_equal(rename("gone", ".git"), 0);
        put_git(NULL);
    }
}

/* A server asks for years: what git says once is kept, that it could not be asked is not. */
TEST(a_git_that_could_not_be_asked_is_asked_again)
{
    const char *commit = commit_of("v1")->hash;
    GIT("remote", "add", "origin", "https://example.org/a/b");
    struct repository *r = repository_create();
    const struct trend_repository *asked = repository_for_trends(r);

    put_git("#!/bin/sh\nkill -9 $$\n");
    assert_null(asked->address(asked->context, commit));
    put_git(NULL);
    assert_non_null(asked->address(asked->context, commit));
    put_git("#!/bin/sh\nexit 128\n");
    assert_non_null(asked->address(asked->context, commit)); /* that is known */
    assert_null(asked->address(asked->context, "0123456"));
    put_git(NULL);
    repository_free(r);
    GIT("remote", "remove", "origin");
}

/* Variables of whoever calls, as inside a hook, lead git nowhere else. */
TEST(variables_lead_nowhere_else)
{
    struct git_commit c;
    struct error err;

    setenv("GIT_DIR", "/nowhere", 1);
    setenv("GIT_INDEX_FILE", "/nowhere/index", 1);
    int rc = git_resolve("v1", &c, &err);
    int dirty = git_tree_dirty();
    unsetenv("GIT_DIR");
    unsetenv("GIT_INDEX_FILE");
    assert_ok(rc, &err);
    assert_int_equal(dirty, 0);
}

/* ---- what a trend asks ---- */

TEST(one_commit_leads_to_another)
{
    static const struct {
        const char *good, *bad; /* refs; with a "=" in front as they are */
        bool leads;
    } cases[] = {
        { "v1", "main", true },        { "side", "main", true },     { "main", "v1", false },
        { "v1", "v1", false },         { "apart", "main", false },   { "main~2", "side", false },
        { "=main", "=side", false }, /* names are no commits: they move */
        { "=0123456", "main", false }, { "v1", "=-0123456", false }, { "=", "main", false },
    };
    struct repository *r = repository_create();
    const struct trend_repository *asked = repository_for_trends(r);

    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            const char *const refs[] = { cases[i].good, cases[i].bad };
            const char *hashes[2];
            for (int k = 0; k < 2; k++)
                hashes[k] = refs[k][0] == '=' ? refs[k] + 1 : commit_of(refs[k])->hash;
            if (asked->leads(asked->context, hashes[0], hashes[1]) != cases[i].leads)
                fail_msg("%s to %s", refs[0], refs[1]);
        }
    repository_free(r);
}

TEST(commits_have_pages_where_a_forge_has_them)
{
    static const char page[] = "https://forge.example/o/n/commit/";
    const char *hash = commit_of("main")->hash;
    char brief[GIT_HASH_SIZE];
    struct repository *r = repository_create();
    const struct trend_repository *asked = repository_for_trends(r);

    snprintf(brief, sizeof(brief), "%.7s", hash);
    assert_null(asked->address(asked->context, hash)); /* no origin */
    repository_free(r);
    GIT("remote", "add", "origin", "git@forge.example:o/n.git");
    r = repository_create();
    asked = repository_for_trends(r);
    assert_string_equal(asked->address(asked->context, hash), page);
    assert_string_equal(asked->address(asked->context, brief), page);
    assert_null(asked->address(asked->context, "0123456789")); /* of another repository */
    assert_null(asked->address(asked->context, "main"));
    assert_null(asked->address(asked->context, ""));
    assert_int_equal(rename(".git", "gone"), 0);
    assert_string_equal(asked->address(asked->context, hash), page); /* git is asked once */
    repository_free(r);
    assert_int_equal(rename("gone", ".git"), 0);
}

TEST(what_this_program_measures)
{
    static const struct {
        const char *kernel, *variant;
        bool ours;
    } cases[] = {
        { "null/copy", "right", true },
        { "null/copy", "nobody", false },
        { "BM_Sort", "gbench", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct benchmark_name name = { .nr_dims = 0 };
        snprintf(name.kernel, sizeof(name.kernel), "%s", cases[i].kernel);
        snprintf(name.variant, sizeof(name.variant), "%s", cases[i].variant);
        assert_int_equal(repository_measures(&name), cases[i].ours);
    }
}

RUN_TESTS(repository_setup, place_teardown)
