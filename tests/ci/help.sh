# shellcheck shell=bash
# What the scripts of ci/ say before they do anything.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"

say "Each tells its options with --help, and does nothing else"
# tells SCRIPT OPTION: its comment on top, on standard output alone.
tells() { timeout 60 "$@" >out 2>err </dev/null && [ -s out ] && [ ! -s err ]; }
for script in "$CI"/*.sh "$CI/slurm/submit.sh"; do
  case ${script##*/} in lib.sh|forge.sh) continue ;; esac # they are sourced
  check "${script##*/} --help" tells "$script" --help
  check "${script##*/} -h" tells "$script" -h
done
check "nothing else is here" test "$(find . -type f | sort | paste -sd ' ')" = "./err ./out"

say "A prefix that looks like an option is none"
s install.sh --prefix=here
