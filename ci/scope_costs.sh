#!/usr/bin/env bash
# What a scope costs on this machine, beside tracers that the distribution packages, as Markdown.
#
#   scope_costs.sh [--output FILE]
#
# Own scopes: into memory never touched before and, as benchmarks, into memory in use (`harness run
# scope`). LTTng-UST: two trace points, of a begin and an end, with its session recording; without it
# both are off. Tracy: where its library is packaged. What is absent has a row that says so.
#
# Exit status: 0, also where a peer is absent; 2 if something failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
source "$here/lib.sh"

output=/dev/stdout
while [ $# -gt 0 ]; do
  case $1 in
    --output) output=$2; shift ;;
    -h | --help) usage_of "$0"; exit 0 ;;
    *) usage_of "$0" >&2; exit 2 ;;
  esac
  shift
done
harness=$(find_harness)
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Rows of scopes of our own: what the library measures of itself, and the benchmarks.
own() {
  "$harness" run scope --variant macro --device cpu:1 --launches 3 --db "$work/h.db" --json >"$work/scope.json"
  "$harness" profile gpt/nano/decode --device cpu:1 --launches 1 --iterations 5 --no-store --db "$work/h.db" \
    --output "$work/profile" --json >"$work/profile.json"
  python3 - "$work" <<'END'
import json
import statistics
import sys

work = sys.argv[1]
cost = json.load(open(f"{work}/profile.json"))["profiles"][0]["summary"]["cost"]
launches = {}
for m in json.load(open(f"{work}/scope.json"))["runs"][0]["measurements"]:
    kernel, dims = m["key"].split("/")[1], dict(d.split("=") for d in m["key"].split("/")[4].split(","))
    scopes = int(dims["calls"]) * int(dims["depth"])
    launches.setdefault(kernel, []).append(statistics.median(m["samples_ns"]) / m["batch"] / scopes)
used = {kernel: statistics.median(medians) for kernel, medians in launches.items()}


def row(name, on, off=None):
    print(f"| harness, {name} | {on:.1f} | {'–' if off is None else f'{off:.2f}'} |")


row("fresh memory", cost["on"], cost["off"])
row("fresh memory, live memory followed", cost["memory"])
row("memory in use", used["on"], used["off"])
row("memory in use, live memory followed", used["memory"])
row("1 % sampled", used["sampled"])
END
}

row() { printf '| %s | %s | %s |\n' "$1" "${2:-–}" "${3:-–}"; }

absent() { row "$1: $2"; }

lttng_program() {
  cat >points.h <<'END'
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER costs
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./points.h"
#if !defined(POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define POINTS_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(costs, begin, LTTNG_UST_TP_ARGS(int, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, site, site)))
LTTNG_UST_TRACEPOINT_EVENT(costs, end, LTTNG_UST_TP_ARGS(int, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, site, site)))
#endif
#include <lttng/tracepoint-event.h>
END
  cat >points.c <<'END'
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { ROUNDS = 21, PAIRS = 20000 };
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
int main(void)
{
    double costs[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int i = 0; i < PAIRS; i++) {
            lttng_ust_tracepoint(costs, begin, i);
            lttng_ust_tracepoint(costs, end, i);
        }
        costs[r] = (now() - start) / PAIRS;
    }
    qsort(costs, ROUNDS, sizeof(*costs), by_size);
    printf("%.1f\n", costs[ROUNDS / 2]);
    return 0;
}
END
  "${CC:-cc}" -O2 -I. points.c -o points -llttng-ust -ldl
}

# Each step is looked at: in a condition the shell goes on behind one that failed, and without a session
# "on" would be the time of points that are off.
lttng_session() {
  lttng create costs --output "$work/trace" || return 1
  lttng enable-channel -u costs --subbuf-size 16M --num-subbuf 8 || return 1
  lttng enable-event -u -c costs 'costs:*' || return 1
  lttng start || return 1
  ./points >on || return 1
  lttng destroy costs
}

# Its daemons belong to the session and end with it.
lttng_costs() {
  local status=0
  ./points >off || return 1
  lttng-sessiond --daemonize --pidfile "$work/lttng.pid" || return 1
  lttng_session || status=1
  kill "$(cat "$work/lttng.pid")"
  [ $status -eq 0 ] || return 1
  row "LTTng-UST $(pkg-config --modversion lttng-ust 2>/dev/null)" "$(cat on)" "$(cat off)" >"$work/lttng.row"
}

# Wherever the distribution has it.
has_header() { printf '#include <%s>\n' "$1" | "${CC:-cc}" -E - >/dev/null 2>&1; }

lttng_peer() {
  if ! command -v lttng >/dev/null || ! has_header lttng/tracepoint.h; then
    absent LTTng-UST "not installed (lttng-tools, liblttng-ust-dev)"
  elif (cd "$work" && export LTTNG_HOME="$work" && lttng_program && lttng_costs) >"$work/log" 2>&1; then
    cat "$work/lttng.row"
  else
    absent LTTng-UST "it did not run: $(tail -1 "$work/log")"
  fi
}

tracy_peer() {
  if [ -n "$(apt-cache search --names-only '^(lib)?tracy' 2>/dev/null)" ]; then
    absent Tracy "packaged here, and not measured yet"
  else
    absent Tracy "no package of this distribution"
  fi
}

{
  printf '| ns a scope | on | off |\n|---|--:|--:|\n'
  own
  lttng_peer
  tracy_peer
} >"$work/table.md"
cat "$work/table.md" >"$output"
