# shellcheck shell=bash
# Around docs/guides/troubleshooting.md.
before() {
  in_path
  installed
  project toy
  git checkout -q -b work
  git commit -q --allow-empty -m 'The start'
  pictures_maybe
}

# What tables quote, and nothing here provokes, stands in some source: each part between two "…".
# shellcheck disable=SC2016
quoted() {
  grep '^| `' "$SOURCE_TREE/docs/guides/troubleshooting.md" | sed -E 's/^\| (.*) \| .*/\1/' |
    grep -o '`[^`]*`' | sed -E 's/`//g; s/\((Segm|Kill).*//; s/[0-9]+/…/g' |
    awk -F '…' '{ for (i = 1; i <= NF; i++) print $i }' |
    sed -E 's/^[ :]+//; s/[ :,]+$//' | awk 'length > 7'
}
after() {
  local part
  quoted | sort -u >"$WORK/quoted"
  check "tables quote messages" test "$(wc -l <"$WORK/quoted")" -ge 10
  # String constants that go on in the next line are one.
  (cd "$SOURCE_TREE" && find harness -name "*.c" -exec cat {} + -o -name "*.cu" -exec cat {} + && cat ci/*.sh) | tr '\n' ' ' |
    sed -E 's/" +"//g; s/\\//g' >"$WORK/sources"
  while IFS= read -r part; do
    check "some source says \"$part\"" grep -qF -- "$part" "$WORK/sources"
  done <"$WORK/quoted"
}
