//! From ASCII armor to bytes.

use std::io::Read as _;

use pgp::armor::{BlockType, Dearmor, DearmorOptions};

use super::error::{KeyFault, SignatureFault};
use super::limits::MAX_ARMOR_BYTES;

/// Returns the content of the first block of a text, which must be a public key.
pub(super) fn public_key(text: &str) -> Result<Vec<u8>, KeyFault> {
    if text.len() > MAX_ARMOR_BYTES {
        return Err(KeyFault::TooLong);
    }
    match dearmor(text).ok_or(KeyFault::NotArmored)? {
        (BlockType::PublicKey, bytes) => Ok(bytes),
        _ => Err(KeyFault::NotPublicKey),
    }
}

/// Returns the content of the first block of a text, with any label, as Terraform does.
pub(super) fn signature(text: &str) -> Result<Vec<u8>, SignatureFault> {
    if text.len() > MAX_ARMOR_BYTES {
        return Err(SignatureFault::TooLong);
    }
    dearmor(text)
        .map(|(_, bytes)| bytes)
        .ok_or(SignatureFault::NotArmored)
}

fn dearmor(text: &str) -> Option<(BlockType, Vec<u8>)> {
    // The programs refuse white space around lines. It does not change the key, and people paste keys into
    // forms; nothing in a header matters.
    let mut lines = text.lines().map(str::trim);
    let start = lines.find(|line| line.starts_with("-----BEGIN "));
    let rest = lines.skip_while(|line| line.contains(':'));
    let lines: String = start
        .into_iter()
        .chain(rest)
        .flat_map(|line| [line, "\n"])
        .collect();
    let options = DearmorOptions::default().set_limit(MAX_ARMOR_BYTES);
    let mut reader = Dearmor::with_options(lines.as_bytes(), options);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).ok()?;
    Some((reader.typ?, bytes))
}
