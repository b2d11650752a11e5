# shellcheck shell=bash
# Around docs/performance-gpu.md.
not_run 'ci/gpu.sh*' 'needs a GPU; guide.gpu-node runs the script where there is none'
