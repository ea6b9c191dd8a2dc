#!/usr/bin/env bash
# Verifies the lock files of a checkout that was not reviewed yet (see action.yml).
#
# The base revision decides how strict the check is: otherwise a pull request could switch off
# the rules that check it.
set -euo pipefail
cd "$GITHUB_WORKSPACE"

shared=(--color never --confine .)
if [[ $LOCKCTL_RECURSIVE == true ]]; then
  shared+=(--recursive)
fi
project_options=$("$(dirname "${BASH_SOURCE[0]}")/project.sh")
while IFS= read -r option; do
  if [[ -n $option ]]; then
    shared+=("$option")
  fi
done <<<"$project_options"
args=(verify "${shared[@]}")
if [[ -n $LOCKCTL_PLATFORMS ]]; then
  args+=(--platform "$LOCKCTL_PLATFORMS")
fi
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
if [[ -n ${LOCKCTL_REPORT:-} ]]; then
  # The shell writes the page: lockctl itself may write nothing outside of the checkout.
  "$LOCKCTL" report "${shared[@]}" --out - -- "${roots[@]}" >"$LOCKCTL_REPORT" 2>/dev/null || true
fi
args+=(--format "$LOCKCTL_FORMAT" -- "${roots[@]}")
case $LOCKCTL_FORMAT in
  github | human) exec "$LOCKCTL" "${args[@]}" ;;
  # Not in the checkout, where a link could lead anywhere.
  *) exec "$LOCKCTL" "${args[@]}" >"$LOCKCTL_RESULTS" ;;
esac
