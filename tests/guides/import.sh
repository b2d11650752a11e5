# shellcheck shell=bash
# Around docs/import.md: a project of somebody else's in two states, and programs that write what the
# real ones write. U-10.
# shellcheck disable=SC2016  # what is quoted is for the programs

# program NAME: a program that counts its calls in $n; its text comes from standard input.
program() {
  { printf '#!/bin/bash\nn=$(cat "$0.calls" 2>/dev/null || echo 0); n=$((n + 1)); echo $n >"$0.calls"\n'
    cat; } >"$1"
  chmod +x "$1"
}

before() {
  need_tools awk
  in_path
  project toy
  export GIT_AUTHOR_DATE='2026-01-02 03:04:05Z' GIT_COMMITTER_DATE='2026-01-02 03:04:05Z'
  git commit -q --allow-empty -m 'The start'
  git checkout -q -b my-change
  git commit -q --allow-empty -m 'The change'
  mkdir archive
  export -f gbench_json
  program bench <<'END'
slow=1
test "$(git branch --show-current)" = main || slow=1.2
for argument; do case $argument in --benchmark_out=*) out=${argument#*=} ;; esac; done
gbench_json "$n" "2026-03-01T10:00:$(printf %02d "$n")Z" 3 "$slow" BM_Parse/1024 BM_Sort/64 BM_Sort/4096 >"$out"
END
  for i in $(seq 10 29); do
    gbench_json "$i" "2026-04-$i" 3 "$(test "$i" -lt 20 && echo 1 || echo 1.15)" \
      BM_Parse/1024 BM_Sort/64 BM_Sort/4096 >"archive/$i.json"
  done
  program "$HOME"/bin/hyperfine <<'END'
awk -v n="$n" -v a="$3" -v b="$4" 'BEGIN {
  printf "{\"results\":[{\"command\":\"%s\",\"times\":[0.1%d,0.101]},", a, n
  printf "{\"command\":\"%s\",\"times\":[0.2%d,0.201]}]}\n", b, n }' >"$2"
END
  program "$HOME"/bin/cargo <<'END'
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
  program "$HOME"/bin/pytest <<'END'
echo "{\"machine_info\":{\"cpu\":{\"brand_raw\":\"Made\",\"count\":2}},\"benchmarks\":[{\"fullname\":\"b.py::test_a[8]\",\"params\":{\"n\":8},\"stats\":{\"data\":[1.$n,1.5],\"rounds\":2,\"iterations\":1}}],\"datetime\":\"2026-03-02T00:00:0$n\",\"version\":\"4.0.0\"}" >"${1#*=}"
END
  program gpu_bench <<'END'
mkdir -p "$2-bin"
printf '\0\0\200\077\0\0\0\100' >"$2-bin/0.bin" # 1 s, 2 s
echo "{\"meta\":{\"argv\":[\"$n\"]},\"devices\":[{\"name\":\"Made GPU\"}],\"benchmarks\":[{\"name\":\"copy\",\"states\":[{\"axis_values\":[{\"name\":\"N\",\"type\":\"int64\",\"value\":\"1024\"}],\"summaries\":[{\"tag\":\"nv/json/bin:nv/cold/sample_times\",\"data\":[{\"name\":\"filename\",\"value\":\"$2-bin/0.bin\"},{\"name\":\"size\",\"value\":\"2\"}]}]}]}]}" >"$2"
END
}
