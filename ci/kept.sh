# shellcheck shell=bash
# shellcheck disable=SC2154  # here, harness
# The history that nights keep on a branch without history (ci/branch.sh): into a file, and back.
# Sourced, not run, behind ci/lib.sh; `here` is this folder, `harness` the program. FOLDER is one to
# work in, beside the file, which may be large; it is removed again unless that is said.
kept_then='' kept_now='' # git's name of what was fetched; of what is there now

# kept_unpack BRANCH NAME FOLDER: FOLDER/history.db is what is kept. 77: nothing is; 1: it is damaged.
kept_unpack() {
  rm -rf "$3"
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
