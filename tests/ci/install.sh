# shellcheck shell=bash
# When ci/install.sh builds, and when the prefix has it already. Nothing is built: cmake and the set-up
# are stubs.
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools git
unset BUILD_FOLDER
mkdir -p bin tree/ci
cp "$CI/install.sh" "$CI/lib.sh" tree/ci
printf '#!/bin/sh\n' >tree/ci/setup.sh
cp tree/ci/setup.sh bin/sudo
echo one >tree/source
cat >bin/cmake <<'FAKE'
#!/bin/sh
[ "$1" = --install ] || exit 0
mkdir -p "$4/bin" "$4/share/harness"
printf '#!/bin/sh\necho "harness of %s"\n' "$(cat source)" >"$4/bin/harness"
chmod +x "$4/bin/harness"
FAKE
chmod +x bin/* tree/ci/*.sh
PATH=$PWD/bin:$PATH
# install [OPTION...]: what it says.
install() { tree/ci/install.sh out "$@"; }
git -c init.defaultBranch=main init -q tree
git -C tree add .
git -C tree commit -q -m First

say "A commit is installed once"
install
install
install -DHARNESS_CUDA=OFF
install -DHARNESS_CUDA=OFF

say "A change that is not committed is built each time"
echo two >tree/source
install -DHARNESS_CUDA=OFF
echo three >tree/source
install -DHARNESS_CUDA=OFF
echo "without it, what was installed last is not this commit:"
git -C tree checkout -q source
install -DHARNESS_CUDA=OFF
install -DHARNESS_CUDA=OFF
echo "what git does not know of is no change:"
touch tree/notes
install -DHARNESS_CUDA=OFF

say "A source archive inside another project's repository is not that project's commit"
rm -rf tree/.git tree/notes out
git -c init.defaultBranch=main init -q .
git add tree
git commit -q -m Unpacked
install
echo four >tree/source
install
