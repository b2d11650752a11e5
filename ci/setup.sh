#!/usr/bin/env bash
# Installs what building, running and (with --tests) testing need: Debian or Ubuntu packages.
# Safe to repeat: does nothing when all is there. Without root it prints the command and stops; on
# other systems it prints what is needed, and cmake says what of that is missing.
set -euo pipefail

usage() {
  echo "usage: ci/setup.sh [--tests]"
  echo "  --tests   also what ci/test.sh needs (cmocka, ccache, clang with libFuzzer, clang-format,"
  echo "            clang-tidy, shellcheck, cppcheck, valgrind, Chromium, jq, Slurm, fish, zsh, NumPy,"
  echo "            PyTorch, a compiler for 64-bit Arm and qemu to run what it makes)"
}

# tell_old_cmake: an older one says of the presets that it does not know them, and not why. No failure:
# as root another one may come first than for the user who builds.
tell_old_cmake() {
  local file needed has
  file=$(dirname "${BASH_SOURCE[0]}")/../CMakeLists.txt
  needed=$(sed -nE 's/^cmake_minimum_required\(VERSION ([0-9.]+).*/\1/p' "$file")
  has=$(cmake --version 2>/dev/null | sed -nE '1s/^cmake version ([0-9.]+).*/\1/p') || return 0
  if [ "$(printf '%s\n' "$needed" "${has:-$needed}" | sort -V | head -n 1)" != "$needed" ]; then
    echo "setup: $(command -v cmake) is CMake $has, and $needed or newer is needed, as Debian 12 and" >&2
    echo "  Ubuntu 24.04 have. pip has one, too: python3 -m pip install 'cmake>=$needed'" >&2
  fi
}

# installable PACKAGE: some packages are known by name alone, of which apt-get makes an error.
installable() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -E '^ +Candidate: [^(]' >/dev/null; }

# A browser without windows of its own, where the distribution has it apart. Ubuntu has it as a snap
# alone.
add_browser() {
  local name
  if ! command -v apt-cache >/dev/null; then
    packages+=(chromium)
    return
  fi
  for name in chromium-headless-shell chromium; do
    if installable "$name"; then
      packages+=("$name")
      return
    fi
  done
  echo "setup: no package of Chromium is here: where none is installed otherwise, tests of the page are skipped" >&2
}

add_torch() {
  if ! command -v apt-cache >/dev/null || installable python3-torch; then
    packages+=(python3-torch)
  else
    echo "setup: no package of PyTorch is here: where none is installed otherwise, its tests are skipped" >&2
  fi
}

packages=(gcc g++ cmake ninja-build pkg-config git libbenchmark-dev libcjson-dev libsqlite3-dev
  libopenblas-dev zlib1g-dev libexpat1-dev libmicrohttpd-dev gnuplot-nox fonts-dejavu-core)
case "${1:-}" in
  "") ;;
  --tests)
    packages+=(libcmocka-dev ccache clang clang-format clang-tidy libomp-dev lld shellcheck)
    # clang's libFuzzer and sanitizers, which older distributions have in clang itself. A fresh
    # container knows of no package yet.
    if [ "$(id -u)" -eq 0 ] && ! apt-cache show clang >/dev/null 2>&1; then
      apt-get update -qq
    fi
    if apt-cache show libclang-rt-dev >/dev/null 2>&1; then
      packages+=(libclang-rt-dev)
    fi
    add_browser
    # For the tests of this folder's scripts: what they call, and a Slurm on one machine.
    packages+=(jq curl python3-yaml slurm-wlm munge python3-pytest-benchmark)
    # What the export is checked against its JSON Schema with, .deb packages are made with, and
    # manual pages are rendered with.
    packages+=(python3-jsonschema dpkg-dev groff-base)
    # What reads our files elsewhere, and says here whether it takes them: promtool, the text file
    # collector and Pushgateway, Google Benchmark's compare.py, readers of manual pages and packages, of XML by a schema.
    packages+=(prometheus prometheus-node-exporter prometheus-pushgateway libbenchmark-tools
      python3-scipy mandoc lintian libxml2-utils)
    # Programs of others whose numbers docs/guides/own-metrics.md reads.
    packages+=(openssl zstd lz4 p7zip-full fio sysbench stress-ng sqlite3)
    # For functions of Python that are measured and judged; PyTorch where the distribution has it.
    packages+=(python3-numpy)
    add_torch
    # The shells whose completion is tested beside bash's.
    packages+=(fish zsh)
    # For its stages analyze and valgrind.
    packages+=(cppcheck valgrind)
    # To build for 64-bit Arm and run that.
    if [ "$(uname -m)" = x86_64 ]; then
      packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
    fi
    ;;
  -h|--help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
# They fetch and bundle the page of `harness report`. Node.js from elsewhere brings an npm of its
# own, which Debian's would remove.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  packages+=(nodejs npm)
fi

if ! command -v dpkg-query >/dev/null; then
  echo "ci/setup.sh installs nothing here: it knows Debian and Ubuntu. Needed are the equivalents of:"
  echo "  ${packages[*]}"
  tell_old_cmake
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: everything is installed"
  tell_old_cmake
  exit 0
fi

install="apt-get install --yes --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
  echo "setup: packages are missing. Run this, then start again:" >&2
  echo "  sudo apt-get update && sudo $install" >&2
  exit 2
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # a list of package names
$install -qq >/dev/null

# Of these the programs are wanted, and not the services that begin with them.
for service in prometheus prometheus-node-exporter prometheus-pushgateway; do
  if [[ " ${missing[*]} " == *" $service "* && -d /run/systemd/system ]]; then
    systemctl disable --now --quiet "$service"
  fi
done
tell_old_cmake
