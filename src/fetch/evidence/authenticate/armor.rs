//! From ASCII armor to bytes.

use std::io::Read as _;

use pgp::armor::{BlockType, Dearmor, DearmorOptions};

use super::error::Fault;
use super::limits::MAX_ARMOR_BYTES;

/// Returns the content of the first block of a text, which must be a public key.
pub(super) fn public_key(text: &str) -> Result<Vec<u8>, Fault> {
    match dearmor(text)? {
        (BlockType::PublicKey, bytes) => Ok(bytes),
        _ => Err("its armor holds no public key"),
    }
}

/// Returns the content of the first block of a text, with any label, as Terraform does.
pub(super) fn signature(text: &str) -> Result<Vec<u8>, Fault> {
    dearmor(text).map(|(_, bytes)| bytes)
}

fn dearmor(text: &str) -> Result<(BlockType, Vec<u8>), Fault> {
    if text.len() > MAX_ARMOR_BYTES {
        return Err("it is longer than 1024 KiB");
    }
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
    match (reader.read_to_end(&mut bytes), reader.typ) {
        (Ok(_), Some(block_type)) => Ok((block_type, bytes)),
        _ => Err("it is no text with ASCII armor"),
    }
}
