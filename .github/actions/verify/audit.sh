#!/usr/bin/env bash
# Looks for known vulnerabilities of the providers that a checkout locks (see action.yml).
#
# In a pull request the base revision decides which advisories are ignored.
set -euo pipefail
cd "$GITHUB_WORKSPACE"
# shellcheck source=roots.sh
source "$(dirname "${BASH_SOURCE[0]}")/roots.sh"

if [[ ! -x $LOCKCTL ]]; then
  echo "::notice title=lockctl audit::there was no audit: lockctl is not installed"
  exit 0
fi
link=$(linked_lock)
if [[ -n $link ]]; then
  echo "::error title=lockctl audit::there was no audit: $link is a link"
  exit 2
fi
read_roots
exec "$LOCKCTL" audit "${args[@]}" --format github -- "${roots[@]}"
