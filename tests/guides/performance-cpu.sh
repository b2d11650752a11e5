# shellcheck shell=bash
# Around docs/performance-cpu.md.
not_run 'ci/peers.sh*' 'installs libraries to compare with, and measures for minutes'
