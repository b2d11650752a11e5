# shellcheck shell=bash
# The version comes from the newest tag, from what git wrote into an archive, or else from the
# project. S4-28.
build=$(dirname "$HARNESS")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null)
[ -n "$source" ] || skip "not a build tree: $build"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org

mkdir -p toy/cmake
cp "$source/cmake/git_archive.txt" "$source/cmake/HarnessVersion.cmake" "$source/cmake/build_info.cmake" toy/cmake
cp "$source/.gitattributes" toy
cat >ask.cmake <<'END'
cmake_minimum_required(VERSION 3.25)
include("${TREE}/cmake/HarnessVersion.cmake")
harness_version("${TREE}" 0.1.0 version)
harness_archive_commit("${TREE}" commit)
execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${version} ${commit}")
END
# version TREE: with what differs between git's hashes taken out
version() { "$CMAKE" -DTREE="$PWD/$1" -P ask.cmake | sed -E 's/[0-9a-f]{40}/HASH/; s/g[0-9a-f]{7}/gHASH/'; }
commit() { git -C toy commit -q --allow-empty -m "$1"; }

echo "no repository: $(version toy)"
git -c init.defaultBranch=main init -q toy
git -C toy add .
commit first
echo "no tag: $(version toy)"
git -C toy tag other-1
echo "a tag of something else: $(version toy)"
git -C toy tag -m 'release' v0.2.0
echo "at the tag: $(version toy)"
commit second
commit third
echo "two commits later: $(version toy)"
git -C toy tag v0.3.0~rc1 2>/dev/null || git -C toy tag v0.3.0.rc1
echo "a candidate: $(version toy)"

say "Archives"
archive() {
  rm -rf unpacked
  mkdir unpacked
  git -C toy archive "$1" | tar -x -C unpacked
}
archive v0.2.0
echo "of a tag: $(version unpacked)"
archive HEAD~1
echo "of the commit before the newest: $(version unpacked)"
"$CMAKE" -DSOURCE="$PWD/unpacked" -DOUTPUT="$PWD/build_info.h" -DVERSION=0.1.0 -DCOMPILER=cc -DFLAGS= \
  -DTYPE=Release -P unpacked/cmake/build_info.cmake
grep -E 'VERSION|COMMIT|DIRTY' build_info.h | sed -E 's/[0-9a-f]{40}/HASH/; s/g[0-9a-f]{7}/gHASH/'
check "it is that commit" grep -q "\"$(git -C toy rev-parse HEAD~1)\"" build_info.h
