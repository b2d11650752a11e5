# shellcheck shell=bash
# What tests of strangers' files share: each `HOW FILE ARGUMENT` below makes `input` of a good file, and
# soon() runs a command on it.

# In JSON. Any command among them would make a file PWNED.
# shellcheck disable=SC2016  # nothing here is meant to expand
names=('$(touch PWNED)' '`touch PWNED`' "'; system 'touch PWNED'; '" '</script><b>' '\u001b]0;x\u0007'
  '\u202egnp' '\u2028::error::x' '\u0000' '\ud800' $'raw\x1bESC' $'\xff\xfe' '=cmd()' '::set-output x' '##[error]'
  '../../../x' '-' '%n%s' '' 'a|b|c' '\"><svg>' '${jndi:x}' '\u200b')
numbers=(1e300 -1 1e-300 5e-324 1e999 -1e999 9007199254740993 1e17 0 null true '"x"' '[]' '{}' '"NaN"' 1e24)

# Each of them makes `input` from a fixture.
replace_names() {
  sed -E "s%(\"(name|benchmark_name|fullname|command|benchmark_id|id|id|run_name|kernel|model)\" *: *)\"[^\"]*\"%\1\"NAME\"%g" "$1" >input.names
  printf %s "$2" >name
  awk 'BEGIN { RS = "\001"; getline name <"name"; RS = "\n" }
    { while (i = index($0, "\"NAME\"")) { printf "%s%s", substr($0, 1, i), name; $0 = substr($0, i + 5) } print }' \
    input.names >input
}
replace_numbers() { sed -E "s%: *-?[0-9][0-9.eE+-]*%: $2%g" "$1" >input; }
replace_arrays() { sed -E "s%\[ *-?[0-9][0-9.eE+-]*%[ $2%g" "$1" >input; }
cut_off() { head -c $(($(wc -c <"$1") * $2 / 10)) "$1" >input; }
with_mark() { { printf '\xef\xbb\xbf' && sed 's/$/\r/' "$1"; } >input; }
twice() { sed -E 's%("[a-z_]+" *: *[0-9.]+)%\1, \1%g' "$1" >input; }
nested() { { head -c 400000 /dev/zero | tr '\0' "$2" && cat "$1"; } >input; }
long_name() { replace_names "$1" "$(head -c 1000000 /dev/zero | tr '\0' n)"; }
bytes() { { cat "$1" && head -c 1000 /dev/zero; } >input; }
emptied() { sed -E 's%\[[^][]*\]%[]%g' "$1" >input; }

# how_argument HOW NUMBER: the argument that a case names by its number.
how_argument() {
  case $1 in
  replace_names) printf '%s' "${names[$2]}" ;;
  replace_numbers | replace_arrays) printf '%s' "${numbers[$2]}" ;;
  *) printf '%s' "$2" ;;
  esac
}

# cases FILE...: all of them, one a line: FILE HOW ARGUMENT.
cases() {
  local file i
  for file in "$@"; do
    for i in "${!names[@]}"; do echo "$file replace_names $i"; done
    for i in "${!numbers[@]}"; do echo "$file replace_numbers $i" && echo "$file replace_arrays $i"; done
    for i in 1 3 5 7 9; do echo "$file cut_off $i"; done
    for i in with_mark twice long_name bytes emptied; do echo "$file $i 0"; done
    echo "$file nested [" && echo "$file nested {"
  done
}

addresses=488281 # KiB: 500 MB
if ldd "$HARNESS" | grep -qE 'lib[at]san'; then
  echo "skipped: no limit of addresses: the sanitizers reserve more"
  addresses=unlimited
fi

# soon COMMAND...: ends by itself within 5 s of computing and 500 MB of addresses; beside others on a
# busy machine that may take a while.
soon() {
  local status=0
  (ulimit -v $addresses -t 5 && exec timeout 100 "$HARNESS" "$@") >out 2>err </dev/null || status=$?
  case $status in 0 | 1 | 2 | 77) ;; *) echo "NO: $what: $* ended with $status" && return 1 ;; esac
  sed -i 's/\r$//' out # CSV's own
  ! grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xff' out err ||
    { echo "NO: $what: $* prints control characters" && return 1; }
  ! grep -qE '^ *::|##\[' out err || { echo "NO: $what: $* prints a command" && return 1; }
}

# each_case HOLD NUMBER FILE...: `HOLD` for NUMBER of the cases, or for all with HARNESS_STRANGERS=all;
# HARNESS_SEED chooses which. Sets held and done.
each_case() {
  local hold=$1 most=${HARNESS_STRANGERS:-$2} seed file how argument
  shift 2
  cases "$@" >all.cases
  seed=$(random_seed)
  [ "$most" != all ] || most=$(wc -l <all.cases)
  shuf -n "$most" --random-source=<(yes "$seed") all.cases >some.cases
  done=0 held=0
  while read -r file how argument; do
    what="$(basename "$(dirname "$file")")/$(basename "$file") $how $argument (seed $seed)"
    $how "$file" "$(how_argument "$how" "$argument")"
    done=$((done + 1))
    if $hold; then held=$((held + 1)); fi
  done <some.cases
}
