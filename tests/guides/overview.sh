# shellcheck shell=bash
# Around docs/overview.md: its commands stand for the whole of the program, so runs are short here, and what
# builds commits or takes long is left to the test of that.
not_run 'build/release/harness run   *' 'measures for a minute; the next ones run kernels'
not_run '*compare --baseline main --build*' 'builds two commits; test cli.build, with a small project'
not_run '*bisect --good HEAD~20*' 'builds commits; test cli.bisect, with a small project'
not_run '*harness judge *' 'test cli.judge'
not_run '*harness tune *' 'test cli.tune'
not_run '*selftest --aa 20*' 'takes minutes; tests cli.selftest and perf.self'
not_run 'cmake --preset dev && *' 'builds all; stage build of ci/test.sh'
not_run 'ctest --preset dev*' 'stages test and perf of ci/test.sh'
not_run 'cpack -G DEB*' 'test cli.package_deb'
not_run 'cpack --config*' 'page docs/guides/gpu-node.md'
before() {
  local file
  need_tools cc
  pictures_maybe
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  project toy
  git commit -q --allow-empty -m 'The start'
  mkdir -p build/release
  for file in "$BUILD_TREE"/*; do
    [ "$(basename "$file")" = harness ] || ln -s "$file" build/release/
  done
  impatient
  { printf '#!/bin/bash\nBUILT=%q\n' "$BUILT"
    declare -f harness
    echo 'harness "$@"'; } >build/release/harness
  chmod +x build/release/harness
  cc -shared -fPIC -O2 -I "$BUILD_TREE/include" -o mine.so "$SOURCE_TREE/examples/plugin/axpy.c" ||
    skip "cc makes no plugin"
  seq 20000 -1 1 >numbers
  cp "$SOURCE_TREE"/tests/fixtures/google-benchmark/test3_run0.json gb-0.json
  cp "$SOURCE_TREE"/tests/fixtures/google-benchmark/test3_run1.json gb-1.json
}
