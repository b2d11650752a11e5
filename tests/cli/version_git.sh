# shellcheck shell=bash
# The version comes from the newest tag, from what git wrote into an archive, or else from the
# project and the commit: no two commits have one. What a tree is told: version_given.sh. S4-28.
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
harness_identify("${TREE}" 0.1.0 "" tree)
execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${tree_VERSION} ${tree_COMMIT}")
END
ask() { "$CMAKE" -DTREE="$PWD/$1" -P ask.cmake; }
# version TREE: with what differs between git's hashes taken out
version() { ask "$1" | sed -E 's/[0-9a-f]{40}/HASH/; s/g[0-9a-f]{7}( |$)/gHASH\1/'; }
commit() { git -C toy commit -q --allow-empty -m "$1"; }

echo "no repository: $(version toy)"
git -c init.defaultBranch=main init -q toy
echo "no commit: $(version toy)"
git -C toy add .
commit first
ask toy >first
commit next
echo "no tag: $(version toy)"
ask toy >full
check "another commit, another version" not cmp -s <(cut -d ' ' -f 1 first) <(cut -d ' ' -f 1 full)
git clone -q --depth 1 "file://$PWD/toy" shallow
check "a shallow clone has the same" cmp full <(ask shallow)
git -C toy config core.abbrev 12
check "whatever number of digits is configured" cmp full <(ask toy)
mkdir exported
git -C toy archive HEAD | tar -x -C exported
check "an archive has the same" cmp full <(ask exported)
cp -r toy copied
rm -rf copied/.git
echo "a copy without git: $(version copied)"
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

say "The day of the source"
cat >day.cmake <<'END'
cmake_minimum_required(VERSION 3.25)
include("${TREE}/cmake/HarnessVersion.cmake")
harness_source_date("${TREE}" date)
execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "day: ${date}")
END
day() { "$CMAKE" -DTREE="$PWD/$1" -P day.cmake; }
TZ=Asia/Tokyo GIT_COMMITTER_DATE='2026-03-04 23:30:00 -0500' git -C toy commit -q --allow-empty -m late
day toy
mkdir dated
git -C toy archive HEAD | tar -x -C dated
check "an archive has the same" test "$(TZ=Asia/Tokyo day dated)" = "$(day toy)"
day copied
SOURCE_DATE_EPOCH=1700000000 day toy
