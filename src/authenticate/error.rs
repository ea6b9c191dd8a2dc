//! Reasons to refuse evidence.

use crate::hash::{Hash, Hashes};
use crate::package::ListFault;
use crate::platform::Platform;

use super::KeyRemark;

/// Evidence that does not vouch for a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The checksum document is refused as a whole.
    #[error(transparent)]
    ChecksumList(ListFault),
    /// The checksum document has no line for the file.
    #[error("the checksum document does not list {filename:?}")]
    NotListed {
        /// The name that the registry gives to the zip.
        filename: String,
    },
    /// The checksum document and the registry state different hashes.
    #[error("the checksum document lists {listed} for {filename:?}, the registry states {stated}")]
    ListedHashDiffers {
        /// The name that the registry gives to the zip.
        filename: String,
        /// The hash in the document.
        listed: Hash,
        /// The hash beside the download address.
        stated: Hash,
    },
    /// A mirror states hashes of which none can be checked.
    #[error("the mirror states only hashes of unknown schemes: {}", listed(stated))]
    UnknownSchemes {
        /// The hashes, as the mirror spells them.
        stated: Hashes,
    },
    /// A mirror states hashes of which the package has none.
    #[error(
        "the package has none of the hashes that the mirror states: {}",
        listed(stated)
    )]
    StatedHashesDiffer {
        /// The hashes, as the mirror spells them.
        stated: Hashes,
    },
    /// A registry states hashes beside its signed list, but not of the package at hand.
    #[error("the registry states hashes of packages, but none of {platform}")]
    ClaimsLackPackage {
        /// The platform of the package.
        platform: Platform,
    },
    /// A registry states hashes beside its signed list, but no size of the package at hand.
    #[error("the registry states hashes of packages, but no size of that for {platform}")]
    ClaimsLackSize {
        /// The platform of the package.
        platform: Platform,
    },
    /// A registry states hashes beside its signed list, but no `zh:` of the package at hand.
    #[error("the registry states hashes of packages, but no zh: of that for {platform}")]
    ClaimsLackHash {
        /// The platform of the package.
        platform: Platform,
    },
    /// A registry states two different hashes of the zip at hand, or spells them differently.
    #[error(
        "the registry states {} of {platform}, but {stated} as its shasum",
        shown(claimed)
    )]
    ClaimedHashDiffers {
        /// The platform of the package.
        platform: Platform,
        /// The hash beside the signed list.
        claimed: Hash,
        /// The SHA-256 beside the download address, as it is spelled there.
        stated: String,
    },
    /// The registry names no key at all.
    #[error("the registry names no signing key")]
    NoKeys,
    /// The registry names more keys than are checked.
    #[error("the registry names {count} signing keys")]
    TooManyKeys {
        /// The number of keys in the package document.
        count: usize,
    },
    /// A key that the registry names cannot be read.
    #[error("signing key {number} is not readable: {fault}")]
    KeyUnreadable {
        /// The number of the key, counted from 1.
        number: usize,
        /// The reason for which it cannot be read.
        fault: KeyFault,
    },
    /// The signature file cannot be read.
    #[error("the signature is not readable: {fault}")]
    SignatureUnreadable {
        /// The reason for which it cannot be read.
        fault: SignatureFault,
    },
    /// None of the keys made the signature.
    #[error("{}", unknown_issuer(.tried, .issuer.as_deref()))]
    UnknownIssuer {
        /// The IDs of the primary keys that were tried, in the registry's order.
        tried: Vec<String>,
        /// The ID of the key that signed, if the signature names one that counts.
        issuer: Option<String>,
    },
    /// The signature does not match the document.
    #[error("the signature does not match the document, although it names key {key_id}")]
    BadSignature {
        /// The ID of the key, or subkey, that the signature names.
        key_id: String,
    },
    /// The key was revoked by its owner.
    #[error("key {key_id} is revoked")]
    Revoked {
        /// The ID of the primary key.
        key_id: String,
    },
    /// The signature, or one that the key depends on, insists on an unknown condition.
    #[error("a signature of key {key_id} depends on an unknown condition, {name:?}")]
    UnknownCondition {
        /// The ID of the primary key.
        key_id: String,
        /// The name of the critical notation.
        name: String,
    },
    /// The signature is good, but its time is not now.
    #[error("the signature by key {key_id} is not valid now: {remark}")]
    Untimely {
        /// The ID of the primary key.
        key_id: String,
        /// The time that has passed or has not come.
        remark: KeyRemark,
    },
    /// `HashiCorp`'s signature over a partner's key is not good.
    #[error("the trust signature over key {key_id} is not good: {reason}")]
    TrustSignature {
        /// The ID of the primary key.
        key_id: String,
        /// The reason for which that signature is refused.
        reason: Box<Self>,
    },
}

/// A key that is refused before anything is checked with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// There is no armor, or it is damaged.
    #[error("it is no text with ASCII armor")]
    NotArmored,
    /// The armor holds something else.
    #[error("its armor holds no public key")]
    NotPublicKey,
    /// The armored text is too long.
    #[error("it is longer than {} KiB", super::limits::MAX_ARMOR_BYTES / 1024)]
    TooLong,
    /// There are too many packets.
    #[error("it has more than {} packets", super::limits::MAX_PACKETS)]
    TooManyPackets,
    /// The key has signed itself too often.
    #[error(
        "it has more than {} signatures over itself",
        super::limits::MAX_SELF_SIGNATURES
    )]
    TooManySignatures,
    /// A packet ends early, or what follows it is no packet.
    #[error("it is damaged")]
    Damaged,
    /// No key in it is of a known kind, bound to a user by itself and bound to its subkeys.
    #[error("it holds no complete key of a known kind")]
    NoCompleteKey,
}

/// A signature file that is refused before anything is checked with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    /// The file has no content.
    #[error("it is empty")]
    Empty,
    /// The text form, which neither program reads.
    #[error("it has ASCII armor, which neither Terraform nor OpenTofu reads")]
    Armored,
    /// The trust signature is no armored text.
    #[error("it is no text with ASCII armor")]
    NotArmored,
    /// The file is too long.
    #[error("it is longer than {} KiB", super::limits::MAX_SIGNATURE_BYTES / 1024)]
    TooLong,
    /// There are too many signatures.
    #[error("it has more than {} packets", super::limits::MAX_SIGNATURE_PACKETS)]
    TooManyPackets,
    /// The file is not made of OpenPGP packets, or they are damaged.
    #[error("it is no OpenPGP signature, or a damaged one")]
    Damaged,
    /// There is a packet that is no signature.
    #[error("it holds something else than signatures")]
    NotSignature,
    /// The signature is over something else than a file.
    #[error("it is no signature over a file")]
    NotOverFile,
    /// The signature does not say when it was made.
    #[error("it does not say when it was made")]
    NoTime,
    /// The signature does not say which key made it.
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
    let texts = stated.iter().map(Hash::as_str);
    let short = texts.filter(|text| text.len() <= MAX_SHOWN_HASH_BYTES);
    let shown: Vec<&str> = short.take(MAX_SHOWN_HASHES).collect();
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
