# shellcheck shell=bash
# Around docs/guides/gpu-node.md. The node is a folder and a shell without network and with nothing of
# this environment. A machine without a GPU ends gpu.sh with status 77; then results of the CPU
# stand in for those that are brought back.
not_run 'cmake --preset release && *' 'builds all: minutes; stages build and reproducible of ci/test.sh'
before() {
  in_path
  pictures_maybe
  [ -e "$BUILD_TREE/CPackConfig.cmake" ] || skip "$BUILD_TREE is no build tree"
  PATH=$(dirname "$CMAKE"):$PATH
  project harness
  mkdir -p build baselines "$WORK/node"
  ln -s "$BUILD_TREE" build/release
  alone=(unshare --net)
  [ "$(id -u)" -eq 0 ] || alone=(unshare --user --map-root-user --net)
  if ! "${alone[@]}" true 2>/dev/null; then
    alone=()
    echo "the node has this machine's network: this shell may not take it away"
  fi
}

on_node() {
  (cd "$WORK/node" && env -i HOME="$WORK/node" PATH=/usr/bin:/bin "${alone[@]}" bash -c "$1")
}

ssh() {
  local status=0
  on_node "$2" || status=$?
  if [[ $2 == *gpu.sh* && $status -eq 77 ]]; then
    echo "stand-in: there is no GPU here, so results of the CPU are brought back" >&3
    on_node 'mkdir -p results && harness/bin/harness run layernorm/plain --variant simd --batch 1 --seq 64 \
      --launches 3 --max-time 20ms --label measure-stream --db results/history.db' >"$WORK/stand-in" 2>&1 ||
      cat "$WORK/stand-in"
    echo '{"schema_version": 1, "variants": []}' >"$WORK/node/results/verification.json"
  fi
  return $status
}

# -r is harmless for a file.
scp() {
  [ "$1" != -r ] || shift
  cp -r "${@/#node:/$WORK/node/}"
}

after() {
  check "the package is there" test -n "$(compgen -G 'out/harness-*.tar.gz')"
  check "the joined history is sound" harness history verify --db gpu.db
  check "the report" test -n "$(find . -name report.html)"
}
