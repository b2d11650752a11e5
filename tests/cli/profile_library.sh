# shellcheck shell=bash
# The scopes library in a stranger's project: installed alone, found by CMake and by pkg-config, the
# example built by both and run, and the tree moved in between. S3-13, S4-03.
build=$(dirname "$HARNESS")
[ -e "$build/libharness_profile.a" ] || skip "not a build tree: $build"
sanitize=$(sed -n 's/^HARNESS_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
coverage=$(sed -n 's/^HARNESS_COVERAGE:[A-Z]*=ON$/--coverage/p' "$build/CMakeCache.txt")
export CFLAGS="-O2 -Wall -Wextra -Wpedantic -Werror ${sanitize:+-fsanitize=$sanitize} $coverage"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")/examples/profile

say "Installed alone, and moved"
"$CMAKE" --install "$build" --component profile --prefix first >"$WORK.log/install"
mkdir elsewhere
mv first elsewhere/second
root=$PWD/elsewhere/second
(cd "$root" && find . -type f | sed -E 's#lib(64|/[a-z0-9_]+-linux-[a-z]+)/#lib/#' | LC_ALL=C sort)

# The table, with calls and times taken out: what is there, and that it is a number.
table() { sed -nE 's/^([a-z]+) +([0-9]+) .*( -|[0-9])$/\1 \2/p' out | sort; }

say "By pkg-config and make"
cp -r "$source" one
pc=$(dirname "$(find "$root" -name harness-profile.pc)")
PKG_CONFIG_PATH=$pc make -s -C one CC="$compiler" || echo "make: status $?"
one/profile_example trace.json >out || echo "status $?"
table
check "they are 24" grep -qE '^24 scopes, [0-9.]+ (us|ms|s)\.$' out
check "and what they cost is said" grep -qE '^Recording cost [0-9.]+ ns a scope, [0-9.]+ ns when off \(targets: 60 and 5 ns, (not )?met\): [0-9.e-]+ % of the time above\.$' out
check "the trace is JSON with 24 slices" test "$(grep -c '"ph":"B"' trace.json)" -eq 24
check "and has the memory" grep -q '"ph":"C".*"bytes":102400' trace.json
check "a trace that cannot be written is an error" not one/profile_example no/such/folder

say "By CMake"
"$CMAKE" -S "$source" -B two -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$compiler" \
  >"$WORK.log/configure" || cat "$WORK.log/configure"
"$CMAKE" --build two >"$WORK.log/build" || cat "$WORK.log/build"
two/profile_example >out || echo "status $?"
table
