#!/usr/bin/env bash
# Makes fixtures/keys/registry anew: the TEST KEYS that the registry of the tests signs with.
#
# All are dated 2020, so that a clock which runs behind does not find them "not yet valid".
# The recorded outcomes say KEYID(main) and not its value, so new keys change nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
out=fixtures/keys/registry
GNUPGHOME=$(mktemp -d)
export GNUPGHOME LC_ALL=C
trap 'gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT
quiet=(gpg --batch --quiet --yes --no-tty --pinentry-mode loopback --passphrase '')
mkdir -p "$out"
for key in main/never stranger/never expired/2020-03-01; do
  name=${key%/*}
  "${quiet[@]}" --faked-system-time 20200101T000000 \
    --quick-gen-key "Registry test key $name <$name@registry.test>" rsa2048 sign "${key#*/}"
  "${quiet[@]}" --armor --export-secret-keys "$name@registry.test" > "$out/$name.asc"
done
printf -- '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nbm90IGEga2V5\n-----END PGP PUBLIC KEY BLOCK-----\n' \
  > "$out/garbage.asc"
