#!/usr/bin/env bash
# Measures what the worst inputs cost each reader: processor time and memory, under a limit of address space.
# Usage: scripts/bench-hostile.sh [--bytes N] [--program FILE] [--helper FILE] [READER...]
#
# Needs GNU time. Builds the program and `benches/hostile.rs` if they are not given. Prints a row for each
# case (reader, case, bytes, seconds for 1 MB, memory for each byte, exit code), then a row for each reader with its
# worst case, as the table of `lockctl explain limits` has it. A reader that takes more than a minute, crashes, or
# takes more than eight times as long for four times the input is named at the end; then the exit code is 1.
set -euo pipefail
bytes=1000000 program='' helper=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --bytes) bytes=$2; shift 2 ;;
    --program) program=$(realpath "$2"); shift 2 ;;
    --helper) helper=$(realpath "$2"); shift 2 ;;
    *) break ;;
  esac
done
top=$(cd "$(dirname "$0")/.." && pwd)
time=$(command -v time || type -P gtime) || { echo "GNU time is missing" >&2; exit 2; }
if [[ -z $program ]]; then
  (cd "$top" && cargo build --release)
  program=$top/target/release/lockctl
fi
if [[ -z $helper ]]; then
  helper=$(cd "$top" && cargo bench --bench hostile --no-run 2>&1 | sed -n 's/.*(\(.*hostile-.*\))$/\1/p')
  helper=$(cd "$top" && realpath "$helper")
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache LOCKCTL_CACHE_DIR=$work/cache

# measure NUMBER BYTES: prints seconds, KiB beside those for no input at all, and exit code.
measure() {
  local dir=$work/case args base=$program_memory
  rm -rf "$dir"
  mkdir -p "$dir"
  : >"$dir/stdin"
  args=$("$helper" make "$1" "$2" "$dir")
  if [[ -n $args ]]; then
    # shellcheck disable=SC2086 # the arguments of a command
    set -- "$program" $args
  else
    set -- "$helper" read "$1" "$2"
    base=$helper_memory
  fi
  # 2 GiB of address space, a minute of processor time.
  (cd "$dir" && ulimit -v 2097152 && ulimit -t 60 &&
    "$time" -q -o "$work/figures" -f '%U %S %M %x' "$@" <stdin >/dev/null 2>&1) || true
  awk -v base="$base" 'END { print $1 + $2, ($3 > base ? $3 - base : 0), $4 }' "$work/figures"
}

memory_of() {
  "$time" -q -o "$work/figures" -f %M "$@" >/dev/null && tail -1 "$work/figures"
}
program_memory=$(memory_of "$program" --version)
helper_memory=$(memory_of "$helper" list)

printf '%-28s %-13s %-38s %8s %8s %8s %4s\n' reader kind case bytes s/MB bytes/B exit
wanted=$bytes
"$helper" list | while IFS=$'\t' read -r number reader kind name allowed; do
  if [[ $# -gt 0 ]] && ! printf '%s\n' "$@" | grep -qxF "$reader"; then
    continue
  fi
  bytes=$((wanted < allowed ? wanted : allowed))
  read -r small _ _ < <(measure "$number" $((bytes / 4)))
  read -r seconds memory code < <(measure "$number" "$bytes")
  awk -v reader="$reader" -v kind="$kind" -v name="$name" -v bytes="$bytes" \
    -v small="$small" -v seconds="$seconds" -v memory="$memory" -v code="$code" 'BEGIN {
      printf "%-28s %-13s %-38s %8d %8.3f %8.1f %4d", reader, kind, name, bytes, \
        seconds * 1e6 / bytes, memory * 1024 / bytes, code
      # Times below this say nothing about growth.
      if (seconds > 1 && seconds > 8 * small) printf "  grows faster"
      if (code > 2 && code != 129) printf "  failed"
      print ""
    }'
done | tee "$work/table"
echo
awk '{
    reader = substr($0, 1, 27); gsub(/ +$/, "", reader)
    seconds = substr($0, 92, 8) + 0; memory = substr($0, 101, 8) + 0
    if (!(reader in most)) order[++count] = reader
    if (seconds >= most[reader]) { most[reader] = seconds; worst[reader] = substr($0, 30, 52) }
    if (memory > peak[reader]) peak[reader] = memory
  }
  END {
    for (i = 1; i <= count; i++) {
      gsub(/ +/, " ", worst[order[i]])
      printf "%-28s %8.1f %8.3f  %s\n", order[i], peak[order[i]], most[order[i]], worst[order[i]]
    }
  }' "$work/table"
if grep -E '(grows faster|failed)$' "$work/table" >"$work/bad"; then
  echo
  cat "$work/bad"
  exit 1
fi
