# shellcheck shell=bash
# What the scripts of this folder share; sourced, not run.
# A command that fails inside $(...) ends that, too.
shopt -s inherit_errexit

# fail MESSAGE: the message, and exit status 2.
fail() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

# usage_of FILE: the comment on top of a script, without its first line.
usage_of() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# help_if_asked ARG...: where the first is -h or --help, what usage_of() says is all that is done.
help_if_asked() {
  case ${1:-} in
    -h|--help) usage_of "$0"; exit 0 ;;
  esac
}

# Of a project with cmake, as `harness compare --build` does it.
# shellcheck disable=SC2016,SC2034  # for the shell that builds
build_by_cmake='cmake -S "$SOURCE" -B "$BUILD" -DCMAKE_BUILD_TYPE=Release &&
  cmake --build "$BUILD" --parallel'

need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || fail "$tool is not installed"
  done
}

# find_harness: the program, from $HARNESS, an installation, a build tree or $PATH.
find_harness() {
  local here candidate
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  for candidate in "${HARNESS:-}" "$here/../../../bin/harness" \
    "$here"/../build/{release,cuda,dev}/harness "$(command -v harness || true)"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      realpath "$candidate"
      return
    fi
  done
  fail "no harness found: build it, or set HARNESS to it"
}

# remove_history FILE: with what SQLite keeps beside it, which has no meaning without it. Only for one
# that the script has made itself.
remove_history() { rm -f "$1" "$1-wal" "$1-shm" "$1-journal"; }

# status_of_part FILE: what ci/shard.sh says in its first line of a part that is complete.
status_of_part() {
  local status=0
  [ ! -s "$1" ] || read -r status <"$1"
  echo "$status"
}

# give_name FILE NAME [OPTION-OF-MV...]: the complete file gets that name in its folder, where it is
# after a power cut, too, and whole. A file system that cannot synchronise a folder has to do without.
give_name() {
  sync "$1"
  mv "${@:3}" "$1" "$2"
  sync "$(dirname "$2")" 2>/dev/null || true
}

# Libraries choose their instruction set by the processor, as they do for those who install them:
# forgets the variables that tell them otherwise (environment_isa_variables in
# harness/machine/environment.c), and OpenBLAS's of the sizes of its blocks, and says so.
libraries_choose() {
  local name
  for name in HARNESS_ISA OPENBLAS_CORETYPE BLIS_ARCH_TYPE ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA \
    MKL_ENABLE_INSTRUCTIONS ATEN_CPU_CAPABILITY OPENBLAS_BLOCK_FACTOR OPENBLAS_L2_SIZE; do
    [ -z "${!name:-}" ] ||
      echo "$(basename "$0"): $name=${!name} does not count here: libraries choose by the processor" >&2
    unset "$name"
  done
}

# check_share OPTION VALUE: "5%" or "0.05", also behind "NAME="; as harness reads it, but before any
# work. A bare 5 may mean 5 % or 500 %.
check_share() {
  [[ ${2##*=} =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)%$ || ${2##*=} =~ ^0?\.[0-9]+$ ]] ||
    fail "$1: \"$2\" is no share: write 5% or 0.05"
}

# words_of TEXT: `words` are the words of the text, with quotes as a shell has them, and nothing that
# runs a program. False: a quote lacks its other half.
words_of() {
  local list status=0
  words=()
  [[ $1 =~ [^[:space:]] ]] || return 0
  list=$(mktemp)
  xargs printf '%s\0' <<<"$1" >"$list" || status=1
  # shellcheck disable=SC2034  # for the caller
  [ $status -ne 0 ] || mapfile -d '' -t words <"$list"
  rm -f "$list"
  return $status
}

# is_commit TEXT: a full hash, and nothing else.
is_commit() { [[ $1 =~ ^([0-9a-f]{40}|[0-9a-f]{64})$ ]]; }

# trust_checkout: in a job of a forge this folder is the project, whoever owns it: in a container it is
# mostly the runner's user, and git refuses what belongs to others. Behind what the job itself has set.
trust_checkout() {
  local nr=${GIT_CONFIG_COUNT:-0}
  [ -n "${GITHUB_ACTIONS:-}${GITLAB_CI:-}" ] || return 0
  export GIT_CONFIG_COUNT=$((nr + 1)) "GIT_CONFIG_KEY_$nr=safe.directory" "GIT_CONFIG_VALUE_$nr=$(pwd -P)"
}

# git_quietly ARG...: git without hooks of anybody; relative paths of hooks in a configuration would
# lead into whatever is checked out.
git_quietly() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }

# ---- The history that nights keep on a branch without history (branch.sh) ----
# `here` is this folder, `harness` the program. FOLDER is one to work in, beside the FILE, which may be
# large; it is removed again unless that is said.
kept_then='' kept_now='' # git's name of what was fetched; of what is there now

# kept_unpack BRANCH NAME FOLDER: FOLDER/history.db is what is kept. 77: nothing is; 1: it is damaged.
kept_unpack() {
  kept_now=''
  rm -rf "$3"
  # shellcheck disable=SC2154  # here
  "$here/branch.sh" get "$1" "$2" "$3" || return
  kept_now=$(git hash-object --no-filters -- "$3/history.db.gz") || return 1
  gzip -d "$3/history.db.gz" || return 1
}

# kept_fetch BRANCH NAME FILE FOLDER: what is kept, into the history FILE. As kept_unpack.
kept_fetch() {
  local status=0
  kept_unpack "$1" "$2" "$4" || status=$?
  if [ $status -eq 0 ]; then
    kept_then=$kept_now
    # Not over the file that is there: its log may be beside it, and somebody may have it open.
    # shellcheck disable=SC2154  # harness
    "$harness" history restore "$4/history.db" --db "$3" >/dev/null || status=1
  fi
  rm -rf "$4"
  return $status
}

# kept_merge BRANCH NAME FILE FOLDER: takes in what others have put there since it was fetched: a
# night takes hours, and somebody may have accepted a change meanwhile.
kept_merge() {
  local status=0
  kept_unpack "$1" "$2" "$4" || status=$?
  if [ $status -eq 0 ] && [ "$kept_now" != "$kept_then" ]; then
    "$harness" history merge "$4/history.db" --db "$3" >&2 || status=$?
    [ $status -ne 1 ] || status=0 # a run that both have: that of FILE stays
  fi
  rm -rf "$4"
  [ $status -eq 77 ] || return $status
}

# kept_pack FILE FOLDER: FOLDER/history.db.gz, which stays, is the history FILE.
kept_pack() {
  rm -rf "$2"
  mkdir "$2" && "$harness" history backup "$2/history.db" --db "$1" && gzip -9n "$2/history.db"
}

# kept_put BRANCH NAME FILE FOLDER: what is kept is the history FILE, with what others have put there;
# FOLDER stays, as of kept_pack. Packing takes its time: whoever was faster is merged in, too.
kept_put() {
  local try status
  for try in 1 2 3 4 5; do
    kept_merge "$@" || return
    kept_pack "$3" "$4" || return
    status=0
    "$here/branch.sh" swap "$1" "$2" "$4" history.db.gz "$kept_now" || status=$?
    [ $status -eq 1 ] || return $status
  done
  echo "$(basename "$0"): others were faster $try times" >&2
  return 1
}
