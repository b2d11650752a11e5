# shellcheck shell=bash
# shellcheck disable=SC2317  # the page calls what is defined here
# Around docs/guides/adding-a-kernel.md, whose commands change the source tree and build it. Where this
# machine allows it, that is the tree of this build with a layer on top that takes the changes, so
# that little is built; else a copy, of which all is.
before() {
  if [ -n "${LAYERED:-}" ]; then
    layer || skip "the layer over $SOURCE_TREE cannot be mounted again"
    cd "$SOURCE_TREE" || exit 1
  elif [ "$BUILD_TREE" = "$SOURCE_TREE/build/dev" ] && "${enter[@]}" bash -c "$(declare -f layer); layer"; then
    rm -rf "$WORK/layer"
    LAYERED=yes exec "${enter[@]}" bash "$GUIDES/session.sh"
  else
    copy
  fi
  pictures_maybe
}

enter=(unshare --mount)
[ "$(id -u)" -eq 0 ] || enter=(unshare --user --map-root-user --mount)
layer() {
  mkdir -p "$WORK/layer/changes" "$WORK/layer/work"
  mount -t overlay overlay "$SOURCE_TREE" \
    -o "lowerdir=$SOURCE_TREE,upperdir=$WORK/layer/changes,workdir=$WORK/layer/work" 2>/dev/null
}

copy() {
  need_tools git ninja
  echo "no layer over the tree here: a copy of all is built"
  mkdir "$HOME/harness"
  git -C "$SOURCE_TREE" ls-files -z | (cd "$SOURCE_TREE" && xargs -0 tar -c) | tar -x -C "$HOME/harness"
  cd "$HOME/harness" || exit 1
  if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  # Its CUDA kernels would take an hour.
  cmake() {
    case $1 in
      --preset) command cmake "$@" -DHARNESS_CUDA=OFF ;;
      *) command cmake "$@" ;;
    esac
  }
}
