# shellcheck shell=bash
# Around docs/guides/compare-commands.md: a folder with nothing in it. Its commands end soon on any
# machine: the page shows what is decided, not how long it took.
before() {
  need_tools sort dd gzip
  in_path
  impatient
  mkdir "$HOME/empty" && cd "$HOME/empty" || exit 1
}

# Every option of hyperfine, as far as it is here to ask, has its row.
options_of_hyperfine() {
  hyperfine --help | grep -oE '^ {4,8}(-., )?--[a-z-]+|^ {4,8}-N' | grep -oE -- '--?[A-Za-z-]+$' |
    grep -vE -- '--(help|version)$'
}

each_has_a_row() {
  local option status=0
  for option in $(options_of_hyperfine); do
    grep -q -- "^|.*\`[^|]*$option.*|.*|" "$SOURCE_TREE/docs/guides/compare-commands.md" && continue
    echo "no row for $option"
    status=1
  done
  return $status
}

after() {
  check "JSON of what failed" grep -q FAILED result.json
  check "what was copied is gone" test ! -e source
  if command -v hyperfine >/dev/null; then
    check "every option of hyperfine has its counterpart" each_has_a_row
  else
    echo "skipped: there is no hyperfine to ask for its options"
  fi
}
