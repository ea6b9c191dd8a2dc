//! The identity of a document, made from its content without a clock or random numbers.

use crate::hash::Sha256Stream;

/// Makes a UUID of the content of a document (RFC 9562, version 8): the beginning of its SHA-256.
pub(super) fn uuid(document: &impl serde::Serialize) -> String {
    let mut stream = Sha256Stream::default();
    stream.update(super::printed(document).as_bytes());
    let digest = stream.finish();
    // Version 8 leaves the other 122 bits to the program; version 5 would have to be made with SHA-1.
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80; // version 8
    bytes[8] = bytes[8] & 0x3f | 0x80; // variant of the RFC
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    parts.join("-")
}
