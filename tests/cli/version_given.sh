# shellcheck shell=bash
# A tree without git says the version, commit and branch that it is told when it is configured, as
# that of a container image; what is no commit, or not the tree's, is refused.
cmake_folder=$CLI/../../cmake
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
commit=0123456789abcdef0123456789abcdef01234567

# A project whose program says what it was built as.
mkdir -p toy/cmake
cp "$cmake_folder"/{git_archive.txt,HarnessVersion.cmake,HarnessBuildInfo.cmake,build_info.cmake} toy/cmake
cat >toy/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(toy VERSION 0.1.0 LANGUAGES C)
add_executable(harness_machine main.c)
include(cmake/HarnessBuildInfo.cmake)
END
cat >toy/main.c <<'END'
#include "build_info.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    if (argc > 1) {
        return !printf("type \"%s\", flags \"%s\"\n", BUILD_TYPE, BUILD_FLAGS) || !argv;
    }
    printf("version %s, commit \"%s\", branch \"%s\", dirty %d\n", BUILD_VERSION, BUILD_COMMIT,
           BUILD_BRANCH, BUILD_DIRTY);
}
END

# configure OPTION...: says in a line what it refuses; 1 if it does.
configure() {
  "$CMAKE" -S toy -B build "$@" >"$WORK.log/configured" 2>&1 && return
  sed -n '/^CMake Error/,/^Call Stack/p' "$WORK.log/configured" | sed '1d; $d' | xargs -d '\n' | sed -E 's/ +/ /g; s/^ | $//g'
  return 1
}
# told OPTION...: what the program says that is built with them.
told() {
  printf '%s:\n' "${*:-nothing}"
  rm -rf build
  configure "$@" || return 0
  "$CMAKE" --build build >"$WORK.log/built" 2>&1 || cat "$WORK.log/built"
  build/harness_machine
}

told
told -DHARNESS_COMMIT=$commit
told -DHARNESS_COMMIT=$commit-dirty -DHARNESS_BRANCH=main
told -DHARNESS_COMMIT=v0.2.0-0-g$commit
# shellcheck disable=SC2016  # git allows such a name
told -DHARNESS_COMMIT=v0.2.0-14-g$commit-dirty '-DHARNESS_BRANCH=it;is@this@$one'
told -DHARNESS_COMMIT=v0.3-beta-3-g$commit
told -DHARNESS_COMMIT= -DHARNESS_BRANCH=

say "What is no commit, no branch"
told -DHARNESS_COMMIT=0123456
told -DHARNESS_COMMIT=v0.2.0-14-g0123456
told -DHARNESS_COMMIT=main
told '-DHARNESS_BRANCH=a "b"'

say "In a checkout"
git -c init.defaultBranch=main init -q toy
git -C toy add .
git -C toy -c user.name=x -c user.email=x@y commit -q -m First
echo "another commit than git's:"
configure -DHARNESS_COMMIT=$commit | sed "s/$(git -C toy rev-parse HEAD)/GITS/"
described=$(git -C toy describe --tags --match 'v[0-9]*' --long --always --abbrev=64 --dirty)
seen() {
  "$CMAKE" --build build >"$WORK.log/built" 2>&1 || cat "$WORK.log/built"
  build/harness_machine | sed -E 's/g[0-9a-f]{7},/gHASH,/; s/"[0-9a-f]{40}"/HASH/'
}
configure -DHARNESS_COMMIT="$described" -DHARNESS_BRANCH=other
echo "what git prints, and another branch: $(seen)"
git -C toy checkout -q --detach
echo "on no branch: $(seen)"
git -C toy -c user.name=x -c user.email=x@y commit -q --allow-empty -m Second
check "a commit later it is no more that which was told" not "$CMAKE" --build build

say "This build"
header=$(dirname "$HARNESS")/generated/build_info/build_info.h
[ -e "$header" ] || skip "not a build tree: $(dirname "$HARNESS")"
"$HARNESS" version --json >version.json
for fact in version commit branch; do
  check "$fact is what it was told" test "$(json version.json $fact)" = \
    "$(sed -n "s/^#define BUILD_${fact^^} \"\(.*\)\"$/\1/p" "$header")"
done

command -v ninja >/dev/null || command -v ninja-build >/dev/null || skip "no Ninja"
say "By a generator of several configurations each knows its own"
flags=(-DCMAKE_C_FLAGS=-Wall '-DCMAKE_C_FLAGS_DEBUG=-g -DA=a,b' -DCMAKE_C_FLAGS_RELEASE=-O3)
"$CMAKE" -S toy -B several -G "Ninja Multi-Config" "${flags[@]}" >"$WORK.log/configured" 2>&1 ||
  cat "$WORK.log/configured"
for type in Release Debug; do
  "$CMAKE" --build several --config $type >"$WORK.log/built" 2>&1 || cat "$WORK.log/built"
done
several/Debug/harness_machine with flags
several/Release/harness_machine with flags
