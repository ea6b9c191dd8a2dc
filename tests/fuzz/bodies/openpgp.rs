//! Signatures and keys: nothing that is made up counts.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use lockctl::authenticate::{Enforcement, Rules, signature};
use lockctl::flavor::Flavor;
use lockctl::package::{ChecksumList, Evidence, SigningKey};

use super::Budget;

const SUMS: &[u8] = include_bytes!("../../../fixtures/keys/kinds/SHA256SUMS");
const KEY: &str = include_str!("../../../fixtures/keys/kinds/ed25519.asc");
const SIGNATURE: &[u8] = include_bytes!("../../../fixtures/keys/kinds/ed25519.sig");

const BUDGET: Budget = Budget {
    base_bytes: 4 << 20,
    bytes: 2_000,
    base_allocations: 50_000,
    allocations: 200,
};

/// The first byte says what the others are: a signature by a good key, a key with armor, or a key without.
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

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
