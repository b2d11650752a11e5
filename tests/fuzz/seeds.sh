#!/usr/bin/env bash
# The inputs that a fuzz target begins with.
#
#   seeds.sh TARGET FOLDER    a file in FOLDER for each: of what seeds.txt names, each line of
#                             seeds/TARGET.txt, each of seeds/TARGET.escaped (\n, \xHH undone), and
#                             all that was found before, found/TARGET/
#   seeds.sh --words TARGET   the words in them, as a dictionary of libFuzzer
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

# make_seeds TARGET FOLDER
make_seeds() {
  local target=$1 folder=$2 name pattern path line nr=0
  mkdir -p "$folder"
  while read -r name pattern; do
    [ "$name" = "$target" ] || continue
    # shellcheck disable=SC2086  # a glob
    for path in "$root"/$pattern; do
      cp "$path" "$folder/$(basename "$path")"
    done
  done <"$here/seeds.txt"
  for name in txt escaped; do
    [ -f "$here/seeds/$target.$name" ] || continue
    while IFS= read -r line; do
      nr=$((nr + 1))
      [ "$name" = txt ] && printf '%s' "$line" >"$folder/line-$nr"
      [ "$name" = escaped ] && printf '%b' "$line" >"$folder/line-$nr"
    done <"$here/seeds/$target.$name"
  done
  for path in "$here/found/$target"/*; do
    [ ! -e "$path" ] || cp "$path" "$folder/found-$(basename "$path")"
  done
}

if [ "$1" = --words ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  make_seeds "$2" "$work"
  export LC_ALL=C
  { find "$work" -type f -size -64k \
    -exec grep -aohE '[A-Za-z_][A-Za-z_0-9.-]{1,30}|[<>=!:]+' {} + || true; } | sort | uniq -c | sort -rn |
    awk 'NR <= 400 { print "\"" $2 "\"" }'
  exit 0
fi
make_seeds "$1" "$2"
