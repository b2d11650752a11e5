# shellcheck shell=bash
# Around docs/guides/own-kernel.md: an empty folder, a compiler, and what is installed for plugins.
# All is measured as it is typed: from the empty folder on it takes less than five minutes, and a
# comparison of the two versions comes to a verdict. Lines for a GPU run where this build has the
# host layer (as cli.plugin_cuda does it in CI); no compiler or GPU is needed then. U-11.
# shellcheck source=tests/guides/host_layer.sh
. "$GUIDES/host_layer.sh"
host_layer "$BUILT" || {
  not_run 'nvcc *' 'needs nvcc: cli.plugin_new compiles the same source where it is'
  not_run '*fast.so*' 'needs a GPU: cli.plugin_cuda runs these lines on the host layer'
}
before() {
  need_tools cc cmake
  in_path
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  "$CMAKE" --install "$BUILD_TREE" --component plugin --prefix "$HOME/.local/harness" \
    >"$WORK/install"
  project toy
  began=$SECONDS
}
# The verdict on the page's first version and its last, measured in turns, so that a busy machine
# decides nothing, and without the vendor's code, which nobody has changed.
versions() {
  harness plugin new mine --like gemm/nn -o old >/dev/null
  cc -shared -fPIC -O3 -I "$PREFIX/include" -o old/mine.so old/mine.c
  harness compare --baseline-plugin old/mine.so --plugin first/mine.so gemm/nn/mine --dim n=96 --dim k=96 \
    --batch 1 --seq 64 --no-record >"$WORK/versions"
}
after() {
  local took=$((SECONDS - began))
  cd "$HOME/toy" || return
  echo "from the empty folder to the end: $took s"
  check "that is less than five minutes" test "$took" -lt 300
  check "the better order of the loops ends with status 0" versions
  check "since it has improved" grep -q improved "$WORK/versions"
}
