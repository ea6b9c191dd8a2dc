#!/usr/bin/env bash
# Uploads the findings of `verify` to the code scanning of GitHub (see action.yml).
#
# The findings have failed the job already, if they shall. An upload that fails is a line in the log.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
# shellcheck source=api.sh
source "$(dirname "${BASH_SOURCE[0]}")/api.sh"

if [[ ! -s $LOCKCTL_SARIF ]]; then
  echo "::notice title=lockctl verify::there are no findings to upload: lockctl did not run"
  exit 0
fi
if [[ -n $LOCKCTL_HEAD_REPOSITORY && $LOCKCTL_HEAD_REPOSITORY != "$GITHUB_REPOSITORY" ]]; then
  echo "::notice title=lockctl verify::the findings were not uploaded: the pull request comes from a fork," \
    "whose runs may not write"
  exit 0
fi
if ! command -v jq >/dev/null; then
  echo "::warning title=lockctl verify::the findings were not uploaded: the runner has no jq"
  exit 0
fi
gzip -9 <"$LOCKCTL_SARIF" | base64 | tr -d '\n' >"$dir/sarif"
jq --null-input --arg commit "$GITHUB_SHA" --arg ref "$GITHUB_REF" --rawfile sarif "$dir/sarif" \
  '{commit_sha: $commit, ref: $ref, sarif: $sarif, tool_name: "lockctl"}' >"$dir/upload.json"
status=$(api POST "/repos/$GITHUB_REPOSITORY/code-scanning/sarifs" upload.json)
case $status in
  202) echo "Uploaded the findings to code scanning" ;;
  *)
    echo "::warning title=lockctl verify::the findings were not uploaded:" \
      "$(refusal "$status" 'security-events: write')"
    ;;
esac
