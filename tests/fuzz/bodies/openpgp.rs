//! Signatures and keys: nothing that is made up counts.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use arbitrary::{Result, Unstructured};
use lockctl::authenticate::{Enforcement, Rules, signature};
use lockctl::flavor::Flavor;
use lockctl::package::{ChecksumList, Evidence, SigningKey};

use super::Budget;

macro_rules! kind {
    ($name:literal) => {
        (
            include_str!(concat!("../../../fixtures/keys/kinds/", $name, ".asc")),
            include_bytes!(concat!("../../../fixtures/keys/kinds/", $name, ".sig")),
        )
    };
}

const SUMS: &[u8] = include_bytes!("../../../fixtures/keys/kinds/SHA256SUMS");
const KEY: &str = include_str!("../../../fixtures/keys/kinds/ed25519.asc");
const SIGNATURE: &[u8] = include_bytes!("../../../fixtures/keys/kinds/ed25519.sig");

/// Keys whose packets are put together anew, and the signatures beside them.
const KINDS: &[(&str, &[u8])] = &[
    kind!("ed25519"),
    kind!("certified"),
    kind!("expired"),
    kind!("expired-subkey"),
    kind!("nistp256"),
    kind!("renewed"),
    kind!("revoked"),
    kind!("revoked-subkey"),
    kind!("rsa2048"),
    kind!("sha1-self"),
    kind!("subkey"),
];

const BUDGET: Budget = Budget {
    base_bytes: 4 << 20,
    bytes: 2_000,
    base_allocations: 50_000,
    allocations: 200,
};

/// The first byte says what the others are: a signature by a good key, a key with armor, choices of packets
/// of true keys, or a key without armor.
pub fn run(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else {
        return;
    };
    let evidence = match kind {
        b'S' => evidence(rest, KEY.to_owned(), String::new()),
        b'K' => evidence(
            SIGNATURE,
            String::from_utf8_lossy(rest).into_owned(),
            String::new(),
        ),
        b'T' => evidence(
            SIGNATURE,
            KEY.to_owned(),
            String::from_utf8_lossy(rest).into_owned(),
        ),
        b'P' => {
            if let Ok(packets) = Packets::choose(&mut Unstructured::new(rest)) {
                packets.check();
            }
            return;
        }
        _ => evidence(SIGNATURE, armored(rest), String::new()),
    };
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let rules = Rules {
            flavor,
            enforced: Enforcement::NONE,
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        let good = BUDGET.spend(data, || signature(&evidence, &rules, now));
        let again = signature(&evidence, &rules, now);
        assert_eq!(good.is_ok(), again.is_ok());
        match good {
            // A signature with other packets beside it may still be the true one.
            Ok(good) => assert!(!good.signer.to_string().is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        // Nobody can make the key sign another document.
        let other = Evidence {
            sums: Arc::new(ChecksumList::parse(b"")),
            ..evidence.clone()
        };
        if kind == b'S' {
            assert!(
                signature(&other, &rules, now).is_err(),
                "a forged signature"
            );
        }
    }
}

/// Packets of several keys in any order, some of them changed, and a true signature.
struct Packets {
    signature: &'static [u8],
    key: Vec<u8>,
    /// A packet of a public key or subkey is as it was.
    has_true_key: bool,
}

impl Packets {
    fn choose(input: &mut Unstructured<'_>) -> Result<Self> {
        let (mut key, mut has_true_key) = (Vec::new(), false);
        let (mut armor, signature) = *input.choose(KINDS)?;
        for _ in 0..input.int_in_range(1..=10)? {
            if input.ratio(1, 4)? {
                armor = input.choose(KINDS)?.0;
            }
            let packets = packets(armor);
            let (tag, mut body) = packets[input.choose_index(packets.len())?].clone();
            let is_changed = input.ratio(1, 6)?;
            if is_changed {
                let at = input.choose_index(body.len())?;
                body[at] ^= input.int_in_range(1..=255)?;
                if input.ratio(1, 4)? {
                    body.truncate(at);
                }
            }
            has_true_key |= !is_changed && matches!(tag, 6 | 14);
            key.extend([0xC0 | tag, 0xFF]);
            key.extend((body.len() as u32).to_be_bytes());
            key.extend(body);
        }
        Ok(Self {
            signature,
            key,
            has_true_key,
        })
    }

    fn check(&self) {
        let evidence = evidence(self.signature, armored(&self.key), String::new());
        for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
            let rules = Rules {
                flavor,
                enforced: Enforcement::NONE,
            };
            let now = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
            let good = BUDGET.spend(&self.key, || signature(&evidence, &rules, now));
            if good.is_ok() {
                assert!(self.has_true_key, "a changed key counts");
            }
        }
    }
}

/// The tag and the body of each packet of a key.
fn packets(armor: &str) -> Vec<(u8, Vec<u8>)> {
    let bytes = dearmored(armor);
    let mut packets = Vec::new();
    let mut rest = &bytes[..];
    while let [head, length @ ..] = rest {
        let (tag, sizes) = match head {
            0xC0.. => (head & 0x3F, length),
            _ => ((head >> 2) & 0xF, length),
        };
        let (len, used) = match (head, head & 3, sizes[0]) {
            (0xC0.., _, short @ ..192) => (usize::from(short), 1),
            (0xC0.., _, first) => (
                ((usize::from(first) - 192) << 8) + usize::from(sizes[1]) + 192,
                2,
            ),
            (_, 0, short) => (usize::from(short), 1),
            _ => ((usize::from(sizes[0]) << 8) | usize::from(sizes[1]), 2),
        };
        packets.push((tag, sizes[used..used + len].to_vec()));
        rest = &sizes[used + len..];
    }
    packets
}

/// The bytes in an armor of ours.
fn dearmored(armor: &str) -> Vec<u8> {
    let (_, text) = armor.split_once("\n\n").expect("an empty line");
    let mut bytes = Vec::new();
    let (mut number, mut bits) = (0u32, 0);
    for character in text
        .lines()
        .take_while(|line| !line.starts_with(['=', '-']))
        .flat_map(str::bytes)
    {
        let Some(value) = ALPHABET.iter().position(|sign| *sign == character) else {
            continue;
        };
        number = (number << 6) | value as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((number >> bits) as u8);
            number &= (1 << bits) - 1;
        }
    }
    bytes
}

fn evidence(signature: &[u8], ascii_armor: String, trust_signature: String) -> Evidence {
    Evidence {
        filename: "x.zip".to_owned(),
        shasum: [0; 32],
        shasum_text: "0".repeat(64),
        sums: Arc::new(ChecksumList::parse(SUMS)),
        sums_changed: None,
        signature: signature.into(),
        keys: vec![SigningKey {
            ascii_armor,
            trust_signature,
        }],
    }
}

/// Puts bytes into armor with a true checksum, so that they get past it.
fn armored(bytes: &[u8]) -> String {
    let mut crc: u32 = 0xB7_04CE;
    for byte in bytes {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x100_0000 != 0 {
                crc ^= 0x186_4CFB;
            }
        }
    }
    let [_, high, middle, low] = (crc & 0xFF_FFFF).to_be_bytes();
    let lines: Vec<String> = base64(bytes)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    format!(
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}\n={}\n-----END PGP PUBLIC KEY BLOCK-----\n",
        lines.join("\n"),
        base64(&[high, middle, low])
    )
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk
            .iter()
            .fold(0u32, |number, byte| number << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..4 {
            if at <= chunk.len() {
                text.push(char::from(
                    ALPHABET[(number >> (18 - 6 * at)) as usize & 63],
                ));
            } else {
                text.push('=');
            }
        }
    }
    text
}
