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
# The time beside other work is no matter of this test: any unit will do.
cost='^Recording cost [0-9.]+ [nu]s a scope, [0-9.]+ [nu]s when off \(targets: 60 and 5 ns, (not )?met\): (less than )?[0-9.]+ % of the time above\.$'
check "and what they cost is said" grep -qE "$cost" out
grep -qE "$cost" out || grep Recording out
check "the trace is JSON with 24 slices" test "$(grep -c '"ph":"B"' trace.json)" -eq 24
check "and has the memory" grep -q '"ph":"C".*"bytes":102400' trace.json
check "a trace that cannot be written is an error" not one/profile_example no/such/folder

say "By CMake"
"$CMAKE" -S "$source" -B two -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$compiler" \
  >"$WORK.log/configure" || cat "$WORK.log/configure"
"$CMAKE" --build two >"$WORK.log/build" || cat "$WORK.log/build"
two/profile_example >out || echo "status $?"
table

say "With a GPU: its kernels beside the scopes, against stand-ins for CUPTI and the driver"
cat >guest.c <<'END'
#include <dlfcn.h>
#include <harness/export.h>
#include <harness/profile_cuda.h>
#include <string.h>

/* A name that rooms of harness have, too: nothing of theirs may be seen. */
int error_record(void);
int error_record(void)
{
    return 7;
}

int main(int argc, char **argv)
{
    char why[PROF_CUDA_WORDS];
    struct prof_trace trace;
    struct prof_cuda *cuda = prof_cuda_start(NULL, why);
    void *stub = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*run)(const char *name, int launches) = NULL;
    void *symbol = stub ? dlsym(stub, "cupti_stub_run") : NULL;

    if (!cuda)
        printf("no kernels: %s\n", why);
    prof_set_on(prof_global(), 1);
    {
        PROF_SCOPE("forward", .device = PROF_GPU, .stream = (void *)3);
        memcpy(&run, &symbol, sizeof(run));
        if (run)
            run("_Z4gemmPKf", 5);
    }
    if (prof_cuda_stop(cuda, prof_global(), &trace, why))
        printf("incomplete: %s\n", why);
    for (size_t i = 0; i < trace.nr_slices; i++)
        printf("%s on %s %d\n", trace.slices[i].name,
               trace.tracks[trace.slices[i].track].kind == PROF_TRACK_STREAM ? "stream" : "thread",
               trace.tracks[trace.slices[i].track].kind == PROF_TRACK_STREAM
                   ? (int)trace.tracks[trace.slices[i].track].thread
                   : 0);
    prof_trace_release(&trace);
    return error_record() - 7;
}
END
# shellcheck disable=SC2046,SC2086 # flags are words
"$compiler" -std=gnu11 $CFLAGS guest.c -o guest $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs harness-profile-cuda) ||
  echo "status $?"
stub=$build/tests/cuda/libcupti_stub.so
HARNESS_CUPTI=$stub HARNESS_LIBCUDA=$build/tests/profile_cuda/libcontext_stub.so ./guest "$stub" | sort | uniq -c | sed 's/^ *//'
HARNESS_CUPTI=/nowhere/libcupti.so ./guest | cut -d: -f1,2
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(guest C)
find_package(harness-profile 0.1 REQUIRED)
add_executable(guest guest.c)
target_link_libraries(guest harness::profile_cuda)
END
"$CMAKE" -S . -B three -DCMAKE_PREFIX_PATH="$root" -DCMAKE_C_COMPILER="$compiler" >"$WORK.log/configure" || cat "$WORK.log/configure"
"$CMAKE" --build three >"$WORK.log/build" || cat "$WORK.log/build"
HARNESS_CUPTI=$stub HARNESS_LIBCUDA=$build/tests/profile_cuda/libcontext_stub.so three/guest "$stub" | grep -c gemm
