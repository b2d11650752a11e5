/* SPDX-License-Identifier: MIT */
#include "cli/git_tree.h"

#include "cli/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a file whose time has changed git compares the content, through the filter that the tree's
 * .gitattributes choose among those that are configured: the user's own may run, the repository's
 * may have come with it. */
static bool has_own_filters(struct strbuf *out)
{
    static const char *const list[] = { "config",       "--show-scope", "--name-only",
                                        "--get-regexp", "^filter[.]",   NULL };
    struct error ignored;
    int status = git_try(list, out, &ignored);

    if (status == 1) /* none at all */
        return false;
    for (const char *line = out->data; status == 0; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "local", 5) == 0 || strncmp(line, "worktree", 8) == 0)
            return true;
        if (!strchr(line, '\n'))
            return false;
    }
    return true; /* a git that cannot tell */
}

/* Submodules are asked for their commit alone: each has a configuration of its own. */
int git_tree_dirty(void)
{
    static const char *const status[] = { "status", "--porcelain", "--untracked-files=no",
                                          "--ignore-submodules=dirty", NULL };
    struct strbuf out;
    struct error ignored;
    int dirty = -1;

    strbuf_init(&out);
    if (!has_own_filters(&out) && git_run(status, &out, &ignored) == 0)
        dirty = out.length > 0;
    strbuf_release(&out);
    return dirty;
}

static bool is_set(const char *variable, const char *value)
{
    const char *set = getenv(variable);

    return set && strcmp(set, value) == 0;
}

/* As cmake/build_info.cmake does it for a build. */
static const char *branch_of_ci(const char *commit)
{
    const char *branch = NULL;

    if (is_set("GITHUB_SHA", commit) && !is_set("GITHUB_REF_TYPE", "tag"))
        branch = getenv("GITHUB_REF_NAME"); /* "12/merge" for a pull request */
    else if (is_set("CI_COMMIT_SHA", commit))
        branch =
            getenv(getenv("CI_COMMIT_BRANCH") ? "CI_COMMIT_BRANCH" : "CI_MERGE_REQUEST_REF_PATH");
    return branch ? branch : "";
}

void git_tree_describe(struct build *b)
{
    static const char *const where[] = { "rev-parse", "--is-inside-work-tree", "HEAD", NULL };
    static const char *const branch[] = { "symbolic-ref", "--quiet", "--short", "HEAD", NULL };
    static const char inside[] = "true\n";
    struct strbuf out;
    struct error ignored;

    b->commit[0] = b->branch[0] = '\0';
    b->dirty = false;
    strbuf_init(&out);
    if (git_run(where, &out, &ignored) == 0 && strncmp(out.data, inside, strlen(inside)) == 0) {
        snprintf(b->commit, sizeof(b->commit), "%s", out.data + strlen(inside));
        bool named = git_run(branch, &out, &ignored) == 0;
        snprintf(b->branch, sizeof(b->branch), "%s", named ? out.data : branch_of_ci(b->commit));
        b->dirty = git_tree_dirty() != 0;
    }
    strbuf_release(&out);
}
