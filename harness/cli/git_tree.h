/* SPDX-License-Identifier: MIT */
/* The state of the git work tree that the current folder is in. Nothing of that tree is run to find
 * out: no hook, no file watcher, no filter that its own configuration names. */
#ifndef HARNESS_CLI_GIT_TREE_H
#define HARNESS_CLI_GIT_TREE_H

#include "core/record.h"

/* 1 if a tracked file has uncommitted changes, 0 if none has, -1 where that cannot be told: outside
 * a repository, without git, or with filters that only the repository's configuration names. */
int git_tree_dirty(void);

/* Commit, branch and `dirty` of the tree in place of those of `b`: empty where there is no work
 * tree, no commit in it, or no git. A commit without a branch, as CI checks it out, is of the
 * branch that GitHub or GitLab says it is of. Where dirty() cannot tell, it counts as dirty. */
void git_tree_describe(struct build *b);

#endif
