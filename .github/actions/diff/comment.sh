#!/usr/bin/env bash
# Writes the comment of a pull request, or brings it up to date (see action.yml).
# $1: the Markdown, $2 and $3: the revisions that were compared.
#
# The job is about lock files. A comment that cannot be written is a line in the log, and no failure.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
# shellcheck source=../verify/api.sh
source "$(dirname "${BASH_SOURCE[0]}")/../verify/api.sh"

# Pages of 100 comments. Beyond them nobody knows whether there is a comment already.
MAX_PAGES=50

give_up() {
  echo "::warning title=lockctl diff::no comment was written: $1; the summary of the step has the text"
  exit 0
}

if ! command -v jq >/dev/null; then
  give_up "the runner has no jq"
fi
if [[ $LOCKCTL_HEAD_REPOSITORY != "$GITHUB_REPOSITORY" ]]; then
  echo "::notice title=lockctl diff::no comment was written: the pull request comes from a fork, whose" \
    "runs may not write; the summary of the step has the text"
  exit 0
fi
if ! [[ $LOCKCTL_NUMBER =~ ^[0-9]+$ && $LOCKCTL_COMMENT_NAME =~ ^[A-Za-z0-9_.-]*$ ]]; then
  echo "::error title=lockctl diff::\`comment-name\` has letters, digits, \`_\`, \`.\` and \`-\` only"
  exit 2
fi

# Sets `ids` to our comments, the oldest first. Whoever may comment may write the marker, so the author counts
# as well; and other jobs comment as the same author, perhaps with words of a stranger, so the marker must be
# all of the first line.
marker="<!-- lockctl diff${LOCKCTL_COMMENT_NAME:+ $LOCKCTL_COMMENT_NAME} -->"
find_comments() {
  local page status found id
  ids=()
  for ((page = 1; page <= MAX_PAGES; page++)); do
    status=$(api GET "/repos/$GITHUB_REPOSITORY/issues/$LOCKCTL_NUMBER/comments?per_page=100&page=$page")
    if [[ $status != 200 ]]; then
      give_up "$(refusal "$status" 'pull-requests: write')"
    fi
    # shellcheck disable=SC2016 # $marker is a variable of jq.
    found=$(answered --arg marker "$marker" '
      .[] | select(.user.login == "github-actions[bot]" and .user.type == "Bot")
      | select((.body // "" | split("\n")[0] // "" | rtrimstr("\r")) == $marker) | .id')
    for id in $found; do
      ids+=("$id")
    done
    if ! grep -qi '^link:.*rel="next"' "$dir/headers"; then
      return
    fi
  done
  give_up "there are more than $MAX_PAGES pages of comments"
}

# Ends the run if a newer one does the work: whoever is slower would take back what is newer.
stop_if_outdated() {
  local status
  status=$(api GET "/repos/$GITHUB_REPOSITORY/pulls/$LOCKCTL_NUMBER")
  if [[ $status != 200 ]]; then
    give_up "$(refusal "$status" 'pull-requests: write')"
  fi
  if [[ $(answered .head.sha) != "$LOCKCTL_HEAD" ]]; then
    echo "::notice title=lockctl diff::no comment was written: the pull request has newer commits"
    exit 0
  fi
}

update() {
  local status
  status=$(api PATCH "/repos/$GITHUB_REPOSITORY/issues/comments/$1" comment.json)
  if [[ $status != 200 ]]; then
    give_up "$(refusal "$status" 'pull-requests: write')"
  fi
}

run="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
{
  echo "$marker"
  echo "### Changes in lock files"
  echo
  # GitHub refuses more than 65,536 characters, and then an earlier comment about other revisions would stay.
  # lockctl keeps its Markdown below that, unless failures fill it.
  if [[ $(wc -c <"$1") -lt 65000 ]]; then
    cat "$1"
  else
    echo "The changes do not fit into a comment: the summary of [this run]($run) has them."
  fi
  echo
  echo "<sub>\`lockctl diff ${2:0:7} ${3:0:7}\`, [run]($run)</sub>"
} >"$dir/comment"
jq --raw-input --slurp '{body: .}' "$dir/comment" >"$dir/comment.json"

stop_if_outdated
find_comments
if [[ ${#ids[@]} -gt 0 ]]; then
  update "${ids[0]}"
  echo "Updated comment ${ids[0]}"
elif [[ $(<"$1") == "nothing changed" ]]; then
  # There was no comment to correct.
  echo "No lock file changed: no comment"
else
  status=$(api POST "/repos/$GITHUB_REPOSITORY/issues/$LOCKCTL_NUMBER/comments" comment.json)
  if [[ $status != 201 ]]; then
    give_up "$(refusal "$status" 'pull-requests: write')"
  fi
  created=$(answered .id)
  echo "Created comment $created"
  # Another run may have found none, too. All agree that the oldest stays.
  find_comments
  if [[ ${#ids[@]} -gt 0 && ${ids[0]} != "$created" ]]; then
    stop_if_outdated
    update "${ids[0]}"
    echo "Updated comment ${ids[0]} of a run at the same time"
  fi
fi
for ((i = 1; i < ${#ids[@]}; i++)); do
  status=$(api DELETE "/repos/$GITHUB_REPOSITORY/issues/comments/${ids[i]}")
  echo "Deleted comment ${ids[i]}, which was one too many (HTTP $status)"
done
