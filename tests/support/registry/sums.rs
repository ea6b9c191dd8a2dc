//! SHA256SUMS documents: their lines, their edits, and hashes that belong to nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// How many hex digits a hash has.
const DIGITS: usize = 64;

/// Spells bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hex SHA-256 of some bytes.
pub(crate) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

/// Makes up a hash of the same scheme that belongs to nothing.
pub(crate) fn false_hash(hash: &str) -> String {
    let digest = Sha256::digest(format!("false {hash}"));
    match hash.split_once(':') {
        Some(("zh", _)) | None => format!("zh:{}", hex(&digest)),
        Some((scheme, _)) => format!("{scheme}:{}", STANDARD.encode(digest)),
    }
}

/// Replaces the hash of every line with `only` in it by a made-up one (`wrong_checksum`).
pub(crate) fn falsify(sums: &[u8], only: &str) -> Vec<u8> {
    let text = std::str::from_utf8(sums).unwrap();
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| match line.contains(only) {
            true => with_false_hash(line),
            false => line.to_owned(),
        })
        .collect::<String>()
        .into_bytes()
}

/// Gives a line the hash of its own text, line feed included if it is part of it.
fn with_false_hash(line: &str) -> String {
    format!("{}{}", sha256_hex(line), &line[DIGITS..])
}

/// Edits the document in the ways of the knob `sums`, one after the other.
pub(crate) fn edit(sums: Vec<u8>, edits: &[String], type_name: &str, version: &str) -> Vec<u8> {
    let manifest = format!("terraform-provider-{type_name}_{version}_manifest.json");
    edits
        .iter()
        .fold(String::from_utf8(sums).unwrap(), |text, edit| {
            edit_once(&text, edit, &manifest)
        })
        .into_bytes()
}

fn edit_once(text: &str, edit: &str, manifest: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match edit {
        "no_newline" => return text.trim_end_matches('\n').to_owned(),
        "crlf" => return text.replace('\n', "\r\n"),
        "blank" => lines.push(String::new()),
        "blank_inside" => lines.insert(1.min(lines.len()), String::new()),
        "comment" => lines.insert(0, "# checksums of the release".to_owned()),
        "junk" => lines.push("junk".to_owned()),
        "manifest" => lines.push(format!("{}  {manifest}", sha256_hex(manifest))),
        "upper" => lines.iter_mut().for_each(|line| {
            line.replace_range(..DIGITS, &line[..DIGITS].to_uppercase());
        }),
        "binary" => lines
            .iter_mut()
            .for_each(|line| *line = line.replacen("  ", " *", 1)),
        other => match other.split_once(':') {
            Some(("no", part)) => lines.retain(|line| !line.contains(part)),
            Some(("double", part)) => lines = doubled(&lines, part),
            _ => panic!("unknown edit of SHA256SUMS: {other}"),
        },
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Puts a false line before every line with `part` in it.
fn doubled(lines: &[String], part: &str) -> Vec<String> {
    let with_lie = |line: &String| match line.contains(part) {
        true => vec![with_false_hash(line), line.clone()],
        false => vec![line.clone()],
    };
    lines.iter().flat_map(with_lie).collect()
}
