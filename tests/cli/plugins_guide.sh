# shellcheck shell=bash
# Every command of docs/plugins.md, in its order. U-11.
build=$(dirname "$HARNESS")
[ -e "$build/CMakeCache.txt" ] || skip "not a build tree: $build"
command -v cc >/dev/null || skip "no C compiler"
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "its commands know no sanitizer"; fi
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
"$CMAKE" --install "$build" --component plugin --prefix installed >"$WORK.log/install"
export PREFIX=$PWD/installed PATH=$build:$PATH

# shellcheck disable=SC2016  # these are no commands of the shell
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$source/docs/plugins.md" >commands
check "the page has commands" test "$(wc -l <commands)" -gt 10
while IFS= read -r line; do
  echo "\$ $line"
  bash -c "$line" >"$WORK.log/out" 2>&1 </dev/null || { echo "status $?" && cat "$WORK.log/out"; }
done <commands
