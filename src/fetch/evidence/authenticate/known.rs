//! Keys that need not be read again: those that Terraform carries with it, and those of registries that were
//! read before.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use super::armor;
use super::error::Fault;
use super::keyring::Keyring;

/// Maximum number of key blocks that are remembered.
const MAX_REMEMBERED: usize = 64;

/// Maximum length of a remembered block, in bytes; real ones have some thousands.
const MAX_REMEMBERED_BYTES: usize = 64 * 1024;

/// The keys of a block, or the reason why it is refused.
type KeyringResult = Result<Arc<Keyring>, Fault>;

/// The blocks that were read so far; one that is being read is waited for.
static REMEMBERED: Mutex<BTreeMap<Vec<u8>, Arc<OnceLock<KeyringResult>>>> =
    Mutex::new(BTreeMap::new());

static RELEASE_BLOCK: LazyLock<Vec<u8>> =
    LazyLock::new(|| block(include_str!("keys/hashicorp-release.asc")));

/// The key that signs releases of `HashiCorp` itself.
pub(super) static RELEASE_KEY: LazyLock<Arc<Keyring>> =
    LazyLock::new(|| Arc::new(read(&RELEASE_BLOCK)));

/// The key of `HashiCorp` that signs the keys of partners.
pub(super) static PARTNERS_KEY: LazyLock<Keyring> =
    LazyLock::new(|| read(&block(include_str!("keys/hashicorp-partners.asc"))));

/// Reads a key block.
///
/// # Errors
/// As [`Keyring::read`].
pub(super) fn keyring(bytes: &[u8]) -> KeyringResult {
    // Reading a key block costs ten times as much as checking a signature, and a registry sends the same ones
    // again and again: that of `HashiCorp` sends the release key with every provider of its own.
    if bytes == *RELEASE_BLOCK {
        return Ok(Arc::clone(&RELEASE_KEY));
    }
    let read = || Keyring::read(bytes).map(Arc::new);
    let remembered = {
        // A panic while a key is read leaves the map whole; its cell stays empty and is filled by the next
        // one.
        let mut all = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() <= MAX_REMEMBERED_BYTES && all.len() < MAX_REMEMBERED {
            Some(Arc::clone(all.entry(bytes.to_vec()).or_default()))
        } else {
            all.get(bytes).map(Arc::clone)
        }
    };
    match remembered {
        Some(remembered) => remembered.get_or_init(read).clone(),
        None => read(),
    }
}

fn block(text: &str) -> Vec<u8> {
    armor::public_key(text).expect("our own file is armored")
}

fn read(block: &[u8]) -> Keyring {
    Keyring::read_known(block).expect("our own file holds a key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_keys_signed_what_they_say() {
        for text in [
            include_str!("keys/hashicorp-release.asc"),
            include_str!("keys/hashicorp-partners.asc"),
        ] {
            let block = block(text);
            let checked = Keyring::read(&block).expect("each signature is good");
            assert_eq!(format!("{checked:?}"), format!("{:?}", read(&block)));
        }
    }

    #[test]
    fn a_block_is_read_once() {
        let again = |bytes: &[u8]| match (keyring(bytes), keyring(bytes)) {
            (Ok(one), Ok(other)) => Arc::ptr_eq(&one, &other),
            (one, other) => one.err() == other.err(),
        };
        let partners = block(include_str!("keys/hashicorp-partners.asc"));
        assert!(again(&RELEASE_BLOCK) && again(&partners) && again(b"no key"));
        assert!(keyring(b"no key").is_err());
        let large = vec![0; MAX_REMEMBERED_BYTES + 1];
        assert!(keyring(&large).is_err());
        let all = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(all.contains_key(&partners) && !all.contains_key(&large));
    }
}
