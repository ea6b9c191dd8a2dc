#!/bin/sh
# Makes fixtures/keys/kinds anew: a checksum document with keys and signatures of every kind that
# the tests of `authenticate` use. Needs gpg 2.2 or later. The secret keys are thrown away;
# never trust one of these keys with anything.
set -eu

cd "$(dirname "$0")/../fixtures/keys/kinds"
rm -f ./*.asc ./*.sig SHA256SUMS

GNUPGHOME=$(mktemp -d)
export GNUPGHOME LC_ALL=C
trap 'gpgconf --kill gpg-agent; rm -rf "$GNUPGHOME"' EXIT

# The dates, which the tests use as well.
born=20210101T000000
signed=20210201T000000
future=20350101T000000
retired=20250101T000000

at() { # at MOMENT ARGS...: gpg, with the clock standing still
  moment=$1
  shift
  gpg --batch --quiet --yes --no-tty --pinentry-mode loopback --passphrase '' \
    --faked-system-time "$moment!" "$@"
}
# make NAME ALGORITHM USAGE EXPIRY [OPTIONS...]: a key at $born
make() {
  name=$1 algorithm=$2 usage=$3 expiry=$4
  shift 4
  at "$born" "$@" --quick-gen-key "Test $name <$name@lockctl.test>" "$algorithm" "$usage" "$expiry"
}
fingerprint() { # fingerprint NAME LINE: of the primary key (1) or a subkey (2 and on)
  gpg --batch --with-colons --list-keys "<$1@lockctl.test>" 2>/dev/null |
    awk -F: '$1 == "fpr" { print $10 }' | sed -n "$2p"
}
# sign NAME FILE [OPTIONS...]
sign() {
  name=$1 file=$2
  shift 2
  at "$signed" "$@" -u "<$name@lockctl.test>" --output "$file.sig" --detach-sign SHA256SUMS
}
export_key() { gpg --batch --quiet --armor --export "<$1@lockctl.test>" >"$1.asc"; }

# The zips that tests/parity/signatures.rs builds.
cat >SHA256SUMS <<'EOF'
117abf29a7b919adab4c75275dbbbe8be4f3112645ccf07a65e4aaa4896ebac5  terraform-provider-tool_1.0.0_darwin_arm64.zip
a29a9e660bf380a8aef0eeb223c368883d2a57f53a029a5ae7a3e3c22e06ab0b  terraform-provider-tool_1.0.0_linux_amd64.zip
d5d294fb99f09c9f3f866fc3561496da6074fe47834277a81687a79bd7343903  terraform-provider-tool_1.0.0_windows_amd64.zip
EOF

# One key per algorithm.
for algorithm in rsa1024 rsa2048 rsa4096 dsa1024 dsa2048 ed25519 nistp256 nistp521 secp256k1 \
  brainpoolP256r1; do
  make "$algorithm" "$algorithm" sign never
  sign "$algorithm" "$algorithm"
done

# Signatures of one good key that are odd themselves.
at "$signed" --default-sig-expire 1d -u '<rsa2048@lockctl.test>' \
  --output expired-signature.sig --detach-sign SHA256SUMS
at "$future" -u '<rsa2048@lockctl.test>' --output future-signature.sig --detach-sign SHA256SUMS
sign rsa2048 sha1-signature --digest-algo SHA1
sign ed25519 sha1-ed25519 --digest-algo SHA1
sign rsa2048 sha512-signature --digest-algo SHA512
sign rsa2048 ripemd-signature --digest-algo RIPEMD160
sign rsa2048 armored-signature --armor
sign rsa2048 text-signature --textmode
sign rsa2048 notation-signature --sig-notation 'note@lockctl.test=any'
sign rsa2048 condition-signature --sig-notation '!must@lockctl.test=any'
cat ed25519.sig rsa2048.sig >two-signatures.sig
printf 'some other document\n' >other
at "$signed" -u '<rsa2048@lockctl.test>' --output other-document.sig --detach-sign other
rm other

# Keys that are odd.
make expired rsa2048 sign 20210601T000000
sign expired expired
at "$signed" --default-sig-expire 1d -u '<expired@lockctl.test>' \
  --output expired-both.sig --detach-sign SHA256SUMS
make renewed rsa2048 sign 20210301T000000
at "$signed" --quick-set-expire "$(fingerprint renewed 1)" 20310301T000000
sign renewed renewed
(born=20140101T000000 && make sha1-self rsa2048 sign never --cert-digest-algo SHA1)
sign sha1-self sha1-self
make revoked rsa2048 sign never
sign revoked revoked
sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$(fingerprint revoked 1).rev" | gpg --batch --quiet --import

# Subkeys.
make subkey rsa2048 cert never
at "$born" --quick-add-key "$(fingerprint subkey 1)" rsa2048 sign never
at "$born" --quick-add-key "$(fingerprint subkey 1)" cv25519 encr never
sign subkey subkey
make expired-subkey rsa2048 cert never
at "$born" --quick-add-key "$(fingerprint expired-subkey 1)" ed25519 sign 20210601T000000
sign expired-subkey expired-subkey
make revoked-subkey rsa2048 cert never
at "$born" --quick-add-key "$(fingerprint revoked-subkey 1)" ed25519 sign never
sign revoked-subkey revoked-subkey
printf '%s\n' 'key 1' revkey y 0 '' y save |
  gpg --quiet --no-tty --pinentry-mode loopback --passphrase '' --command-fd 0 --status-fd 2 \
    --faked-system-time "$retired!" --edit-key '<revoked-subkey@lockctl.test>' >/dev/null 2>&1
make certifier ed25519 cert never
make certified ed25519 sign never
at "$born" -u '<certifier@lockctl.test>' --quick-sign-key "$(fingerprint certified 1)" >/dev/null
sign certified certified

for key in rsa1024 rsa2048 rsa4096 dsa1024 dsa2048 ed25519 nistp256 nistp521 secp256k1 \
  brainpoolP256r1 expired renewed sha1-self revoked subkey expired-subkey revoked-subkey \
  certified; do
  export_key "$key"
done
