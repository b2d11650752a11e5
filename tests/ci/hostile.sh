# shellcheck shell=bash
# Words of strangers through the scripts of ci/: titles, branches, commits, authors, files, labels,
# numbers, trees, comments. Nothing of them is run, taken for an option, or an order to a forge.
# U-05, U-07.
# shellcheck disable=SC2016  # what is quoted is for other shells, or meant as it is
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
need_tools git jq gzip
export TRAP=$WORK/sprung
# Each as a shell, jq, sed, git, curl or a workflow would have to be told.
words=('$(touch $TRAP)' '`touch $TRAP`' '; touch $TRAP #' '| touch $TRAP' '" ; touch "$TRAP" ; "'
  "' ; touch \$TRAP ; '" '$(touch${IFS}$TRAP)' '${{ github.token }}' '--help' '-x' '--upload-pack=touch $TRAP'
  '--output=/x' '\(env|tostring)' '%s%n' '../../x' '*' '@ada' '<b>' $'two\nlines')
unset_trap() { check "nothing was run" test ! -e "$TRAP"; }

say "A project whose every name is a command"
git init -q --bare remote.git
git -c init.defaultBranch=main init -q toy
cd toy || exit 1
cat >bench.sh <<'EOF'
name=$(jq -Rs . <names)
printf '{"context":{},"benchmarks":[{"name":%s,"run_type":"iteration","iterations":9,"real_time":100,"time_unit":"us"}]}' \
  "$name" >"$OUT"
EOF
printf '%s ' "${words[@]:0:18}" >names
for word in "${words[@]}"; do
  : >"${word//\//_}" 2>/dev/null || true
done
git add -A
git commit -q -m 'Start'
for word in "${words[@]}"; do
  GIT_AUTHOR_NAME=" $word" git commit -q --allow-empty -m "$word" -m "$word" 2>/dev/null ||
    git commit -q --allow-empty -m "$word" # a name of nothing that may stand in one
done
for word in '$(touch${IFS}$TRAP)' '`touch${IFS}$TRAP`' ';touch${IFS}$TRAP' '|touch${IFS}$TRAP' '"quoted"' \
  '${{github.token}}' 'a--help' "it's" '@ada' '$TRAP'; do
  git branch "$word"
done
# Names that `git branch` does not take, but a push of another program does.
git update-ref 'refs/heads/-x' HEAD
git update-ref 'refs/heads/--help' HEAD
git update-ref 'refs/heads/x/refs/heads/history' HEAD
git remote add origin ../remote.git
git push -q origin 'refs/heads/*:refs/heads/*'
git checkout -q '$(touch${IFS}$TRAP)'
base=$(git rev-parse HEAD~3) head=$(git rev-parse HEAD)
echo "commits: $(git rev-list --count HEAD), branches: $(git for-each-ref refs/heads | wc -l)"

say "The gate of a pull request whose title, branch and labels are commands"
event() {
  jq -n --arg base "$base" --arg head "$head" --arg word "$1" --argjson more "${2:-{\}}" '
    {action: "opened", pull_request: ({number: 7, title: $word, body: $word, user: {login: $word},
      labels: [{name: $word}], head: {sha: $head, ref: $word, label: $word, repo: {full_name: $word}},
      base: {sha: $base, ref: $word}} * $more)}' >"$WORK/event.json"
}
gate() {
  GITHUB_EVENT_PATH=$WORK/event.json GITHUB_STEP_SUMMARY=$WORK/summary \
    "$CI/pr.sh" --output ../out --blocks 2 --bench 'sh "$SOURCE/bench.sh"' --build-command true \
    >"$WORK/said" 2>"$WORK/errors" || true
}
event '$(touch $TRAP)' "$(printf '%s\n' "${words[@]}" | jq -Rs '{title: ., body: .}')"
gate
tail -n 1 "$WORK/said"
unset_trap
check "what is printed orders the runner nothing" not grep -E '^[[:space:]]*(::|##\[)' "$WORK/said" "$WORK/errors"
check "the comment mentions nobody" not grep -E '@ada' ../out/comment.md
check "there is a comment" test -s ../out/comment.md

# One of three that stand together, another one each time; with HARNESS_CASES all.
some=()
RANDOM=$(random_seed)
for i in "${!words[@]}"; do
  [ $((i % 3)) -ne 0 ] || chosen=$((RANDOM % 3))
  [ -z "${HARNESS_CASES:-}" ] && [ $((i % 3)) -ne "$chosen" ] || some+=("${words[i]}")
done

say "Numbers and hashes of the event that are none"
for word in "${some[@]}"; do
  for field in number head base; do
    case $field in
      number) more=$(jq -n --arg w "$word" '{number: $w}') ;;
      *) more=$(jq -n --arg w "$word" --arg f "$field" '{($f): {sha: $w}}') ;;
    esac
    event title "$more"
    status=0
    GITHUB_EVENT_PATH=$WORK/event.json "$CI/pr.sh" --output ../none --bench false >"$WORK/said" 2>&1 || status=$?
    [ $status -eq 2 ] || echo "NO: $field $(printf %q "$word"): $status"
  done
done
unset_trap
check "and nothing was measured" test ! -e ../none

say "The same as options"
for word in "${some[@]}"; do
  for option in --base --head --number --blocks; do
    case $option in
      --base | --head) ! git show-ref --verify --quiet "refs/heads/$word" || continue ;; # it is one
    esac
    status=0
    "$CI/pr.sh" --base main "$option" "$word" --output ../none --bench false >"$WORK/said" 2>&1 || status=$?
    [ $status -eq 2 ] || [ "$word" = --help ] || echo "NO: pr.sh $option $(printf %q "$word"): $status"
  done
  # Without what is kept there the gate goes on, and says so.
  "$CI/pr.sh" --base main --history "$word/$word" --output ../none --bench false >"$WORK/said" 2>&1 || true
  rm -rf ../none
  for option in --name --launches --branch; do
    status=0
    "$CI/nightly.sh" --output ../none --branch history "$option" "$word" --bench false >"$WORK/said" 2>&1 || status=$?
    [ $status -eq 2 ] || echo "NO: nightly.sh $option $(printf %q "$word"): $status"
  done
  for action in put get drop; do
    status=0
    mkdir -p ../empty
    "$CI/branch.sh" $action history "$word" ../empty >"$WORK/said" 2>&1 </dev/null || status=$?
    [ $status -ne 0 ] || echo "NO: branch.sh $action history $(printf %q "$word"): $status"
    "$CI/branch.sh" get "$word" cpu ../empty >"$WORK/said" 2>&1 || true
  done
  "$CI/shard.sh" "$word" 2 ../none >"$WORK/said" 2>&1 && [ "$word" != --help ] && echo "NO: shard.sh $(printf %q "$word")"
  "$CI/merge.sh" "$word" ../none >"$WORK/said" 2>&1 && [ "$word" != --help ] && echo "NO: merge.sh $(printf %q "$word")"
  "$CI/gpu.sh" "$word" >"$WORK/said" 2>&1 </dev/null && [ "$word" != --help ] && echo "NO: gpu.sh $(printf %q "$word")"
done
unset_trap

say "A remote that is an option"
REMOTE=--upload-pack=$WORK/trap.sh s branch.sh list history 2>&1 | grep -c 'cannot reach'
unset_trap

say "A branch whose name ends like that of the history"
s branch.sh get history cpu ../kept

say "A tree that git has not made, with names that lead elsewhere"
# bytes HASH: as a tree holds it.  tree NAME: one with a file of that name.
bytes() { printf %b "$(fold -w 2 <<<"$1" | awk '{ printf "\\x%s", $1 }')"; }
tree() {
  local blob
  blob=$(echo outside | git hash-object -w --stdin)
  { printf '100644 %s\0' "$1" && bytes "$blob"; } |
    git hash-object -t tree -w --literally --stdin
}
for name in ../escaped ../../escaped a/../../escaped; do
  inner=$(tree "$name")
  outer=$({ printf '40000 cpu\0' && bytes "$inner"; } |
    git hash-object -t tree -w --literally --stdin)
  git update-ref refs/heads/history "$(git commit-tree -m x "$outer")"
  rm -rf ../remote.git
  cp -r .git ../remote.git # as a server has it that does not look
  git --git-dir=../remote.git config core.bare true
  "$CI/branch.sh" get history cpu ../kept/deep >"$WORK/said" 2>&1 || true
  grep -o 'has a name that is none' "$WORK/said" || cat "$WORK/said"
done
check "nothing is outside of the folder" test ! -e ../escaped -a ! -e ../kept/escaped

say "Submodules, and files kept with git-lfs: nothing is fetched or run, and it is said what lacks"
git checkout -q --orphan bare-bones
git rm -rfq --cached .
git clean -fdqx
cp ../event.json names
printf 'sh missing/build.sh\n' >build.sh
printf '[submodule "a"]\n\tpath = missing\n\turl = ext::sh -c touch%% $TRAP\n\tupdate = !touch $TRAP\n\tbranch = --help\n' \
  >.gitmodules
printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' >.gitattributes
printf '[lfs]\n\turl = ext::sh -c touch\n\tconcurrenttransfers = 1\n' >.lfsconfig
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 9\n' 0 >weights.bin
git add -A
git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,missing
git commit -q -m 'First'
git commit -q --allow-empty -m 'Second'
lacks() { grep -oE "(has|The commit has) submodules, which are not fetched|keeps files with git-lfs, which is not set up" "$1"; }
"$CI/pr.sh" --base HEAD~1 --head HEAD --output ../out --bench true --build-command 'sh build.sh' \
  >"$WORK/said" 2>&1 || echo "[$?]"
lacks "$WORK/said"
"$HARNESS" compare --build --baseline HEAD~1 --head HEAD --build-command 'sh build.sh' null/copy/right \
  --device "$FAKE" --db ../builds.db >"$WORK/said" 2>&1 || echo "[$?]"
lacks "$WORK/said" | sort -u
unset_trap
check "no submodule was fetched" test ! -e .git/modules

say "A part of a sweep is for whom the umask says"
(umask 077 && "$CI/shard.sh" 1 1 ../parts null/copy/right --device "$FAKE" --seed 1 --iterations 5) \
  >"$WORK/said" 2>&1 || true
stat -c '%a' ../parts/shards/1-of-1.db

knock_checks "words of strangers through the scripts of ci/" \
  "nothing is run, taken for an option or a path, or left unsaid"

say "Orders to GitLab in a comment, and in an issue, are text"
forge_start
cd ..
export FORGE=gitlab CI_PROJECT_ID=5 HARNESS_GITLAB_TOKEN=token-of-the-test
export HEAD_SHA=1111111111111111111111111111111111111111
forge_set --arg head $HEAD_SHA '.pulls["7"] = {open: true, head: $head}'
mkdir artifact
echo 7 >artifact/number
printf '<!-- harness:cpu -->\n# Nothing\n\n/merge\n  /approve\n> /close\n/usr/bin\n\na/b\n\xe2\x80\xaeecafer\n' \
  >artifact/comment.md
s comment.sh artifact
forge '.notes[-1].body'
check "no line is one" not grep -E '^[[:space:]>]*/' <(forge '.notes[-1].body')
check "nor does any turn the direction" not grep -q $'\xe2\x80\xae' <(forge '.notes[-1].body')
