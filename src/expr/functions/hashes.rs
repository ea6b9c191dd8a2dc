//! Hashes of texts and of files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use super::{Fault, Function, Gives, Limits, Needs, Takes, files, text};
use crate::expr::typed::Typed;

type Ran = Result<Typed, Fault>;

const fn of(name: &'static str, run: fn(&[Typed], &Limits<'_>) -> Ran) -> Function {
    Function {
        name,
        takes: &[Takes::Text],
        rest: None,
        needs: Needs::Parts,
        gives: Gives::Text,
        run,
    }
}

pub(super) const TABLE: &[Function] = &[
    of("base64sha256", |args, _| of_text(args, sha256, in_base64)),
    of("base64sha512", |args, _| of_text(args, sha512, in_base64)),
    of("filebase64sha256", |args, limits| {
        of_file(args, limits, sha256, in_base64)
    }),
    of("filebase64sha512", |args, limits| {
        of_file(args, limits, sha512, in_base64)
    }),
    of("filemd5", |args, limits| of_file(args, limits, md5, in_hex)),
    of("filesha1", |args, limits| {
        of_file(args, limits, sha1, in_hex)
    }),
    of("filesha256", |args, limits| {
        of_file(args, limits, sha256, in_hex)
    }),
    of("filesha512", |args, limits| {
        of_file(args, limits, sha512, in_hex)
    }),
    of("md5", |args, _| of_text(args, md5, in_hex)),
    of("sha1", |args, _| of_text(args, sha1, in_hex)),
    of("sha256", |args, _| of_text(args, sha256, in_hex)),
    of("sha512", |args, _| of_text(args, sha512, in_hex)),
    Function {
        takes: &[Takes::Text, Takes::Text],
        ..of("uuidv5", |args, _| uuid(text(args, 0), text(args, 1)))
    },
];

fn of_text(args: &[Typed], hash: fn(&[u8]) -> Vec<u8>, shown: fn(&[u8]) -> String) -> Ran {
    Ok(Typed::string(shown(&hash(text(args, 0).as_bytes()))))
}

fn of_file(
    args: &[Typed],
    limits: &Limits<'_>,
    hash: fn(&[u8]) -> Vec<u8>,
    shown: fn(&[u8]) -> String,
) -> Ran {
    let read = files::read(limits.around, text(args, 0), limits.work);
    let bytes = read.map_err(|fault| match fault {
        // Other functions of files blame the argument.
        Fault::Argument(_, reason) => Fault::Call(reason),
        other => other,
    })?;
    Ok(Typed::string(shown(&hash(&bytes))))
}

fn md5(bytes: &[u8]) -> Vec<u8> {
    Md5::digest(bytes).to_vec()
}

fn sha1(bytes: &[u8]) -> Vec<u8> {
    Sha1::digest(bytes).to_vec()
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

fn sha512(bytes: &[u8]) -> Vec<u8> {
    Sha512::digest(bytes).to_vec()
}

fn in_hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

fn in_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Makes the UUID of a name below a namespace: its hash, with a version and a variant written into it
/// (RFC 9562, 5.5).
fn uuid(namespace: &str, name: &str) -> Ran {
    let namespace = match namespace {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        other => other,
    };
    let Some(mut bytes) = uuid_bytes(namespace) else {
        return match namespace.len() {
            // Without dashes, in braces, or behind a prefix.
            32 | 38 | 45 => Err(Fault::Uncertain("a namespace that is written differently")),
            _ => Err(Fault::Call(format!("{namespace:?} is no namespace"))),
        };
    };
    bytes.extend_from_slice(name.as_bytes());
    let mut hash = sha1(&bytes);
    hash.truncate(16);
    hash[6] = hash[6] & 0x0f | 0x50;
    hash[8] = hash[8] & 0x3f | 0x80;
    let mut shown = in_hex(&hash);
    for at in [20, 16, 12, 8] {
        shown.insert(at, '-');
    }
    Ok(Typed::string(shown))
}

fn uuid_bytes(text: &str) -> Option<Vec<u8>> {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    match lengths == [8, 4, 4, 4, 12] {
        true => hex::decode(parts.concat()).ok(),
        false => None,
    }
}
