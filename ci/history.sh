#!/usr/bin/env bash
# One command on the history that nights keep on a branch (nightly.sh --branch): fetches it, runs
# `harness COMMAND ARG...` on it, and puts it back where that has changed it.
#
#   history.sh BRANCH/NAME COMMAND [ARG...]
#
#   history.sh harness-history/cpu trend
#   history.sh harness-history/cpu baseline accept BM_sort --reason 'checks its input'
#   history.sh harness-history/cpu history annotate latest 'new BIOS'
#   history.sh harness-history/cpu history prune --samples-older-than 90d --keep-days 730
#
# In a clone whose remote origin (or $REMOTE) has the branch; to put it back, with the right to push.
# A night that measures meanwhile does not undo it, nor is the night's run lost: the one that comes
# later merges what the other has put there. That adds, and takes nothing away: what was pruned then,
# or no longer accepted (`baseline unaccept`), is back, until the next time.
# Exit status: that of the command; 2 as well where the history cannot be fetched or put back. What a
# command has changed that ends with 2 is not put back.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
case ${1:-} in
  -h|--help) usage_of "$0"; exit 0 ;;
  */*) ;;
  *) usage_of "$0" >&2; exit 2 ;;
esac
[ $# -ge 2 ] || fail "which command of harness?"
branch=${1%/*} name=${1##*/}
shift
harness=$(find_harness)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HARNESS_DB=$work/history.db

status=0
kept_fetch "$branch" "$name" "$HARNESS_DB" "$work/kept" || status=$?
case $status in
  0) ;;
  77) fail "there is no $name on the branch $branch" ;;
  *) fail "the history cannot be fetched, or is damaged" ;;
esac
# What was written last may still be in its log.
content() { cat "$HARNESS_DB" "$HARNESS_DB-wal" 2>/dev/null | cksum; }
before=$(content || true)
"$harness" "$@" || status=$?
case $status in
  0 | 1 | 77) ;;
  *) exit "$status" ;;
esac
if [ "$(content || true)" != "$before" ]; then
  kept_put "$branch" "$name" "$HARNESS_DB" "$work/kept" || fail "the history is not put back"
  echo "history.sh: $name on the branch $branch is changed" >&2
fi
exit "$status"
