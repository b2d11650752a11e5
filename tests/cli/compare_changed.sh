# shellcheck shell=bash
# What a change cannot reach of harness's own kernels and models is not measured, and named: by what
# the builds of both sides recorded, by ninja or make, and by a map; what nobody knows reaches
# everything. U-05, U-10.
# shellcheck disable=SC2016  # what is quoted is for other shells
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
unset GITHUB_EVENT_PATH CI_MERGE_REQUEST_IID HARNESS_DB
command -v ninja >/dev/null || skip "there is no ninja"
command -v nm >/dev/null || skip "there is no nm"
command -v "${CC:-cc}" >/dev/null || skip "there is no C compiler"

# A tree in the shape of harness's own: what runs in a launch, a page that does not, a registry, and
# variants of which the model calls one. What "links" them is the harness of this test, so that
# measuring is real. The page's text becomes code in a step of its own; so do the suite's settings,
# which a launch has.
git -c init.defaultBranch=main init -q project
cd project || exit 1
mkdir kernels models harness web suites pages
cat >build.ninja <<'END'
rule compile
  command = ${cc} -I../src -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule embed
  command = (echo "const char $name[] ="; sed 's/.*/"&\\n"/' $in; echo ";") >$out
rule link
  command = ln -sf ${harness} $out
build page_text.c: embed ../src/web/page.js
  name = page_text
build suite_text.c: embed ../src/suites/ci.json
  name = suite_text
build main.o: compile ../src/harness/main.c
build page.o: compile ../src/harness/page.c
build page_text.o: compile page_text.c
build launch.o: compile ../src/harness/launch.c
build suite_text.o: compile suite_text.c
build registry.o: compile ../src/harness/registry.c
build gemm.o: compile ../src/kernels/gemm.c
build gemm_naive.o: compile ../src/kernels/gemm_naive.c
build gemm_simd.o: compile ../src/kernels/gemm_simd.c
build layernorm_simd.o: compile ../src/kernels/layernorm_simd.c
build gpt_plain.o: compile ../src/models/gpt_plain.c
build harness: link main.o page.o page_text.o launch.o suite_text.o registry.o gemm.o gemm_naive.o $
  gemm_simd.o layernorm_simd.o gpt_plain.o
END
sed -i "1i cc = ${CC:-cc}\nharness = $HARNESS" build.ninja
cat >Makefile <<'END'
objects = main.o page.o launch.o registry.o gemm.o gemm_naive.o gemm_simd.o layernorm_simd.o gpt_plain.o
VPATH = $(SOURCE)/harness $(SOURCE)/kernels $(SOURCE)/models
harness: $(objects) page_text.o suite_text.o
	ln -sf $(HARNESS) $@
%.o: %.c
	$(CC) -I$(SOURCE) -MMD -MP -c $< -o $@
page_text.c: $(SOURCE)/web/page.js
	(echo "const char page_text[] ="; sed 's/.*/"&\\n"/' $<; echo ";") >$@
suite_text.c: $(SOURCE)/suites/ci.json
	(echo "const char suite_text[] ="; sed 's/.*/"&\\n"/' $<; echo ";") >$@
END
echo 'extern int gemm_tools(int), gemm_call(int), page(void), cmd_internal_launch(void);' >harness/all.h
cat >harness/main.c <<'END'
#include "harness/all.h"
int main(void) { return page() + cmd_internal_launch(); }
END
echo 'extern const char page_text[]; int page(void) { return page_text[0]; }' >harness/page.c
cat >harness/launch.c <<'END'
#include "harness/all.h"
extern const char suite_text[];
extern const int *registry_builtin(void);
int cmd_internal_launch(void) { return registry_builtin()[0] + suite_text[0]; }
END
cat >harness/registry.c <<'END'
extern const int gemm_naive[], gemm_simd[], layernorm_simd[], gpt_plain[];
const int *registry_builtin(void)
{
    return gemm_naive[0] ? gemm_simd : layernorm_simd[0] ? layernorm_simd : gpt_plain;
}
END
printf '#include "harness/all.h"\nint gemm_tools(int x) { return x; }\n' >kernels/gemm.c
echo '#define TILE 4' >kernels/tile.h
cat >kernels/gemm_naive.c <<'END'
#include "harness/all.h"
const int gemm_naive[] = { 1 };
int gemm_call(int x) { return gemm_tools(x); }
END
cat >kernels/gemm_simd.c <<'END'
#include "harness/all.h"
#include "kernels/tile.h"
const int gemm_simd[] = { TILE };
int gemm_simd_call(int x) { return gemm_tools(x); }
END
printf '#include "kernels/tile.h"\nconst int layernorm_simd[] = { TILE };\n' >kernels/layernorm_simd.c
cat >models/gpt_plain.c <<'END'
#include "harness/all.h"
const int gpt_plain[] = { 1 };
int gpt_forward(int x) { return gemm_call(x); }
END
echo 'page' >web/page.js
echo 'settings' >suites/ci.json
echo text >pages/page.md
echo .harness >.gitignore
git add .
git commit -q -m 'Start'
git tag fork

# Small ones, and short.
cat >../small.json <<'END'
{ "name": "small", "launches": 2, "sampling": { "min_time": "1ms", "max_time": "2ms", "warmup": "0ms" },
  "select": [
    { "filters": ["gemm/linear"], "variants": ["naive", "simd"],
      "dims": { "batch": [1], "seq": [8], "n": [48], "k": [48] } },
    { "filters": ["layernorm/plain"], "variants": ["simd"],
      "dims": { "batch": [1], "seq": [8], "width": [48] } },
    { "filters": ["gpt/nano/prefill"], "variants": ["plain"], "dims": { "batch": [1], "seq": [8] } } ] }
END
what=(--suite ../small.json --no-repeat)
recipe='cp "$SOURCE/build.ninja" "$BUILD" && ninja -C "$BUILD"'
map=()

# changed COMMAND ARG...: what was left out, in how many benchmarks that ended, and how.
changed() {
  local status=0
  rm -f ../left.json
  "$HARNESS" "$@" --build-command "$recipe" "${map[@]}" --device cpu:1 --blocks 1 "${what[@]}" \
    >../said 2>&1 || status=$?
  grep -h '^left out\|^nobody knows\|^gate: [0-9a-f]* reaches\|^harness:' ../said | sort -u |
    sed -E 's/[0-9a-f]{7} reaches/COMMIT reaches/; s/^/  /'
  case $status in 0 | 1 | 77) ;; *) echo "  status $status" ;; esac
}

# change FILE...: a commit that changes them, and what a comparison with it leaves out.
change() {
  git checkout -q -b "change-$RANDOM$RANDOM" fork
  for file in "$@"; do
    case $file in
      *.[ch]) echo '/* */' >>"$file" ;;
      *) echo '# more' >>"$file" ;;
    esac
  done
  git add .
  git commit -q -m "Change $*"
  echo "$*:"
  changed compare --build --baseline fork --changed --json -o ../left.json # HEAD is the head
  [[ ! -e ../left.json || $(json ../left.json head) == HEAD* ]] || echo "  a file without its head"
  echo "  measured: $(json_length ../left.json rows 2>/dev/null || echo nothing)"
}

say "By ninja: a variant, what it includes, what it calls, what calls it"
change kernels/gemm_simd.c
check "a note names what is left out" \
  grep -q 'left out, as the change cannot reach them: gemm/linear/naive' ../left.json
change kernels/gemm.c
change kernels/tile.h
change models/gpt_plain.c

say "What runs in every launch reaches everything, and the page nothing"
change suites/ci.json
change harness/page.c web/page.js

say "What nobody knows reaches everything"
change kernels/gemm_simd.c pages/new.md

say "By a map"
printf '# pages reach nothing\npages/*:\n*.js: layernorm/*\n' >../map
map=(--changed-map ../map)
change pages/page.md kernels/gemm_simd.c
change web/page.js
echo '*.md: gemm/linear/fast' >../map
change pages/page.md

say "The same for a pull request"
map=()
git checkout -q -b request fork
echo '/* */' >>kernels/gemm_simd.c
git commit -q -a -m 'Tune'
changed gate --base fork --changed --output ../left
echo "  measured: $(json_length ../left/compare.json rows)"
check "the comment names what was left out" grep -q 'left out.*gpt' ../left/comment.md
git checkout -q -b paper fork
echo '/* */' >>harness/page.c
git commit -q -a -m 'Page'
"$CLI/../../ci/pr.sh" --base fork --changed --output ../left --build-command "$recipe" "${what[@]}" \
  2>../said | sed -E 's/[0-9a-f]{7} reaches/COMMIT reaches/' || cat ../said
check "the comment says that nothing was measured" grep -q 'left out.*gpt' ../left/comment.md
check "the gate passes" grep -qx 0 ../left/status

say "A variant that came with the change is measured"
git checkout -q -b old fork
git rm -q kernels/layernorm_simd.c
sed -i '/layernorm_simd.o:/d; s/layernorm_simd.o//' build.ninja
sed -i 's/, layernorm_simd\[\]//; s/layernorm_simd\[0\] ? layernorm_simd : //' harness/registry.c
git commit -q -a -m 'Without'
printf 'build.ninja:\nharness/registry.c:\n' >../map
map=(--changed-map ../map)
changed compare --build --baseline old --head fork
map=()

say "Objects that tell nothing are no hindrance, and those that cannot be read one"
git checkout -q -b silent fork
sed -i 's/^#include "harness.all.h"/typedef int nothing;/; s/^int .*//' kernels/gemm.c
echo 'int gemm_tools(int x) { return x; }' >>kernels/gemm_naive.c
git commit -q -a -m 'Silent'
echo '/* */' >>models/gpt_plain.c
git commit -q -a -m 'Next'
changed compare --build --baseline silent~1 --head silent --changed
whole=$recipe
recipe="$recipe && echo 'no object' >\"\$BUILD/page.o\""
changed compare --build --baseline silent~1 --head silent --changed
recipe=$whole

say "By what make's compilers left"
recipe='make -s -C "$BUILD" -f "$SOURCE/Makefile"'
export HARNESS CC=${CC:-cc}
if command -v make >/dev/null; then
  change kernels/tile.h
  change harness/page.c web/page.js
else
  skip "there is no make"
fi

say "Options that do not go together"
t compare --baseline main --changed
t compare --baseline-bin "$HARNESS" --changed-map map 2>&1 | sed "s,$HARNESS,HARNESS,g"
