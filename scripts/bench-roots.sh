#!/bin/sh
# Measures `lockctl lock -r` with nothing to do and `lockctl verify -r` over 10, 100 and 1,000 roots
# of 15 providers each. Needs GNU time.
# Usage: scripts/bench-roots.sh [PROGRAM], after `cargo build --release`.
# SIZES='10 50' measures other numbers of roots; KEEP=DIR generates the trees there and keeps them.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "${1:-$top/target/release/lockctl}")
if [ "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    dir=$KEEP
else
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
fi
cd "$dir"
providers=$(seq -f 'p%02g' 15)
export LOCKCTL_CACHE_DIR="$PWD/cache"

# A filesystem mirror with one version of each provider for the usual platforms.
for name in $providers; do
    for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64; do
        package=mirror/registry.terraform.io/acme/$name/1.2.3/$platform
        mkdir -p "$package"
        echo "$name for $platform" >"$package/terraform-provider-${name}_v1.2.3"
    done
done

# One root, which calls two modules that all roots share.
mkdir -p one/live modules/labels modules/network
root=one/live
{
    echo 'terraform {'
    echo '  backend "s3" {'
    echo '    bucket = "states"'
    echo '  }'
    echo '  required_providers {'
    for name in $providers; do
        echo "    $name = {"
        echo "      source  = \"acme/$name\""
        echo '      version = "~> 1.2"'
        echo '    }'
    done
    echo '  }'
    echo '}'
} >$root/versions.tf
for name in $providers; do
    printf 'resource "%s_thing" "main" {\n  name  = "${var.name}-%s"\n  count = var.size\n}\n\n' \
        "$name" "$name"
done >$root/main.tf
cat >>$root/main.tf <<'TF'
module "labels" {
  source = "../../modules/labels"
  name   = var.name
}

module "network" {
  source = "../../modules/network"
  size   = var.size
}
TF
cat >$root/variables.tf <<'TF'
variable "name" {
  type = string
}

variable "size" {
  type    = number
  default = 2
}
TF
cat >modules/labels/main.tf <<'TF'
terraform {
  required_providers {
    p01 = {
      source = "acme/p01"
    }
  }
}

variable "name" {
  type = string
}

resource "p01_label" "label" {
  text = "label of ${var.name}"
}
TF
cat >modules/network/main.tf <<'TF'
terraform {
  required_providers {
    p02 = {
      source  = "acme/p02"
      version = ">= 1.0"
    }
  }
}

variable "size" {
  type = number
}

resource "p02_network" "network" {
  count = var.size
}
TF
cp -r modules one
(cd one && "$program" -q lock live --fs-mirror ../mirror >/dev/null)
# A registry would have stated the hashes of some zips, too.
awk '{ print } /^  hashes = \[/ {
    for (i = 1; i <= 12; i++) { printf "    \"zh:%064x\",\n", NR * 100 + i }
}' "$root/.terraform.lock.hcl" >one/lock
mv one/lock "$root/.terraform.lock.hcl"
(cd one && "$program" -q lock live --fs-mirror ../mirror >/dev/null)

# Prints a row of the table: the program runs in the directory of a tree.
row() {
    tree=$1
    shift
    (
        cd "$tree"
        # A first run that is not measured warms the cache of files.
        "$program" -q "$@" >/dev/null 2>&1 || true
        /usr/bin/time -o time -f '%e %U %S %M' "$program" -q "$@" >/dev/null 2>&1 || true
        tail -1 time | awk -v roots="$tree" -v what="$1 $2" '{
            printf "%-10s %6d %8.2f s %8.2f s %8.1f MB\n", what, roots, $1, $2 + $3, $4 / 1024
        }'
    )
}

printf '%-10s %6s %10s %10s %11s\n' command roots wall user+sys peak
for size in ${SIZES:-10 100 1000}; do
    mkdir -p "$size/.git" "$size/live"
    printf 'platforms = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"]\n' \
        >"$size/.lockctl.hcl"
    cp -r modules "$size"
    for n in $(seq "$size"); do
        [ -d "$size/live/$n" ] || cp -r "$root" "$size/live/$n"
    done
    row "$size" lock -r --fs-mirror ../mirror
    row "$size" verify -r
done
rm -r one
