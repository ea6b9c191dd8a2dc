//! The subpackets of a signature, as the programs' library reads them.

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{
    RevocationCode, Signature, SignatureType, SignatureVersion, Subpacket, SubpacketData,
};
use pgp::types::{Fingerprint, KeyDetails};

/// A 64-bit key ID.
pub(super) type KeyId = [u8; 8];

/// The subpackets of a signature, as the programs' library reads them: of two of the same type the later
/// counts, and outside the signed part only those on the issuer count.
#[derive(Debug)]
pub(super) struct SignatureInfo {
    pub(super) kind: SignatureType,
    pub(super) algorithm: PublicKeyAlgorithm,
    pub(super) digest: HashAlgorithm,
    /// Creation time, in seconds since 1970.
    pub(super) created: u64,
    /// Lifetime of the signature in seconds; 0 is for ever.
    pub(super) lifetime: u64,
    /// Lifetime of the key in seconds, from its own creation; 0 is for ever.
    pub(super) key_lifetime: u64,
    /// The key may sign. `None` if there are no key flags.
    pub(super) may_sign: Option<bool>,
    pub(super) is_primary_user: bool,
    /// The reason of a revocation is that the key was stolen.
    pub(super) compromised: bool,
    /// The name of a notation that must be understood. No name is known to either program.
    pub(super) condition: Option<String>,
    pub(super) issuer: Option<KeyId>,
    pub(super) issuer_fingerprint: Option<Fingerprint>,
}

/// A signature packet whose subpackets cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusableSignature {
    /// The programs pass over such a packet, as if it were not there.
    Skipped,
    /// The programs stop at such a packet: it does not say when it was made.
    Broken,
}

impl SignatureInfo {
    pub(super) fn read(signature: &Signature) -> Result<Self, UnusableSignature> {
        let config = signature.config().ok_or(UnusableSignature::Skipped)?;
        let is_known = signature.version() == SignatureVersion::V4
            && can_sign(config.pub_alg)
            // The programs' library refuses MD5 and RIPEMD-160, and accepts SHA-1.
            && matches!(
                config.hash_alg,
                HashAlgorithm::Sha1
                    | HashAlgorithm::Sha224
                    | HashAlgorithm::Sha256
                    | HashAlgorithm::Sha384
                    | HashAlgorithm::Sha512
                    | HashAlgorithm::Sha3_256
                    | HashAlgorithm::Sha3_512
            );
        if !is_known {
            return Err(UnusableSignature::Skipped);
        }
        let mut info = Self {
            kind: config.typ,
            algorithm: config.pub_alg,
            digest: config.hash_alg,
            created: config
                .hashed_subpackets()
                .filter_map(|subpacket| match subpacket.data {
                    SubpacketData::SignatureCreationTime(time) => Some(time.as_secs().into()),
                    _ => None,
                })
                .last()
                .ok_or(UnusableSignature::Broken)?,
            lifetime: 0,
            key_lifetime: 0,
            may_sign: None,
            is_primary_user: false,
            compromised: false,
            condition: None,
            issuer: None,
            issuer_fingerprint: None,
        };
        for subpacket in config.hashed_subpackets() {
            info.learn(subpacket)?;
        }
        // Anyone can change this part, so that only the issuer counts, which the verification proves.
        for subpacket in config.unhashed_subpackets() {
            info.learn_issuer(&subpacket.data);
        }
        Ok(info)
    }

    /// Returns true if this signature claims to be made by `key`.
    pub(super) fn is_by(&self, key: &impl KeyDetails) -> bool {
        match &self.issuer_fingerprint {
            Some(fingerprint) => *fingerprint == key.fingerprint(),
            None => self.issuer == Some(id_of(key)),
        }
    }

    fn learn(&mut self, subpacket: &Subpacket) -> Result<(), UnusableSignature> {
        match &subpacket.data {
            SubpacketData::SignatureExpirationTime(span) => self.lifetime = span.as_secs().into(),
            SubpacketData::KeyExpirationTime(span) => self.key_lifetime = span.as_secs().into(),
            SubpacketData::KeyFlags(flags) => {
                // Unlike other subpackets, repeated flags add up in that library.
                self.may_sign = Some(self.may_sign == Some(true) || flags.sign());
            }
            SubpacketData::IsPrimary(is_primary) => self.is_primary_user = *is_primary,
            SubpacketData::RevocationReason(code, _) => {
                self.compromised = *code == RevocationCode::KeyCompromised;
            }
            // Neither program knows any notation, so that a critical one makes the signature void.
            SubpacketData::Notation(notation) if subpacket.is_critical => {
                let name = String::from_utf8_lossy(&notation.name).into_owned();
                self.condition.get_or_insert(name);
            }
            // Such a signature is for the key ring of its maker alone (RFC 4880, 5.2.3.11).
            SubpacketData::ExportableCertification(false) => {
                return Err(UnusableSignature::Skipped);
            }
            // The programs' library does not know these; critical, they make the whole signature void.
            SubpacketData::Revocable(_)
            | SubpacketData::RevocationKey(_)
            | SubpacketData::SignatureTarget(..)
            | SubpacketData::PreferredEncryptionModes(_)
            | SubpacketData::Experimental(..)
            | SubpacketData::Other(..)
                if subpacket.is_critical =>
            {
                return Err(UnusableSignature::Skipped);
            }
            data => self.learn_issuer(data),
        }
        Ok(())
    }

    fn learn_issuer(&mut self, data: &SubpacketData) {
        match data {
            SubpacketData::IssuerKeyId(id) => {
                self.issuer = id.as_ref().try_into().ok();
            }
            SubpacketData::IssuerFingerprint(fingerprint) => {
                // The ID of a key of version 4 is the end of its fingerprint (RFC 4880, 12.2).
                self.issuer = fingerprint.as_bytes().last_chunk().copied();
                self.issuer_fingerprint = Some(fingerprint.clone());
            }
            _ => {}
        }
    }
}

/// Returns the ID of a key of version 4: the end of its fingerprint.
pub(super) fn id_of(key: &impl KeyDetails) -> KeyId {
    let fingerprint = key.fingerprint();
    fingerprint
        .as_bytes()
        .last_chunk()
        .copied()
        .unwrap_or_default()
}

/// Spells a key ID as both programs do.
pub(super) fn spell(id: KeyId) -> String {
    format!("{:016X}", u64::from_be_bytes(id))
}

/// Spells the fingerprint of a key, in upper-case hexadecimal digits.
pub(super) fn spell_fingerprint(key: &impl KeyDetails) -> String {
    let fingerprint = key.fingerprint();
    fingerprint
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

/// Returns true if keys of this kind make signatures, and the programs' library supports them.
pub(super) fn can_sign(algorithm: PublicKeyAlgorithm) -> bool {
    matches!(
        algorithm,
        PublicKeyAlgorithm::RSA
            | PublicKeyAlgorithm::RSASign
            | PublicKeyAlgorithm::DSA
            | PublicKeyAlgorithm::ECDSA
            | PublicKeyAlgorithm::EdDSALegacy
            | PublicKeyAlgorithm::Ed25519
            | PublicKeyAlgorithm::Ed448
    )
}
