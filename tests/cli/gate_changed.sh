# shellcheck shell=bash
# What a change cannot reach is not measured, and named: by what ninja recorded of both sides, by a map;
# what nobody knows reaches everything. U-05, U-10.
# shellcheck disable=SC2016  # what is quoted is for other shells
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
unset GITHUB_EVENT_PATH CI_MERGE_REQUEST_IID HARNESS_DB
command -v ninja >/dev/null || skip "there is no ninja"
command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"

# Two programs; one has a library of its own, both a header.
git -c init.defaultBranch=main init -q project
cd project || exit 1
mkdir src pages
cat >build.ninja <<'END'
rule compile
  command = ${cc} -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = ${cc} $in -o $out
build sort.o: compile ../src/src/sort.c
build words.o: compile ../src/src/words.c
build parse.o: compile ../src/src/parse.c
build sort: link sort.o words.o
build parse: link parse.o
END
sed -i "1i cc = ${CC:-cc}" build.ninja
echo 'int both(void);' >src/both.h
printf '#include "both.h"\nint words(void) { return 0; }\n' >src/words.c
printf '#include "both.h"\nint words(void);\nint main(void) { return words(); }\n' >src/sort.c
printf '#include "both.h"\nint main(void) { return 0; }\n' >src/parse.c
echo text >pages/page.md
echo .harness >.gitignore
git add .
git commit -q -m 'Start'
git tag fork

# change FILE: a commit that changes it, and what the gate then does.
change() {
  rm -rf ../left
  git checkout -q -b "change-$RANDOM$RANDOM" fork
  for file in "$@"; do
    case $file in
      *.[ch]) echo '/* */' >>"$file" ;;
      *) echo '# more' >>"$file" ;;
    esac
  done
  git add .
  git commit -q -m "Change $*"
  "$HARNESS" gate --base fork --bench 'sort: "$BUILD/sort" 100' --bench 'parse: ${BUILD}/parse >/dev/null' \
    --build-command "$recipe" --changed "${map[@]}" --blocks 1 --output ../left >../said 2>&1 || grep '^harness:' ../said
  echo "$*: $(grep -h '^left out\|^nobody knows\|^gate: [0-9a-f]* reaches' ../said | sort -u |
    sed -E 's/[0-9a-f]{7} reaches/COMMIT reaches/' | paste -sd '|')"
  [ ! -e ../left/compare.json ] || echo "  measured: $(json_length ../left/compare.json rows)"
}
recipe='cp "$SOURCE/build.ninja" "$BUILD" && ninja -C "$BUILD"'
map=()

say "By the build's own dependencies"
change src/sort.c
change src/words.c
change src/parse.c
change src/both.h
change src/sort.c src/parse.c
change src/words.c >/dev/null
check "the comment names what was left out" grep -q 'left out.*parse' ../left/comment.md

say "What nobody knows reaches everything"
change pages/page.md
change build.ninja
change src/sort.c pages/new.md

say "By a map"
printf '# pages reach nothing\npages/*:\n*.txt: parse\n' >../map
map=(--changed-map ../map)
change pages/page.md
change pages/page.md src/sort.c
change build.ninja
echo '*.md sort' >../map
change pages/page.md
echo '*.md: sorts' >../map
change pages/page.md

say "A file that is taken away, and one that comes"
map=()
git checkout -q fork
sed -i 's/src\/sort.c/src\/sort2.c/' build.ninja
git mv src/sort.c src/sort2.c
git commit -q -a -m 'Renamed'
git tag renamed
map=()
"$HARNESS" gate --base fork --head renamed --bench 'sort: $BUILD/sort' --bench 'parse: $BUILD/parse' --changed \
  --build-command "$recipe" --blocks 1 >../said 2>&1
grep -h '^left out\|^nobody knows' ../said | sort -u

say "A program that ninja does not know may be reached by anything"
git checkout -q -b other fork
echo '/* */' >>src/parse.c
git commit -q -a -m 'Other'
"$HARNESS" gate --base fork --bench 'sort: $BUILD/sort' --bench 'own: sh -c true' --changed \
  --build-command "$recipe" --blocks 1 >../said 2>&1
grep -h '^left out\|^nobody knows' ../said | sort -u

say "A command that names several things of the build is reached by what reaches any of them"
git checkout -q other
several() {
  "$HARNESS" gate --base fork --bench "many: $1" --bench 'sort: $BUILD/sort' --changed \
    --build-command "$recipe" --blocks 1 >../said 2>&1 || true
  echo "$1: $(grep -h '^left out\|^nobody knows' ../said | sort -u | paste -sd '|')"
}
several '$BUILD/sort | $BUILD/parse'
several '$BUILD/parse; "$BUILD/sort"'
several 'PRELOAD=$BUILD/parse ${BUILD}/sort'
several '"$BUILD"/sort $BUILD/sort.o'
several '$BUILD/sort --out=$BUILD/times || true'
several 'cd $BUILD && ./parse; $BUILD/sort'

say "A program that is compiled and linked in one step is made of its headers, too"
git checkout -q fork
printf 'rule whole\n  command = ${cc} -MD -MF $out.d $in -o $out\n  depfile = $out.d\n  deps = gcc\n' >>build.ninja
echo 'build whole: whole ../src/src/parse.c' >>build.ninja
git commit -q -a -m 'One more'
git tag whole
echo '/* */' >>src/both.h
git commit -q -a -m 'Its header'
rm -rf ../left
"$HARNESS" gate --base whole --bench 'whole: $BUILD/whole' --bench 'parse: $BUILD/parse >/dev/null' --changed \
  --build-command "$recipe" --blocks 1 --output ../left >../said 2>&1 || true
echo "measured: $(json_length ../left/compare.json rows)"

say "A submodule whose commits git is told to ignore is a change, too"
git checkout -q -b libraries fork
printf '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n\tignore = all\n' >.gitmodules
git add .gitmodules
git update-index --add --cacheinfo "160000,$(git rev-parse fork),lib"
git commit -q -m 'A library'
git tag library
git update-index --cacheinfo "160000,$(git rev-parse renamed),lib"
git commit -q -m 'Its next commit'
"$HARNESS" gate --base library --bench 'sort: $BUILD/sort' --bench 'parse: $BUILD/parse' --changed \
  --build-command "$recipe" --blocks 1 >../said 2>&1 || true
grep -h '^left out\|^nobody knows\|^gate: [0-9a-f]* reaches' ../said | sort -u
