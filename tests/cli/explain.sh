# shellcheck shell=bash
# Why something got slower: `compare --explain` of the history, of programs and of commands. Times
# of real programs are not shown: what holds on any machine is asked of the JSON.

# records NAME FACTOR FACTS TELEMETRY [OPERATION FACTOR]: a run of five launches. Its benchmark takes
# FACTOR times as long; FACTS are members of its environment, TELEMETRY those of each launch. With
# an operation it is a profiled one, too, and that operation alone takes its factor.
records() {
  local launch rest="" i=0
  printf '{"schema_version":1,"runs":[{"uuid":"00000000-0000-4000-8000-%012d",' "$((RANDOM * RANDOM))"
  printf '"started_ms":1790000000000,"ended_ms":1790000000001,"label":"%s",' "$1"
  printf '"machine":{"id":"m","class_name":"one","cpu":"one","cores":2,"threads":2},'
  printf '"build":{"version":"1","commit":"%s","compiler":"gcc 12","flags":"%s"},' "$1" "${FLAGS:--O2}"
  printf '"environment":{"libc":"2.36"%s},"measurements":[\n' "$3"
  for launch in 0 1 2 3 4; do
    i=$((launch * 37 % 11))
    [ $# -lt 6 ] || rest=",$(operation all $((100000 + (100000 * $6 - 100000) * 6 / 10 + i)) $launch),
      $(operation "$5" $((60000 * $6 + i)) $launch),$(operation head $((40000 + i)) $launch)"
    printf '{"key":"gpt/x/v/fp32/n=1/cpu-2t/warm","launch":%d,"outcome":"OK","batch":1,' $launch
    printf '"samples_ns":[%d,%d,%d],"telemetry":{%s}}%s%s\n' \
      $((100000 * $2 / 100 + 31 * i)) $((100000 * $2 / 100 + 29 * i)) $((100000 * $2 / 100 + 37 * i)) \
      "$4" "$rest" "$([ $launch -eq 4 ] || echo ,)"
  done
  printf ']}],"ceilings":[]}\n'
}

# operation NAME NS LAUNCH: with nothing nested in it.
operation() {
  printf '{"key":"gpt/x:%s/v/fp32/n=1/cpu-2t/warm","launch":%d,"outcome":"OK","batch":1,"samples_ns":[%d,%d],' \
    "$1" "$3" "$2" "$(($2 + 40))"
  printf '"telemetry":{"self_ns":%d}}' "$(($2 + 20))"
}

# why BASE HEAD: what is said below the table, and whatever goes wrong.
why() {
  local status=0
  "$HARNESS" compare --baseline "./$1" --head "./$2" 'gpt/x/*' --explain >out 2>err || status=$?
  echo "exit status $status"
  sed -n '/^Why/,$p' out
  cat err
}

fake seed=3 --batch 4 --launches 1 # there must be a history
records base 100 '' '"cpu_mhz":3000,"machine_ns":5000' >base.json

say "The clock"
records clock 150 ',"governor":"powersave"' '"cpu_mhz":2000,"machine_ns":5600' >clock.json
why base.json clock.json

say "The version of a library"
records libc 140 ',"libc":"2.38"' '"cpu_mhz":3000,"machine_ns":5000' | sed 's/"libc":"2.36",//' >libc.json
why base.json libc.json

say "A compiler flag"
FLAGS="-O0" records flag 300 '' '"cpu_mhz":3000,"machine_ns":5000' >flag.json
why base.json flag.json

say "Threads, where it was read how many worked"
records two 100 ',"OMP_NUM_THREADS":"2"' '"cpu_seconds_per_second":1.98' >two.json
records one 195 ',"OMP_NUM_THREADS":"1"' '"cpu_seconds_per_second":1.0' >one.json
why two.json one.json

say "Cache misses, where they were counted"
counts='"instructions":200000,"cycles":150000,"branch_misses":10'
records hits 100 '' "$counts,\"cache_misses\":100,\"cpu_seconds_per_second\":1" >hits.json
counts='"instructions":200000,"cycles":300000,"branch_misses":10'
records misses 200 '' "$counts,\"cache_misses\":1100,\"cpu_seconds_per_second\":1" >misses.json
why hits.json misses.json

say "One operation, of which both sides have a profile"
records before 100 '' '"cpu_mhz":3000' attention 1 >before.json
records after 160 '' '"cpu_mhz":3000' attention 2 >after.json
why before.json after.json

say "The same of older profiles, which do not tell what is nested in what"
sed 's/,"telemetry":{"self_ns":[0-9]*}//g' before.json >before-old.json
sed 's/,"telemetry":{"self_ns":[0-9]*}//g' after.json >after-old.json
why before-old.json after-old.json

say "Nothing that anybody knows"
records other 130 '' '"cpu_mhz":3000,"machine_ns":5000' >other.json
why base.json other.json

say "What got faster needs no cause"
why other.json base.json

say "In other forms"
"$HARNESS" compare --baseline ./before.json --head ./after.json 'gpt/x/*' --explain --json >out.json
for member in kind name share by_elimination; do
  echo "$member: $(json out.json explanations 0 causes 0 $member)"
done
"$HARNESS" compare --baseline ./before.json --head ./after.json 'gpt/x/*' --explain --format markdown |
  sed -n '/^### Why/,$p'
"$HARNESS" compare --baseline ./before.json --head ./after.json 'gpt/x/*' --explain --format github |
  sed -n '/^<details><summary>Why/,/^<\/details>/p'
"$HARNESS" compare --baseline ./base.json --head ./other.json --json >plain.json
check "nothing is explained unasked" not grep -q explanations plain.json

say "What is refused"
t compare --replay --explain
t compare --baseline x --explain-budget soon
t compare --baseline x --explain-budget 5s
t compare --explain --explain-budget 5s -- true --versus true

say "Programs of a device that invents its time have no scopes"
printf '#!/bin/sh\nHARNESS_FAKE=seed=3,slow=1.5 exec "%s" "$@"\n' "$HARNESS" >slower
chmod +x slower
"$HARNESS" compare --device "$FAKE" --seed 1 --head-bin ./slower --baseline-bin "$HARNESS" \
  null/copy/right --batch 4 --explain --json >out.json 2>err
echo "exit status $?: $(json out.json explanations 0 notes 0)"
check "the machine code of a script cannot be compared" grep -q 'slower is no ELF file' out.json

say "Commands: a flag, a count of threads"
cc=${CC:-cc}
if ! command -v "$cc" >/dev/null; then
  echo "skipped: there is no compiler"
else
  cat >work.c <<'END'
#include <pthread.h>
#include <stdlib.h>
double scale(double *x, int n) { double s = 0; for (int i = 0; i < n; i++) { for (int k = 0; k < 100; k++) n += k - k; s += x[i] = x[i] * 1.01 + 0.5; } return s; }
double smooth(double *x, int n) { double s = 0; for (int i = 1; i < n; i++) s += x[i] = x[i - 1] * 0.3 + x[i] * 0.7; return s; }
static void *work(void *rounds) {
  double *x = calloc(4096, sizeof(*x));
  volatile double s = 0;
  for (int i = *(int *)rounds; x && i > 0; i--) s = s + scale(x, 4096) + smooth(x, 4096);
  free(x);
  return NULL;
}
int main(int argc, char **argv) {
  const char *text = getenv("OMP_NUM_THREADS");
  int threads = text ? atoi(text) : 1, rounds = (argc > 1 ? atoi(argv[1]) : 0) / threads;
  pthread_t thread[8];
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, &rounds);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  return 0;
}
END
  "$cc" -g -O2 work.c -o fast -pthread && "$cc" -g -O0 work.c -o slow -pthread

  # explained ARG...: the kind of the first cause into `first`; false where nothing is explained.
  explained() {
    rm -f first
    "$HARNESS" compare --explain --json "$@" >out.json 2>err
    [ "$(json_length out.json explanations)" -gt 0 ] && json out.json explanations 0 causes 0 kind >first
  }
  # The loop of nothing is gone with -O2: more than ten times slower, which whatever else runs here cannot
  # hide. So many blocks, not so many seconds, in which a busy machine may make too few.
  fact "a slow command is told and explained" explained --blocks 8 -- ./fast 200 --versus ./slow 200
  fact "the flag is named first" grep -qx build first
  fact "by its name" grep -q -- '-O2 -> -O0' out.json
  fact "and the functions that differ" grep -q 'functions have other machine code' out.json

  # Two threads are faster only where two processors are free for them.
  if explained --blocks 10 -- env OMP_NUM_THREADS=2 ./fast 6000 --versus env OMP_NUM_THREADS=1 ./fast 6000; then
    fact "threads are named first" grep -qx threads first
    fact "by what sets them" grep -q 'OMP_NUM_THREADS: 2 -> 1' out.json
  else
    echo "skipped: no two processors are free on this machine now, so that two threads are no faster than one"
  fi
fi

say "A pull request's gate"
toy_repository
toy_commit seed=3 "First"
git tag v1
toy_commit slow=1.4 "Slower"
"$HARNESS" gate --base v1 --build-command 'sh build.sh' --device "$FAKE" --seed 1 null/copy/right --batch 4 \
  --explain --output results >out 2>err
echo "exit status $?"
check "the table has it" grep -q '^Why it got slower' out
check "the comment folds it" grep -q '^<details><summary>Why it got slower: ' results/comment.md
check "and so does JSON" test "$(json_length results/compare.json explanations)" = 1
