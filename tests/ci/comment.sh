# shellcheck shell=bash
# Posting what was measured: a new comment, in place of the one that is there, and all that is
# refused of a folder that comes from a stranger. U-07.
# shellcheck disable=SC2016  # what is quoted is for jq, or meant as it is
# shellcheck source=tests/ci/lib.sh
. "$CLI/../ci/lib.sh"
forge_start

head=1111111111111111111111111111111111111111
export HEAD_SHA=$head
artifact() {
  rm -rf artifact
  mkdir artifact
  echo 7 >artifact/number
  printf '<!-- harness:%s -->\n# Nothing got slower\n\nfor `%s`\n' "${1:-cpu}" "${2:-all}" >artifact/comment.md
}
notes() { forge '.notes[] | "\(.id) on \(.on) by \(.author): \(.body | split("\n")[1:] | join("/"))"'; }
forge_set --arg head $head '.pulls["7"] = {open: true, head: $head}'

say "Opened: a new comment"
artifact
s comment.sh artifact
notes

say "Synchronised: the same comment, with other words"
artifact cpu "the second push"
s comment.sh artifact
notes

say "Another machine has its own"
artifact gpu
s comment.sh artifact
notes

say "Others that only look alike are left alone: by somebody else, quoted, another name"
forge_set '.notes = [
  {id: 1, on: "pull:7", author: "mallory", body: "<!-- harness:cpu -->\nmine"},
  {id: 2, on: "pull:7", author: "github-actions[bot]", body: "> <!-- harness:cpu -->\nquoted"},
  {id: 3, on: "pull:7", author: "github-actions[bot]", body: "<!-- harness:cpu2 -->\nother"},
  {id: 4, on: "pull:8", author: "github-actions[bot]", body: "<!-- harness:cpu -->\nelsewhere"}]'
artifact
s comment.sh artifact
notes

say "Beyond the first page"
forge_set '.notes = [range(1; 251) | {id: ., on: "pull:7", author: "ada", body: "no \(.)"}] +
  [{id: 251, on: "pull:7", author: "github-actions[bot]", body: "<!-- harness:cpu -->\r\nold"}]'
artifact
s comment.sh artifact
forge_set '.notes |= map(select(.author != "ada"))'
notes
forge_set '.notes = []'

say "Closed, and a newer push than the one that was measured"
forge_set '.pulls["7"].open = false'
artifact
s comment.sh artifact
forge_set '.pulls["7"].open = true'
HEAD_SHA=2222222222222222222222222222222222222222 s comment.sh artifact

say "A number that was made up: of another pull request, and of none"
forge_set '.pulls["8"] = {open: true, head: "3333333333333333333333333333333333333333"}'
echo 8 >artifact/number
s comment.sh artifact
echo 9 >artifact/number
s comment.sh artifact

say "Of another account, which was ours"
forge_set '.notes = [{id: 1, on: "pull:7", author: "old[bot]", body: "<!-- harness:cpu -->\nold"}]'
artifact
HARNESS_BOT='github-actions[bot] old[bot]' s comment.sh artifact
notes
forge_set '.notes = []'

say "Folders that are not what ci/pr.sh leaves"
for number in '' 0 -1 '7 8' '7;id' '$(touch run)' '`touch run`' '../../issues' 99999999999; do
  artifact
  printf '%s' "$number" >artifact/number
  s comment.sh artifact
done
artifact
printf '7\n\n$(touch run)\n' >artifact/number
s comment.sh artifact
artifact
printf 'no mark\n' >artifact/comment.md
s comment.sh artifact
artifact 'a -->  <b'
s comment.sh artifact
artifact
head -c 70000 /dev/zero | tr '\0' x >>artifact/comment.md
s comment.sh artifact
artifact
printf '\xff\xfe' >>artifact/comment.md
s comment.sh artifact
artifact
echo 'not for others' >secret
ln -sf "$WORK/secret" artifact/comment.md
s comment.sh artifact
rm -rf artifact
s comment.sh artifact
check "nothing was written" test "$(forge '.notes | length')" = 0

say "What is in it is text, without mentions"
artifact cpu '$(touch run) `touch run` "; touch run; @ada, a@b and @'
s comment.sh artifact
notes
check "nothing was run" test ! -e run

say "A command is posted as it is, and what only looks like code has no mentions"
artifact
printf '\n@ada\n\n```sh\n# with <b>, $x and a@b\nnpx @angular/cli build\n```\n\n<details><summary>All</summary>\n\n@bob\n\n</details>\n' \
  >>artifact/comment.md
s comment.sh artifact
notes
for text in '<!--\n\n```sh\n-->\n@ada\n```' '<details>\n```sh\n@ada\n```' '````\n\n```sh\n````\n@ada\n\n```' \
  '~~~\n\n```sh\n~~~\n@ada\n```' '```sh\n````\n@ada\n```' '$$\n\n```sh\n$$\n@ada\n```' '---\n\n```sh\n---\n@ada\n```' \
  '>>>\n\n```sh\n>>>\n@ada\n```'; do
  artifact
  printf '\n%b\n' "$text" >>artifact/comment.md
  "$CI/comment.sh" artifact >"$WORK/said"
  check "$text" grep -q '@&#8203;ada' <(forge '.notes[-1].body')
  check "$text: it mentions nobody" not grep -q '@ada' <(forge '.notes[-1].body')
  forge_set '.notes[-1].body |= (split("\n")[0] + "\nold")'
done

say "Pictures go to their branch, and only pictures"
git init -q --bare remote.git
git init -q here
cd here || exit 1
git remote add origin ../remote.git
export PICTURES_BRANCH=pictures
png() { printf '\x89PNG\r\n\x1a\n%s' "$1"; }
pictures() {
  artifact cpu "$1"
  printf '\n![what changed](https://example.org/%s.png)\n' "$1" >>artifact/comment.md
  mkdir artifact/pictures
  png "$1" >artifact/pictures/"$1".png
  echo '<svg/>' >artifact/pictures/fake.png
  ln -s /etc/passwd artifact/pictures/link.png
  png x >"artifact/pictures/a b.png"
}
on_branch() { git -C ../remote.git ls-tree -r --name-only pictures | sed "s/$head/HEAD/"; }
pictures first
s comment.sh artifact
on_branch
forge '.notes[-1].body' | grep -c '^!\['
say "The next push takes the place of the last"
forge_set '.pulls["7"].head = "2222222222222222222222222222222222222222"'
pictures second
HEAD_SHA=2222222222222222222222222222222222222222 s comment.sh artifact
on_branch
check "the branch has no history" test "$(git -C ../remote.git rev-list --count pictures)" = 1
say "A folder of pictures that is a link to another one has none"
pictures linked
mv artifact/pictures elsewhere
ln -s "$PWD/elsewhere" artifact/pictures
HEAD_SHA=2222222222222222222222222222222222222222 s comment.sh artifact
forge '.notes[-1].body' | grep -c '^!\['
on_branch
say "Where they cannot be put, the comment has none"
git remote set-url origin ../nowhere.git
pictures third
HEAD_SHA=2222222222222222222222222222222222222222 s comment.sh artifact 2>&1 | grep -v '^2>'
forge '.notes[-1].body' | grep -c '^!\['
git remote set-url origin ../remote.git
say "Those of closed ones are taken away"
s comment.sh --prune
forge_set '.pulls["7"].open = false'
s comment.sh --prune
on_branch
say "So are those of one that is not there; of what cannot be asked about they stay"
mkdir some
png closed >some/closed.png
for number in 8 9 10; do "$CI/branch.sh" put pictures "pr-$number/HEAD" some; done
forge_set '.pulls["10"] = {open: false, head: "1"} | .refused = ["pulls"]'
s comment.sh --prune
on_branch
forge_set '.refused = ["pulls/8"]'
s comment.sh --prune
on_branch
forge_set '.refused = []'
cd ..

say "A token that is wrong, or none"
artifact
forge_set '.pulls["7"] = {open: true, head: "1111111111111111111111111111111111111111"}'
GITHUB_TOKEN=another s comment.sh artifact
GITHUB_TOKEN='' s comment.sh artifact

say "GitLab"
export FORGE=gitlab CI_PROJECT_ID=5 HARNESS_GITLAB_TOKEN=token-of-the-test
unset PICTURES_BRANCH
forge_set '.notes = [] | .log = []'
s comment.sh artifact
artifact cpu "the second push"
s comment.sh artifact
notes
forge '.log[]'
say "Where it does not say whose token it is, nothing is posted"
forge_set '.refused = ["user"]'
s comment.sh artifact
forge_set '.refused = []'
HARNESS_BOT=' ' s comment.sh artifact
notes
say "There only those of its own account can be replaced"
forge_set '.notes[0].author = "project_5_bot"'
HARNESS_BOT='project_1_bot project_5_bot' s comment.sh artifact
s comment.sh artifact
