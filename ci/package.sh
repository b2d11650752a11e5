#!/usr/bin/env bash
# Installs a package of harness for a job of CI.
#
#   package.sh PACKAGE FOLDER
#
# PACKAGE is a file or an address (https) of a .deb, which is installed (as root, or where sudo asks
# nothing), or of a .tar.gz, which is unpacked in FOLDER. On GitHub the program is found in the steps
# behind this one, too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
help_if_asked "$@"
[ $# -eq 2 ] || { usage_of "$0" >&2; exit 2; }
package=$1 folder=$2
mkdir -p "$folder"
folder=$(realpath "$folder")
case $package in
  https://*)
    need curl
    file=$folder/${package##*/}
    curl --fail --silent --show-error --location --proto =https --retry 3 --output "$file" -- "$package"
    package=$file
    ;;
esac
[ -f "$package" ] || fail "$package is neither a file nor an address that begins with https://"
case $package in
  *.deb)
    as=()
    [ "$(id -u)" -eq 0 ] || as=(sudo -n)
    "${as[@]}" true || fail "no right to install $package; the .tar.gz needs none"
    # A fresh container has no lists, and those of a runner's image may be old.
    "${as[@]}" apt-get update -qq >/dev/null || true
    "${as[@]}" apt-get install --yes -qq --no-install-recommends "$(realpath "$package")" >/dev/null ||
      fail "$package cannot be installed, see above; the .tar.gz needs no package"
    ;;
  *.tar.gz)
    tar -xzf "$package" -C "$folder" --strip-components=1
    export PATH="$folder/bin:$PATH"
    [ -z "${GITHUB_PATH:-}" ] || echo "$folder/bin" >>"$GITHUB_PATH"
    ;;
  *) fail "$package is neither a .deb nor a .tar.gz" ;;
esac
harness version
