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
    #[error("the mirror states only hashes of unknown schemes: {}", listed(stated))]
    UnknownSchemes {
        /// The hashes, as the mirror spells them.
        stated: Hashes,
    },
    #[error(
        "the package has none of the hashes that the mirror states: {}",
        listed(stated)
    )]
    StatedHashesDiffer {
        /// The hashes, as the mirror spells them.
        stated: Hashes,
    },
    #[error("the registry states hashes of packages, but none of {platform}")]
    ClaimsLackPackage { platform: Platform },
    #[error("the registry states hashes of packages, but no size of that for {platform}")]
    ClaimsLackSize { platform: Platform },
    #[error("the registry states hashes of packages, but no zh: of that for {platform}")]
    ClaimsLackHash { platform: Platform },
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
        fault: KeyFault,
    },
    #[error("the signature is not readable: {fault}")]
    SignatureUnreadable { fault: SignatureFault },
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

/// A key that is refused before anything is checked with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    #[error("it is no text with ASCII armor")]
    NotArmored,
    #[error("its armor holds no public key")]
    NotPublicKey,
    #[error("it is longer than {} KiB", super::limits::MAX_ARMOR_BYTES / 1024)]
    TooLong,
    #[error("it has more than {} packets", super::limits::MAX_PACKETS)]
    TooManyPackets,
    #[error(
        "it has more than {} signatures over itself",
        super::limits::MAX_SELF_SIGNATURES
    )]
    TooManySignatures,
    #[error("it is damaged")]
    Damaged,
    #[error("it holds no complete key of a known kind")]
    NoCompleteKey,
}

/// A signature file that is refused before anything is checked with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    #[error("it is empty")]
    Empty,
    #[error("it has ASCII armor, which neither Terraform nor OpenTofu reads")]
    Armored,
    #[error("it is no text with ASCII armor")]
    NotArmored,
    #[error("it is longer than {} KiB", super::limits::MAX_SIGNATURE_BYTES / 1024)]
    TooLong,
    #[error("it has more than {} packets", super::limits::MAX_SIGNATURE_PACKETS)]
    TooManyPackets,
    #[error("it is no OpenPGP signature, or a damaged one")]
    Damaged,
    #[error("it holds something else than signatures")]
    NotSignature,
    #[error("it is no signature over a file")]
    NotOverFile,
    #[error("it does not say when it was made")]
    NoTime,
    #[error("it does not say which key made it")]
    NoIssuer,
}

/// Maximum number of hashes in a message.
const MAX_SHOWN_HASHES: usize = 3;

/// Maximum length of a stated hash in a message, in bytes; a hash of a known scheme is shorter.
const MAX_SHOWN_HASH_BYTES: usize = 100;

fn shown(hash: &Hash) -> &str {
    match hash.as_str() {
        text if text.len() <= MAX_SHOWN_HASH_BYTES => text,
        _ => "a long text",
    }
}

fn listed(stated: &Hashes) -> String {
    let shown: Vec<&str> = stated
        .iter()
        .map(Hash::as_str)
        .filter(|text| text.len() <= MAX_SHOWN_HASH_BYTES)
        .take(MAX_SHOWN_HASHES)
        .collect();
    match stated.len() - shown.len() {
        0 => shown.join(", "),
        more if shown.is_empty() => format!("{more} long texts"),
        more => format!("{} and {more} more", shown.join(", ")),
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
