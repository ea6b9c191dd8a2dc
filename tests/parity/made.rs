//! Signatures and keys that gpg does not make.

use std::path::Path;

use pgp::composed::{
    ArmorOptions, Deserializable as _, SignedKeyDetails, SignedPublicKey, SignedSecretKey,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::crypto::{ed448, ed25519};
use pgp::packet::{
    KeyFlags, PubKeyInner, PublicKey, SecretKey, SignatureConfig, SignatureType, Subpacket,
    SubpacketData, UserId,
};
use pgp::ser::Serialize as _;
use pgp::types::{
    KeyDetails as _, KeyVersion, PacketHeaderVersion, Password, PlainSecretParams, PublicParams,
    SecretParams, SignatureBytes, SignedUser, SigningKey, Tag, Timestamp,
};

/// 2021-02-01.
const SIGNED: u32 = 1_612_137_600;

/// Every kind of statement in a signature, by its number, with something that it may say.
const STATEMENTS: &[(u8, &[u8])] = &[
    (4, &[1]),
    (5, &[1, 60]),
    (6, b"x\0"),
    (7, &[1]),
    (9, &[0, 0, 0, 9]),
    (10, &[0]),
    (11, &[9]),
    (
        12,
        &[
            0x80, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
    ),
    (21, &[8]),
    (22, &[1]),
    (23, &[0x80]),
    (24, b"https://keys.test"),
    (25, &[1]),
    (26, b"https://policy.test"),
    (27, &[2]),
    (28, b"somebody"),
    (29, &[0]),
    (30, &[1]),
    (31, &[1, 8, 7, 7, 7, 7]),
    (34, &[1]),
    (
        35,
        &[
            4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ],
    ),
    (37, &[]),
    (38, &[0]),
    (39, &[9, 2]),
    (40, &[0]),
    (100, b"experiment"),
];

/// A signature of some kind.
pub(crate) struct Made {
    pub(crate) case: String,
    pub(crate) signature: Vec<u8>,
    /// Armored.
    pub(crate) key: String,
}

/// Makes all of them over a document.
pub(crate) fn made(document: &[u8]) -> Vec<Made> {
    let main = main_key();
    let by_main = |case: String, digest, statement: &[u8]| Made {
        case,
        signature: sign(&main.primary_key, (digest, document), statement),
        key: text_of(&main.to_public_key()),
    };
    let stated = STATEMENTS.iter().flat_map(|(number, content)| {
        [("plain", 0), ("critical", 0x80)].map(|(word, bit)| {
            let statement = spell_statement(number | bit, content);
            let case = format!("{word}-{number}");
            by_main(case, HashAlgorithm::Sha256, &statement)
        })
    });
    let digested = [
        ("sha224", HashAlgorithm::Sha224),
        ("sha384", HashAlgorithm::Sha384),
        ("sha3-256", HashAlgorithm::Sha3_256),
        ("sha3-512", HashAlgorithm::Sha3_512),
    ]
    .map(|(name, digest)| by_main(format!("rsa-{name}"), digest, &[]));
    let newer = [
        ("new-ed25519", new_ed25519(), HashAlgorithm::Sha256),
        ("new-ed25519-sha512", new_ed25519(), HashAlgorithm::Sha512),
        ("ed448", ed448(), HashAlgorithm::Sha512),
    ]
    .map(|(name, key, digest)| Made {
        case: name.to_owned(),
        signature: sign(&key, (digest, document), &[]),
        key: text_of(&with_user(&key)),
    });
    stated.chain(digested).chain(newer).collect()
}

fn text_of(key: &SignedPublicKey) -> String {
    key.to_armored_string(ArmorOptions::default()).unwrap()
}

fn main_key() -> SignedSecretKey {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/keys/registry");
    let text = std::fs::read_to_string(dir.join("main.asc")).unwrap();
    SignedSecretKey::from_string(&text).unwrap().0
}

fn new_ed25519() -> SecretKey {
    let secret = ed25519::SecretKey::try_from_bytes([7; 32], ed25519::Mode::Ed25519).unwrap();
    let public = PublicParams::Ed25519((&secret).into());
    key(
        PublicKeyAlgorithm::Ed25519,
        public,
        PlainSecretParams::Ed25519(secret),
    )
}

fn ed448() -> SecretKey {
    let secret = ed448::SecretKey::try_from_bytes([7; 57]).unwrap();
    let public = PublicParams::Ed448((&secret).into());
    key(
        PublicKeyAlgorithm::Ed448,
        public,
        PlainSecretParams::Ed448(secret),
    )
}

fn key(
    algorithm: PublicKeyAlgorithm,
    public: PublicParams,
    secret: PlainSecretParams,
) -> SecretKey {
    let born = Timestamp::from_secs(SIGNED);
    let inner = PubKeyInner::new(KeyVersion::V4, algorithm, born, None, public).unwrap();
    let public = PublicKey::from_inner(inner).unwrap();
    SecretKey::new(public, SecretParams::Plain(secret)).unwrap()
}

/// The public key with a user that it confirms.
fn with_user(key: &SecretKey) -> SignedPublicKey {
    let user = UserId::from_str(PacketHeaderVersion::New, "made <made@lockctl.test>").unwrap();
    let mut config = SignatureConfig::v4(
        SignatureType::CertPositive,
        key.algorithm(),
        HashAlgorithm::Sha512,
    );
    let mut flags = KeyFlags::default();
    flags.set_sign(true);
    let statements = [
        SubpacketData::SignatureCreationTime(Timestamp::from_secs(SIGNED)),
        SubpacketData::IssuerFingerprint(key.fingerprint()),
        SubpacketData::KeyFlags(flags),
    ];
    let statements = statements.into_iter().map(Subpacket::regular);
    config.hashed_subpackets = statements.collect::<Result<_, _>>().unwrap();
    let signature = config
        .sign_certification(
            key,
            key.public_key(),
            &Password::empty(),
            Tag::UserId,
            &user,
        )
        .unwrap();
    let users = vec![SignedUser::new(user, vec![signature])];
    let details = SignedKeyDetails::new(Vec::new(), Vec::new(), users, Vec::new());
    SignedPublicKey::new(key.public_key().clone(), details, Vec::new())
}

/// Signs a document with a signature packet of version 4, put together by hand: the crate does not
/// sign what it would not understand.
fn sign(
    key: &impl SigningKey,
    (digest, document): (HashAlgorithm, &[u8]),
    statement: &[u8],
) -> Vec<u8> {
    let mut statements = spell_statement(2, &SIGNED.to_be_bytes());
    let fingerprint = key.fingerprint();
    statements.extend(spell_statement(
        33,
        &[&[4], fingerprint.as_bytes()].concat(),
    ));
    statements.extend(statement);

    let mut body = vec![4, 0, key.algorithm().into(), digest.into()];
    body.extend((statements.len() as u16).to_be_bytes());
    body.extend(statements);
    let trailer = [&[4, 0xff], &(body.len() as u32).to_be_bytes()[..]].concat();
    let hashed = [document, &body, &trailer].concat();
    let hashed = digest.digest(&hashed).unwrap();

    // No unsigned statements.
    body.extend([0, 0]);
    body.extend(&hashed[..2]);
    let signature = key.sign(&Password::empty(), digest, &hashed).unwrap();
    body.extend(match &signature {
        SignatureBytes::Mpis(numbers) => numbers.to_bytes().unwrap(),
        SignatureBytes::Native(bytes) => bytes.to_vec(),
    });
    let length = (body.len() as u32).to_be_bytes();
    [&[0xc2, 0xff][..], &length, &body].concat()
}

/// Spells a statement; the highest bit of the number says that it must be understood.
fn spell_statement(number: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() + 1) as u8;
    [&[length, number], content].concat()
}
