# shellcheck shell=bash
# Every command of docs/import.md, as a new user would type it, with programs that write what the
# real ones write. U-10.

guide=$CLI/../../docs/import.md
command -v git >/dev/null || skip "there is no git"
command -v awk >/dev/null || skip "there is no awk"

# A project of somebody else's: two states of the code, and programs that measure.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
export GIT_AUTHOR_DATE='2026-01-02 03:04:05Z' GIT_COMMITTER_DATE='2026-01-02 03:04:05Z'
rm -r .git
git -c init.defaultBranch=main init -q .
git commit -q --allow-empty -m 'The start'
git checkout -q -b my-change
git commit -q --allow-empty -m 'The change'
mkdir bin archive
export PATH=$PWD/bin:$PATH

# program NAME: a program that counts its calls in $n; its text comes from standard input.
program() {
  { printf '#!/bin/bash\nn=$(cat "$0.calls" 2>/dev/null || echo 0); n=$((n + 1)); echo $n >"$0.calls"\n'
    cat; } >"$1"
  chmod +x "$1"
}
printf '#!/bin/sh\nexec %s "$@"\n' "$HARNESS" >bin/harness
chmod +x bin/harness

# gbench_json N SLOW DATE: three benchmarks.
cat >bin/gbench_json <<'END'
#!/bin/bash
awk -v n="$1" -v slow="$2" -v date="$3" '
# Uniform in (-0.5, 0.5), the same in every awk (Park and Miller).
function noise(seed, i) { for (i = 0; i < 9; i++) seed = seed * 16807 % 2147483647
  return seed / 2147483647 - 0.5 }
BEGIN {
  printf "{\"context\":{\"date\":\"%s\",\"num_cpus\":2},\"benchmarks\":[", date
  split("BM_Parse/1024 BM_Sort/64 BM_Sort/4096", name, " ")
  for (i = 1; i <= 3; i++)
    printf "%s{\"name\":\"%s\",\"run_type\":\"iteration\",\"iterations\":1000,\"real_time\":%.6f," \
      "\"cpu_time\":1,\"time_unit\":\"us\"}", (i > 1 ? "," : ""), name[i],
      20 * i * (1 + 0.006 * noise(n * 7919 + i * 104729)) * (i == 3 ? slow : 1)
  print "]}"
}'
END
chmod +x bin/gbench_json
program bench <<'END'
slow=1
test "$(git branch --show-current)" = main || slow=1.2
for argument; do case $argument in --benchmark_out=*) out=${argument#*=} ;; esac; done
gbench_json "$n" "$slow" "2026-03-01T10:00:$(printf %02d "$n")Z" >"$out"
END
for i in $(seq 10 29); do
  gbench_json "$i" "$(test "$i" -lt 20 && echo 1 || echo 1.15)" "2026-04-$i" \
    >"archive/$i.json"
done
program bin/hyperfine <<'END'
awk -v n="$n" -v a="$3" -v b="$4" 'BEGIN {
  printf "{\"results\":[{\"command\":\"%s\",\"times\":[0.1%d,0.101]},", a, n
  printf "{\"command\":\"%s\",\"times\":[0.2%d,0.201]}]}\n", b, n }' >"$2"
END
program bin/cargo <<'END'
case $1 in
bench)
  mkdir -p target/criterion/parse/1024/new
  echo "{\"iters\":[100,200],\"times\":[5${n}000,10${n}100]}" >target/criterion/parse/1024/new/sample.json
  ;;
criterion)
  echo '{"reason":"benchmark-complete","id":"norm/64","iteration_count":[30],"measured_values":[12420],"unit":"ns"}'
  echo '{"reason":"group-complete","group_name":"norm"}'
  ;;
esac
END
program bin/pytest <<'END'
echo "{\"machine_info\":{\"cpu\":{\"brand_raw\":\"Made\",\"count\":2}},\"benchmarks\":[{\"fullname\":\"b.py::test_a[8]\",\"params\":{\"n\":8},\"stats\":{\"data\":[1.$n,1.5],\"rounds\":2,\"iterations\":1}}],\"datetime\":\"2026-03-02T00:00:0$n\",\"version\":\"4.0.0\"}" >"${1#*=}"
END
program gpu_bench <<'END'
mkdir -p "$2-bin"
printf '\0\0\200\077\0\0\0\100' >"$2-bin/0.bin" # 1 s, 2 s
echo "{\"meta\":{\"argv\":[\"$n\"]},\"devices\":[{\"name\":\"Made GPU\"}],\"benchmarks\":[{\"name\":\"copy\",\"states\":[{\"axis_values\":[{\"name\":\"N\",\"type\":\"int64\",\"value\":\"1024\"}],\"summaries\":[{\"tag\":\"nv/json/bin:nv/cold/sample_times\",\"data\":[{\"name\":\"filename\",\"value\":\"$2-bin/0.bin\"},{\"name\":\"size\",\"value\":\"2\"}]}]}]}]}" >"$2"
END

# The blocks of the guide, one file each.
awk '/^```sh$/ { inside = 1; nr++; next } /^```$/ { inside = 0 }
  inside { print >sprintf("block-%02d", nr) }' "$guide"
check "the guide has blocks" test "$(ls block-* | wc -l)" -ge 6
for block in block-*; do
  say "$block"
  sed 's/^/$ /' "$block"
  status=0
  bash "$block" 2>err || status=$?
  sed 's/^/2> /' err
  printf '[%d]\n' "$status"
done
