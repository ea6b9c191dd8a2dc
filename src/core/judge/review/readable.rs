//! A lock file in few lines, for programs that compare texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::hash::{Sha256Stream, hex_of_digest};
use crate::lockfile::LockFile;

/// Number of digits of a digest that are shown: enough to distinguish two sets of hashes of a file.
const DIGEST_DIGITS: usize = 12;

/// Prints each provider in a few lines, ordered by their addresses.
///
/// Equal sets of hashes have equal digests; which hashes they are is left out.
#[must_use]
pub fn readable(lock: &LockFile) -> String {
    let mut out = String::new();
    for (addr, entry) in &lock.providers {
        let mut line = |name: &str, value: &str| {
            writeln!(out, "{addr} {name} {value}").expect("writing to a string cannot fail");
        };
        line("version", &entry.version.to_string());
        if !entry.constraints.is_empty() {
            line("constraints", &entry.constraints.to_string());
        }
        let mut schemes: BTreeMap<&str, (usize, Sha256Stream)> = BTreeMap::new();
        for hash in entry.hashes.iter() {
            // By scheme, because `init` adds an `h1:` for each platform, and a new `zh:` is another matter.
            let (scheme, _) = hash.as_str().split_once(':').unwrap_or_default();
            let (count, stream) = schemes.entry(scheme).or_default();
            *count += 1;
            // With its length before it, no two sets have the same bytes.
            stream.update(&hash.as_str().len().to_le_bytes());
            stream.update(hash.as_str().as_bytes());
        }
        for (scheme, (count, stream)) in schemes {
            let digest = hex_of_digest(&stream.finish());
            // Long enough for a reader to see a difference; nothing is verified with it.
            let digest = &digest[..DIGEST_DIGITS];
            line(
                &scheme.escape_debug().to_string(),
                &format!("{count} {digest}"),
            );
        }
        out.push('\n');
    }
    out
}
