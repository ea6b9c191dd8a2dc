#!/usr/bin/env bash
# Decides whether this run may read and write facts in the cache of GitHub (see action.yml).
#
# GitHub looks for a key in the scope of the run first, then in those of the base and of the default
# branch. What a pull request writes stays in its own scope, but later runs of it read that, also after
# the commit that wrote it was taken back: so no pull request reads the cache here. Other events, such as
# pull_request_target and issue_comment, run in the scope of the default branch although anyone may cause
# them: they are no better. What is left is pushes to the default branch, schedules, and what members start.
set -euo pipefail

restore=false
save=false
if [[ $LOCKCTL_CACHE == true && $LOCKCTL_REF == refs/heads/* ]]; then
  case $LOCKCTL_EVENT in
    push | workflow_dispatch)
      if [[ -n $LOCKCTL_DEFAULT_BRANCH && $LOCKCTL_REF == "refs/heads/$LOCKCTL_DEFAULT_BRANCH" ]]; then
        restore=true
      fi
      ;;
    # It runs on the default branch alone.
    schedule) restore=true ;;
  esac
  if [[ $restore == true && $LOCKCTL_EVENT == push ]]; then
    save=true
  fi
fi
version=$("$LOCKCTL" --version)
{
  echo "restore=$restore"
  echo "save=$save"
  echo "prefix=lockctl-facts-${version##* }-"
} >>"$GITHUB_OUTPUT"
