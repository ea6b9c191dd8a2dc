# The arguments of a command that reads lock files alone; sourced by scripts, which run in the checkout.
# shellcheck shell=bash

# Sets `args` to the options that decide what is read, and `roots` to the directories.
read_roots() {
  local line project_options
  args=(--color never)
  project_options=$("$(dirname "${BASH_SOURCE[0]}")/project.sh")
  while IFS= read -r line; do
    if [[ -n $line ]]; then
      args+=("$line")
    fi
  done <<<"$project_options"
  if [[ $LOCKCTL_RECURSIVE == true ]]; then
    args+=(--recursive)
  fi
  # shellcheck disable=SC2034 # The scripts that source this use it.
  roots=()
  while IFS= read -r line; do
    if [[ -n $line ]]; then
      roots+=("$line")
    fi
  done <<<"$LOCKCTL_ROOTS"
}

# Prints the first lock file that is a link. These commands have no `--confine`: in a pull request, a link could
# lead to a file outside of the checkout, whose lines would stand in the log.
linked_lock() {
  git ls-files --stage -z | tr '\0\n' '\n ' |
    grep -E '^120000 .*[[:space:]/]\.terraform\.lock\.hcl$' | head -n 1 | cut -f 2- || true
}
