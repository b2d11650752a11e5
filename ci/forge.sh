# shellcheck shell=bash
# What the scripts ask of GitHub and of GitLab; sourced, not run. forge_call() is the one place that
# talks to the network; the functions below it know the addresses and fields of both.
#
#   FORGE=github   GITHUB_REPOSITORY, GITHUB_TOKEN, GITHUB_API_URL   (as in a workflow)
#   FORGE=gitlab   CI_PROJECT_ID, HARNESS_GITLAB_TOKEN, CI_API_V4_URL
#   HARNESS_BOT    the accounts whose comments and issues are ours, with blanks between them, the
#                  token's first; GitHub's default is that of the workflow's own token, GitLab is asked
# Texts go through files: no title, name or comment is ever a part of a command line.

forge_init() {
  local bots
  FORGE=${FORGE:-$([ -n "${GITLAB_CI:-}" ] && echo gitlab || echo github)}
  need curl jq
  case $FORGE in
    github)
      [[ ${GITHUB_REPOSITORY:-} =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] ||
        fail "GITHUB_REPOSITORY must be OWNER/NAME"
      [ -n "${GITHUB_TOKEN:-}" ] || fail "GITHUB_TOKEN is not set"
      forge_base=${GITHUB_API_URL:-https://api.github.com}/repos/$GITHUB_REPOSITORY
      forge_headers=("Authorization: Bearer $GITHUB_TOKEN" "Accept: application/vnd.github+json")
      bots=${HARNESS_BOT:-github-actions[bot]}
      forge_bots_too=''
      ;;
    gitlab)
      [[ ${CI_PROJECT_ID:-} =~ ^[0-9]+$ ]] || fail "CI_PROJECT_ID must be a number"
      [ -n "${HARNESS_GITLAB_TOKEN:-}" ] || fail "HARNESS_GITLAB_TOKEN is not set"
      forge_base=${CI_API_V4_URL:-https://gitlab.com/api/v4}
      forge_headers=("PRIVATE-TOKEN: $HARNESS_GITLAB_TOKEN")
      bots=${HARNESS_BOT:-}
      # An assignment alone: where GitLab does not say it, this ends.
      [ -n "$bots" ] || bots=$(forge_call GET user | jq -r '.username // empty')
      # A project's access token is an account of its own; what one wrote whose token was revoked is
      # the ghost's.
      forge_bots_too="^(ghost|project_${CI_PROJECT_ID}_bot([0-9]*|_[0-9a-z]+))\$"
      forge_base=$forge_base/projects/$CI_PROJECT_ID
      ;;
    *) fail "FORGE is github or gitlab, not \"$FORGE\"" ;;
  esac
  read -ra forge_bots <<<"$bots"
  [ ${#forge_bots[@]} -gt 0 ] || fail "which account is ours is not known; HARNESS_BOT names it"
}

# forge_call METHOD PATH [FILE]: prints the answer; of what is not there forge_absent, where the caller
# has set that. The token is read from standard input by curl, so that no list of processes shows it.
# Only what changes nothing is tried again.
forge_call() {
  local answer status words
  local request=(--silent --show-error --globoff --max-time 60 --request "$1" --header @-
    --header "Content-Type: application/json" --write-out '%{http_code}')
  [ "$1" != GET ] || request+=(--retry 3)
  [ $# -lt 3 ] || request+=(--data-binary "@$3")
  answer=$(mktemp)
  status=$(printf '%s\n' "${forge_headers[@]}" |
    curl "${request[@]}" --output "$answer" "$forge_base/$2") || status=000
  words=$(cat "$answer")
  rm -f "$answer"
  if [ "$status" = 404 ] && [ -n "${forge_absent:-}" ]; then status=200 words=$forge_absent; fi
  [[ $status == 2* ]] ||
    fail "$1 $2: status $status: $(jq -r '.message? // empty' <<<"$words" 2>/dev/null | head -c 300)"
  printf '%s\n' "$words"
}

# forge_all PATH: the elements of all pages of a list, a line each.
forge_all() {
  local page text join='?'
  [[ $1 != *\?* ]] || join='&'
  for page in $(seq 100); do
    text=$(forge_call GET "$1${join}per_page=100&page=$page") || return
    jq -c '.[]' <<<"$text"
    [ "$(jq length <<<"$text")" -eq 100 ] || return 0
  done
  fail "$1 has more than 10,000 entries"
}

# harmless FILE: the text as one that does nothing. A line that begins with a slash is an order to
# GitLab (/merge, /approve, /close), carried out with the rights of whoever posts it.
harmless() {
  if forge_is_github; then cat "$1"; else sed -E 's#^([[:space:]>]*)/#\1\&\#47;#' "$1"; fi
}

# forge_send METHOD PATH TEXT-FILE FIELD [JSON]: the text as that field, beside those of the JSON.
forge_send() {
  local fields
  fields=$(mktemp)
  harmless "$3" | jq -Rs --arg field "$4" --argjson more "${5:-{\}}" '{($field): .} + $more' >"$fields"
  forge_call "$1" "$2" "$fields"
  rm -f "$fields"
}

forge_is_github() { [ "$FORGE" = github ]; }

# The change (pull or merge request) with this number: {"open", "head"}.
forge_change() {
  if forge_is_github; then
    forge_call GET "pulls/$1" | jq -c '{open: (.state == "open"), head: .head.sha}'
  else
    forge_call GET "merge_requests/$1" | jq -c '{open: (.state == "opened"), head: .sha}'
  fi
}

# Fails where no change can be read: a token that may not is told of each that it is not there.
forge_changes_readable() {
  forge_call GET "$(forge_is_github && echo pulls || echo merge_requests)?per_page=1" >/dev/null
}

# change_notes NUMBER: where the comments of a change are.
change_notes() { forge_is_github && echo "issues/$1/comments" || echo "merge_requests/$1/notes"; }

# Our comments on a change, the oldest first: {"id", "body"} a line. On GitLab those of the token's own
# account: with the role Developer it may change no others.
forge_notes() {
  local bots=("${forge_bots[@]}")
  forge_is_github || bots=("${forge_bots[0]}")
  forge_all "$(change_notes "$1")" |
    jq -c 'select((.user // .author | .login // .username) | IN($ARGS.positional[])) | {id, body}' \
      --args "${bots[@]}" | jq -sc 'sort_by(.id)[]'
}

forge_note_add() { forge_send POST "$(change_notes "$1")" "$2" body >/dev/null; }

# forge_note_replace NUMBER ID TEXT-FILE
forge_note_replace() {
  if forge_is_github; then
    forge_send PATCH "issues/comments/$2" "$3" body >/dev/null
  else
    forge_send PUT "merge_requests/$1/notes/$2" "$3" body >/dev/null
  fi
}

# forge_issues LABEL: our issues with it: {"number", "open", "body"} a line. Only members can give a
# label, so on GitLab those are ours, too, that another token of the project has written.
forge_issues() {
  forge_all "issues?state=all&labels=$1" |
    jq -c --arg too "$forge_bots_too" 'select(.pull_request | not) |
      select((.user // .author | .login // .username) |
        IN($ARGS.positional[]) or ($too != "" and test($too))) |
      {number: (.iid // .number), open: (.state != "closed"), body: (.description // .body // "")}' \
      --args "${forge_bots[@]}"
}

issue_field() { forge_is_github && echo body || echo description; }

# forge_issue_open LABEL TITLE TEXT-FILE: prints its number.
forge_issue_open() {
  local more
  more=$(jq -nc --arg title "$2" --arg tag "$1" --arg forge "$FORGE" \
    '{title: $title, labels: (if $forge == "github" then [$tag] else $tag end)}')
  forge_send POST issues "$3" "$(issue_field)" "$more" | jq -r '.iid // .number'
}

# forge_issue_edit NUMBER TEXT-FILE open|closed
forge_issue_edit() {
  if forge_is_github; then
    forge_send PATCH "issues/$1" "$2" body "{\"state\": \"$3\"}" >/dev/null
  else
    forge_send PUT "issues/$1" "$2" description \
      "{\"state_event\": \"$([ "$3" = open ] && echo reopen || echo close)\"}" >/dev/null
  fi
}

# forge_issue_note NUMBER TEXT-FILE
forge_issue_note() {
  forge_send POST "issues/$1/$(forge_is_github && echo comments || echo notes)" "$2" body >/dev/null
}
