# shellcheck shell=bash
# shellcheck disable=SC2317  # pages call what is defined here
# Lines of pages that are for a GPU, executed on the host layer: `nvcc` compiles for it, and sizes are
# such that a CPU in place of a GPU comes to an end. Sourced by settings and by tests/cli.

# host_layer PROGRAM: defines nvcc and harness so. Fails where the program has no host layer.
host_layer() {
  "$1" list devices | grep -q 'CUDA host layer' || return 1
  host_program=$1
  local cache
  cache=$(dirname "$1")/CMakeCache.txt
  host_compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$cache")
  host_headers=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$cache")/tests/cuda_host/include
  nvcc() {
    local argument arguments=()
    for argument in "$@"; do
      case $argument in
        -Xcompiler | -arch=*) ;;
        *) arguments+=("$argument") ;;
      esac
    done
    "$host_compiler" -std=c++20 -x c++ -DCUDA_HOST_LAYER=1 -I "$host_headers" "${arguments[@]}"
  }
  harness() {
    case "$1: $* " in
      verify:*' --device cuda'*) "$host_program" "$@" --batch 1 --seq 1 ;;
      run:*' --device cuda'*) "$host_program" "$@" --batch 1 --seq 4 --dim n=24 --dim k=8 ;;
      judge:*' --device cuda'*)
        "$host_program" "$@" --dim batch=1,seq=5,n=24,k=32 --against cuda_naive --rounds 1 \
          --iterations 3 --other-shapes 1
        ;;
      *) "$host_program" "$@" ;;
    esac
  }
}
