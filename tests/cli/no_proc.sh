# shellcheck shell=bash
# A machine without /proc, as some sandboxes and chroots are: what is missing is named. S0-24.
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers read /proc themselves"; fi
unshare --mount true 2>/dev/null || unshare --user --map-root-user --mount true 2>/dev/null ||
  skip "no file system can be hidden here (unshare)"

# hidden COMMAND...: with an empty folder in the place of /proc
hidden() {
  local how=(--mount)
  unshare --mount true 2>/dev/null || how=(--user --map-root-user --mount)
  # shellcheck disable=SC2016  # of the shell inside
  unshare "${how[@]}" sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
for command in "run null/copy/right --device $FAKE --launches 1" "run -- true" \
  "profile pointwise/gelu/naive --batch 1 --seq 8 --launches 1 --no-store" roofline; do
  # shellcheck disable=SC2086  # words
  called "harness" hidden "$HARNESS" $command 2>&1 | sed 's/^\$ harness [^ ]*/$ harness/'
done
say "What measures nothing works"
check "version" hidden "$HARNESS" version
check "list" hidden "$HARNESS" list kernels
check "history" hidden "$HARNESS" history list
