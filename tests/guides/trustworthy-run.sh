# shellcheck shell=bash
# Around docs/trustworthy-run.md.
not_run 'harness compare --baseline main --build*' 'builds two commits; test cli.build, with a small project'
not_run 'harness compare --baseline-bin*' 'every size of gemm takes long; test cli.ab, with a scripted clock'
