//! The keys of a key block, with whatever they have proved about themselves.

use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Packet, PublicKey, PublicSubkey, Signature, SignatureType, UserId};
use pgp::types::{EcdsaPublicParams, KeyDetails, KeyVersion, PublicParams, Tag};

use super::error::KeyFault;
use super::facts::{Facts, KeyId, Unread, can_sign, id_of, spell};
use super::limits::{MAX_PACKETS, MAX_SELF_SIGNATURES};
use super::packets::{Trouble, packets};

/// The keys of one block. May be empty, as the programs have it.
#[derive(Debug)]
pub(super) struct Keyring {
    keys: Vec<Key>,
}

/// A primary key with what it has signed.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) primary: PublicKey,
    pub(super) revocations: Vec<Facts>,
    users: Vec<User>,
    subkeys: Vec<Subkey>,
}

/// A user of a key, confirmed by the key.
#[derive(Debug)]
pub(super) struct User {
    id: UserId,
    /// The newest confirmation; none if there are only revocations.
    confirmation: Option<Facts>,
    pub(super) revocations: Vec<Facts>,
}

/// A subkey, bound to its primary key; if it may sign, it has agreed to that.
#[derive(Debug)]
pub(super) struct Subkey {
    pub(super) key: PublicSubkey,
    /// The newest signature that binds it.
    pub(super) binding: Facts,
    /// The agreement of the subkey.
    pub(super) agreement: Option<Facts>,
    pub(super) revocations: Vec<Facts>,
}

/// A key that may have made a signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) key: &'a Key,
    /// The subkey in question; none for the primary key itself.
    pub(super) subkey: Option<&'a Subkey>,
}

/// One packet of a key block, as far as it matters.
enum Part {
    Primary(PublicKey),
    /// A primary key of a kind that counts for nothing, with all that belongs to it.
    Foreign,
    Subkey(PublicSubkey),
    User(UserId),
    Signature(Box<Signature>, Facts),
    Ignored,
    /// Spoils the key that it belongs to.
    Broken,
}

/// A key is of no use: a part of it is damaged, not signed, or of an unknown kind.
struct Spoiled;

impl Keyring {
    /// Reads the keys of a block. As in the programs' library, a key with a damaged or badly
    /// signed part is left out as a whole, and only a block without any other key is an error.
    pub(super) fn read(block: &[u8]) -> Result<Self, KeyFault> {
        Self::read_with(block, OwnSignatures::Checked)
    }

    /// Reads the keys of a block that this program carries with it: what they say about themselves is known
    /// to be signed by them, and to check it would cost more than all else.
    pub(super) fn read_known(block: &[u8]) -> Result<Self, KeyFault> {
        Self::read_with(block, OwnSignatures::Known)
    }

    fn read_with(block: &[u8], own_signatures: OwnSignatures) -> Result<Self, KeyFault> {
        let parts = parts(block)?;
        let is_empty = parts.is_empty();
        let mut allowance = MAX_SELF_SIGNATURES;
        let mut keys = Vec::new();
        let mut parts = parts.into_iter().peekable();
        while let Some(part) = parts.next() {
            let Part::Primary(primary) = part else {
                continue;
            };
            let mut own = Vec::new();
            while let Some(part) = parts.next_if(|part| !part.is_primary()) {
                own.push(part);
            }
            let builder = Builder::new(primary, own_signatures, &mut allowance);
            let key = builder.build(own);
            if allowance == 0 {
                return Err(KeyFault::TooManySignatures);
            }
            keys.extend(key.ok());
        }
        if keys.is_empty() && !is_empty {
            return Err(KeyFault::NoCompleteKey);
        }
        Ok(Self { keys })
    }

    /// Returns the IDs of the primary keys.
    pub(super) fn key_ids(&self) -> impl Iterator<Item = String> {
        self.keys.iter().map(Key::spelled_id)
    }

    /// Returns the keys and subkeys of this ID that may sign.
    ///
    /// Permission must be stated: a key that says nothing about its use counts for nothing.
    pub(super) fn candidates(&self, id: KeyId) -> Vec<Candidate<'_>> {
        let mut found = Vec::new();
        for key in &self.keys {
            let primary_may_sign = key.primary_facts().and_then(|facts| facts.may_sign);
            if id_of(&key.primary) == id && primary_may_sign == Some(true) {
                found.push(Candidate { key, subkey: None });
            }
            let subkeys = key
                .subkeys
                .iter()
                .filter(|subkey| id_of(&subkey.key) == id && subkey.binding.may_sign == Some(true));
            found.extend(subkeys.map(|subkey| Candidate {
                key,
                subkey: Some(subkey),
            }));
        }
        found
    }
}

impl Key {
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
                confirmation.map(|facts| (facts.is_primary_user, facts.created)),
            )
        };
        // The first of equals wins, as `max_by_key` would not have it.
        self.users.iter().rev().max_by_key(|user| rank(user))
    }

    /// Returns what the key says about itself.
    pub(super) fn primary_facts(&self) -> Option<&Facts> {
        self.primary_user()
            .and_then(|user| user.confirmation.as_ref())
    }
}

impl Part {
    fn is_primary(&self) -> bool {
        matches!(self, Self::Primary(_) | Self::Foreign)
    }
}

/// Cuts a key block into packets.
fn parts(block: &[u8]) -> Result<Vec<Part>, KeyFault> {
    let mut parts = Vec::new();
    for packet in packets(block) {
        if parts.len() == MAX_PACKETS {
            return Err(KeyFault::TooManyPackets);
        }
        parts.push(match packet {
            Ok(Packet::PublicKey(key)) if is_known(&key) && can_sign(key.algorithm()) => {
                Part::Primary(key)
            }
            Ok(Packet::PublicKey(_)) => Part::Foreign,
            Ok(Packet::PublicSubkey(key)) if is_known(&key) => Part::Subkey(key),
            Ok(Packet::PublicSubkey(_)) => Part::Broken,
            Ok(Packet::UserId(user)) => Part::User(user),
            Ok(Packet::Signature(signature)) => match Facts::read(&signature) {
                Ok(facts) => Part::Signature(Box::new(signature), facts),
                Err(Unread::Skipped) => continue,
                Err(Unread::Broken(_)) => Part::Broken,
            },
            Ok(Packet::Marker(_) | Packet::Trust(_)) => continue,
            Ok(_) => Part::Ignored,
            Err(Trouble::Unsupported) => continue,
            Err(Trouble::Broken) => Part::Broken,
            Err(Trouble::Damaged) => return Err(KeyFault::Damaged),
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
enum About {
    Key,
    User,
    Subkey,
}

/// A subkey, perhaps not bound yet.
struct Unbound {
    key: PublicSubkey,
    binding: Option<(Facts, Option<Facts>)>,
    revocations: Vec<Facts>,
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
    primary: PublicKey,
    own_signatures: OwnSignatures,
    allowance: &'a mut usize,
    about: About,
    users: Vec<User>,
    subkeys: Vec<Unbound>,
    revocations: Vec<Facts>,
}

impl<'a> Builder<'a> {
    fn new(primary: PublicKey, own_signatures: OwnSignatures, allowance: &'a mut usize) -> Self {
        Self {
            primary,
            own_signatures,
            allowance,
            about: About::Key,
            users: Vec::new(),
            subkeys: Vec::new(),
            revocations: Vec::new(),
        }
    }

    fn build(mut self, parts: Vec<Part>) -> Result<Key, Spoiled> {
        for part in parts {
            self.add(part)?;
        }
        self.users
            .retain(|user| user.confirmation.is_some() || !user.revocations.is_empty());
        if self.users.is_empty() {
            return Err(Spoiled);
        }
        let bind = |subkey: Unbound| {
            let (binding, agreement) = subkey.binding.ok_or(Spoiled)?;
            Ok(Subkey {
                key: subkey.key,
                binding,
                agreement,
                revocations: subkey.revocations,
            })
        };
        Ok(Key {
            subkeys: self
                .subkeys
                .into_iter()
                .map(bind)
                .collect::<Result<_, _>>()?,
            primary: self.primary,
            revocations: self.revocations,
            users: self.users,
        })
    }

    fn add(&mut self, part: Part) -> Result<(), Spoiled> {
        match part {
            Part::User(id) => {
                // Of two users of the same name, the library keeps the later.
                self.users.retain(|user| user.id.id() != id.id());
                self.users.push(User {
                    id,
                    confirmation: None,
                    revocations: Vec::new(),
                });
                self.about = About::User;
            }
            Part::Subkey(key) => {
                self.subkeys.push(Unbound {
                    key,
                    binding: None,
                    revocations: Vec::new(),
                });
                self.about = About::Subkey;
            }
            Part::Signature(signature, facts) => match self.about {
                About::Key => self.add_to_key(&signature, facts)?,
                About::User => self.add_to_user(&signature, facts)?,
                About::Subkey => self.add_to_subkey(&signature, facts)?,
            },
            // Signatures about a picture are about nothing that matters.
            Part::Ignored => self.about = About::Key,
            Part::Broken | Part::Primary(_) | Part::Foreign => return Err(Spoiled),
        }
        Ok(())
    }

    /// A revocation by another key makes the key unusable: it is unknown which keys may revoke it.
    fn add_to_key(&mut self, signature: &Signature, facts: Facts) -> Result<(), Spoiled> {
        if facts.kind == SignatureType::KeyRevocation {
            self.spend(&facts)?;
            let check = || signature.verify_key(&self.primary);
            self.own_signatures.ensure(check)?;
            self.revocations.push(facts);
        }
        Ok(())
    }

    fn add_to_user(&mut self, signature: &Signature, facts: Facts) -> Result<(), Spoiled> {
        let is_confirmation = matches!(
            facts.kind,
            SignatureType::CertGeneric
                | SignatureType::CertPersona
                | SignatureType::CertCasual
                | SignatureType::CertPositive
        );
        if !is_confirmation && facts.kind != SignatureType::CertRevocation {
            return Err(Spoiled);
        }
        if !facts.is_by(&self.primary) {
            return Ok(());
        }
        self.spend(&facts)?;
        let user = self.users.last_mut().ok_or(Spoiled)?;
        self.own_signatures
            .ensure(|| signature.verify_certification(&self.primary, Tag::UserId, &user.id))?;
        let older = |old: &Facts| old.created < facts.created;
        if !is_confirmation {
            user.revocations.push(facts);
        } else if user.confirmation.as_ref().is_none_or(older) {
            user.confirmation = Some(facts);
        }
        Ok(())
    }

    fn add_to_subkey(&mut self, signature: &Signature, facts: Facts) -> Result<(), Spoiled> {
        let is_binding = facts.kind == SignatureType::SubkeyBinding;
        if !is_binding && facts.kind != SignatureType::SubkeyRevocation {
            return Err(Spoiled);
        }
        self.spend(&facts)?;
        let subkey = self.subkeys.last_mut().ok_or(Spoiled)?;
        self.own_signatures
            .ensure(|| signature.verify_subkey_binding(&self.primary, &subkey.key))?;
        let agreement = match facts.may_sign {
            Some(true) => {
                let own_signatures = self.own_signatures;
                Some(agreement(
                    signature,
                    &subkey.key,
                    &self.primary,
                    own_signatures,
                )?)
            }
            _ => None,
        };
        let older = |(old, _): &(Facts, _)| old.created < facts.created;
        if !is_binding {
            subkey.revocations.push(facts);
        } else if subkey.binding.as_ref().is_none_or(older) {
            subkey.binding = Some((facts, agreement));
        }
        Ok(())
    }

    /// Accounts for a signature that is about to be checked with the primary key.
    fn spend(&mut self, facts: &Facts) -> Result<(), Spoiled> {
        *self.allowance = self.allowance.saturating_sub(1);
        let fits = *self.allowance > 0 && facts.algorithm == self.primary.algorithm();
        fits.then_some(()).ok_or(Spoiled)
    }
}

/// Checks that a subkey which may sign has agreed to belong to its primary key: else anyone could
/// pass off the signatures of others as made by his own key.
fn agreement(
    binding: &Signature,
    subkey: &PublicSubkey,
    primary: &PublicKey,
    own_signatures: OwnSignatures,
) -> Result<Facts, Spoiled> {
    let signature = binding.embedded_signature().ok_or(Spoiled)?;
    let facts = Facts::read(signature).map_err(|_| Spoiled)?;
    own_signatures.ensure(|| signature.verify_primary_key_binding(subkey, primary))?;
    let fits = facts.algorithm == subkey.algorithm();
    fits.then_some(facts).ok_or(Spoiled)
}
