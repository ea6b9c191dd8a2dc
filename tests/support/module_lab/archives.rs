//! Archives as cases describe them, hostile ones too.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::zips::{Entry, Zip};

/// The size of a block of a tar archive, in bytes.
const BLOCK: usize = 512;

/// Makes the archive that is described.
pub(crate) fn make(described: &Value) -> Vec<u8> {
    let text = || described["text"].as_str().unwrap_or_default().as_bytes();
    match described["format"].as_str().unwrap() {
        "raw" => text().to_vec(),
        "gz" => gzip(text()),
        "zip" => zip(described),
        "tar" => tar(described),
        "tar.gz" => gzip(&tar(described)),
        "tar.bz2" => bzip2(&tar(described)),
        "tar.xz" => xz(&tar(described)),
        // No program reads it, so what is inside does not matter.
        "tar.zst" => tar(described),
        other => panic!("there is no format {other}"),
    }
}

fn entries(described: &Value) -> impl Iterator<Item = &Value> {
    described["entries"].as_array().into_iter().flatten()
}

fn mode(entry: &Value) -> u32 {
    let stated = match &entry["mode"] {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let usual = if is_dir(entry) { "755" } else { "644" };
    u32::from_str_radix(stated.as_deref().unwrap_or(usual), 8).unwrap()
}

fn is_dir(entry: &Value) -> bool {
    entry["dir"].as_bool().unwrap_or_default()
}

fn zip(described: &Value) -> Vec<u8> {
    let deflates = described["deflate"].as_bool().unwrap_or_default();
    let entries = entries(described).map(|entry| {
        let mut name = entry["name"].as_str().unwrap().to_owned();
        let (kind, content) = match entry["link"].as_str() {
            Some(target) => (0o120_000, target),
            None if is_dir(entry) => (0o040_000, ""),
            None => (0o100_000, entry["text"].as_str().unwrap_or_default()),
        };
        if is_dir(entry) && !name.ends_with('/') {
            name.push('/');
        }
        let made = Entry::file(name, content);
        let made = made.with(|one| one.attributes = (kind | mode(entry)) << 16);
        if deflates { made.deflated() } else { made }
    });
    Zip::of(entries.collect::<Vec<_>>()).bytes()
}

/// Writes a tar archive by hand, since no library writes names that lead out of it.
fn tar(described: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(comment) = described["pax"].as_str() {
        // The length counts itself; comments of cases are neither very short nor very long.
        let length = comment.len() + "NN comment=\n".len();
        put(
            &mut out,
            "pax_global_header",
            b'g',
            "",
            0o644,
            &format!("{length} comment={comment}\n"),
        );
    }
    for entry in entries(described) {
        let name = entry["name"].as_str().unwrap();
        let (kind, link, text) = if is_dir(entry) {
            (b'5', "", "")
        } else if let Some(target) = entry["link"].as_str() {
            (b'2', target, "")
        } else if let Some(target) = entry["hard"].as_str() {
            (b'1', target, "")
        } else {
            (b'0', "", entry["text"].as_str().unwrap_or_default())
        };
        put(&mut out, name, kind, link, mode(entry), text);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

fn put(out: &mut Vec<u8>, name: &str, kind: u8, link: &str, mode: u32, text: &str) {
    let mut header = [0_u8; BLOCK];
    let mut field = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    field(0, name.as_bytes());
    field(100, format!("{mode:07o}\0").as_bytes());
    field(108, b"0000000\0");
    field(116, b"0000000\0");
    field(124, format!("{:011o}\0", text.len()).as_bytes());
    field(136, b"14524770400\0");
    field(148, b"        ");
    field(156, &[kind]);
    field(157, link.as_bytes());
    field(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend(header);
    out.extend(text.as_bytes());
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::default();
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
