# shellcheck shell=bash
# Around docs/plugins.md. U-11.
before() {
  need_tools cc
  in_path
  impatient
  [ -e "$BUILD_TREE/CMakeCache.txt" ] || skip "$BUILD_TREE is no build tree"
  "$CMAKE" --install "$BUILD_TREE" --component plugin --prefix "$HOME/installed" >"$WORK/install"
  export PREFIX=$HOME/installed
  project toy
}
