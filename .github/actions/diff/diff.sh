#!/usr/bin/env bash
# Explains what a pull request or a push changes in lock files (see action.yml).
#
# Both sides are git revisions, so nothing is read from the disk, and no link of a branch is followed.
set -euo pipefail
cd "$GITHUB_WORKSPACE"
action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

base=${LOCKCTL_BASE:-$LOCKCTL_BEFORE}
if [[ -z $base || $base =~ ^0+$ ]]; then
  echo "::notice title=lockctl diff::there is nothing to compare with: the event has no earlier revision"
  exit 0
fi
# The event may name an older revision of the base branch than the merge was made with; then changes of the
# base branch would be shown as changes of the pull request. A merge that GitHub made tells by its parents.
head=$(git rev-parse HEAD)
if [[ -n $LOCKCTL_BASE && $GITHUB_REF == refs/pull/*/merge && $head == "$GITHUB_SHA" ]]; then
  # A shallow checkout has no parents, but the commit names them.
  parents=$(git cat-file commit HEAD | sed -n '/^$/q; s/^parent //p')
  if [[ $parents == *$'\n'"$LOCKCTL_HEAD" ]]; then
    base=${parents%%$'\n'*}
  fi
fi
for revision in "$base" ${LOCKCTL_BASE:+"$LOCKCTL_BASE"}; do
  if ! git cat-file -e "$revision^{commit}" 2>/dev/null &&
    ! git fetch --quiet --depth=1 origin "$revision" >&2; then
    if [[ -n $LOCKCTL_BASE ]]; then
      echo "::error title=lockctl diff::the base revision $revision could not be fetched: use actions/checkout with \`fetch-depth: 0\`"
      exit 2
    fi
    # After a forced push, nobody can fetch it.
    echo "::notice title=lockctl diff::the revision before this push could not be fetched"
    exit 0
  fi
done

args=(diff --color never --offline --format markdown)
if [[ -n $LOCKCTL_BASE ]]; then
  args+=(--config-at "$LOCKCTL_BASE")
fi
if [[ -n $LOCKCTL_FAIL_ON ]]; then
  args+=(--fail-on "$LOCKCTL_FAIL_ON")
fi
code=0
"$LOCKCTL" "${args[@]}" "$base" "$head" >"$dir/diff" || code=$?
if [[ ! -s $dir/diff ]]; then
  # An earlier comment is about other revisions, so it is replaced all the same.
  echo "\`lockctl diff\` failed: the log of the run has the reason." >"$dir/diff"
fi

if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  {
    echo "### Changes in lock files"
    echo
    cat "$dir/diff"
  } >>"$GITHUB_STEP_SUMMARY"
fi
if [[ $LOCKCTL_COMMENT == true && -n $LOCKCTL_BASE ]]; then
  "$action/comment.sh" "$dir/diff" "$base" "$head"
fi
exit "$code"
