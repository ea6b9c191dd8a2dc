#!/bin/sh
# Measures `lockctl verify` of one root and of many, with nothing installed.
# Usage: scripts/bench-verify.sh [ROOTS] [PROGRAM], after `cargo build --release`.
set -eu
roots=${1:-1000}
top=$(cd "$(dirname "$0")/.." && pwd)
program=${2:-$top/target/release/lockctl}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir one
cp -r "$top/fixtures/quickstart/main.tf" "$top/fixtures/quickstart/modules" one
"$program" -q lock one --fs-mirror "$top/fixtures/quickstart/mirror" >/dev/null
for n in $(seq "$roots"); do
    cp -r one "$n"
done
rm -r one
# A first run that is not measured warms the cache of files.
"$program" verify -r >log.txt || true
tail -1 log.txt
echo "100 runs over one root:"
time sh -c 'for n in $(seq 100); do "$0" verify 1 >/dev/null || true; done' "$program"
echo "one run over $roots roots:"
time sh -c '"$0" verify -r >/dev/null || true' "$program"
