#!/usr/bin/env bash
# Makes fixtures/quickstart/mirror anew: an unpacked filesystem mirror of tiny text "packages".
set -euo pipefail
cd "$(dirname "$0")/.."
mirror=fixtures/quickstart/mirror
rm -rf "$mirror"
for release in greeter/1.1.0 greeter/1.2.0 greeter/2.0.0 pinger/0.4.1; do
  type=${release%/*} version=${release#*/}
  for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64; do
    dir=$mirror/example.com/acme/$type/$version/$platform
    suffix=; [ "${platform%_*}" = windows ] && suffix=.exe
    mkdir -p "$dir"
    printf 'This text stands for the %s provider %s, built for %s.\n' "$type" "$version" "$platform" \
      > "$dir/terraform-provider-${type}_v$version$suffix"
    printf 'Anybody may use this text for anything.\n' > "$dir/LICENSE"
  done
done
