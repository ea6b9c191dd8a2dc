//! Signs what the registry serves, with the test keys of `fixtures/keys/registry`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use pgp::composed::{ArmorOptions, Deserializable as _, DetachedSignature, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{SignatureConfig, SignatureType, Subpacket, SubpacketData};
use pgp::ser::Serialize as _;
use pgp::types::{Duration, KeyDetails as _, Password, Timestamp};
use sha2::{Digest as _, Sha256};

use super::sums::hex;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/keys/registry");

/// 2020-01-15, when the expired key was valid.
const IN_ITS_TIME: u32 = 1_579_046_400;
const HOUR: u32 = 3_600;
const MINUTE: i64 = 60;
const TEN_DAYS: u32 = 10 * 24 * HOUR;

/// A key that a registry may announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TestKey {
    /// The one that signs unless told otherwise.
    Main,
    /// A good key that is not announced unless told otherwise.
    Stranger,
    /// Valid for two months of 2020.
    Expired,
    /// Armor around no key at all; cannot sign.
    Garbage,
}

/// How a document is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SignWith {
    /// By the main key.
    Main,
    /// By the key that nobody announced.
    Stranger,
    /// By the expired key, at a time when it was valid.
    Expired,
    /// By the main key; the signature expired after a second.
    SigExpired,
    /// By the main key; the signature is dated ten days ahead.
    SigFuture,
    /// By the main key, as armored text.
    Armored,
}

impl TestKey {
    /// The key of a knob's name.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "main" => Self::Main,
            "stranger" => Self::Stranger,
            "expired" => Self::Expired,
            "garbage" => Self::Garbage,
            other => panic!("unknown key {other}"),
        }
    }

    /// The armored public key as a registry announces it.
    pub(crate) fn public(self) -> String {
        match self.secret() {
            Some(secret) => secret
                .to_public_key()
                .to_armored_string(ArmorOptions::default())
                .unwrap(),
            None => self.armor(),
        }
    }

    /// The id of the key, 16 upper-case hex digits; empty if it is none.
    pub(crate) fn id(self) -> String {
        self.secret().map_or_else(String::new, |key| {
            hex(key.legacy_key_id().as_ref()).to_uppercase()
        })
    }

    /// The fingerprint of the key, 40 upper-case hex digits; empty if it is none.
    pub(crate) fn fingerprint(self) -> String {
        self.secret().map_or_else(String::new, |key| {
            hex(key.fingerprint().as_bytes()).to_uppercase()
        })
    }

    /// The key, read once per process; `None` for what is no key.
    fn secret(self) -> Option<&'static SignedSecretKey> {
        static KEYS: OnceLock<BTreeMap<TestKey, SignedSecretKey>> = OnceLock::new();
        let keys = KEYS.get_or_init(|| {
            let read = |key: Self| (key, SignedSecretKey::from_string(&key.armor()).unwrap().0);
            [Self::Main, Self::Stranger, Self::Expired].map(read).into()
        });
        keys.get(&self)
    }

    fn armor(self) -> String {
        let name = match self {
            Self::Main => "main.asc",
            Self::Stranger => "stranger.asc",
            Self::Expired => "expired.asc",
            Self::Garbage => "garbage.asc",
        };
        std::fs::read_to_string(Path::new(DIRECTORY).join(name)).unwrap()
    }
}

impl SignWith {
    /// The way of a knob's name.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "main" => Self::Main,
            "stranger" => Self::Stranger,
            "expired" => Self::Expired,
            "sigexpired" => Self::SigExpired,
            "sigfuture" => Self::SigFuture,
            "armored" => Self::Armored,
            other => panic!("unknown way of signing {other}"),
        }
    }

    fn key(self) -> TestKey {
        match self {
            Self::Stranger => TestKey::Stranger,
            Self::Expired => TestKey::Expired,
            Self::Main | Self::SigExpired | Self::SigFuture | Self::Armored => TestKey::Main,
        }
    }

    /// When the signature says it was made: if nothing is wrong with that, a minute before it is so many hours
    /// ago, because the clock of a lab does not advance, and an age is cut down to whole units.
    fn created(self, hours_ago: i64) -> Timestamp {
        let now = Timestamp::now().as_secs();
        Timestamp::from_secs(match self {
            Self::Expired => IN_ITS_TIME,
            Self::SigFuture => now + TEN_DAYS,
            Self::Main | Self::Stranger | Self::Armored | Self::SigExpired => {
                let seconds = i64::from(now) - hours_ago * i64::from(HOUR) - MINUTE;
                seconds.try_into().unwrap()
            }
        })
    }
}

/// Signs bytes as [`sign_at`] does, an hour ago, since the clock of a lab does not move and the second of
/// its start may be over.
pub(crate) fn sign(data: &[u8], with: SignWith) -> Vec<u8> {
    sign_at(data, with, 1)
}

/// Signs bytes with a detached signature; the same question has the same answer in one process.
pub(crate) fn sign_at(data: &[u8], with: SignWith, hours_ago: i64) -> Vec<u8> {
    type Known = BTreeMap<(Vec<u8>, SignWith, i64), Vec<u8>>;
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    let mut known = KNOWN
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    known
        .entry((Sha256::digest(data).to_vec(), with, hours_ago))
        .or_insert_with(|| sign_anew(data, with, hours_ago))
        .clone()
}

fn sign_anew(data: &[u8], with: SignWith, hours_ago: i64) -> Vec<u8> {
    let secret = with.key().secret().unwrap();
    let key = &secret.primary_key;
    let mut config = SignatureConfig::v4(
        SignatureType::Binary,
        key.algorithm(),
        HashAlgorithm::Sha256,
    );
    let mut hashed = vec![
        SubpacketData::IssuerFingerprint(key.fingerprint()),
        SubpacketData::SignatureCreationTime(with.created(hours_ago)),
    ];
    if with == SignWith::SigExpired {
        hashed.push(SubpacketData::SignatureExpirationTime(Duration::from_secs(
            1,
        )));
    }
    let packets = hashed.into_iter().map(Subpacket::regular);
    config.hashed_subpackets = packets.collect::<Result<_, _>>().unwrap();
    let issuer = SubpacketData::IssuerKeyId(key.legacy_key_id());
    config.unhashed_subpackets = vec![Subpacket::regular(issuer).unwrap()];
    let signature = config.sign(key, &Password::empty(), data).unwrap();
    let signature = DetachedSignature::new(signature);
    if with == SignWith::Armored {
        return signature.to_armored_bytes(ArmorOptions::default()).unwrap();
    }
    signature.to_bytes().unwrap()
}
