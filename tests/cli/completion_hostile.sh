# shellcheck shell=bash
# Names in a history that a stranger wrote, past what `baseline save` takes: TAB runs none of them
# in bash, zsh or fish, what is inserted is one quoted word, and what no terminal should get is not
# offered. The keys are pressed for real, in a terminal of their own.
command -v script >/dev/null || skip "there is no script(1) to make a terminal with"
# shellcheck disable=SC2016  # nothing here is meant to expand
names=(
  'plain' '$(touch${IFS}PWNED)' '`touch${IFS}PWNED`' '${x:=$(touch${IFS}PWNED)}' '$((a[$(touch${IFS}PWNED)]))'
  '<(touch${IFS}PWNED)' ';touch${IFS}PWNED;' '|touch${IFS}PWNED' '&touch${IFS}PWNED&' "'\$(touch PWNED)'"
  '"$(touch${IFS}PWNED)"' 'a b' '*' '?' '[a-z]*' '~' '{p,q}' '!!' '\$(touch PWNED)' '--db' '-x' '(touch PWNED)'
  '(e)$(touch PWNED)' '=(touch PWNED)' '%(touch PWNED)' '^x^y' '#c' 'ü' 'p,$(touch PWNED)' '@(a|b)' '$'"'"'\x1b'"'"
)
hidden=($'esc\e]0;x\a' $'two\nlines' $'tab\there' $'rtl\xe2\x80\xae' $'c1\xc2\x9b' $'bad\xff' $'ls\xe2\x80\xa8x' $'zero\xe2\x80\x8bwidth')

fake seed=1 --launches 1
quiet baseline save first
sql=
for name in "${names[@]}" "${hidden[@]}"; do
  sql+="INSERT INTO baseline (name, created_ms, note) VALUES (CAST(x'$(printf %s "$name" | od -An -v -tx1 | tr -d ' \n')' AS TEXT), 1, 'x');"
done
change .harness/history.db "$sql INSERT OR IGNORE INTO baseline_run SELECT id, 1 FROM baseline;"
printf '%s\n' first "${names[@]}" | LC_ALL=C sort >expected
offers() { "$HARNESS" baseline list --names >offered 2>/dev/null; }
check "the program offers no name of a history whose names no harness took" not offers
check "not one" test ! -s offered
PATH=$(dirname "$HARNESS"):$PATH
for shell in bash zsh fish; do harness help --completion $shell >$shell.completion; done


# Answers completion with the names, and else tells its last word, as it came out of the shell.
mkdir bin
cat >bin/harness <<'END'
#!/bin/sh
case "$*" in *--names) cat "$NAMES"; exit ;; esac
for word; do :; done
printf '%s\n' "$word" >>"$TOLD"
END
chmod +x bin/harness
export PATH=$PWD/bin:$PATH TOLD=$PWD/told NAMES=$PWD/expected HISTFILE=

starts() {
  case $1 in
  bash) echo 'PS1=; bind "set completion-query-items 0"; bind "set page-completions off"; source bash.completion' ;;
  zsh) echo 'PS1=; autoload -Uz compinit; compinit -u -D; LISTMAX=9999; fpath=(.); source zsh.completion' ;;
  fish) echo 'function fish_prompt; end; source fish.completion' ;;
  esac
}

# The shell has done what stands before.
reached() { [ -e "$1" ]; }

# press SHELL TEXT...: typed in a terminal, TAB behind each, then Enter; what the program was given
# then is in told.
press() {
  local shell=$1 text command
  shift
  case $shell in
  bash) command='bash --norc --noprofile -i' ;;
  zsh) command='zsh --no-rcs -i' ;;
  fish) command='fish --no-config -i' ;;
  esac
  rm -f told ready finished
  {
    printf '%s; touch ready\r' "$(starts "$shell")"
    wait_for reached ready
    for text in "$@"; do
      printf 'harness compare --baseline %s\t' "$text"
      sleep 0.5
      printf '\r'
      sleep 0.1
    done
    printf 'touch finished\r'
    wait_for reached finished
    printf 'exit\r'
  } | TERM=dumb COLUMNS=200 timeout 60 script -qec "$command" /dev/null >"$shell.screen" 2>&1
}

nothing_ran() { [ -z "$(find . -name 'PWNED*')" ]; }

# No control character of a name, and none of its marks; the shells' own are another matter.
nothing_raw() { not grep -qaP '\x1b\]0;x|\xe2\x80[\xae\xa8\x8b]|\xc2\x9b|\xff' "$1"; }

# Every name that bash would insert, taken for a command line: that word alone, and nothing runs.
one_word() {
  bash --norc --noprofile -c '
    source bash.completion
    COMP_WORDS=(harness compare --baseline "") COMP_CWORD=3
    _harness
    for word in "${COMPREPLY[@]}"; do
      eval "set -- $word"
      printf "%s\n" "$*"
    done' | LC_ALL=C sort | cmp - expected
}
check "bash: each is one word, and the name" one_word

say "TAB takes it, nothing runs, nothing is raw"
for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    echo "skipped: $shell is not installed"
    continue
  fi
  press $shell '' '\$\(touch\$' '\`to' '\&to' 'pla' "'pla"
  # shellcheck disable=SC2016  # nothing here is meant to expand
  fact "$shell: TAB takes it" grep -qxF '$(touch${IFS}PWNED)' told
  fact "$shell: nothing ran" nothing_ran
  fact "$shell: nothing raw" nothing_raw $shell.screen
done
knock_checks "TAB on names that are commands, in bash, zsh, fish" "nothing runs, one quoted word is inserted"
