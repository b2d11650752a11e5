# shellcheck shell=bash
# Around CONTRIBUTING.md: what this repository's own CI runs at every push.
not_run 'ci/setup.sh --tests*' 'installs packages; stage setup of ci/test.sh'
not_run 'cmake --preset dev && cmake --build*' 'builds all; stage build of ci/test.sh'
not_run 'ctest --preset dev --label-exclude perf*' 'this is one of its tests; stage test of ci/test.sh'
not_run 'ci/test.sh*' 'everything, this test too'
