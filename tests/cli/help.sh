# shellcheck shell=bash
# Help and parser agree: every command and every option that is shown exists as shown. U-09, S0-24.

t | sed '/^commands:/,/^$/d'
check "--help and -h are the same" \
  test "$("$HARNESS" --help)" = "$("$HARNESS")" -a "$("$HARNESS" -h)" = "$("$HARNESS" help)"

commands=$("$HARNESS" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
check "run, compare, baseline, history and plot are among the commands" \
  test "$(grep -cxE 'run|compare|baseline|history|plot' <<<"$commands")" -eq 5

# The options that a help text lists, as "letter name argument".
options_of() {
  sed -n '/^options:/,$s/^  \(-\([a-z]\), \)\{0,1\}--\([a-z][a-z-]*\) \{0,1\}\([^ ]*\)  *.*/\2|\3|\4/p' \
    <<<"$1"
}

# The parser's words about an option without its value, or with one that it must not have.
# said ARG...: what the program says, in $REPLY
said() { REPLY=$("$HARNESS" "$@" 2>&1) || true; }
lacks_line() { [[ $'\n'$REPLY$'\n' != *$'\n'"$1"$'\n'* ]]; }
try_option() {
  local command=$1 letter=$2 name=$3 argument=$4 words="--$3 takes no value" given="--$3=x"
  [ -z "$argument" ] || words="--$name needs a value: $argument" given="--$name"
  said "$command" "$given"
  if lacks_line "harness: $words"; then echo "$command: --$name is not as the help says"; fi
  if [ -z "$letter" ] || [ -z "$argument" ]; then return; fi
  said "$command" "-$letter"
  if lacks_line "harness: $words"; then echo "$command: -$letter is not --$name"; fi
}

seen=0 tried=0
for command in $commands; do
  help=$("$HARNESS" help "$command") || echo "no help for $command"
  [ "$help" = "$("$HARNESS" "$command" --help)" ] || echo "$command --help differs"
  [ "$help" = "$("$HARNESS" "$command" -h)" ] || echo "$command -h differs"
  head -1 <<<"$help" | grep -q "^usage: harness $command " || echo "$command: no usage line"
  while IFS='|' read -r letter name argument; do
    seen=$((seen + 1))
    # Both read one table, so a third of them tells, each a process or two.
    [ $((seen % 3)) -eq 0 ] || continue
    try_option "$command" "$letter" "$name" "$argument"
    tried=$((tried + 1))
  done < <(options_of "$help")
  # Examples use no option that the table does not have; what is behind "--" is a command's.
  while read -r option; do
    [[ $'\n'$help$'\n' =~ ($'\n'  |, )${option}[$' \n'] ]] || echo "$command: example with $option"
  done < <(sed -n '/^options:/,$d;/^  harness /{s/ -- .*//;p}' <<<"$help" | grep -oE -- '--[a-z-]+')
done
check "dozens of options were tried" test "$tried" -gt 50

say "Unknown"
t help runn
t help run compare
t --hlep
