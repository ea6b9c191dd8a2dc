#!/usr/bin/env bash
# Uploads what a checkout locks to the dependency graph of GitHub (see action.yml).
#
# An upload that fails is a line in the log.
set -euo pipefail
cd "$GITHUB_WORKSPACE"
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
# shellcheck source=api.sh
source "$(dirname "${BASH_SOURCE[0]}")/api.sh"
# shellcheck source=roots.sh
source "$(dirname "${BASH_SOURCE[0]}")/roots.sh"

if [[ ! -x $LOCKCTL ]]; then
  echo "::notice title=lockctl sbom::no snapshot was uploaded: lockctl is not installed"
  exit 0
fi
if [[ -n $LOCKCTL_HEAD_REPOSITORY && $LOCKCTL_HEAD_REPOSITORY != "$GITHUB_REPOSITORY" ]]; then
  echo "::notice title=lockctl sbom::no snapshot was uploaded: the pull request comes from a fork," \
    "whose runs may not write"
  exit 0
fi
link=$(linked_lock)
if [[ -n $link ]]; then
  echo "::warning title=lockctl sbom::no snapshot was uploaded: $link is a link"
  exit 0
fi
read_roots
# A snapshot that lacks a root would remove its providers from the graph.
if ! "$LOCKCTL" sbom "${args[@]}" --format github -- "${roots[@]}" >"$dir/snapshot.json"; then
  echo "::warning title=lockctl sbom::no snapshot was uploaded: lockctl could not make it"
  exit 0
fi
status=$(api POST "/repos/$GITHUB_REPOSITORY/dependency-graph/snapshots" snapshot.json)
case $status in
  201) echo "Uploaded a snapshot to the dependency graph" ;;
  *)
    echo "::warning title=lockctl sbom::no snapshot was uploaded: $(refusal "$status" 'contents: write')"
    ;;
esac
