# shellcheck shell=bash
# shellcheck disable=SC2034  # has, holds and fits read variables by name
# Manual pages and completion come from the tables that the parser reads: every command and every
# option is in all of them; bash completes by its file, zsh and fish in tests of their own. U-09, U-10.
mkdir shells
for shell in bash zsh fish; do "$HARNESS" help --completion $shell >shells/$shell; done
"$HARNESS" help --man >harness.1
commands=$("$HARNESS" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')

# The options that a help text lists, as "letter|name|argument"; "-- COMMAND" is none.
options_of() {
  sed -n '/^options:/,$s/^  \(-\([a-z]\), \)\{0,1\}--\([a-z][a-z-]*\) \{0,1\}\([^ ]*\)  *.*/\2|\3|\4/p' \
    <<<"$1"
}

# All that is looked for is looked for in variables: hundreds of options in seven texts are thousands of
# processes otherwise.

# In troff a hyphen that is meant to be one is \-, and signs have names.
troff() { local text=${1//-/\\-}; REPLY=${text//\'/\\(aq}; }

# has VARIABLE LINE: the text there has that very line; else it is told.
has() { [[ $'\n'${!1}$'\n' == *$'\n'"$2"$'\n'* ]] || echo "$command: $1 lacks: $2"; }
# holds VARIABLE TEXT
holds() { [[ ${!1} == *"$2"* ]] || echo "$command: $1 lacks: $2"; }
# fits VARIABLE REGEX: within a line
fits() { [[ ${!1} =~ $2 ]]; }

# option LETTER NAME ARGUMENT
option() {
  troff "${1:+\\fB-$1\\fR, }\\fB--$2\\fR${3:+ \\fI$3\\fR}"
  has page "$REPLY"
  holds words "--$2 "
  if [ -n "$3" ]; then
    holds values "--$2${1:+ | -$1})"
    fits zsh "(^|[' {,*"$'\n'"])--$2=" || echo "$command: zsh lacks --$2="
  else
    fits zsh "(^|[' {,*"$'\n'"])--$2[[}]" || echo "$command: zsh lacks --$2"
  fi
  fits fish " -l $2 [^"$'\n'"]*-d '" || echo "$command: fish lacks --$2"
  [ -z "$1" ] || fits fish " -s $1 -l $2 " || echo "$command: fish lacks -$1"
}

options=0 manual=$(<harness.1) all_zsh=$(<shells/zsh) all_fish=$(<shells/fish)
for command in $commands; do
  page=$("$HARNESS" help "$command" --man)
  has manual ".BR harness\\-$command (1)"
  has manual "\\fB$command\\fR"
  holds all_zsh "'$command:"
  holds all_fish "__fish_use_subcommand -a $command -d "
  part=$(sed -n "/^    $command)\$/,/^        ;;\$/p" shells/bash)
  words=$(sed -n "s/^        options='//p" <<<"$part")
  values=$(sed -n '/case .before in/,/esac/p' <<<"$part")
  zsh=$(sed -n "/^    $command)\$/,/^        ;;\$/p" shells/zsh)
  fish=$(grep -- "-n '__harness_command ${command}[';]" shells/fish)
  while IFS='|' read -r letter name argument; do
    option "$letter" "$name" "$argument"
    options=$((options + 1))
  done < <(options_of "$("$HARNESS" help "$command")")
done
check "dozens of options were looked for" test $options -gt 150
check "the number of options in bash is the same" \
  test "$(sed -n "s/^        options='//p" shells/bash | tr ' ' '\n' | grep -c '^--[a-z-]*$')" -eq $options
hidden=$("$HARNESS" internal-launch --help | head -1)
check "a hidden command is there" test "${hidden#usage: harness internal-launch}" != "$hidden"
check "and in none of them" not grep -q internal-launch harness.1 shells/bash shells/zsh shells/fish
check "-- COMMAND is an option without a name: in none of them, either" \
  not grep -qE -e ' -l  ' -e "'--=" -e '^        --\)' shells/bash shells/zsh shells/fish

say "A page"
"$HARNESS" help version --man |
  sed -E 's/"(20[0-9]{2}-[0-9]{2}-[0-9]{2}|)" "harness [^"]*"/"DATE" "harness VERSION"/'
sed -n '/^\.SH EXIT STATUS/,/^\.SH SEE ALSO/p' harness.1
for command in $commands; do
  page=$("$HARNESS" help "$command" --man)
  case $page in
  *'Exit status'*'.SH EXIT STATUS'*) echo "$command: two statements of its exit status" ;;
  *'Exit status'* | *'.SH EXIT STATUS'*) ;;
  *) echo "$command: its exit status is not told" ;;
  esac
done
if command -v mandoc >/dev/null; then
  for command in $commands; do
    "$HARNESS" help "$command" --man >page.1
    mandoc -T lint -W warning page.1 | sed "s/^/$command: /"
  done
  mandoc -T lint -W warning harness.1 || true
else
  echo "skipped: no mandoc"
fi
if command -v groff >/dev/null; then
  for command in $commands; do
    "$HARNESS" help "$command" --man | groff -man -Tutf8 -ww >rendered 2>warnings
    sed "s/^/$command: /" warnings
    [ -s rendered ] || echo "$command: nothing rendered"
  done
  groff -man -Tutf8 -ww harness.1 >rendered 2>warnings
  cat warnings
fi

say "bash: what is offered"
mkdir empty data
touch data/run.json data/other.db
# offered WORD...: the last word is being typed
offered() {
  bash --norc --noprofile -c '
    source "$1"; shift
    PATH=$(dirname "$HARNESS"):$PATH
    COMP_WORDS=(harness "$@") COMP_CWORD=$#
    COMP_LINE="harness $*" COMP_POINT=${#COMP_LINE}
    _harness
    printf "%s\n" "${COMPREPLY[@]}"' bash shells/bash "$@" 2>&1 | sort | tr '\n' ' '
  echo
}
echo "r: $(offered r)"
echo "no such command: $(offered runn)"
check "all commands" test "$(offered '' | wc -w)" -eq "$(wc -w <<<"$commands")"
echo "run --c: $(offered run --c)"
echo "run --cache: $(offered run --cache '')"
echo "run --cache warm,c: $(offered run --cache warm,c)"
echo "run --cache=c: $(offered run --cache = c)"
echo "run --output=: $(offered run --output = data/r)"
echo "run --db data/: $(offered run --db data/)"
echo "run -o data/: $(offered run -o data/)"
echo "plot --output: $(offered plot --output d)"
echo "run --suite: $(offered run --suite f)"
echo "run --launches: $(offered run --launches 1)"
echo "run gemm/n: $(offered run gemm/n)"
echo "compare --format: $(offered compare --format j)"
echo "baseline: $(offered baseline s)"
echo "help: $(offered help 'do')"
echo "history restore data/: $(offered history restore data/)"
echo "history merge d: $(offered history merge d)"
echo "history --db data/run.json re: $(offered history --db data/run.json re)"
echo "history verify --: $(offered history verify --)"
echo "baseline save --: $(offered baseline save --)"
echo "baseline --re: $(offered baseline --re)"
echo "model info l: $(offered model info l)"
echo "judge ./d: $(offered judge ./d)"
echo "tune ./d: $(offered tune ./d)"
echo "tune gemm/n: $(offered tune gemm/n)"
fake seed=3 --launches 3
quiet baseline save before
echo "compare --baseline: $(offered compare --baseline b)"
echo "baseline show: $(offered baseline show b)"
echo "export: $(offered export b)"
echo "help --completion: $(offered help --completion '')"
t help --completion tcsh
t help --completion bash run
t help --completion bash --man
check "bash reads the file without a word" test -z "$(bash -n shells/bash 2>&1)"
check "the file is made known for the name harness" \
  bash --norc --noprofile -c 'source shells/bash && complete -p harness'

say "What the build made of them"
build=$(dirname "$HARNESS")
if [ -e "$build/manual/done" ]; then
  for command in $commands; do
    cmp "$build/manual/man1/harness-$command.1" <("$HARNESS" help --man "$command")
  done
  cmp "$build/manual/man1/harness.1" harness.1
  cmp "$build/manual/bash/harness" shells/bash
  cmp "$build/manual/zsh/_harness" shells/zsh
  cmp "$build/manual/fish/harness.fish" shells/fish
fi
