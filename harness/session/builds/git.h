/* SPDX-License-Identifier: MIT */
/*
 * What is asked of git, of the repository of the current folder: commits and their order. The git
 * program is run without a shell; variables that would send it elsewhere (GIT_DIR, GIT_INDEX_FILE
 * and the like, as inside a hook) are taken out of its environment, and it runs no hook, no file
 * watcher, and nothing to fetch what a partial clone lacks. The state of the
 * work tree is found out without running anything of that tree: no hook, no file watcher, no filter
 * that its own configuration names.
 */
#ifndef HARNESS_SESSION_BUILDS_GIT_H
#define HARNESS_SESSION_BUILDS_GIT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "core/record.h"

#include <stddef.h>
#include <stdint.h>

enum { GIT_HASH_SIZE = COMMIT_SIZE, GIT_TITLE_SIZE = 96 };

struct git_commit {
    char hash[GIT_HASH_SIZE];   /* full */
    char title[GIT_TITLE_SIZE]; /* first line of its message, cut if long */
};

/* More of one commit, for people. Release with git_details_release(). */
struct git_details {
    char *author;  /* "Name <address>" */
    char *message; /* the whole */
    int64_t date_ms;
    size_t parents;
};

/* Takes the variables that would lead git elsewhere out of a child's environment: NULL-ended, for
 * struct process. */
extern const char *const git_environment[];

/* Runs git with these NULL-ended arguments; `out` gets its output without the last newline.
 * git_try() gives its exit status, or -1 where it could not be run; git_run() is -1 for a status
 * other than 0, too, with what git said. */
int git_try(const char *const *arguments, struct strbuf *out, struct error *err);
int git_run(const char *const *arguments, struct strbuf *out, struct error *err);
/* The same, and what the clone lacks is fetched: to check out what the user asked for. */
int git_run_fetching(const char *const *arguments, struct strbuf *out, struct error *err);

/* What git calls `ref`; an unknown one is an error that names the nearest branch or tag. */
int git_resolve(const char *ref, struct git_commit *commit, struct error *err);
/* The first line of the message of the commit with this hash. */
int git_title(struct git_commit *commit, struct error *err);
int git_details(const char *hash, struct git_details *details, struct error *err);
void git_details_release(struct git_details *details);

struct git_range {
    struct git_commit *items; /* oldest first, the last is `bad` */
    size_t nr, capacity;
    size_t side; /* commits that came in by merges: each belongs to the merge that brought it */
};

/* The commits on the line of first parents of `bad` that `good` does not contain. Where `good` came
 * in by a merge, these are the merge, what is after it, and what its first parent has since the two
 * parted: any of them may be to blame. `good` no ancestor of `bad`, or the same: an error. Release
 * with git_range_release() whatever the result. */
int git_range(const struct git_commit *good, const struct git_commit *bad, struct git_range *range,
              struct error *err);
void git_range_release(struct git_range *range);

/* 1 if a tracked file has uncommitted changes, 0 if none has, -1 where that cannot be told: outside
 * a repository, without git, or with filters that only the repository's configuration names. */
int git_tree_dirty(void);

/* Commit, branch and `dirty` of the tree in place of those of `b`: empty where there is no work
 * tree, no commit in it, or no git. A commit without a branch, as CI checks it out, is of the
 * branch that GitHub or GitLab says it is of. Where dirty() cannot tell, it counts as dirty.
 * -1, with the reason, where the current folder lies in a repository and git does not say what is
 * checked out there: it is another user's, or git could not be run. */
int git_tree_describe(struct build *b, struct error *err);

#endif
