# shellcheck shell=bash
# Around docs/pr-comment.md: a project with a history of two sides, and a remote repository.
before() {
  in_path
  project toy
  git commit -q --allow-empty -m 'The start'
  git init -q --bare "$HOME/remote.git"
  git remote add origin "$HOME/remote.git"
  fake base
  harness baseline save main >"$WORK/saved"
  git commit -q --allow-empty -m 'The change'
  fake head slow=1.2
}
after() {
  check "the comment shows pictures of that branch" grep -q "/plots-[0-9a-f]*/.*png" comment.md
  check "they lie there" grep -q png \
    <(git --git-dir="$HOME/remote.git" ls-tree --name-only "$(git --git-dir="$HOME/remote.git" for-each-ref --format='%(refname)')")
}
