//! The keys of a key block, with the properties that their self-signatures prove.

use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Packet, PublicKey, PublicSubkey, Signature, SignatureType, UserId};
use pgp::types::{EcdsaPublicParams, KeyDetails, KeyVersion, PublicParams, Tag};

use super::error::Fault;
use super::limits::{MAX_PACKETS, MAX_SELF_SIGNATURES};
use super::packets::{PacketFault, packets};
use super::signature_info::{KeyId, SignatureInfo, UnusableSignature, can_sign, id_of, spell};

/// The keys of one block. May be empty: the programs accept an empty block.
#[derive(Debug)]
pub(super) struct Keyring {
    keys: Vec<BoundKey>,
}

/// A primary key with what it has signed.
#[derive(Debug)]
pub(super) struct BoundKey {
    pub(super) primary: PublicKey,
    pub(super) revocations: Vec<SignatureInfo>,
    users: Vec<User>,
    subkeys: Vec<Subkey>,
}

/// A user of a key, confirmed by the key.
#[derive(Debug)]
pub(super) struct User {
    id: UserId,
    /// The newest confirmation; none if there are only revocations.
    confirmation: Option<SignatureInfo>,
    pub(super) revocations: Vec<SignatureInfo>,
}

/// A subkey, bound to its primary key; if it may sign, it has agreed to that.
#[derive(Debug)]
pub(super) struct Subkey {
    pub(super) key: PublicSubkey,
    /// The newest signature that binds it, with its agreement. Invariant: there in a key that is complete.
    binding: Option<(SignatureInfo, Option<SignatureInfo>)>,
    pub(super) revocations: Vec<SignatureInfo>,
}

/// A key that may have made a signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignerCandidate<'a> {
    pub(super) key: &'a BoundKey,
    /// The subkey in question; none for the primary key itself.
    pub(super) subkey: Option<&'a Subkey>,
}

/// A packet of a key block.
enum KeyPart {
    Primary(PublicKey),
    /// A primary key of a kind that counts for nothing, with all that belongs to it.
    Foreign,
    Subkey(PublicSubkey),
    User(UserId),
    Signature(Box<Signature>, SignatureInfo),
    Ignored,
    /// Spoils the key that it belongs to.
    Broken,
}

/// A key is of no use: a part of it is damaged, not signed, or of an unknown kind.
struct Spoiled;

impl Keyring {
    /// Reads the keys of a block. As in the programs' library, a key with a damaged or badly
    /// signed part is left out as a whole, and only a block without any other key is an error.
    pub(super) fn read(block: &[u8]) -> Result<Self, Fault> {
        Self::read_with(block, OwnSignatures::Checked)
    }

    /// Reads the keys of a block that this program carries with it. A test has checked their signatures over
    /// themselves; to check them in each run would cost more than everything else.
    pub(super) fn read_known(block: &[u8]) -> Result<Self, Fault> {
        Self::read_with(block, OwnSignatures::Known)
    }

    fn read_with(block: &[u8], own_signatures: OwnSignatures) -> Result<Self, Fault> {
        let parts = parts(block)?;
        let is_empty = parts.is_empty();
        let mut allowance = MAX_SELF_SIGNATURES;
        let mut keys = Vec::new();
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            let KeyPart::Primary(primary) = part else {
                continue;
            };
            let is_other = |part: &KeyPart| matches!(part, KeyPart::Primary(_) | KeyPart::Foreign);
            let mut key_parts = Vec::new();
            while let Some(part) = parts.next_if(|part| !is_other(part)) {
                key_parts.push(part);
            }
            let key = Builder::new(primary, own_signatures, &mut allowance).build(key_parts);
            // Each check of a signature takes up to some milliseconds, and a registry may repeat them as it
            // likes.
            if allowance == 0 {
                return Err("it has more than 128 signatures over itself");
            }
            keys.extend(key.ok());
        }
        if keys.is_empty() && !is_empty {
            return Err("it holds no complete key of a known kind");
        }
        Ok(Self { keys })
    }

    pub(super) fn key_ids(&self) -> impl Iterator<Item = String> {
        self.keys.iter().map(BoundKey::spelled_id)
    }

    /// Returns the keys and subkeys of this ID that may sign.
    pub(super) fn candidates(&self, id: KeyId) -> Vec<SignerCandidate<'_>> {
        let mut candidates = Vec::new();
        for key in &self.keys {
            let primary_may_sign = key.primary_info().and_then(|info| info.may_sign);
            // Permission must be stated: a key without flags of its use does not count.
            if id_of(&key.primary) == id && primary_may_sign == Some(true) {
                candidates.push(SignerCandidate { key, subkey: None });
            }
            for subkey in &key.subkeys {
                if id_of(&subkey.key) == id && subkey.binding().may_sign == Some(true) {
                    candidates.push(SignerCandidate {
                        key,
                        subkey: Some(subkey),
                    });
                }
            }
        }
        candidates
    }
}

impl BoundKey {
    /// Returns the ID of the primary key as the programs spell it.
    pub(super) fn spelled_id(&self) -> String {
        spell(id_of(&self.primary))
    }

    /// Returns the user whose confirmation counts for the whole key: fewer revocations first, then
    /// one marked as primary, then the newest.
    pub(super) fn primary_user(&self) -> Option<&User> {
        let rank = |user: &User| {
            let confirmation = user.confirmation.as_ref();
            (
                std::cmp::Reverse(user.revocations.len()),
                confirmation.map(|info| (info.is_primary_user, info.created)),
            )
        };
        // The first of equals wins, as `max_by_key` would not have it.
        self.users.iter().rev().max_by_key(|user| rank(user))
    }

    /// Returns the confirmation of the primary user, which states the use and the lifetime of the key.
    pub(super) fn primary_info(&self) -> Option<&SignatureInfo> {
        self.primary_user()
            .and_then(|user| user.confirmation.as_ref())
    }
}

impl Subkey {
    /// Returns the newest signature that binds it.
    pub(super) fn binding(&self) -> &SignatureInfo {
        &self.bound().0
    }

    /// Returns its signature that it belongs to the primary key, if it may sign.
    pub(super) fn agreement(&self) -> Option<&SignatureInfo> {
        self.bound().1.as_ref()
    }

    fn bound(&self) -> &(SignatureInfo, Option<SignatureInfo>) {
        let binding = self.binding.as_ref();
        binding.expect("a key with a subkey that is not bound is left out")
    }
}

/// Cuts a key block into packets.
fn parts(block: &[u8]) -> Result<Vec<KeyPart>, Fault> {
    let mut parts = Vec::new();
    for packet in packets(block) {
        // A key server hands out keys with thousands of signatures by strangers; millions are an attack.
        if parts.len() == MAX_PACKETS {
            return Err("it has more than 8192 packets");
        }
        parts.push(match packet {
            Ok(Packet::PublicKey(key)) if is_known(&key) && can_sign(key.algorithm()) => {
                KeyPart::Primary(key)
            }
            Ok(Packet::PublicKey(_)) => KeyPart::Foreign,
            Ok(Packet::PublicSubkey(key)) if is_known(&key) => KeyPart::Subkey(key),
            // The programs' library refuses a key with a subkey of a kind that it does not know.
            Ok(Packet::PublicSubkey(_)) => KeyPart::Broken,
            Ok(Packet::UserId(user)) => KeyPart::User(user),
            Ok(Packet::Signature(signature)) => match SignatureInfo::read(&signature) {
                Ok(info) => KeyPart::Signature(Box::new(signature), info),
                Err(UnusableSignature::Skipped) => continue,
                Err(UnusableSignature::Broken) => KeyPart::Broken,
            },
            // Neither belongs to what a key states (RFC 4880, 5.8 and 5.10).
            Ok(Packet::Marker(_) | Packet::Trust(_)) => continue,
            Ok(_) => KeyPart::Ignored,
            Err(PacketFault::Unsupported) => continue,
            Err(PacketFault::Broken) => KeyPart::Broken,
            Err(PacketFault::Damaged) => return Err("it is damaged"),
        });
    }
    Ok(parts)
}

/// Returns true if keys of this version and kind are supported.
fn is_known(key: &impl KeyDetails) -> bool {
    // The crate verifies only signatures with the lower `s` on this curve, and gpg makes either, so that
    // a good release would be refused by chance (rules 5.2).
    if let PublicParams::ECDSA(EcdsaPublicParams::Secp256k1 { .. }) = key.public_params() {
        return false;
    }
    let encrypts = matches!(
        key.algorithm(),
        PublicKeyAlgorithm::RSAEncrypt
            | PublicKeyAlgorithm::ElgamalEncrypt
            | PublicKeyAlgorithm::ECDH
            | PublicKeyAlgorithm::X25519
            | PublicKeyAlgorithm::X448
    );
    key.version() == KeyVersion::V4 && (encrypts || can_sign(key.algorithm()))
}

/// The subject of the signatures that come next.
#[derive(Clone, Copy)]
enum SignatureSubject {
    Key,
    User,
    Subkey,
}

/// The treatment of the signatures of a key over its own parts.
#[derive(Clone, Copy)]
enum OwnSignatures {
    Checked,
    Known,
}

impl OwnSignatures {
    /// Makes sure that a signature is good, unless that is known.
    fn ensure(self, check: impl FnOnce() -> pgp::errors::Result<()>) -> Result<(), Spoiled> {
        match self {
            Self::Checked => check().map_err(|_| Spoiled),
            Self::Known => Ok(()),
        }
    }
}

/// Collects the parts of one key.
struct Builder<'a> {
    key: BoundKey,
    own_signatures: OwnSignatures,
    allowance: &'a mut usize,
    about: SignatureSubject,
}

impl<'a> Builder<'a> {
    fn new(primary: PublicKey, own_signatures: OwnSignatures, allowance: &'a mut usize) -> Self {
        Self {
            key: BoundKey {
                primary,
                revocations: Vec::new(),
                users: Vec::new(),
                subkeys: Vec::new(),
            },
            own_signatures,
            allowance,
            about: SignatureSubject::Key,
        }
    }

    fn build(mut self, parts: Vec<KeyPart>) -> Result<BoundKey, Spoiled> {
        for part in parts {
            match part {
                KeyPart::User(id) => {
                    // Of two users of the same name, the library keeps the later.
                    self.key.users.retain(|user| user.id.id() != id.id());
                    self.key.users.push(User {
                        id,
                        confirmation: None,
                        revocations: Vec::new(),
                    });
                    self.about = SignatureSubject::User;
                }
                KeyPart::Subkey(key) => {
                    self.key.subkeys.push(Subkey {
                        key,
                        binding: None,
                        revocations: Vec::new(),
                    });
                    self.about = SignatureSubject::Subkey;
                }
                KeyPart::Signature(signature, info) => match self.about {
                    // A revocation by another key makes the key unusable: it is unknown which keys may revoke it.
                    SignatureSubject::Key if info.kind == SignatureType::KeyRevocation => {
                        self.spend(&info)?;
                        self.own_signatures
                            .ensure(|| signature.verify_key(&self.key.primary))?;
                        self.key.revocations.push(info);
                    }
                    SignatureSubject::Key => {}
                    SignatureSubject::User => self.add_to_user(&signature, info)?,
                    SignatureSubject::Subkey => self.add_to_subkey(&signature, info)?,
                },
                // Signatures about a picture are about nothing that matters.
                KeyPart::Ignored => self.about = SignatureSubject::Key,
                KeyPart::Broken | KeyPart::Primary(_) | KeyPart::Foreign => return Err(Spoiled),
            }
        }
        self.key
            .users
            .retain(|user| user.confirmation.is_some() || !user.revocations.is_empty());
        let is_bound = |subkey: &Subkey| subkey.binding.is_some();
        // A key that no user is bound to counts for nothing in that library.
        if self.key.users.is_empty() || !self.key.subkeys.iter().all(is_bound) {
            return Err(Spoiled);
        }
        Ok(self.key)
    }

    fn add_to_user(&mut self, signature: &Signature, info: SignatureInfo) -> Result<(), Spoiled> {
        let is_confirmation = matches!(
            info.kind,
            SignatureType::CertGeneric
                | SignatureType::CertPersona
                | SignatureType::CertCasual
                | SignatureType::CertPositive
        );
        // The programs' library refuses a key with any other signature at this place.
        if !is_confirmation && info.kind != SignatureType::CertRevocation {
            return Err(Spoiled);
        }
        if !info.is_by(&self.key.primary) {
            return Ok(());
        }
        self.spend(&info)?;
        let user = self.key.users.last_mut().ok_or(Spoiled)?;
        self.own_signatures
            .ensure(|| signature.verify_certification(&self.key.primary, Tag::UserId, &user.id))?;
        let older = |old: &SignatureInfo| old.created < info.created;
        if !is_confirmation {
            user.revocations.push(info);
        // Of several confirmations the newest counts: so a key is renewed.
        } else if user.confirmation.as_ref().is_none_or(older) {
            user.confirmation = Some(info);
        }
        Ok(())
    }

    fn add_to_subkey(&mut self, signature: &Signature, info: SignatureInfo) -> Result<(), Spoiled> {
        let is_binding = info.kind == SignatureType::SubkeyBinding;
        if !is_binding && info.kind != SignatureType::SubkeyRevocation {
            return Err(Spoiled);
        }
        self.spend(&info)?;
        let subkey = self.key.subkeys.last_mut().ok_or(Spoiled)?;
        self.own_signatures
            .ensure(|| signature.verify_subkey_binding(&self.key.primary, &subkey.key))?;
        // A subkey that only encrypts signs nothing that others could claim, so it need not agree (RFC 4880,
        // 5.2.1, type 0x19).
        let agreement = if info.may_sign == Some(true) {
            Some(agreement(
                signature,
                &subkey.key,
                &self.key.primary,
                self.own_signatures,
            )?)
        } else {
            None
        };
        let older = |(old, _): &(SignatureInfo, _)| old.created < info.created;
        if !is_binding {
            subkey.revocations.push(info);
        // As with users, the newest one counts (RFC 4880, 5.2.3.3).
        } else if subkey.binding.as_ref().is_none_or(older) {
            subkey.binding = Some((info, agreement));
        }
        Ok(())
    }

    /// Accounts for a signature that is about to be checked with the primary key.
    fn spend(&mut self, info: &SignatureInfo) -> Result<(), Spoiled> {
        *self.allowance = self.allowance.saturating_sub(1);
        // A signature by another kind of key cannot be by this one, and to check it costs time.
        let fits = *self.allowance > 0 && info.algorithm == self.key.primary.algorithm();
        fits.then_some(()).ok_or(Spoiled)
    }
}

/// Checks that a subkey which may sign has agreed to belong to its primary key.
fn agreement(
    binding: &Signature,
    subkey: &PublicSubkey,
    primary: &PublicKey,
    own_signatures: OwnSignatures,
) -> Result<SignatureInfo, Spoiled> {
    // Otherwise anyone could add the subkey of another person to his own key, and pass off its signatures as
    // his.
    let signature = binding.embedded_signature().ok_or(Spoiled)?;
    let info = SignatureInfo::read(signature).map_err(|_| Spoiled)?;
    own_signatures.ensure(|| signature.verify_primary_key_binding(subkey, primary))?;
    let fits = info.algorithm == subkey.algorithm();
    fits.then_some(info).ok_or(Spoiled)
}
