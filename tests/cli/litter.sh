# shellcheck shell=bash
# In somebody's repository nothing new is left that was not told: .harness/ has a .gitignore of its
# own, and what lies elsewhere is named by the command that wrote it. S0-24.
command -v git >/dev/null || skip "there is no git"
toy_repository
git rm -q --cached .gitignore
rm .gitignore
toy_commit seed=3 "Start"
toy_commit slow=1.1 "Slower"
: >"$WORK.log/known"

# tidy WORD...: what git finds new after the command stands in what it said or was asked for, or its
# folder does.
tidy() {
  local status=0 path
  echo "$*" >"$WORK.log/asked"
  "$HARNESS" "$@" >"$WORK.log/out" 2>"$WORK.log/err" || status=$?
  case $status in 0 | 1 | 77) ;; *) echo "$1: status $status: $(cat "$WORK.log/err")" ;; esac
  git status --porcelain --untracked-files=all | sed 's/^?? //' | sort |
    comm -13 "$WORK.log/known" - >"$WORK.log/new"
  while read -r path; do
    if grep -qwF -- "$path" "$WORK.log/asked"; then
      echo "$1: where it was told to"
    elif grep -qF "$path" "$WORK.log/out" "$WORK.log/err"; then
      echo "$1: named"
    elif grep -qF "${path%%/*}" "$WORK.log/out" "$WORK.log/err"; then
      echo "$1: its folder is named"
    else
      echo "NO: $1 leaves $path without a word"
    fi
  done <"$WORK.log/new" | sort -u
  sort -o "$WORK.log/known" "$WORK.log/known" "$WORK.log/new"
}

say "In a repository that ignores nothing"
tidy list
tidy doctor
tidy version
check "what only tells leaves nothing" test ! -e .harness
tidy run null/copy/right --device "$FAKE" --launches 3 --batch 1,2 --label before
check "the folder that is made says so to git" test "$(cat .harness/.gitignore)" = '*'
tidy run null/copy/right --device "$FAKE,slow=1.2" --launches 3 --batch 1,2 --label after
tidy baseline save main --ref before
tidy baseline save main --ref before --file auto
tidy compare --baseline main
tidy compare --baseline main --format junit -o result.xml
tidy compare --baseline HEAD~1 --head HEAD --build --build-command 'sh build.sh' --device "$FAKE" \
  --blocks 2 null/copy/right --batch 4
tidy bisect --good HEAD~1 --bad HEAD --build-command 'sh build.sh' --device "$FAKE" null/copy/right --batch 4 --blocks 2
tidy selftest null/copy/right --aa 1 --iterations 5 --launches 3 --device "$FAKE"
tidy verify pointwise/gelu/naive --test-shapes
tidy trend
tidy history list
tidy history backup kept.db
tidy history prune --keep-runs 5
tidy export before -o run.json
tidy import run.json
tidy report
tidy profile --import "$CLI/../fixtures/profile/forward/trace.json"
tidy model export --model nano -o weights.safetensors
if command -v gnuplot >/dev/null; then tidy plot after; fi

say "Where the user says, and a folder that was there before"
HARNESS_DB=$PWD/elsewhere/history.db tidy run null/copy/right --device "$FAKE" --launches 3 --batch 1
rm -rf .harness
mkdir .harness
quiet run null/copy/right --device "$FAKE" --launches 3 --batch 1
check "a folder of yours is left as it is" test ! -e .harness/.gitignore
