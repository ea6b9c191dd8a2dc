#!/usr/bin/env bash
# Prints the options that say which project files count, one word a line (see action.yml).
#
# Fetches the base revision of a pull request, if it is not there. Run it in the checkout.
set -euo pipefail

if [[ -n $LOCKCTL_BASE ]]; then
  if ! git cat-file -e "$LOCKCTL_BASE^{commit}" 2>/dev/null; then
    if ! git fetch --quiet --depth=1 origin "$LOCKCTL_BASE" >&2; then
      # Standard output holds the options.
      echo "::error title=lockctl::the base revision $LOCKCTL_BASE, whose project files count, could not be fetched: use actions/checkout with \`fetch-depth: 0\`" >&2
      exit 2
    fi
  fi
  # lockctl makes git fetch nothing. In a partial clone, as for a sparse checkout, git fetches files when
  # their content is asked for.
  git ls-tree -r --full-tree "$LOCKCTL_BASE" |
    awk -F '\t' '$2 ~ /(^|\/)\.lockctl\.hcl"?$/ { split($1, words, " "); print words[3] }' |
    git cat-file --batch-check >/dev/null
  printf '%s\n' --config-at "$LOCKCTL_BASE"
fi
# Without --config, the nearest project file of each root counts.
if [[ $LOCKCTL_PROJECT_FILE != .lockctl.hcl ]] && [[ -n $LOCKCTL_BASE || -f $LOCKCTL_PROJECT_FILE ]]; then
  printf '%s\n' --config "$LOCKCTL_PROJECT_FILE"
fi
