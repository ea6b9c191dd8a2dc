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
# Succeeds if the project files of the checkout are those of the base revision, in all directories.
has_base_projects() {
  # Files of a submodule are not compared. Where case does not count, any spelling is a project file.
  local files=':(top,glob,icase)**/.lockctl.hcl'
  [[ -z $(git ls-files --stage | grep '^160000' || true) ]] &&
    git diff --quiet --no-ext-diff --no-textconv "$LOCKCTL_BASE" -- "$files" &&
    [[ -z $(git ls-files --others -- "$files") ]]
}

if [[ -n $LOCKCTL_BASE ]]; then
  if ! git cat-file -e "$LOCKCTL_BASE^{commit}" 2>/dev/null; then
    git fetch --quiet --depth=1 origin "$LOCKCTL_BASE"
  fi
  # Without --config, the nearest project file of each root counts.
  if [[ $LOCKCTL_PROJECT_FILE != .lockctl.hcl ]] || ! has_base_projects; then
    # An empty file states nothing, so that no file of the pull request counts either.
    project=$(mktemp)
    if git cat-file -e "$LOCKCTL_BASE:$LOCKCTL_PROJECT_FILE" 2>/dev/null; then
      git cat-file blob "$LOCKCTL_BASE:$LOCKCTL_PROJECT_FILE" >"$project"
    fi
    args+=(--config "$project")
  fi
  # The checkout is the base revision with the changes of the pull request, so no history is needed.
  if [[ $LOCKCTL_CHANGED_ONLY == true ]]; then
    args+=(--since "$LOCKCTL_BASE")
  fi
elif [[ $LOCKCTL_PROJECT_FILE != .lockctl.hcl && -f $LOCKCTL_PROJECT_FILE ]]; then
  args+=(--config "$LOCKCTL_PROJECT_FILE")
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
args+=(--format "$LOCKCTL_FORMAT" -- "${roots[@]}")
case $LOCKCTL_FORMAT in
  github | human) exec "$LOCKCTL" "${args[@]}" ;;
  # Not in the checkout, where a link could lead anywhere.
  *) exec "$LOCKCTL" "${args[@]}" >"$LOCKCTL_RESULTS" ;;
esac
