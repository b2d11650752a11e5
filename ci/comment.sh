#!/usr/bin/env bash
# Posts what ci/pr.sh left behind as a comment of the pull request: replaces the one of the same
# name, or writes a new one.
#
#   comment.sh FOLDER
#   comment.sh --prune     takes the pictures of closed pull requests off PICTURES_BRANCH
#
# It has the right to write, and FOLDER may come from a stranger's code: nothing of it is run, and
# all of it is looked at first. HEAD_SHA is the commit that was measured, as the workflow's own
# event says; the pull request must be open and have it as its head now. (A number that was made up
# is thereby of no use, and a comment on an older push is not posted.) With PICTURES_BRANCH, the
# pictures go there. Where the gate was asked to be --quiet and nothing changed, a comment that is
# there is replaced, and no new one is written. Forge and token: see ci/forge.sh.
# Exit status: 0 posted, or nothing to post; 2 refused or failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=ci/lib.sh
. "$here/lib.sh"
# shellcheck source=ci/forge.sh
. "$here/forge.sh"
help_if_asked "$@"
[ $# -eq 1 ] || { usage_of "$0" >&2; exit 2; }
# The pictures of those that are closed, or not there any more.
prune() {
  local folder folders there change gone=() unknown=0
  forge_init
  there=$("$here/branch.sh" list "${PICTURES_BRANCH:?}")
  mapfile -t folders < <(sed -n 's#^\(pr-[0-9]*\)/.*#\1#p' <<<"$there" | sort -u)
  forge_changes_readable
  for folder in "${folders[@]}"; do
    if ! change=$(forge_absent='{}' forge_change "${folder#pr-}"); then
      unknown=$((unknown + 1))
    elif [ "$(jq .open <<<"$change")" != true ]; then
      gone+=("$folder")
    fi
  done
  [ ${#gone[@]} -eq 0 ] || "$here/branch.sh" drop "$PICTURES_BRANCH" "${gone[@]}"
  echo "comment.sh: took away the pictures of ${#gone[@]} pull requests"
  [ $unknown -eq 0 ] || fail "of $unknown it is not known whether they are open, see above; their pictures stay"
}

most_bytes=65000    # GitHub's limit is 65,536 characters
most_pictures=30
most_picture=2000000

if [ "$1" = --prune ]; then
  prune
  exit
fi
folder=$1

# plain FILE: a file, not a link to one elsewhere on this machine.
plain() { [ -f "$1" ] && [ ! -L "$1" ]; }

for name in number comment.md; do
  plain "$folder/$name" || { echo "comment.sh: no $name in $folder; nothing to post"; exit 0; }
done
number=$(head -c 20 "$folder/number" | tr -d '\0')
[[ $number =~ ^[1-9][0-9]{0,8}$ ]] || fail "$folder/number holds no number"
[ "$(stat -c %s "$folder/comment.md")" -le $most_bytes ] || fail "the comment is too long"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Neither control characters nor what turns the direction of writing.
iconv -f UTF-8 -t UTF-8 "$folder/comment.md" 2>/dev/null | tr -d '\000-\010\013-\037' |
  LC_ALL=C sed -E 's/\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]//g' \
    >"$work/comment" || fail "the comment is no text"
marker=$(head -n 1 "$work/comment")
marker_form='^<!-- harness:[^<>]{1,100} -->$'
[[ $marker =~ $marker_form ]] ||
  fail "the comment does not begin with the name of one"
# blocks_of_code FILE: the lines of each, as sed skips them. In code nobody is called, and a command
# is to be copied as it is. Of a text with other markup than harness writes none: within a tag, or a
# block of another form, what looks like code may be a text that calls.
blocks_of_code() {
  awk '
    NR == 1 { next } # the mark, which was looked at
    from && $0 == "```" { blocks = blocks from "," NR "b\n"; from = 0; before = $0; next }
    !from && before == "" && NR > 2 && /^```[a-z]+$/ { from = NR; next }
    /```|~~~/ { other = 1 }
    !from { before = $0; gsub(/<\/?(details|summary)>/, "") }
    !from && /[<$]|^(---|\+\+\+|;;;| *>>>)/ { other = 1 }
    END { if (!other) printf "%s", blocks }' "$1"
}
# Harness writes names of people so that nobody is called; a text of another origin might not.
sed -i -E -e "$(blocks_of_code "$work/comment")" -e 's/@([A-Za-z0-9])/@\&#8203;\1/g' "$work/comment"

forge_init
change=$(forge_change "$number")
if [ "$(jq .open <<<"$change")" != true ]; then
  echo "comment.sh: #$number is closed; nothing to post"
  exit 0
fi
is_commit "${HEAD_SHA:-}" || fail "HEAD_SHA must be the commit that was measured"
if [ "$(jq -r .head <<<"$change")" != "$HEAD_SHA" ]; then
  echo "comment.sh: ${HEAD_SHA:0:7} is not the head of #$number (any more); nothing to post"
  exit 0
fi

# The first that is ours and has this name; body and name are compared as data.
there=$(forge_notes "$number" |
  jq -rs --arg marker "$marker" \
    '[.[] | select(.body | gsub("\r"; "") | startswith($marker)) | .id] | first // empty')
if [ -z "$there" ] && plain "$folder/quiet"; then
  echo "comment.sh: nothing changed, and #$number has no comment; nothing to post"
  exit 0
fi

# Copies what may be published; false where there is none.
take_pictures() {
  local file name nr=0
  mkdir "$work/pictures"
  for file in "$folder"/pictures/*.png; do
    name=$(basename "$file")
    if plain "$file" && [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$ ]] &&
      [ "$(stat -c %s "$file")" -le $most_picture ] && [ $nr -lt $most_pictures ] &&
      [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]; then
      cp "$file" "$work/pictures/"
      nr=$((nr + 1))
    fi
  done
  [ $nr -gt 0 ]
}

if [ -z "${PICTURES_BRANCH:-}" ] || [ ! -d "$folder/pictures" ] || [ -L "$folder/pictures" ] ||
  ! take_pictures ||
  ! "$here/branch.sh" put "$PICTURES_BRANCH" "pr-$number/${HEAD_SHA:0:12}" "$work/pictures" \
    "pr-$number"; then
  sed -i '/^!\[/d' "$work/comment" # better none than broken ones
fi

if [ -n "$there" ]; then
  forge_note_replace "$number" "$there" "$work/comment"
  echo "comment.sh: replaced the comment $there of #$number"
else
  forge_note_add "$number" "$work/comment"
  echo "comment.sh: wrote a comment to #$number"
fi
