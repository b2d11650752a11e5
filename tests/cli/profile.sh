# shellcheck shell=bash
# harness profile: where a forward's time goes, in tables, files and the history; two profiles side by
# side; files of other profilers. S0-27, S0-28, S4-08..S4-11, S4-30.

# Times differ from run to run; what is named, and in which form, does not.
names() { sed -nE 's/^([a-z_0-9 \/]+[a-z_0-9]) +[0-9]+ +[0-9.]+ [mun]?s .*/\1/p' | sort -u; }
profile() { "$HARNESS" profile "$@" 2>err || echo "status $?"; }

say "A forward"
profile gpt/nano/prefill --device cpu:1 --batch 2 --seq 32 --launches 2 --iterations 6 --seed 1 \
  --top 30 --label first >out
head -1 out
sed -n '2s/of [0-9.]* [mun]*s/of TIME/; 2s/cover [0-9.]*/cover SHARE/; 2p' out
grep -E '^(By|The main|Recording)' out | sed -E 's/(scope|thread.s|:) [0-9.].*/\1 .../; s/: CPU.*/: CPU .../'
names <out
check "the head is the first" test "$(sed -n '/^By self/{n;n;s/ .*//p}' out)" = head
check "with its share of a roof" grep -qE '^head .*[0-9]+ % of the (FMA roof|bandwidth of [A-Z0-9]+)$' out
check "and what a scope cost, beside its targets" grep -qE \
  '^Recording: [0-9.]+ [nu]s a scope, [0-9.]+ ns when off \(targets: 60 and 5 ns, (not )?met\); ' out
grep -E '^(in|run) ' out
ls profile-gpt-nano-prefill
check "its process is called as the program" \
  grep -q '"name":"process_name","args":{"name":"harness"}' profile-gpt-nano-prefill/trace.json
check "the trace is whole" test "$(grep -c '"ph":"B"' profile-gpt-nano-prefill/trace.json)" -eq \
  $((6 * (1 + 1 + 3 * 8 + 2)))
tells_clock() {
  grep -qs '^cpu MHz' /proc/cpuinfo || [ -r /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq ]
}
points=$(grep -c '"ph":"C".*"name":"CPU clock","args":{"MHz":[1-9]' profile-gpt-nano-prefill/trace.json)
check "the processors' clock is a track of it, where the machine tells it" \
  test "$(tells_clock && echo 1)" = "$([ "$points" -ge 2 ] && echo 1)"
check "and nothing is zero for want of a source" \
  not grep -qE '"ph":"C".*"args":\{"(MHz|W|°C)":0\}' profile-gpt-nano-prefill/trace.json
grep -c '^main;gpt/nano/prefill;layer_0;' profile-gpt-nano-prefill/stacks.folded
cut -d' ' -f1 profile-gpt-nano-prefill/stacks.folded | sed -n 's/^main;gpt.nano.prefill;layer_1;//p' | sort

say "Self times are the iterations' time, to the nanosecond; operations cover all but the seams"
"$HARNESS" profile --import profile-gpt-nano-prefill/trace.json -o again --json >all.json
n=$(json_length all.json profiles 0 layers ns)
sum=0 whole=0
for i in $(seq 0 $((n - 1))); do
  whole=$((whole + $(json all.json profiles 0 layers ns "$i")))
  sum=$((sum + $(json all.json profiles 0 layers rest_ns "$i")))
  for o in $(seq 0 $(($(json_length all.json profiles 0 layers operations) - 1))); do
    sum=$((sum + $(json all.json profiles 0 layers operations "$o" self_ns "$i")))
  done
done
echo "$n iterations"
check "the sum of self times is the forward's time" test "$sum" -eq "$whole"
check "the same from the file" cmp profile-gpt-nano-prefill/trace.json again/trace.json

say "In the history, under names of their own"
t history list
"$HARNESS" history show 1 >show.json
for i in $(seq 0 $(($(json_length show.json runs 0 measurements) - 1))); do
  json show.json runs 0 measurements "$i" key
done | cut -d/ -f1-5 | sort | uniq -c
json show.json runs 0 kind
profile gpt/nano/prefill --device cpu:1 --batch 2 --seq 32 --launches 2 --iterations 6 --seed 1 \
  --label second -o second >/dev/null
"$HARNESS" compare --baseline first --head second >compared 2>&1
check "compare has a row for the head" grep -qE 'prefill:head .*2/2' compared
check "and no ordinary one" not grep -qE 'prefill  ' compared
quiet run gpt/nano/prefill/simd --device cpu:1 --batch 2 --seq 32 --launches 1 --iterations 5
profile gpt/nano/prefill --device cpu:1 --batch 2 --seq 32 --launches 1 --iterations 2 -o third \
  >/dev/null
"$HARNESS" history show latest >show.json
check "the latest run is the ordinary one" \
  test "$(json show.json runs 0 measurements 0 key | cut -d/ -f1-4)" = gpt/nano/prefill/simd

say "Several at once: a folder each; nothing kept"
profile --model nano --device cpu:1 --batch 1 --seq 8 --launches 1 --iterations 2 --no-store -o two \
  >out
grep -E '^gpt.*warm$' out
ls two
check "nothing new in the history" test "$("$HARNESS" history list | grep -c ' OK')" -eq 4

say "A kernel that is no model is one operation"
profile gemm/linear --device cpu:1 --batch 1 --seq 8 --launches 1 --iterations 3 -o gemm >out
names <out

say "Before and after"
profile --diff profile-gpt-nano-prefill second --top 30 >out
sed -n 1p out
sed -nE 's/^([a-z_0-9 ]+[a-z_0-9]|gpt.nano.prefill) +[0-9]+ +.*[%s]$/\1/p' out | sort
tail -1 out
ls profile-diff
check "no change against itself" test "$("$HARNESS" profile --diff second second -o same --json |
  grep -cE '"change_ns":[[:space:]]*0,')" -eq "$(grep -c '"change_ns"' same/diff.json)"

say "Files of others"
cat >kineto.json <<'END'
{"traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 10, "dur": 90},
 {"ph": "X", "cat": "user_annotation", "name": "matmul", "pid": 1, "tid": 1, "ts": 20, "dur": 60}]}
END
t profile --import kineto.json | sed '/^in /d'
cat >ncu.csv <<'END'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","gpt","host","gemm_kernel","1","7","(128, 1, 1)","(8, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","4,000"
"1","1","gpt","host","norm_kernel","1","7","(128, 1, 1)","(8, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","ns","1,000"
END
t profile --import ncu.csv | sed '/^in /d'
ls profile-ncu.csv
{ printf '\xef\xbb\xbf' && cat kineto.json; } >marked.json # as editors of Windows begin a file
check "a mark in front changes nothing" diff \
  <("$HARNESS" profile --import marked.json -o marked | sed '1d;/^in /d') \
  <("$HARNESS" profile --import kineto.json -o unmarked | sed '1d;/^in /d')

say "Files of one name, as ranks have"
mkdir -p rank0 rank1/trace deep/rank1/trace
for file in rank0/trace.json rank1/trace.json rank1/trace/a.json deep/rank1/trace/a.json; do
  sed "s/matmul/${file//\//+}/" kineto.json >"$file"
done
imported() { # FILE...: the folders, and which file each is of
  "$HARNESS" profile --import "$@" | sed -n 's/^in \([^:]*\): .*/\1/p' >folders
  while read -r folder; do
    echo "$folder: $(sed -n 's/^;step;\(.*\) .*/\1/p' "$folder/stacks.folded")"
  done <folders
}
imported rank0/trace.json rank1/trace.json
imported rank0/trace.json rank1/trace/a.json deep/rank1/trace/a.json -o ranks
t profile --import kineto.json kineto.json

say "Mistakes"
t profile
t profile gpt/nono/prefill | sed -E 's/(there (are|is)):?.*/\1 .../'
t profile null/copy/right --device "$FAKE"
t profile --diff one
t profile --diff nothing second
t profile --import nothing
printf '{"traceEvents":[]}' >empty.json
t profile --import empty.json
printf 'QUAD\0\1\2' >report.nsys-rep
printf 'NVR\0\1\2' >x.ncu-rep
cp report.nsys-rep old.qdrep
cp x.ncu-rep unnamed
echo 'no table' >words.csv
for name in report.nsys-rep x.ncu-rep old.qdrep unnamed words.csv; do
  t profile --import "$name"
done
t profile --diff --import a b
t profile --import --counters a
for option in '--iterations 3' '--launches 2' --no-store '--plant a=5%' '--label x' '--timeout 1m' \
  '--seed 4' '--memory-limit 1GiB' '--param n=1' '--model gpt/nano' '--device cpu:1'; do
  # shellcheck disable=SC2086  # words of their own
  t profile --import $option a
done
t profile --diff --seed 4 a b
t profile gpt/nano/prefill --device cpu:1 --counters
touch file
t profile gpt/nano/decode --device cpu:1 --batch 1 --seq 8 -o file/below
t profile gpt/nano/prefill --device cpu:1 --batch 1 --seq 1000 --launches 1 --no-store -o none 2>&1 |
  grep -v '^2> launch\|^2> measuring\|^2> the roofs'
