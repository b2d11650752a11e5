# shellcheck shell=bash
# Around docs/guides/own-kernel.md: an empty folder, a compiler, and what is installed for plugins.
# Its CUDA lines run in cli.plugin_cuda, on the host layer. U-11.
not_run 'nvcc *' 'needs nvcc: cli.plugin_new compiles the same source where it is'
not_run '*fast.so*' 'needs a GPU: cli.plugin_cuda does the same on the host layer'
before() {
  need_tools cc cmake
  in_path
  impatient
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  "$CMAKE" --install "$BUILD_TREE" --component plugin --prefix "$HOME/.local/harness" \
    >"$WORK/install"
  project toy
}
