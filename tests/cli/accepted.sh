# shellcheck shell=bash
# What is exported for other tools is taken by those tools themselves, where they are installed
# (ci/setup.sh --tests). U-10, S0-10.

fake seed=3 --launches 3 --label before --batch 1,2
fake seed=4,slow=1.2 --launches 3 --label after --batch 1,2

# has TOOL...: else the log says what is left out.
has() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; return 1; }
  done
}

say "promtool"
"$HARNESS" export after --format prometheus -o after.prom
"$HARNESS" export after --format openmetrics -o after.om
if has promtool; then
  promtool check metrics <after.prom 2>&1 || echo "status $?"
  promtool tsdb create-blocks-from openmetrics after.om blocks >made 2>&1 || cat made
  fact "a block of the past" test -e blocks/*/index
fi

say "promtool, with numbers of a program's own"
"$HARNESS" run --db own.db --launches 1 --iterations 1 --name own --metric 'rate=/rate (\S+)/' --metric 'lat=/lat (\S+)/' \
  --metric 'share=/share (\S+)/' --unit rate=kOps/s --unit lat=ms --unit 'share=% of "all"' --better higher --better lat=lower \
  -- echo rate 1 lat 2.5 share 3 >/dev/null 2>&1
"$HARNESS" export --db own.db --format prometheus | sed -n '/harness_own/s/{.*}//p'
if has promtool; then
  "$HARNESS" export --db own.db --format prometheus -o own.prom
  "$HARNESS" export --db own.db --format openmetrics -o own.om
  promtool check metrics <own.prom 2>&1 || echo "status $?"
  promtool tsdb create-blocks-from openmetrics own.om own_blocks >made 2>&1 || cat made
  fact "a block of the past" test -e own_blocks/*/index
fi

say "The live page, as Prometheus asks it"
# begin NAME COMMAND...: in the background; its output and its process.
begin() {
  local name=$1
  shift
  "$@" >"$name.out" 2>"$name.err" &
  PID=$!
}
end() {
  kill "$PID"
  wait "$PID" || true
}
# scraped_by_prometheus ADDRESS: a Prometheus asks the page, and what it keeps is what the page says.
scraped_by_prometheus() {
  local address=${1#http://} page=$PID
  has prometheus || return 0
  cat >prometheus.yml <<END
global: { scrape_interval: 1s }
scrape_configs: [{ job_name: harness, static_configs: [{ targets: ["${address%%/*}"] }] }]
END
  begin prometheus prometheus --config.file=prometheus.yml --storage.tsdb.path=kept \
    --web.listen-address=127.0.0.1:0
  wait_for dumped '__name__="harness_'
  fact "the target is up" dumped '__name__="up".* 1 [0-9]+$'
  end
  PID=$page
  dumped . || true
  fact "every series of the page" diff <(grep '^harness_' served.prom | cut -d '{' -f 1 | sort | uniq -c) \
    <(grep -o '__name__="harness_[a-z0-9_]*"' once | cut -d '"' -f 2 | sort | uniq -c)
}
# dumped PATTERN: has a Prometheus kept that? `once` gets each series once.
dumped() {
  promtool tsdb dump kept >dumping 2>/dev/null || return 1
  sed 's/ [^ ]* [0-9]*$//' dumping | sort -u >once
  grep -qE "$1" dumping
}
"$HARNESS" serve --host nowhere >"$WORK.log/probe" 2>&1 || true
if grep -q 'built without' "$WORK.log/probe"; then
  echo "skipped: $(sed 's/^harness: //' "$WORK.log/probe")"
elif has curl promtool; then
  begin serve "$HARNESS" serve --port 0 --open --baseline before
  wait_for test -s serve.out
  curl -s "$(head -1 serve.out)metrics" >served.prom
  scraped_by_prometheus "$(head -1 serve.out)"
  end
  promtool check metrics <served.prom 2>&1 || echo "status $?"
  fact "the run as it is exported" cmp after.prom <(head -n "$(wc -l <after.prom)" served.prom)
  fact "what regressed" grep -q '^harness_compared_benchmarks{verdict="regressed",.*} 2$' served.prom
  fact "what stands in the history" grep -q '^harness_regressions_standing{.*} 0$' served.prom
fi

say "node_exporter's text file collector"
# collected FOLDER: what the collector makes of the files in it; any port is fine.
collected() {
  local port
  rm -f node.err # of the one before
  begin node prometheus-node-exporter --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory="$1" --web.listen-address=127.0.0.1:0
  wait_for grep -qs 'address=127.0.0.1:' node.err
  port=$(sed -nE 's/.*address=127\.0\.0\.1:([0-9]+).*/\1/p' node.err | head -1)
  curl -s "http://127.0.0.1:$port/metrics"
  end
}
if has prometheus-node-exporter curl; then
  "$HARNESS" export --db own.db --format prometheus -o own.prom
  for exported in after own; do
    mkdir "files_$exported"
    cp $exported.prom "files_$exported"
    collected "files_$exported" >scraped
    fact "it takes the file" grep -qx 'node_textfile_scrape_error 0' scraped
    fact "every sample" diff <(grep '^harness_' $exported.prom | cut -d '{' -f 1 | sort | uniq -c) \
      <(grep '^harness_' scraped | cut -d '{' -f 1 | sort | uniq -c)
  done
fi

say "Pushgateway"
# pushed FILE: of its series, and of those that the gateway shows of it, one a line: name, labels in
# order without those of the group, value as a number.
pushed() {
  python3 - "$@" <<'END'
import re, sys
for line in open(sys.argv[1]):
    sample = re.fullmatch(r'(harness_\w+)\{(.*)\} (\S+)\n', line)
    if sample:
        labels = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', sample[2])
        print(sample[1], sorted(l for l in labels if l[0] not in ("job", "instance")), float(sample[3]))
END
}
if has prometheus-pushgateway curl; then
  begin gateway prometheus-pushgateway --web.listen-address=127.0.0.1:0 --persistence.file=
  wait_for grep -qs 'address=127.0.0.1:' gateway.err
  address=http://$(sed -nE 's/.*address=(127\.0\.0\.1:[0-9]+).*/\1/p' gateway.err | head -1)
  "$HARNESS" export before --format prometheus -o before.prom
  "$HARNESS" export --db own.db --format prometheus -o own.prom
  for exported in before after own; do # `after` in the place of `before`
    group=$address/metrics/job/${exported/before/after}
    fact "it takes $exported" curl -sS --fail -T $exported.prom "$group"
    curl -sS "$address/metrics" >gathered
    fact "all of it, with its values" diff <(pushed $exported.prom | sort) \
      <(grep "job=\"${group##*/}\"" gathered >of_group; pushed of_group | sort)
  done
  fact "that is a lot" test "$(pushed after.prom | wc -l)" -gt 20
  echo 'harness_run_info{' >broken.prom
  fact "and not whatever comes" test "$(curl -s -o refused -w '%{http_code}' -T broken.prom "$address/metrics/job/b")" = 400
  end
fi

say "Google Benchmark's compare.py"
"$HARNESS" export before --format gbench -o before.json
"$HARNESS" export after --format gbench -o after.json
compare=/usr/share/benchmark/compare.py
python=
for candidate in python3 /usr/bin/python3; do
  ! "$candidate" -c 'import scipy' 2>/dev/null || python=$candidate
done
if [ ! -e $compare ]; then
  echo "skipped: no compare.py of Google Benchmark (package libbenchmark-tools)"
elif [ -z "$python" ]; then
  echo "skipped: compare.py needs SciPy (package python3-scipy)"
else
  "$python" $compare --no-color benchmarks before.json after.json >compared 2>&1 || cat compared
  fact "each launch of each benchmark, 20 % slower" \
    test "$(grep -cE '^null/copy/[^ ]*/warm +\+0\.2000 ' compared)" -eq 6
  fact "and their medians" test "$(grep -cE '^null/copy/[^ ]*/warm_median +\+0\.2000 ' compared)" -eq 2
fi
