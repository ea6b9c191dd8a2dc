#!/usr/bin/env bash
# Completes or checks the lock files of a checkout, with the facts that are known (see action.yml).
#
# In a pull request the base revision decides what is trusted: the project file and the facts are its own.
set -euo pipefail
cd "$GITHUB_WORKSPACE"

common=(--color never)
project_options=$("$(dirname "${BASH_SOURCE[0]}")/../verify/project.sh")
while IFS= read -r option; do
  if [[ -n $option ]]; then
    common+=("$option")
  fi
done <<<"$project_options"

# Prints the path of what a file held before the pull request; nothing if there is no such file.
reviewed() {
  local copy
  if [[ -z $LOCKCTL_BASE ]]; then
    if [[ -f $1 ]]; then
      echo "$1"
    fi
  elif git cat-file -e "$LOCKCTL_BASE:$1" 2>/dev/null; then
    copy=$(mktemp)
    git cat-file blob "$LOCKCTL_BASE:$1" >"$copy"
    echo "$copy"
  fi
}

if [[ -n $LOCKCTL_FACTS ]]; then
  facts=$(reviewed "$LOCKCTL_FACTS")
  if [[ -n $facts ]]; then
    "$LOCKCTL" cache import --quiet --from "$LOCKCTL_FACTS" -- "$facts"
  fi
fi
if [[ -n $LOCKCTL_CACHED && -f $LOCKCTL_CACHED ]]; then
  code=0
  "$LOCKCTL" cache import --quiet --from "the cache of GitHub" -- "$LOCKCTL_CACHED" || code=$?
  case $code in
    0) ;;
    # It contradicts the reviewed facts.
    1) exit 1 ;;
    *)
      echo "::warning title=lockctl lock::facts in the cache were ignored"
      rm "$LOCKCTL_CACHED"
      ;;
  esac
fi

args=(lock "${common[@]}" --confine .)
if [[ $LOCKCTL_RECURSIVE == true ]]; then
  args+=(--recursive)
fi
if [[ -n $LOCKCTL_PLATFORMS ]]; then
  args+=(--platform "$LOCKCTL_PLATFORMS")
fi
if [[ $LOCKCTL_CHECK == true ]]; then
  args+=(--check)
fi
roots=()
while IFS= read -r root; do
  if [[ -n $root ]]; then
    roots+=("$root")
  fi
done <<<"$LOCKCTL_ROOTS"
"$LOCKCTL" "${args[@]}" -- "${roots[@]}"

# Writes what the lock files need to a file.
export_to() {
  local root args=(cache export "${common[@]}")
  if [[ $LOCKCTL_RECURSIVE == true ]]; then
    args+=(--recursive)
  fi
  for root in "${roots[@]}"; do
    # A root without providers has no lock file.
    if [[ $LOCKCTL_RECURSIVE == true || -f $root || -f $root/.terraform.lock.hcl ]]; then
      args+=(--for "$root")
    fi
  done
  if [[ ${args[*]} == *" --for "* ]]; then
    "$LOCKCTL" "${args[@]}" -- "$1"
  fi
}

if [[ -n $LOCKCTL_FACTS && $LOCKCTL_CHECK != true && -z $LOCKCTL_BASE ]]; then
  export_to "$LOCKCTL_FACTS"
fi
if [[ -n $LOCKCTL_CACHED ]]; then
  export_to "$LOCKCTL_CACHED"
fi
