//! The keys that Terraform carries with it; read when first needed, once.

use std::sync::LazyLock;

use super::armor;
use super::keyring::Keyring;

static RELEASE_BLOCK: LazyLock<Vec<u8>> =
    LazyLock::new(|| block(include_str!("keys/hashicorp-release.asc")));

static RELEASE_KEY: LazyLock<Keyring> = LazyLock::new(|| read(&RELEASE_BLOCK));

static PARTNERS_KEY: LazyLock<Keyring> =
    LazyLock::new(|| read(&block(include_str!("keys/hashicorp-partners.asc"))));

/// Returns the key with which `HashiCorp` signs its own releases.
pub(super) fn release_key() -> &'static Keyring {
    &RELEASE_KEY
}

/// Returns the key with which `HashiCorp` signs the keys of partners.
pub(super) fn partners_key() -> &'static Keyring {
    &PARTNERS_KEY
}

/// Returns what is in a key block, if it is one of these: `HashiCorp`'s registry hands out the
/// release key with every provider of its own, and reading it costs ten times a signature.
pub(super) fn keyring(bytes: &[u8]) -> Option<&'static Keyring> {
    (bytes == *RELEASE_BLOCK).then(release_key)
}

fn block(text: &str) -> Vec<u8> {
    armor::public_key(text).expect("our own file is armored")
}

fn read(block: &[u8]) -> Keyring {
    Keyring::read(block).expect("our own file holds a key")
}
