# shellcheck shell=bash
# Debian packages: fields, dependencies, contents; installed into a root of their own, run, removed.
# S4-28.
build=$(dirname "$HARNESS")
if ldd "$HARNESS" | grep -qE 'lib[at]san|libubsan'; then skip "sanitizers are not packed"; fi
[ -e "$build/CPackConfig.cmake" ] || skip "not a build tree: $build"
for tool in dpkg-deb dpkg-shlibdeps dpkg-query objdump strip gzip; do
  command -v $tool >/dev/null || skip "no $tool (package dpkg-dev has what Debian packages are made with)"
done

"$(dirname "$CMAKE")/cpack" -G DEB --config "$build/CPackConfig.cmake" -D CPACK_HARNESS_LEVEL=1 \
  -D CPACK_DEBIAN_COMPRESSION_TYPE=none -B packed >"$WORK.log/cpack" 2>&1 ||
  cat "$WORK.log/cpack"
version=$("$HARNESS" version | sed -n '1s/^harness //p')
architecture=$(dpkg --print-architecture)
find packed -maxdepth 1 -name '*.deb' | LC_ALL=C sort | sed "s#^packed/##; s/_${version}_${architecture}\.deb/_VERSION_ARCH.deb/"
program=packed/harness_${version}_$architecture.deb
profile=packed/libharness-profile-dev_${version}_$architecture.deb
field() { dpkg-deb --field "$1" "$2"; }

say "Fields"
for file in "$program" "$profile"; do
  dpkg-deb --field "$file" Package Section Priority Recommends Suggests Description
done
check "the version is that of the program" test "$(field "$program" Version)" = "$version"
check "the size is told" test "$(field "$program" Installed-Size)" -gt 1000
echo "the scopes library needs: $(field "$profile" Depends)"
# What the program is linked to, by the package that has it.
depends=$(field "$program" Depends | tr ',' '\n' | sed 's/^ *\([^ ]*\).*/\1/')
for library in $(objdump -p "$HARNESS" | sed -n 's/^ *NEEDED *//p'); do
  file=$(ldd "$HARNESS" | sed -n "s#^[[:space:]]*$library => \([^ ]*\) .*#\1#p")
  [ -n "$file" ] || continue # the loader
  owner=$(dpkg-query --search "$(realpath "$file")" 2>/dev/null | sed 's/[:,].*//')
  found=
  for name in $depends; do
    case $owner in "" | "$name") found=yes ;; esac
  done
  [ -n "$found" ] || echo "not a dependency: $owner for $library"
done
for library in libbenchmark libcjson libsqlite3 libgomp libc6; do
  check "$library" grep -q "$library" <(field "$program" Depends)
done

say "lintian finds no error, and has no warning"
if command -v lintian >/dev/null; then
  lintian --no-cfg --allow-root "$program" "$profile" 2>&1 | grep -v '^[IPXN]: '
else
  echo "skipped: no lintian"
fi

say "Contents"
list() { cat "$1.list"; }
for file in "$program" "$profile"; do dpkg-deb --contents "$file" >"$file.list"; done
for file in "$program" "$profile"; do
  check "all is root's" not grep -vqE '^[^ ]+ root/root ' <(list "$file")
  check "nothing but below /usr" not grep -vqE ' \./(usr/.*)?$' <(list "$file")
  check "nobody else may write" not grep -qE '^.(....w|.......w)' <(list "$file")
  dpkg-deb --control "$file" control
  dpkg-deb --extract "$file" plain
  check "md5sums fit" bash -c 'cd plain && md5sum --quiet --check ../control/md5sums'
  check "and are of all files" \
    test "$(find plain -type f | wc -l)" -eq "$(wc -l <control/md5sums)"
  rm -rf control plain
done
has() { check "$2" grep -qE " \./$2\$" <(list "$1"); }
for path in usr/bin/harness usr/share/doc/harness/copyright usr/share/doc/harness/changelog.gz \
  usr/share/man/man1/harness.1.gz usr/share/man/man1/harness-run.1.gz \
  usr/share/bash-completion/completions/harness usr/share/zsh/vendor-completions/_harness \
  usr/share/fish/vendor_completions.d/harness.fish usr/share/harness/ctest/perf.sh \
  'usr/lib/.*cmake/harness/harness-config.cmake'; do
  has "$program" "$path"
done
check "no library of the distribution" not grep -q '\.so' <(list "$program" | grep -v 'device/method_plugin\.so$')
has "$program" usr/include/harness/plugin.h
has "$program" usr/share/pkgconfig/harness.pc
has "$program" usr/share/doc/harness/CHANGELOG.md.gz
has "$profile" 'usr/lib/.*/pkgconfig/harness-profile.pc'
has "$profile" usr/include/harness/profile.h
has "$profile" 'usr/lib/.*libharness_profile.a'
check "no file is in both" test -z "$(sort <(list "$program" | grep -v '/$') <(list "$profile" | grep -v '/$') |
  awk '{ print $6 }' | sort | uniq -d)"

say "Installed, run, removed"
# A root of its own with nothing in it: the dependencies are this machine's.
mkdir -p root/var/lib/dpkg/{info,updates,triggers}
touch root/var/lib/dpkg/{status,available}
in_root() {
  PATH=$PATH:/usr/sbin:/sbin dpkg --root="$PWD/root" --force-not-root --force-depends --force-bad-path \
    --log=/dev/null "$@" >"$WORK.log/dpkg" 2>&1
}
in_root --install "$program" "$profile" || cat "$WORK.log/dpkg"
dpkg-query --admindir=root/var/lib/dpkg -W -f '${Package} ${db:Status-Status}\n'
bare() { env -i PATH=/usr/bin:/bin HOME="$WORK" "$@"; }
installed=$PWD/root/usr/bin/harness
check "the same version" test "$(bare "$installed" version | head -1)" = "harness $version"
check "no search path of its own" not grep -qE 'R(UN)?PATH' <(objdump -p "$installed")
check "no debug information" not grep -q '\.debug_info' <(objdump -h "$installed")
check "a run" bare "$installed" run gemm/linear/simd --batch 1 --seq 32 --launches 1 --iterations 3 --db h.db
check "a page" test "$(gzip -dc root/usr/share/man/man1/harness-run.1.gz | head -1 | cut -c1-17)" = '.TH HARNESS\-RUN '
in_root --remove harness libharness-profile-dev || cat "$WORK.log/dpkg"
check "nothing of it is left" test -z "$(find root -path '*/usr/*' -type f)"
