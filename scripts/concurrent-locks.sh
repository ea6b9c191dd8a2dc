#!/bin/sh
# Starts two to four `lockctl lock` at once on one root, each for another platform, and counts the
# hashes that a successful run added and that are missing afterwards.
# Usage: scripts/concurrent-locks.sh [ROUNDS] [PROGRAM], after `cargo build`.
set -eu
rounds=${1:-200}
top=$(cd "$(dirname "$0")/.." && pwd)
program=${2:-$top/target/debug/lockctl}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# What each platform adds is known from a root that is locked for it alone.
lock() {
    (cd "$1" && "$program" -q lock --fs-mirror "$top/fixtures/quickstart/mirror" --platform "$2")
}
fresh() {
    mkdir "$1"
    cp -r "$top/fixtures/quickstart/main.tf" "$top/fixtures/quickstart/modules" "$1"
}
platforms='linux_amd64 linux_arm64 darwin_amd64 darwin_arm64'
for platform in windows_amd64 $platforms; do
    fresh "$platform"
    lock "$platform" "$platform" >/dev/null 2>&1
    grep -o '"h1:.*"' "$platform/.terraform.lock.hcl" >"$platform.hashes"
done

runs=0 lost=0 refused=0 left=0
for round in $(seq "$rounds"); do
    fresh root
    cp windows_amd64/.terraform.lock.hcl root
    started=''
    for platform in $(echo "$platforms" | tr ' ' '\n' | head -$((2 + round % 3))); do
        {
            if lock root "$platform" >"$platform.log" 2>&1; then
                echo locked >"$platform.end"
            else
                echo refused >"$platform.end"
            fi
        } &
        started="$started $platform"
    done
    wait
    for platform in $started; do
        runs=$((runs + 1))
        if [ "$(cat "$platform.end")" != locked ]; then
            refused=$((refused + 1))
            head -1 "$platform.log"
            continue
        fi
        missing=0
        while read -r hash; do
            grep -qF "$hash" root/.terraform.lock.hcl || missing=1
        done <"$platform.hashes"
        lost=$((lost + missing))
    done
    for name in root/.lockctl-*; do
        if [ -e "$name" ]; then left=$((left + 1)); fi
    done
    rm -r root
done
echo "$rounds rounds, $runs runs: $lost lost their hashes, $refused refused, $left temporary files left"
