/* SPDX-License-Identifier: MIT */
/* A repository in the scratch folder, with commits by nobody in particular. */
#ifndef HARNESS_TESTS_SESSION_GIT_H
#define HARNESS_TESTS_SESSION_GIT_H

#include "session_testing.h"

#include "session/builds/git.h"

static inline void git(const char *const *arguments)
{
    struct strbuf out;
    struct error err;

    strbuf_init(&out);
    assert_ok(git_run(arguments, &out, &err), &err);
    strbuf_release(&out);
}

#define GIT(...) git((const char *const[]) { __VA_ARGS__, NULL })

/* Of what is added; it may be nothing. */
static inline void commit(const char *message)
{
    GIT("commit", "-q", "--allow-empty", "-m", message);
}

/* No repository is above the scratch folder, none of the user's settings holds, and no variables of
 * a job of CI do. */
static inline int git_setup(void **state)
{
    static const char *const variables[][2] = {
        { "GIT_CONFIG_GLOBAL", "/dev/null" },
        { "GIT_CONFIG_NOSYSTEM", "1" },
        { "GIT_CEILING_DIRECTORIES", "/tmp" },
        { "GIT_AUTHOR_NAME", "An Author" },
        { "GIT_AUTHOR_EMAIL", "a@example.com" },
        { "GIT_COMMITTER_NAME", "A Committer" },
        { "GIT_COMMITTER_EMAIL", "c@example.com" },
        { "GIT_AUTHOR_DATE", "2026-01-02 03:04:05Z" },
        { "GIT_COMMITTER_DATE", "2026-01-02 03:04:05Z" },
    };
    static const char *const unset[] = {
        "GITHUB_SHA",    "GITHUB_REF_NAME",  "GITHUB_REF_TYPE",
        "CI_COMMIT_SHA", "CI_COMMIT_BRANCH", "CI_MERGE_REQUEST_REF_PATH",
    };

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        setenv(variables[i][0], variables[i][1], 1);
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
        unsetenv(unset[i]);
    if (place_setup(state))
        return -1;
    GIT("init", "-q");
    GIT("checkout", "-q", "-b", "main");
    return 0;
}

#define GIT_TEST(name) TEST_WITH(name, git_setup, place_teardown)

#endif
