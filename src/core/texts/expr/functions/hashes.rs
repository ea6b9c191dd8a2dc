//! Hashes of texts and of files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use super::arguments::{CallArguments, CallFault, CallResult};
use super::files;
use crate::expr::typed::Typed;

pub(super) fn of_text(
    args: &CallArguments<'_>,
    hash: fn(&[u8]) -> Vec<u8>,
    shown: fn(&[u8]) -> String,
) -> CallResult {
    Ok(Typed::string(shown(&hash(args.text(0).as_bytes()))))
}

pub(super) fn of_file(
    args: &CallArguments<'_>,
    hash: fn(&[u8]) -> Vec<u8>,
    shown: fn(&[u8]) -> String,
) -> CallResult {
    // Other functions of files blame the argument, these the call.
    let bytes =
        files::read(args.around, args.text(0), args.work).map_err(CallFault::without_argument)?;
    Ok(Typed::string(shown(&hash(&bytes))))
}

pub(super) fn md5(bytes: &[u8]) -> Vec<u8> {
    Md5::digest(bytes).to_vec()
}

pub(super) fn sha1(bytes: &[u8]) -> Vec<u8> {
    Sha1::digest(bytes).to_vec()
}

pub(super) fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

pub(super) fn sha512(bytes: &[u8]) -> Vec<u8> {
    Sha512::digest(bytes).to_vec()
}

pub(super) fn in_hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

pub(super) fn in_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Makes the UUID of a name in a namespace: their SHA-1, with a version and a variant written into it (RFC 9562,
/// 5.5).
pub(super) fn uuidv5(args: &CallArguments<'_>) -> CallResult {
    let namespace = match args.text(0) {
        "dns" => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "url" => "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
        "oid" => "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
        "x500" => "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
        other => other,
    };
    let parts: Vec<&str> = namespace.split('-').collect();
    let has_form = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
    let decoded = hex::decode(parts.concat()).ok().filter(|_| has_form);
    let Some(mut bytes) = decoded else {
        return Err(match namespace.len() {
            // Without dashes, in braces, or behind `urn:uuid:`.
            32 | 38 | 45 => CallFault::Uncertain("a namespace that is written differently"),
            _ => CallFault::Call(format!("{namespace:?} is no namespace")),
        });
    };
    bytes.extend_from_slice(args.text(1).as_bytes());
    let mut hash = sha1(&bytes);
    hash.truncate(16);
    // Version 5, and the variant of the RFC.
    hash[6] = hash[6] & 0x0f | 0x50;
    hash[8] = hash[8] & 0x3f | 0x80;
    let mut uuid = in_hex(&hash);
    for at in [20, 16, 12, 8] {
        uuid.insert(at, '-');
    }
    Ok(Typed::string(uuid))
}
