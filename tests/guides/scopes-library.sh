# shellcheck shell=bash
# Around docs/scopes-library.md.
before() {
  in_path
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  project toy
  ln -s "$BUILD_TREE" build
}
after() {
  check "the library is installed" test -s "$HOME/.local/include/harness/profile.h"
  check "and the one with a GPU" test -s "$HOME/.local/include/harness/profile_cuda.h"
}
