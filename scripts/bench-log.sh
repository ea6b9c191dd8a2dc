#!/bin/sh
# Measures `lockctl log` over a repository of 500 commits, each of which changes one of some lock files, beside
# `git log` over the same files.
# Usage: scripts/bench-log.sh [COMMITS [PROVIDERS [ROOTS]]], after `cargo build --release`.
set -eu
commits=${1:-500}
providers=${2:-15}
roots=${3:-1}
program=${CARGO_TARGET_DIR:-$(cd "$(dirname "$0")/.." && pwd)/target}/release/lockctl
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init --quiet .

# One stream for git: commit N moves provider N modulo PROVIDERS to version 1.N.0.
awk -v commits="$commits" -v providers="$providers" -v roots="$roots" '
function hex(seed,    i, text) {
    text = ""
    for (i = 0; i < 64; i++) {
        seed = (seed * 1103 + 12345) % 65521
        text = text substr("0123456789abcdef", seed % 16 + 1, 1)
    }
    return text
}
function entry(p, n,    h, text) {
    text = "provider \"registry.terraform.io/acme/p" sprintf("%02d", p) "\" {\n  version = \"1." n ".0\"\n  hashes = [\n"
    for (h = 0; h < 12; h++) text = text "    \"zh:" hex(p * 1000 + n * 13 + h) "\",\n"
    return text "  ]\n}\n\n"
}
BEGIN {
    for (p = 0; p < providers; p++) entries[p] = entry(p, 0)
    for (n = 1; n <= commits; n++) {
        entries[n % providers] = entry(n % providers, n)
        text = ""
        for (p = 0; p < providers; p++) text = text entries[p]
        printf "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata 7\nchange\n\n", 1700000000 + n * 60
        printf "M 100644 inline live/%d/.terraform.lock.hcl\ndata %d\n%s\n", n % roots, length(text), text
    }
}' | git fast-import --quiet
git symbolic-ref HEAD refs/heads/main
git log --oneline | wc -l | tr '\n' ' '
echo "commits"
time git log --format=%H -- ':(glob)**/.terraform.lock.hcl' >commits.txt
time "$program" log >log.txt
tail -1 log.txt
time "$program" log -n 5 >newest.txt
