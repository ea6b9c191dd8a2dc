//! Reasons to refuse evidence.

use crate::hash::{Hash, Hashes};
use crate::package::ChecksumListFault;
use crate::platform::Platform;

use super::KeyRemark;

/// Evidence that does not vouch for a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    #[error(transparent)]
    ChecksumList(ChecksumListFault),
    #[error("the checksum document does not list {filename:?}")]
    NotListed { filename: String },
    #[error("the checksum document lists {listed} for {filename:?}, the registry states {stated}")]
    ListedHashDiffers {
        filename: String,
        listed: Hash,
        stated: Hash,
    },
    #[error("{fault}: {}", listed(stated))]
    StatedHashes {
        fault: &'static str,
        /// The hashes, as the mirror spells them.
        stated: Hashes,
    },
    #[error("the registry states hashes of packages, but {lacking} {platform}")]
    ClaimsLack {
        /// The missing statement, as in `no size of that for`.
        lacking: &'static str,
        platform: Platform,
    },
    #[error(
        "the registry states {} of {platform}, but {stated} as its shasum",
        shown(claimed)
    )]
    ClaimedHashDiffers {
        platform: Platform,
        claimed: Hash,
        /// The SHA-256 beside the download address, as it is spelled there.
        stated: String,
    },
    #[error("the registry names no signing key")]
    NoKeys,
    #[error("the registry names {count} signing keys")]
    TooManyKeys { count: usize },
    #[error("signing key {number} is not readable: {fault}")]
    KeyUnreadable {
        /// The number of the key, counted from 1.
        number: usize,
        fault: Fault,
    },
    #[error("the signature is not readable: {fault}")]
    SignatureUnreadable { fault: Fault },
    #[error("{}", unknown_issuer(.tried, .issuer.as_deref()))]
    UnknownIssuer {
        /// The IDs of the primary keys that were tried, in the registry's order.
        tried: Vec<String>,
        /// The ID of the key that signed, if the signature names one that counts.
        issuer: Option<String>,
    },
    #[error("the signature does not match the document, although it names key {key_id}")]
    BadSignature {
        /// The ID of the key, or subkey, that the signature names.
        key_id: String,
    },
    #[error("key {key_id} is revoked")]
    Revoked { key_id: String },
    #[error("a signature of key {key_id} depends on an unknown condition, {name:?}")]
    UnknownCondition { key_id: String, name: String },
    #[error("the signature by key {key_id} is not valid now: {remark}")]
    Untimely { key_id: String, remark: KeyRemark },
    #[error("the trust signature over key {key_id} is not good: {reason}")]
    TrustSignature { key_id: String, reason: Box<Self> },
}

/// The reason why a key block or a signature file is refused before anything is checked with it, as a sentence about it.
pub(super) type Fault = &'static str;

/// Maximum number of hashes in a message.
const MAX_SHOWN_HASHES: usize = 3;

/// Maximum number of characters of a stated hash in a message; a hash of a known scheme is shorter.
const MAX_SHOWN_HASH_CHARS: usize = 100;

fn shown(hash: &Hash) -> String {
    let text = hash.as_str();
    match text.char_indices().nth(MAX_SHOWN_HASH_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn listed(stated: &Hashes) -> String {
    let hashes: Vec<String> = stated.iter().take(MAX_SHOWN_HASHES).map(shown).collect();
    match stated.len() - hashes.len() {
        0 => hashes.join(", "),
        more => format!("{} and {more} more", hashes.join(", ")),
    }
}

fn unknown_issuer(tried: &[String], issuer: Option<&str>) -> String {
    let signer = issuer.map_or_else(
        || "the document has no signature of a known kind".to_owned(),
        |id| format!("the document is signed by key {id}"),
    );
    match tried {
        [] => format!("{signer}, and the registry names no usable key"),
        ids => format!("{signer}, but the registry names {}", ids.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_hash_is_cut_visibly() {
        let hash = |text: &str| text.parse::<Hash>().expect("a hash");
        assert_eq!(shown(&hash("zz:abc")), "zz:abc");
        let long = shown(&hash(&format!("zz:{}", "é".repeat(200))));
        assert_eq!(long, format!("zz:{}…", "é".repeat(97)));
    }
}
