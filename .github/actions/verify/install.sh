#!/usr/bin/env bash
# Puts lockctl into $RUNNER_TEMP/lockctl/bin: the released program for this platform if the file
# `digests` beside this script pins one, else a build of the source that the Action is part of.
#
# A download that fails, or has another digest, ends the job. A build would hide it.
set -euo pipefail
action=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$action/../../.." && pwd)
# Cargo and rustup obey files of the directory in which they start: never start them in the checkout.
cd "$RUNNER_TEMP"
mkdir -p lockctl/bin

fail() {
  echo "::error title=lockctl verify::$1"
  exit 2
}

# Prints the Rust name of the platform, nothing where no program is released.
target() {
  case ${RUNNER_OS:-}-${RUNNER_ARCH:-} in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    # Windows on ARM runs it, too.
    Windows-X64 | Windows-ARM64) echo x86_64-pc-windows-msvc ;;
  esac
}

# Prints the line of `digests` about one archive: its digest and its address.
pinned() {
  local digest url
  while read -r digest url; do
    if [[ $digest != "#"* && ${url##*/} == "$1" ]]; then
      echo "$digest $url"
      return
    fi
  done <"$action/digests"
}

# Prints the SHA-256 of a file in hexadecimal digits.
sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  else
    shasum -a 256 <"$1"
  fi | cut -d ' ' -f 1
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/Cargo.toml" | head -n 1)
name=lockctl-$version-$(target)
archive=$name.tar.gz
if [[ ${RUNNER_OS:-} == Windows ]]; then
  archive=$name.zip
fi
read -r digest url <<<"$(pinned "$archive")"

if [[ -z $digest ]]; then
  echo "No program of lockctl $version is released for ${RUNNER_OS:-?} on ${RUNNER_ARCH:-?}: building it"
  cargo install --locked --quiet --path "$source" --root "$RUNNER_TEMP/lockctl"
  exit
fi

echo "Downloading $url"
curl --fail --silent --show-error --location --retry 3 --max-filesize 100000000 \
  --proto '=https,file' --proto-redir '=https' --output "lockctl/$archive" "$url" ||
  fail "$url could not be downloaded"
found=$(sha256 "lockctl/$archive")
if [[ $found != "$digest" ]]; then
  rm "lockctl/$archive"
  fail "$url has the SHA-256 $found, but this revision of the Action pins $digest"
fi
# The digest says which bytes; the attestation says which workflow built them. It is public, but `gh` asks
# for it with a token only, and a token of another server is of no use.
if [[ $url =~ ^https://github\.com/([^/]+/[^/]+)/releases/ && -n ${LOCKCTL_TOKEN:-} &&
  ${GITHUB_SERVER_URL:-} == https://github.com ]] && gh attestation verify --help >/dev/null 2>&1; then
  if ! GH_TOKEN=$LOCKCTL_TOKEN gh attestation verify "lockctl/$archive" --repo "${BASH_REMATCH[1]}" \
    --signer-workflow "${BASH_REMATCH[1]}/.github/workflows/release.yml"; then
    rm "lockctl/$archive"
    fail "gh accepts no attestation of $url"
  fi
fi
# Relative paths: to tar, the colon of a Windows path ends the name of a host.
case $archive in
  *.zip) unzip -q "lockctl/$archive" -d lockctl ;;
  *) tar -xzf "lockctl/$archive" -C lockctl ;;
esac
rm "lockctl/$archive"
mv "lockctl/$name"/lockctl* lockctl/bin/
