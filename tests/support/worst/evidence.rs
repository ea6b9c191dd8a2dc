//! Checksum lists, signatures and keys.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockctl::authenticate::{Enforcement, Rules, signature};
use lockctl::flavor::Flavor;
use lockctl::package::{ChecksumList, Evidence, SigningKey};

use super::{Case, Reader, Work, case, numbered, repeated, within};

const SUMS: &[u8] = include_bytes!("../../../fixtures/keys/kinds/SHA256SUMS");
const KEY: &str = include_str!("../../../fixtures/keys/kinds/ed25519.asc");
const SIGNATURE: &[u8] = include_bytes!("../../../fixtures/keys/kinds/ed25519.sig");

const LISTS: &[Case] = &[
    case("many", "files", |bytes| {
        numbered(bytes, |n| format!("{n:064x}  x_{n}.zip\n")).into()
    }),
    case("many", "short names", |bytes| {
        numbered(bytes, |n| format!("{n:064x}  a\n")).into()
    }),
    case("repetitive", "one file", |bytes| {
        repeated(
            bytes,
            &format!("{}  x_1.0.0_linux_amd64.zip\n", "ab".repeat(32)),
        )
    }),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\n")),
    case("repetitive", "spaces", |bytes| repeated(bytes, " ")),
    case("repetitive", "no UTF-8", |bytes| vec![0xff; bytes]),
    case("long", "line", |bytes| repeated(bytes, "a")),
    case("long", "name", |bytes| {
        within(&"ab".repeat(32), &format!("  {}", "x".repeat(bytes)), "\n")
    }),
    case("almost right", "digits", |bytes| {
        numbered(bytes, |n| format!("{n:063x}  x.zip\n")).into()
    }),
];

/// Packets that a key or a signature may hold, by their tags: signature, user, padding, compressed.
const PACKETS: &[Case] = &[
    case("many", "users", |bytes| {
        packets(bytes, 13, b"a <a@example.com>")
    }),
    case("many", "empty packets", |bytes| packets(bytes, 21, b"")),
    case("many", "signatures", |bytes| {
        SIGNATURE.repeat(bytes.div_ceil(SIGNATURE.len()))
    }),
    case("wide", "subpackets", |bytes| {
        // Version 4, Ed25519, SHA-256; then the lengths of the hashed and unhashed subpackets.
        let hashed = [2, 100, 0].repeat((bytes / 6).min(20_000));
        let mut body = vec![4, 0, 22, 8];
        let length = u16::try_from(hashed.len()).expect("clamped");
        for _ in 0..2 {
            body.extend(length.to_be_bytes());
            body.extend(&hashed);
        }
        body.extend([0, 0, 0, 1, 1, 0, 1, 1]);
        packet(2, &body)
    }),
    case("deep", "compressed packets", |bytes| {
        let mut inside = SIGNATURE.to_vec();
        for _ in 0..bytes / 6 {
            // Without compression, and of a length that only the end of the input says.
            inside.splice(0..0, [0xa3, 0]);
            if inside.len() > bytes {
                break;
            }
        }
        inside
    }),
    case("long", "packet", |bytes| packet(13, &vec![b'a'; bytes])),
    case("long", "unknown packet", |bytes| {
        packet(60, &vec![b'a'; bytes])
    }),
    case("repetitive", "zeros", |bytes| vec![0; bytes]),
    case("repetitive", "partial lengths", |bytes| {
        [vec![0xcd], vec![0xe0; bytes]].concat()
    }),
    case("almost right", "packets of a stated gigabyte", |bytes| {
        [0xcd, 0xff, 0x40, 0, 0, 0].repeat(bytes / 6)
    }),
];

/// Text around keys.
const ARMORS: &[Case] = &[
    case("many", "keys", |bytes| {
        KEY.repeat(bytes.div_ceil(KEY.len())).into()
    }),
    case("many", "headers", |bytes| {
        let head = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";
        within(head, &numbered(bytes, |n| format!("Comment: {n}\n")), "\n")
    }),
    case("repetitive", "beginnings", |bytes| {
        repeated(bytes, "-----BEGIN PGP PUBLIC KEY BLOCK-----\n")
    }),
    case("repetitive", "hyphens", |bytes| repeated(bytes, "-")),
    case("repetitive", "line ends", |bytes| repeated(bytes, "\r\n")),
    case("long", "text before a key", |bytes| {
        within(&"x\n".repeat(bytes / 2), KEY, "")
    }),
    case("long", "line", |bytes| {
        within(
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n",
            &"A".repeat(bytes),
            "\n",
        )
    }),
    case("almost right", "beginnings", |bytes| {
        repeated(bytes, "-----BEGIN PGP PUBLIC KEY BLOCK----\n")
    }),
];

pub(super) fn readers() -> Vec<Reader> {
    vec![
        Reader::library("checksum list", list, LISTS),
        Reader::library("signature", signed, PACKETS).up_to(60_000),
        Reader::library("signing key", key, PACKETS).up_to(700_000),
        Reader::library("signing key, text", armor, ARMORS),
        Reader::library("signing key, with users", key_and_more, PACKETS).up_to(700_000),
    ]
}

fn list(input: Vec<u8>) -> Work {
    Box::new(move || drop(ChecksumList::parse(&input)))
}

fn signed(input: Vec<u8>) -> Work {
    check(input, KEY.to_owned())
}

fn key(input: Vec<u8>) -> Work {
    check(SIGNATURE.to_vec(), armored(&input))
}

fn armor(input: Vec<u8>) -> Work {
    let text = String::from_utf8(input).expect("text");
    check(SIGNATURE.to_vec(), text)
}

/// A true key with more packets behind it.
fn key_and_more(input: Vec<u8>) -> Work {
    let mut packets = STANDARD
        .decode(
            KEY.lines()
                .filter(|line| !line.starts_with(['-', '=']) && !line.contains(':'))
                .collect::<String>(),
        )
        .expect("a key");
    packets.extend(input);
    check(SIGNATURE.to_vec(), armored(&packets))
}

fn check(bytes: Vec<u8>, ascii_armor: String) -> Work {
    let evidence = Evidence {
        filename: "x.zip".to_owned(),
        shasum: [0; 32],
        shasum_text: "0".repeat(64),
        sums: Arc::new(ChecksumList::parse(SUMS)),
        sums_changed: None,
        signature: bytes.into(),
        keys: vec![SigningKey {
            ascii_armor,
            trust_signature: String::new(),
        }],
    };
    Box::new(move || {
        let rules = Rules {
            flavor: Flavor::Terraform1_16,
            enforced: Enforcement::NONE,
        };
        let now = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        drop(signature(&evidence, &rules, now));
    })
}

/// Armor without the checksum, which may be left out.
fn armored(bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let mut armor = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n".to_owned();
    for line in text.as_bytes().chunks(64) {
        armor.extend(line.iter().copied().map(char::from));
        armor.push('\n');
    }
    armor + "-----END PGP PUBLIC KEY BLOCK-----\n"
}

fn packets(bytes: usize, tag: u8, body: &[u8]) -> Vec<u8> {
    let packet = packet(tag, body);
    packet.repeat(bytes.div_ceil(packet.len()))
}

/// A packet with a length of five bytes.
fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("less than 4 GiB");
    let mut packet = vec![0xc0 | tag, 0xff];
    packet.extend(length.to_be_bytes());
    packet.extend(body);
    packet
}
