# shellcheck shell=bash
# Around docs/hard-knocks.md.
not_run 'ctest --test-dir build/dev -L reliability*' 'two to four minutes; they are tests of the stage test of ci/test.sh'
not_run 'ci/test.sh reliability*' 'the same tests'
