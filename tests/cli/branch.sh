# shellcheck shell=bash
# The branch that a build names: git's, and where CI has checked out a commit alone, what CI says of
# that very commit. By it trends leave out pull requests. U-07, U-11.

git init -q -b trunk source
git -C source -c user.name=x -c user.email=x@y commit -q --allow-empty -m First
commit=$(git -C source rev-parse HEAD)

# branch WHAT [NAME=VALUE]...: what a build with that environment names.
branch() {
  local what=$1
  shift
  env -u GITHUB_SHA -u GITHUB_REF_NAME -u GITHUB_REF_TYPE -u CI_COMMIT_SHA -u CI_COMMIT_BRANCH \
    -u CI_MERGE_REQUEST_REF_PATH "$@" "$CMAKE" -DSOURCE="$PWD/source" -DOUTPUT="$PWD/info.h" \
    -DVERSION=1 -DCOMPILER=c -DFLAGS= -DTYPE=Release -P "$CLI/../../cmake/build_info.cmake"
  printf '%-40s %s\n' "$what" "$(sed -n 's/^#define BUILD_BRANCH //p' info.h)"
}

branch "on a branch"
branch "on a branch, whatever CI says" GITHUB_SHA="$commit" GITHUB_REF_TYPE=branch GITHUB_REF_NAME=x
git -C source checkout -q --detach
branch "on a commit"
branch "a pull request" GITHUB_SHA="$commit" GITHUB_REF_TYPE=branch GITHUB_REF_NAME=12/merge
branch "a tag" GITHUB_SHA="$commit" GITHUB_REF_TYPE=tag GITHUB_REF_NAME=v1
branch "another commit, as of a worktree" GITHUB_SHA=0123 GITHUB_REF_TYPE=branch GITHUB_REF_NAME=main
branch "GitLab, a branch" CI_COMMIT_SHA="$commit" CI_COMMIT_BRANCH=main
branch "GitLab, a merge request" CI_COMMIT_SHA="$commit" \
  CI_MERGE_REQUEST_REF_PATH=refs/merge-requests/3/head
branch "no string in C" CI_COMMIT_SHA="$commit" CI_COMMIT_BRANCH='a"b\c'
