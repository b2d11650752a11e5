# shellcheck shell=bash
# zsh takes the completion file that the program writes. U-09.
command -v zsh >/dev/null || skip "there is no zsh here to read the completion file"
mkdir functions
"$HARNESS" help --completion zsh >functions/_harness
check "syntax" zsh --no-rcs -n functions/_harness
# shellcheck disable=SC2016  # zsh's own
check "compinit finds it for the name harness" zsh --no-rcs -c '
  fpath=($PWD/functions $fpath)
  autoload -Uz compinit && compinit -u -D
  [[ $_comps[harness] = _harness ]]'

# What zsh's own functions are asked for: offered WORD..., the last is being typed.
offered() {
  # shellcheck disable=SC2016  # zsh's own
  PATH=$(dirname "$HARNESS"):$PATH zsh --no-rcs -c '
    compdef() { : }
    _describe() { print -rl -- ${(P)2} }
    _arguments() { print -rl -- "$@" }
    source functions/_harness
    words=(harness "$@") CURRENT=$(( $# + 1 ))
    _harness' zsh "$@" 2>&1
}
say "Commands"
check "each with its summary" \
  diff <(offered r) <("$HARNESS" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) *\(.*\)/\1:\2/p')
say "Actions, each with what it is"
for command in history baseline model; do
  # shellcheck disable=SC2016  # zsh's own
  shown=$(zsh --no-rcs -c '
    compdef() { : }
    _describe() { : }
    _arguments() { print -rl -- $actions }
    source functions/_harness
    words=(harness $1 "") CURRENT=3
    _harness' zsh $command)
  check "$command" diff <(echo "$shown") \
    <("$HARNESS" help $command | sed -n '/^actions:/,/^$/s/^  \([a-z-]*\)  *\(.*\)/\1:\2/p')
  echo "$command: $(head -1 <<<"$shown")"
done
say "Options"
offered detect ''
for command in $("$HARNESS" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  listed=$("$HARNESS" help "$command" | sed -n '/^options:/,$p' | grep -cE '^  (-., )?--[a-z]')
  # One specification for the long name of each, besides -s, -S and that of arguments.
  [ "$(offered "$command" '' | grep -cE '^(\(.*\))?\*?--[a-z-]+=?\[')" -eq "$listed" ] ||
    echo "$command: not $listed options"
done
say "Options behind an action: its own, and those of all"
for words in 'history verify' 'baseline save' 'model info'; do
  # shellcheck disable=SC2086 # several words
  echo "$words: $(offered $words '' | sed -nE 's/^(\([^)]*\))?\*?(--[a-z-]+).*/\2/p' | paste -sd ' ')"
done
