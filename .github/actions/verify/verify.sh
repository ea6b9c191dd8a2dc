#!/usr/bin/env bash
# Verifies the lock files of a checkout that was not reviewed yet (see action.yml).
#
# The base revision decides how strict the check is: otherwise a pull request could switch off
# the rules that check it.
set -euo pipefail
cd "$GITHUB_WORKSPACE"

args=(verify --color never --confine .)
if [[ $LOCKCTL_RECURSIVE == true ]]; then
  args+=(--recursive)
fi
if [[ -n $LOCKCTL_PLATFORMS ]]; then
  args+=(--platform "$LOCKCTL_PLATFORMS")
fi
project_options=$("$(dirname "${BASH_SOURCE[0]}")/project.sh")
while IFS= read -r option; do
  if [[ -n $option ]]; then
    args+=("$option")
  fi
done <<<"$project_options"
# The checkout is the base revision with the changes of the pull request, so no history is needed.
if [[ -n $LOCKCTL_BASE && $LOCKCTL_CHANGED_ONLY == true ]]; then
  args+=(--since "$LOCKCTL_BASE")
fi
roots=()
while IFS= read -r root; do
  if [[ -n $root ]]; then
    roots+=("$root")
  fi
done <<<"$LOCKCTL_ROOTS"

if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  "$LOCKCTL" "${args[@]}" --format markdown -- "${roots[@]}" >>"$GITHUB_STEP_SUMMARY" 2>/dev/null || true
fi
if [[ -n ${LOCKCTL_SARIF:-} ]]; then
  "$LOCKCTL" "${args[@]}" --format sarif -- "${roots[@]}" >"$LOCKCTL_SARIF" 2>/dev/null || true
fi
args+=(--format "$LOCKCTL_FORMAT" -- "${roots[@]}")
case $LOCKCTL_FORMAT in
  github | human) exec "$LOCKCTL" "${args[@]}" ;;
  # Not in the checkout, where a link could lead anywhere.
  *) exec "$LOCKCTL" "${args[@]}" >"$LOCKCTL_RESULTS" ;;
esac
