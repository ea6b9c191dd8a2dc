#!/usr/bin/env bash
# Commits the lock files that changed and pushes them to the branch of this run (see action.yml).
#
# Nothing else of the checkout is committed, nothing is forced, and a fork is never written to.
set -euo pipefail
cd "$GITHUB_WORKSPACE"

fail() {
  echo "::error title=lockctl lock::$1"
  exit "${2:-1}"
}

# Hooks may have been installed by an earlier step, and would run with the token.
git() {
  command git -c core.hooksPath=/dev/null -c commit.gpgSign=false "$@"
}

files=(':(top,glob)**/.terraform.lock.hcl')
if [[ -n $LOCKCTL_FACTS && -z $LOCKCTL_BASE ]]; then
  files+=(":(top,literal)$LOCKCTL_FACTS")
fi
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
git ls-files -z --full-name --modified --others --exclude-standard -- "${files[@]}" >"$dir/changed"
if [[ ! -s $dir/changed ]]; then
  echo "No lock file changed: nothing to push"
  exit 0
fi

case $GITHUB_EVENT_NAME in
  pull_request)
    if [[ $LOCKCTL_HEAD_REPOSITORY != "$GITHUB_REPOSITORY" ]]; then
      fail "the lock files are not complete, and the pull request comes from a fork, to which nothing is pushed: run \`lockctl lock -r\` there"
    fi
    branch=$LOCKCTL_HEAD_BRANCH
    commit=$LOCKCTL_HEAD
    ;;
  # Of other events, as pull_request_target, strangers decide what is checked out.
  push | schedule | workflow_dispatch)
    if [[ $GITHUB_REF != refs/heads/* ]]; then
      fail "$GITHUB_REF is no branch: nothing is pushed"
    fi
    branch=${GITHUB_REF#refs/heads/}
    commit=$GITHUB_SHA
    ;;
  *) fail "nothing is pushed after the event $GITHUB_EVENT_NAME" 2 ;;
esac
git check-ref-format "refs/heads/$branch" || fail "$branch is no name of a branch" 2
if [[ $(git rev-parse HEAD) != "$commit" ]]; then
  # The checkout of a pull request is a merge with its base, which is on no branch.
  fail "the checkout is not the head of $branch: use actions/checkout with \`ref: \${{ github.head_ref || github.ref }}\`" 2
fi

message='Complete lock files'
if [[ $branch == dependabot/* ]]; then
  # Else Dependabot takes the branch for edited, and neither rebases nor updates it any more.
  message+=$'\n\n[dependabot skip]'
fi
git --literal-pathspecs add --pathspec-from-file="$dir/changed" --pathspec-file-nul
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  commit --quiet --message "$message"

# Every user of the machine sees arguments, so the token is in a variable. The first, empty value takes back
# what actions/checkout has configured: GitHub refuses two of these headers.
header="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$LOCKCTL_TOKEN" | base64 | tr -d '\n')"
export GIT_CONFIG_COUNT=2 GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader" GIT_CONFIG_VALUE_0=
export GIT_CONFIG_KEY_1="http.$GITHUB_SERVER_URL/.extraheader" GIT_CONFIG_VALUE_1=$header
url=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY
if git push --quiet "$url" "HEAD:refs/heads/$branch"; then
  echo "Pushed $(git rev-parse --short HEAD) to $branch"
  exit 0
fi
now=$(git ls-remote "$url" "refs/heads/$branch" | cut -f 1 || true)
if [[ -n $now && $now != "$commit" ]]; then
  echo "::notice title=lockctl lock::nothing was pushed: $branch has newer commits, whose run completes their lock files"
  exit 0
fi
fail "the lock files could not be pushed to $branch: does the job have \`permissions: contents: write\`?"
