//! Detached signatures: their signers, and whether they count now.

use std::time::{Duration, SystemTime};

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::packet::{Packet, Signature, SignatureType};
use pgp::types::KeyDetails as _;

use super::error::{AuthError, Fault};
use super::keyring::{Keyring, SignerCandidate};
use super::limits::{MAX_SIGNATURE_BYTES, MAX_SIGNATURE_PACKETS};
use super::packets::{PacketFault, packets};
use super::signature_info::{SignatureInfo, UnusableSignature, spell, spell_fingerprint};
use super::{KeyRemark, moment};
use crate::package::SignerKey;

/// Maximum difference between the clock of this machine and that of a signer: a signature or a key that is dated no
/// further in the future counts as made now (rules 6.1).
const CLOCK_SKEW: Duration = Duration::from_secs(30 * 60);

/// A detached signature with the document that it is about, at one moment.
pub(super) struct Detached<'a> {
    document: &'a [u8],
    now: u64,
    signatures: Vec<(Signature, SignatureInfo)>,
    /// The reason why the rest of the file cannot be read.
    fault: Option<Fault>,
}

/// A signature that is good, though perhaps not now.
#[derive(Debug)]
pub(super) struct Verified {
    /// The key that made it.
    pub(super) signer: SignerKey,
    /// When it was made.
    pub(super) made: SystemTime,
    /// The time when the key expires, or the subkey that signed.
    pub(super) expires: Option<SystemTime>,
    /// The problem with the time of the key, if any.
    pub(super) key: Option<KeyRemark>,
    /// The problem with the time of the signature, or of one that binds the key, if any.
    pub(super) signature: Option<KeyRemark>,
    weak_digest: Option<KeyRemark>,
}

impl<'a> Detached<'a> {
    /// Reads a signature file, without any verdict.
    pub(super) fn read(bytes: &[u8], document: &'a [u8], now: u64) -> Self {
        let mut signatures = Vec::new();
        // A fault counts only if the search for a key's signature reaches it.
        let fault = collect(bytes, &mut signatures).err();
        Self {
            document,
            now,
            signatures,
            fault,
        }
    }

    /// Returns the moment that its verdicts are about.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Returns the key that the first signature names.
    ///
    /// # Errors
    /// If there is no signature that any program would look at.
    pub(super) fn first_issuer(&self) -> Result<Option<String>, AuthError> {
        match (self.signatures.first(), self.fault) {
            (Some((_, info)), _) => Ok(info.issuer.map(spell)),
            (None, Some(fault)) => Err(AuthError::SignatureUnreadable { fault }),
            (None, None) => Ok(None),
        }
    }

    /// Looks for a signature by one of the keys. The first signature that names one of them counts; the rest of
    /// the file does not matter.
    ///
    /// Returns nothing if none names one of the keys.
    ///
    /// # Errors
    /// If that signature is bad, the key is revoked, or something unreadable comes first.
    pub(super) fn check(&self, keyring: &Keyring) -> Result<Option<Verified>, AuthError> {
        for (signature, info) in &self.signatures {
            let Some(issuer) = info.issuer else {
                let fault = "it does not say which key made it";
                return Err(AuthError::SignatureUnreadable { fault });
            };
            let candidates = keyring.candidates(issuer);
            // A signature by a key that the registry does not name is skipped (rules 3.2).
            if candidates.is_empty() {
                continue;
            }
            // A signature over a key or a user is valid as such, but says nothing about a file.
            if !matches!(info.kind, SignatureType::Binary | SignatureType::Text) {
                let fault = "it is no signature over a file";
                return Err(AuthError::SignatureUnreadable { fault });
            }
            let signer = candidates.iter().find(|signer| {
                let checked = match signer.subkey {
                    _ if info.algorithm != signer.algorithm() => return false,
                    Some(subkey) => signature.verify(&subkey.key, self.document),
                    None => signature.verify(&signer.key.primary, self.document),
                };
                checked.is_ok()
            });
            let Some(signer) = signer else {
                return Err(AuthError::BadSignature {
                    key_id: spell(issuer),
                });
            };
            return self.check_signer(info, *signer).map(Some);
        }
        match self.fault {
            None => Ok(None),
            Some(fault) => Err(AuthError::SignatureUnreadable { fault }),
        }
    }

    /// Judges a signature that fits, in the order of the programs' library.
    fn check_signer(
        &self,
        info: &SignatureInfo,
        signer: SignerCandidate<'_>,
    ) -> Result<Verified, AuthError> {
        let key_id = signer.key.spelled_id();
        // The right to make the signature depends on the others.
        let mut involved = vec![info];
        involved.extend(signer.key.primary_info());
        if let Some(subkey) = signer.subkey {
            involved.push(subkey.binding());
            involved.extend(subkey.agreement());
        }
        if let Some(name) = involved.iter().find_map(|info| info.condition.clone()) {
            return Err(AuthError::UnknownCondition { key_id, name });
        }
        // A stolen key is revoked for ever, any other revocation has its time as every signature.
        let of_user = signer.key.primary_user().map(|user| &user.revocations);
        let of_subkey = signer.subkey.map(|subkey| &subkey.revocations);
        let is_revoked = [Some(&signer.key.revocations), of_subkey, of_user]
            .into_iter()
            .flatten()
            .flatten()
            // Who stole the key chooses the dates of its signatures, so no date is believed then.
            .any(|info| info.compromised || time_of_signature(info, self.now).is_none());
        if is_revoked {
            return Err(AuthError::Revoked { key_id });
        }
        Ok(Verified {
            signer: SignerKey {
                fingerprint: spell_fingerprint(&signer.key.primary),
                subkey: signer.subkey.map(|subkey| spell_fingerprint(&subkey.key)),
            },
            made: moment(info.created),
            expires: signer
                .lives()
                .filter(|(_, lifetime)| *lifetime > 0)
                .map(|(created, lifetime)| created + lifetime)
                .min()
                .map(moment),
            key: signer.time_of_key(self.now),
            signature: involved
                .iter()
                .find_map(|info| time_of_signature(info, self.now)),
            // Both programs accept SHA-1 here, although collisions have been made since 2017.
            weak_digest: (info.digest == HashAlgorithm::Sha1).then_some(KeyRemark::WeakDigest),
        })
    }
}

impl Verified {
    /// Returns the problem with the time of the key or of the signature, if any.
    pub(super) fn time_remark(&self) -> Option<KeyRemark> {
        self.key.or(self.signature)
    }

    pub(super) fn remarks(&self) -> Vec<KeyRemark> {
        [self.key, self.signature, self.weak_digest]
            .into_iter()
            .flatten()
            .collect()
    }

    pub(super) fn untimely(&self, remark: KeyRemark) -> AuthError {
        AuthError::Untimely {
            key_id: self.signer.key_id().to_owned(),
            remark,
        }
    }
}

impl<'a> SignerCandidate<'a> {
    fn algorithm(&self) -> PublicKeyAlgorithm {
        match self.subkey {
            Some(subkey) => subkey.key.algorithm(),
            None => self.key.primary.algorithm(),
        }
    }

    fn time_of_key(&self, now: u64) -> Option<KeyRemark> {
        self.lives()
            .find_map(|(created, lifetime)| time_of_key(created, lifetime, now))
    }

    /// Returns the creation and the lifetime of the primary key, then of the subkey; 0 is for ever.
    fn lives(&self) -> impl Iterator<Item = (u64, u64)> {
        let lifetime = self.key.primary_info().map_or(0, |info| info.key_lifetime);
        let primary = (self.key.primary.created_at().as_secs().into(), lifetime);
        let subkey = self.subkey.map(|subkey| {
            let created = subkey.key.created_at().as_secs();
            (created.into(), subkey.binding().key_lifetime)
        });
        [primary].into_iter().chain(subkey)
    }
}

/// Returns the time until a moment that is further in the future than clocks of two machines differ.
fn ahead(created: u64, now: u64) -> Option<Duration> {
    let ahead = Duration::from_secs(created.saturating_sub(now));
    (ahead > CLOCK_SKEW).then_some(ahead)
}

fn time_of_key(created: u64, lifetime: u64, now: u64) -> Option<KeyRemark> {
    if let Some(ahead) = ahead(created, now) {
        return Some(KeyRemark::KeyFromTheFuture { ahead });
    }
    (lifetime > 0 && now > created + lifetime).then_some(KeyRemark::KeyExpired)
}

fn time_of_signature(info: &SignatureInfo, now: u64) -> Option<KeyRemark> {
    if let Some(ahead) = ahead(info.created, now) {
        return Some(KeyRemark::SignatureFromTheFuture { ahead });
    }
    let is_over = info.lifetime > 0 && now > info.created + info.lifetime;
    is_over.then_some(KeyRemark::SignatureExpired)
}

/// Reads packets up to the first that the programs would stop at.
fn collect(bytes: &[u8], signatures: &mut Vec<(Signature, SignatureInfo)>) -> Result<(), Fault> {
    match bytes {
        [] => return Err("it is empty"),
        _ if bytes.len() > MAX_SIGNATURE_BYTES => return Err("it is longer than 64 KiB"),
        // Both programs refuse the text form (rules 3.1).
        _ if bytes.starts_with(b"-----BEGIN ") => {
            return Err("it has ASCII armor, which neither Terraform nor OpenTofu reads");
        }
        _ => {}
    }
    for (index, packet) in packets(bytes).enumerate() {
        // Each packet may cost a check with each key.
        if index == MAX_SIGNATURE_PACKETS {
            return Err("it has more than 64 packets");
        }
        match packet {
            Ok(Packet::Signature(signature)) => match SignatureInfo::read(&signature) {
                Ok(info) => signatures.push((signature, info)),
                Err(UnusableSignature::Skipped) => {}
                Err(UnusableSignature::Broken) => return Err("it does not say when it was made"),
            },
            Ok(Packet::Marker(_) | Packet::Trust(_)) => {}
            Ok(_) => return Err("it holds something else than signatures"),
            Err(PacketFault::Unsupported) => {}
            Err(PacketFault::Broken | PacketFault::Damaged) => {
                return Err("it is no OpenPGP signature, or a damaged one");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::authenticate::armor;
    use crate::authenticate::limits::{MAX_PACKETS, MAX_SELF_SIGNATURES};

    const NOW: u64 = 1_704_067_200;
    const SUMS: &[u8] = include_bytes!("../../../../fixtures/keys/kinds/SHA256SUMS");

    /// An armored key with its signature over the document.
    const KINDS: [(&str, &[u8]); 4] = [
        (
            include_str!("../../../../fixtures/keys/kinds/rsa2048.asc"),
            include_bytes!("../../../../fixtures/keys/kinds/rsa2048.sig"),
        ),
        (
            include_str!("../../../../fixtures/keys/kinds/ed25519.asc"),
            include_bytes!("../../../../fixtures/keys/kinds/ed25519.sig"),
        ),
        (
            include_str!("../../../../fixtures/keys/kinds/subkey.asc"),
            include_bytes!("../../../../fixtures/keys/kinds/subkey.sig"),
        ),
        (
            include_str!("../../../../fixtures/keys/kinds/dsa1024.asc"),
            include_bytes!("../../../../fixtures/keys/kinds/dsa1024.sig"),
        ),
    ];

    fn key_block(text: &str) -> Vec<u8> {
        armor::public_key(text).expect("armor")
    }

    /// Returns the ID of the key that made the signature, if it is good now.
    fn good(block: &[u8], signature: &[u8], document: &[u8]) -> Option<String> {
        let keyring = Keyring::read(block).ok()?;
        let verified = Detached::read(signature, document, NOW).check(&keyring);
        verified
            .ok()?
            .map(|verified| verified.signer.key_id().to_owned())
    }

    /// Every way to change one byte a little, and every way to cut the end off.
    fn damaged(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
        let flipped = (0..bytes.len()).flat_map(move |at| {
            [0x01, 0x10, 0x80, 0xff].map(|mask| {
                let mut changed = bytes.to_vec();
                changed[at] ^= mask;
                (at, changed)
            })
        });
        flipped.chain((0..bytes.len()).map(|end| (end, bytes[..end].to_vec())))
    }

    /// Returns where a signature packet has what it does not sign: issuer, bit lengths.
    fn unsigned_parts(signature: &[u8]) -> Vec<usize> {
        let length = |at: usize| usize::from(signature[at]) << 8 | usize::from(signature[at + 1]);
        let body = if signature[0] & 3 == 1 { 3 } else { 2 };
        let unhashed = body + 6 + length(body + 4);
        let end = unhashed + 2 + length(unhashed);
        let first_number = end + 2;
        let second_number = first_number + 2 + length(first_number).div_ceil(8);
        let numbers = [
            first_number,
            first_number + 1,
            second_number,
            second_number + 1,
        ];
        (unhashed..end).chain(numbers).collect()
    }

    /// A release may be fetched seconds after it was signed, by a machine whose clock is behind.
    #[test]
    fn clocks_may_differ_by_half_an_hour() {
        const MADE: u64 = 1_612_137_600;
        let (key, signature) = KINDS[0];
        let keyring = Keyring::read(&key_block(key)).expect("a key");
        let remark = |now| {
            let verified = Detached::read(signature, SUMS, now).check(&keyring);
            let verified = verified.expect("readable").expect("good");
            verified.time_remark().map(|remark| remark.to_string())
        };
        for behind in [1, 30 * 60] {
            assert_eq!(remark(MADE - behind), None);
        }
        let text = "the signature was made 30 minutes in the future";
        assert_eq!(remark(MADE - 30 * 60 - 1).as_deref(), Some(text));
    }

    #[test]
    fn no_other_document_is_good() {
        for (key, signature) in KINDS {
            let block = key_block(key);
            assert!(good(&block, signature, SUMS).is_some());
            let keyring = Keyring::read(&block).expect("a key");
            for (at, document) in damaged(SUMS) {
                let checked = Detached::read(signature, &document, NOW).check(&keyring);
                assert!(
                    matches!(checked, Err(AuthError::BadSignature { .. })),
                    "{at}"
                );
            }
        }
    }

    #[test]
    fn no_damaged_signature_is_good() {
        for (key, signature) in KINDS {
            let keyring = Keyring::read(&key_block(key)).expect("a key");
            let unsigned = unsigned_parts(signature);
            for (at, changed) in damaged(signature) {
                let checked = Detached::read(&changed, SUMS, NOW).check(&keyring);
                let is_whole = changed.len() == signature.len();
                let may_be_good = is_whole && unsigned.contains(&at);
                assert!(
                    may_be_good || !matches!(checked, Ok(Some(_))),
                    "{at}: {changed:02x?}"
                );
            }
        }
    }

    /// The unsigned part of a key may be damaged without harm; the key remains.
    #[test]
    fn no_damaged_key_is_another_key() {
        for (key, signature) in KINDS {
            let block = key_block(key);
            let id = good(&block, signature, SUMS);
            for (at, changed) in damaged(&block) {
                let now = good(&changed, signature, SUMS);
                assert!(now.is_none() || now == id, "{at}: {changed:02x?}");
            }
        }
    }

    #[test]
    fn lengths_that_lie_cost_nothing() {
        let huge = [0xff; 4];
        for header in [
            &[0xc6, 0xff][..],
            &[0x9a],
            &[0xc2, 0xff],
            &[0x8a],
            &[0xcd, 0xff],
        ] {
            for body in [
                &b""[..],
                &[4],
                &[4, 0, 1, 8, 0xff, 0xff],
                &[6, 0, 1, 8, 0xff, 0xff, 0xff, 0xff],
            ] {
                let packet = [header, &huge, body].concat();
                assert!(good(&packet, KINDS[0].1, SUMS).is_none());
                assert!(good(&key_block(KINDS[0].0), &packet, SUMS).is_none());
            }
        }
    }

    #[test]
    fn there_are_limits() {
        let block = key_block(KINDS[0].0);
        let keyring = Keyring::read(&block).expect("a key");
        let marker = *b"\xca\x03PGP";
        for (signature, fault) in [
            (vec![0; MAX_SIGNATURE_BYTES + 1], "it is longer than 64 KiB"),
            (
                marker.repeat(MAX_SIGNATURE_PACKETS + 1),
                "it has more than 64 packets",
            ),
        ] {
            let checked = Detached::read(&signature, SUMS, NOW).check(&keyring);
            let expected = AuthError::SignatureUnreadable { fault };
            assert_eq!(checked.expect_err("too much"), expected);
        }
        let user = *b"\xcd\x01x";
        let many = [&block[..], &user.repeat(MAX_PACKETS)].concat();
        assert_eq!(
            Keyring::read(&many).expect_err("too much"),
            "it has more than 8192 packets"
        );
        let many = block.repeat(MAX_SELF_SIGNATURES);
        assert_eq!(
            Keyring::read(&many).expect_err("too much"),
            "it has more than 128 signatures over itself"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn nothing_panics(
            noise in prop::collection::vec(any::<u8>(), 0..300),
            kind in 0..KINDS.len(),
            at in any::<prop::sample::Index>(),
            end in any::<prop::sample::Index>(),
        ) {
            let (key, signature) = KINDS[kind];
            let block = key_block(key);
            let splice = |bytes: &[u8]| {
                let at = at.index(bytes.len());
                let end = at + end.index(bytes.len() - at);
                [&bytes[..at], &noise, &bytes[end..]].concat()
            };
            good(&noise, signature, SUMS);
            good(&block, &noise, SUMS);
            good(&splice(&block), signature, SUMS);
            good(&block, &splice(signature), SUMS);
            armor::public_key(&String::from_utf8_lossy(&splice(key.as_bytes()))).ok();
            armor::signature(&String::from_utf8_lossy(&noise)).ok();
        }
    }
}
