//! Judges whether evidence vouches for a package.
//!
//! A registry hands over a checksum document, its signature, and the keys that may have made it
//! (`package::Evidence`). This room checks them as the program of the flavor does (rules 1
//! to 4). Everything is a value, the time included; whether the zip has the hash is for the caller that
//! holds its bytes.
//!
//! The mathematics are those of the crate `pgp`, which leaves the rest to us: which packets count,
//! which keys are bound to whom, what has expired. These rules are those of the library that both
//! programs use, and each is where it is applied (`packets`, `signature_info`, `keyring`, `openpgp`). Where ours
//! differ, they are stricter: a signature whose two check bytes are wrong is refused, and keys
//! and signatures of versions other than 4 count for nothing.
//!
//! `keys/` holds the two public keys of `HashiCorp` that Terraform carries: the one that signs its
//! releases (<https://www.hashicorp.com/.well-known/pgp-key.txt>), and the one that signs the keys
//! of partners. A signature outlives the expiry of a key, so an outdated copy still serves.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::addr::ProviderAddr;
use crate::flavor::{Flavor, Program};
use crate::hash::{CheckedPackage, Hash, Hashes, zh_of_digest};
use crate::package::calendar::span;
use crate::package::{ChecksumList, Evidence, SignerKey, SigningKey};

mod armor;
mod attestation;
mod claims;
mod error;
mod keyring;
mod known;
mod limits;
mod note;
mod openpgp;
mod packets;
mod signature_info;
#[cfg(test)]
mod tests;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use attestation::{
    AttestationError, AttestationRoots, AttestedPackages, MAX_ROOTS_BYTES, TrustedRootError,
};
pub use claims::check_claims;
pub use error::AuthError;
pub use note::{FactSigner, Note, SignerError};

use openpgp::{Detached, Verified};

/// Maximum number of keys that a registry may name; the public ones name one or two.
pub const MAX_KEYS: usize = 64;

/// Whose rules decide what a signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The program whose answer is wanted.
    pub flavor: Flavor,
    /// The additional checks that the environment asks for.
    pub enforced: Enforcement,
}

/// Additional checks that the environment asks OpenTofu for; Terraform has no such settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enforcement {
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: its own registry must sign like any other one, and
    /// what it states unsigned counts for nothing (rules 4.1).
    pub validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: what has expired counts for nothing (rules 4.3).
    pub expiration: bool,
}

impl Enforcement {
    /// Nothing beyond what OpenTofu refuses anyway.
    pub const NONE: Self = Self {
        validation: false,
        expiration: false,
    };
}

impl Rules {
    /// Returns true if a package counts although its registry names no signing key (rules 4.1).
    #[must_use]
    pub fn accepts_unsigned(&self, provider: &ProviderAddr) -> bool {
        self.flavor
            .accepts_unsigned_from(provider.hostname().ascii())
            && !self.enforced.validation
    }

    /// Returns true if the program records hashes that the registry of a provider states and does not sign
    /// (`sources` rules 9.4).
    #[must_use]
    pub fn records_claims(&self, provider: &ProviderAddr) -> bool {
        self.flavor.records_claims_of(provider.hostname().ascii()) && !self.enforced.validation
    }
}

/// The signer of a checksum document.
///
/// Displayed as the program says it, e.g. `self-signed, key ID 34365D9472D7468F`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The name of the signature's class in the program.
    pub class: Class,
    /// The key that made the signature.
    pub key: SignerKey,
    /// The time when the key expires, if it does.
    pub expires: Option<SystemTime>,
    /// The oddities that do not stop the program.
    pub remarks: Vec<KeyRemark>,
}

/// A valid signature over a checksum document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoodSignature {
    pub signer: Signer,
    /// When, by the clock of the signer. It is part of what is signed.
    pub made: SystemTime,
}

/// The class of a signature, as a program names it; all classes have the same effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "SignerClass"))]
pub enum Class {
    /// By HashiCorp's own key.
    HashiCorp,
    /// By a key that HashiCorp's partner key has signed.
    Partner,
    /// By any other key that the registry names.
    SelfSigned,
    /// By any key that the registry names: to OpenTofu these are all the same.
    Signed,
}

/// An oddity of a good signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum KeyRemark {
    /// The key, or the subkey that signed, has expired.
    #[error("the key has expired")]
    KeyExpired,
    /// The key, or the subkey that signed, was made after this moment.
    #[error("the key was made {} in the future", span(*ahead))]
    KeyFromTheFuture {
        /// The time from now until then.
        ahead: Duration,
    },
    /// The signature, or one that binds the key, has expired.
    #[error("the signature has expired")]
    SignatureExpired,
    /// The signature, or one that binds the key, was made after this moment.
    #[error("the signature was made {} in the future", span(*ahead))]
    SignatureFromTheFuture {
        /// The time from now until then.
        ahead: Duration,
    },
    /// The signature is over a digest that can be forged.
    #[error("the signature is over a SHA1 digest")]
    WeakDigest,
}

/// Returns the checksum document, if it lists the package as the registry states it. The signer of the
/// document is not checked.
///
/// # Errors
/// If a line is no checksum, the package has none, or another one than the registry states.
pub fn listed(evidence: &Evidence) -> Result<&Arc<ChecksumList>, AuthError> {
    if let Some(fault) = evidence.sums.first_fault() {
        return Err(AuthError::ChecksumList(fault));
    }
    let filename = &evidence.filename;
    // The program compares the name byte for byte and takes the first line (rules 1.2).
    let Some(digest) = evidence.sums.digest_of(filename) else {
        let filename = filename.clone();
        return Err(AuthError::NotListed { filename });
    };
    if digest != evidence.shasum {
        return Err(AuthError::ListedHashDiffers {
            filename: filename.clone(),
            listed: zh_of_digest(&digest),
            stated: zh_of_digest(&evidence.shasum),
        });
    }
    Ok(&evidence.sums)
}

/// Makes sure that some hash that a mirror states of a package can be checked at all; a mirror that
/// states none is believed (`sources` rules 8.4).
///
/// # Errors
/// If there are hashes, and all of them are of unknown schemes.
pub fn checkable(stated: &Hashes) -> Result<(), AuthError> {
    // One match of a known scheme is enough, so one known scheme must be there (`sources` rules 8.4).
    if stated.is_empty() || stated.known().next().is_some() {
        return Ok(());
    }
    Err(AuthError::StatedHashes {
        fault: "the mirror states only hashes of unknown schemes",
        stated: stated.clone(),
    })
}

/// Compares a package with the hashes that a mirror states of it, and returns those that it has; one is
/// enough (`sources` rules 8.4).
///
/// # Errors
/// If there are hashes, and none of them is one of the package.
pub fn confirmed(stated: &Hashes, package: &CheckedPackage<'_>) -> Result<Hashes, AuthError> {
    checkable(stated)?;
    let is_of_package = |hash: &&Hash| match package {
        CheckedPackage::Zip { zh, member_h1 } => zh == hash || member_h1 == hash,
        CheckedPackage::Unpacked { h1 } | CheckedPackage::Installed { h1 } => h1 == hash,
    };
    let matching = Hashes::from_iter(stated.iter().filter(is_of_package).cloned());
    if matching.is_empty() && !stated.is_empty() {
        return Err(AuthError::StatedHashes {
            fault: "the package has none of the hashes that the mirror states",
            stated: stated.clone(),
        });
    }
    Ok(matching)
}

/// A key of the registry that made the signature.
struct MatchedKey<'a> {
    key: &'a SigningKey,
    bytes: Vec<u8>,
    verified: Verified,
}

/// Finds the signer of the document: the first key that made the signature, in the registry's order.
///
/// `OpenTofu` prefers a later key to one that has expired. All packages of a release share the
/// document, so that it need be asked about once.
///
/// # Errors
/// The first reason why the program would refuse. Evidence without any key is an error here; the
/// caller first asks [`Rules::accepts_unsigned`].
pub fn signature(
    evidence: &Evidence,
    rules: &Rules,
    now: SystemTime,
) -> Result<GoodSignature, AuthError> {
    let now = seconds(now);
    match evidence.keys.len() {
        0 => return Err(AuthError::NoKeys),
        // Reading a key takes some milliseconds, and each may check the signature again.
        count if count > MAX_KEYS => return Err(AuthError::TooManyKeys { count }),
        _ => {}
    }
    let signature = Detached::read(&evidence.signature, evidence.sums.document(), now);
    let mut tried = Vec::new();
    let mut untimely: Option<MatchedKey<'_>> = None;
    for (index, key) in evidence.keys.iter().enumerate() {
        let unreadable = |fault| AuthError::KeyUnreadable {
            number: index + 1,
            fault,
        };
        // A key that cannot be read is an error even where a later one would do (rules 3.2).
        let bytes = armor::public_key(&key.ascii_armor).map_err(unreadable)?;
        let keyring = known::keyring(&bytes).map_err(unreadable)?;
        let Some(verified) = signature.check(&keyring)? else {
            tried.extend(keyring.key_ids());
            continue;
        };
        let matched = MatchedKey {
            key,
            bytes,
            verified,
        };
        match rules.flavor.program() {
            // Terraform stops at the first key that matches (rules 3.2).
            Program::Terraform => {
                counts_for_terraform(&matched.verified)
                    .map_err(|remark| matched.verified.untimely(remark))?;
                return finish(matched, &signature, rules.flavor);
            }
            // OpenTofu goes on to look for a key that verifies without a remark on time (rules 4.3).
            Program::OpenTofu if matched.verified.time_remark().is_some() => {
                untimely = untimely.or(Some(matched));
            }
            Program::OpenTofu => return finish(matched, &signature, rules.flavor),
        }
    }
    let Some(matched) = untimely else {
        let issuer = signature.first_issuer()?;
        return Err(AuthError::UnknownIssuer { tried, issuer });
    };
    match matched.verified.time_remark() {
        Some(remark) if rules.enforced.expiration => Err(matched.verified.untimely(remark)),
        _ => finish(matched, &signature, rules.flavor),
    }
}

fn finish(
    matched: MatchedKey<'_>,
    signature: &Detached<'_>,
    flavor: Flavor,
) -> Result<GoodSignature, AuthError> {
    let class = match flavor.program() {
        // OpenTofu does not read `trust_signature` and knows no classes (rules 4.2).
        Program::OpenTofu => Class::Signed,
        Program::Terraform => class(&matched, signature)?,
    };
    let signer = Signer {
        class,
        expires: matched.verified.expires,
        remarks: matched.verified.remarks(),
        // The `key_id` that the registry states counts for nothing (rules 3.6).
        key: matched.verified.signer,
    };
    let made = matched.verified.made;
    Ok(GoodSignature { signer, made })
}

/// Returns the class that Terraform gives to a signature by one of the registry's keys (rules 3.5).
fn class(matched: &MatchedKey<'_>, signature: &Detached<'_>) -> Result<Class, AuthError> {
    // The class does not depend on the key that the registry names, but on whether HashiCorp's own made the
    // signature too (rules 3.5).
    let by_release_key = signature.check(&known::RELEASE_KEY).ok().flatten();
    if by_release_key.is_some_and(|verified| counts_for_terraform(&verified).is_ok()) {
        return Ok(Class::HashiCorp);
    }
    if matched.key.trust_signature.is_empty() {
        return Ok(Class::SelfSigned);
    }
    let wrap = |reason| AuthError::TrustSignature {
        key_id: matched.verified.signer.key_id().to_owned(),
        reason: Box::new(reason),
    };
    trusted_by_partners_key(matched, signature.now()).map_err(wrap)?;
    Ok(Class::Partner)
}

/// Checks the trust signature, which is over the bytes of the key without its armor.
fn trusted_by_partners_key(matched: &MatchedKey<'_>, now: u64) -> Result<(), AuthError> {
    let bytes = armor::signature(&matched.key.trust_signature)
        .map_err(|fault| AuthError::SignatureUnreadable { fault })?;
    let signature = Detached::read(&bytes, &matched.bytes, now);
    let keyring = &*known::PARTNERS_KEY;
    match signature.check(keyring)? {
        Some(verified) => {
            counts_for_terraform(&verified).map_err(|remark| verified.untimely(remark))
        }
        None => Err(AuthError::UnknownIssuer {
            tried: keyring.key_ids().collect(),
            issuer: signature.first_issuer()?,
        }),
    }
}

/// Refuses a signature for its time, as Terraform does.
fn counts_for_terraform(verified: &Verified) -> Result<(), KeyRemark> {
    match (verified.key, verified.signature) {
        // An expired key is accepted, and then not even the times of the signature count (rules 3.4).
        (None, Some(remark)) => Err(remark),
        _ => Ok(()),
    }
}

/// Seconds since 1970, the only unit of time in `OpenPGP`.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The inverse of [`seconds`], for sums of two 32-bit numbers.
fn moment(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key_id = self.key.key_id();
        match self.class {
            Class::HashiCorp => f.write_str("signed by HashiCorp"),
            Class::Partner => write!(f, "signed by a HashiCorp partner, key ID {key_id}"),
            Class::SelfSigned => write!(f, "self-signed, key ID {key_id}"),
            Class::Signed => write!(f, "signed, key ID {key_id}"),
        }
    }
}
