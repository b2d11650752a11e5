# shellcheck shell=bash
# Which packages ci/setup.sh asks for, by what a distribution has; nothing is installed.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
mkdir bin
printf '#!/bin/sh\necho 1000\n' >bin/id
printf '#!/bin/sh\nexit 1\n' >bin/dpkg-query # none is installed
# `apt-cache show` succeeds for a name that others mention; `policy` says that it has no candidate.
cat >bin/apt-cache <<'FAKE'
#!/bin/sh
case $1:$2 in
  policy:chromium* | policy:python3-torch)
    candidate='(none)'
    case " $THERE " in *" $2 "*) candidate=156.0 ;; esac
    printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "$2" "$candidate"
    ;;
  policy:*) printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$2" ;;
esac
FAKE
chmod +x bin/*

# asked PACKAGE...: what of Chromium and PyTorch is asked for where the distribution has these; the
# status is 2.
asked() {
  local status=0
  THERE="$*" PATH=$PWD/bin:$PATH "$CI/setup.sh" --tests >out 2>err || status=$?
  grep -v '^  sudo ' err
  echo "[$status] $(grep -oE 'chromium[a-z-]*|python3-torch' err | xargs -r || true)"
  check "and the rest" grep -q 'install .* libcmocka-dev .* jq .* python3-numpy ' err
}

say "A browser where it is a package, the one without windows first"
asked chromium chromium-headless-shell python3-torch
asked chromium python3-torch

say "As on Ubuntu, which has it as a snap alone: all else is installed"
asked chromium-browser python3-torch

say "Where PyTorch is no package: all else is installed"
asked chromium

say "A CMake that is too old for the presets is told of, where all packages are installed"
printf '#!/bin/sh\necho installed\n' >bin/dpkg-query
needed=$(sed -nE 's/^cmake_minimum_required\(VERSION ([0-9.]+).*/\1/p' "$CI/../CMakeLists.txt")
check "the presets say the same version" test "$needed" = "$(sed -nE \
  's/.*"cmakeMinimumRequired".*"major": ([0-9]+), "minor": ([0-9]+).*/\1.\2/p' "$CI/../CMakePresets.json")"
# with_cmake VERSION: what is said of it.
with_cmake() {
  printf '#!/bin/sh\necho "cmake version %s"\necho\n' "$1" >bin/cmake
  chmod +x bin/cmake
  echo "$1: $(PATH=$PWD/bin:$PATH "$CI/setup.sh" 2>&1 | xargs)" | sed "s#$WORK#WORK#g; s/$needed/NEEDED/g"
}
with_cmake 3.9.6
with_cmake 3.22.1
with_cmake 4.1.2-rc1
with_cmake "$needed"
