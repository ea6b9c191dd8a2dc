//! The identity of a document, made from its content without a clock or random numbers.

use crate::hash::{hex_of_digest, sha256};

/// Makes a UUID of the content of a document (RFC 9562, version 8): the beginning of its SHA-256.
pub(super) fn uuid(document: &serde_json::Value) -> String {
    let mut digest = sha256(super::printed(document).as_bytes());
    // Version 8 leaves the other 122 bits to the program; version 5 would have to be made with SHA-1.
    digest[6] = digest[6] & 0x0f | 0x80; // version 8
    digest[8] = digest[8] & 0x3f | 0x80; // variant of the RFC
    let digits = hex_of_digest(&digest);
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..32],
    ];
    parts.join("-")
}
