#!/bin/sh
# Kills `lockctl mirror` at random moments, and compares after each time every file that has a final name with the right
# one. Then, as root, runs it as another user on a mirror that is not its own.
# Usage: scripts/kill-mirrors.sh [RUNS] [SEED]; each run has its own seed, from SEED on. Needs cargo.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
export LOCKCTL_MIRROR_KILLS="${1:-200}" LOCKCTL_MIRROR_SEED="${2:-1}"
cargo test -q --test it mirror_disturbed::killed -- --nocapture

if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
    echo 'skipped: files of another user need root and setpriv'
    exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp -r fixtures/quickstart/main.tf fixtures/quickstart/modules "$dir"
cp -r fixtures/quickstart/mirror "$dir/source"
cp target/debug/lockctl "$dir"
cd "$dir"
unset LOCKCTL_CACHE_DIR
export HOME="$dir/home" LOCKCTL_CACHE_DIR="$dir/store"
./lockctl -q lock --fs-mirror source --platform linux_amd64 2>/dev/null
mirror="mirror m --unpacked --platform linux_amd64 --from source --offline --no-cache"
./lockctl -q $mirror
# Another user reads it, and cannot change it.
sums() { find m -type f -exec sha256sum {} + | sort; }
before=$(sums)
other() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent ./lockctl "$@"; }
other $mirror --check >/dev/null || { echo 'FAILED: another user cannot read it'; exit 1; }
program=$(find m -type f -name 'terraform-provider-*' | head -1)
echo changed >>"$program"
changed=$(sums)
if other $mirror 2>"$dir/said"; then echo 'FAILED: another user replaced a file'; exit 1; fi
cat "$dir/said"
[ "$(sums)" = "$changed" ] || { echo 'FAILED: a file changed'; exit 1; }
./lockctl -q $mirror
[ "$(sums)" = "$before" ] || { echo 'FAILED: its owner cannot repair it'; exit 1; }
echo 'another user: --check reads the mirror, nothing can be changed; its owner repairs it'
