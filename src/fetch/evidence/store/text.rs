//! The text of facts: one line each, and the object that holds one.
//!
//! ```text
//! lockctl fact 1
//! zh:… h1:… 1234567 registry.terraform.io/hashicorp/null 3.2.4 linux_amd64
//! computed 1795338000
//! offered darwin_arm64 linux_amd64 windows_amd64
//! file 5feceb66… terraform-provider-null_v3.2.4_x5
//! sha256:…
//! ```

use std::str::FromStr;

use super::{FactOrigin, StoredFact};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::{Hash, Scheme, digest_of_hex, h1_of_digests, hex_of_digest, sha256};
use crate::package::{Fact, PackageId, PackedFile};
use crate::platform::Platform;

/// The first line of every object. Another format would have another one, and another key.
const HEADER: &str = "lockctl fact 1";

/// The first line of an export.
pub(super) const EXPORT_HEADER: &str = "# lockctl facts 1";

/// Maximum length of a line, in bytes; the longest that is possible has about 500.
const MAX_LINE_BYTES: usize = 1024;

/// Maximum number of files in a fact. Packages have one to five, and few have more than a hundred.
const MAX_FILES: usize = 32;

/// Maximum number of platforms in a fact; no release has more than some thirty.
const MAX_PLATFORMS: usize = 64;

/// Maximum length of the name of an import, in characters.
const MAX_NAME: usize = 200;

/// A text that is no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    #[error("it does not begin with {expected:?}")]
    Header { expected: &'static str },
    #[error("it is damaged: its check does not match")]
    Damaged,
    #[error("line {line} is not a fact: {problem}")]
    Line {
        /// The line number, counted from 1.
        line: usize,
        problem: &'static str,
    },
}

/// Writes a fact in one line, without its end; the files are left out.
pub(super) fn line(fact: &Fact) -> String {
    let PackageId {
        provider,
        version,
        platform,
    } = &fact.id;
    let Fact { zh, h1, size, .. } = fact;
    format!("{zh} {h1} {size} {provider} {version} {platform}")
}

/// Parses one line of a fact file.
///
/// # Errors
/// The problem with the line, in words.
pub(super) fn parse_line(text: &str) -> Result<Fact, &'static str> {
    if text.len() > MAX_LINE_BYTES {
        return Err("it is too long");
    }
    let words: Vec<&str> = text.split(' ').collect();
    let &[zh, h1, size, provider, version, platform] = &words[..] else {
        return Err("it does not have six words");
    };
    let fact = Fact {
        zh: hash(zh, Scheme::Zh).ok_or("the first word is no zh: hash")?,
        h1: hash(h1, Scheme::H1).ok_or("the second word is no h1: hash")?,
        size: parsed(size).ok_or("the third word is no size in bytes")?,
        id: PackageId {
            // A full address is read alike by all flavors.
            provider: ProviderAddr::parse(provider, Flavor::Terraform1_11)
                .map_err(|_| "the fourth word is no provider address")?,
            version: parsed(version).ok_or("the fifth word is no version")?,
            platform: parsed(platform).ok_or("the sixth word is no platform")?,
        },
        offered: Vec::new(),
        files: Vec::new(),
    };
    // What is spelled differently, such as a short address or `1.0`, was not written by this program.
    if line(&fact) == text {
        Ok(fact)
    } else {
        Err("it is not written in full")
    }
}

pub(super) fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

pub(super) fn hash(word: &str, scheme: Scheme) -> Option<Hash> {
    let hash: Hash = parsed(word)?;
    (hash.scheme() == scheme && hash.is_well_formed()).then_some(hash)
}

/// Writes the object that holds a fact.
pub(super) fn object(stored: &StoredFact) -> String {
    let StoredFact {
        fact,
        origin,
        since,
    } = stored;
    let origin = origin_line(origin, *since);
    let mut text = format!("{HEADER}\n{}\n{origin}\n", line(fact));
    if !fact.offered.is_empty() && fact.offered.len() <= MAX_PLATFORMS {
        text.push_str("offered");
        for platform in &fact.offered {
            text.push_str(&format!(" {platform}"));
        }
        text.push('\n');
    }
    // The files are checked against the `h1:`, which takes all of them: so all are stated, or none.
    let is_plain = |name: &str| name.len() < MAX_LINE_BYTES / 2 && !name.contains(['\n', '\r']);
    let statable =
        fact.files.len() <= MAX_FILES && fact.files.iter().all(|file| is_plain(&file.name));
    for PackedFile { name, digest } in fact.files.iter().filter(|_| statable) {
        text.push_str(&format!("file {} {name}\n", hex_of_digest(digest)));
    }
    sealed(text)
}

/// Writes who computed something, and since when it has been kept.
pub(super) fn origin_line(origin: &FactOrigin, since: u64) -> String {
    match origin {
        FactOrigin::Computed => format!("computed {since}"),
        FactOrigin::Imported(from) => format!("imported {since} {}", name_of_import(from)),
        FactOrigin::Signed(key) => format!("signed {since} {}", name_of_import(key)),
    }
}

/// Adds the check to the text of an object.
pub(super) fn sealed(text: String) -> String {
    let check = check(&text);
    format!("{text}{check}\n")
}

/// Returns the text of an object without its check, which must match.
///
/// # Errors
/// If it is another text, or damaged.
pub(super) fn unsealed<'a>(bytes: &'a [u8], header: &'static str) -> Result<&'a str, FactError> {
    let text = std::str::from_utf8(bytes).map_err(|_| FactError::Damaged)?;
    if text.split('\n').next() != Some(header) {
        return Err(FactError::Header { expected: header });
    }
    // The last line is the check of all lines before it.
    let covered = text.trim_end_matches('\n');
    let covered = covered.rfind('\n').map_or(0, |end| end + 1);
    if text[covered..] == format!("{}\n", check(&text[..covered])) {
        Ok(&text[..covered])
    } else {
        Err(FactError::Damaged)
    }
}

/// Returns the name of an import as it is kept: one line, not too long.
#[must_use]
pub fn name_of_import(from: &str) -> String {
    from.chars()
        .take(MAX_NAME)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// Reads the object that holds a fact.
///
/// # Errors
/// If it is another text, or damaged. The check finds damage, not forgery.
pub(super) fn parse_object(bytes: &[u8]) -> Result<StoredFact, FactError> {
    let text = unsealed(bytes, HEADER)?;
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let at = |line, problem| FactError::Line { line, problem };
    let [fact, origin, rest @ ..] = &lines[..] else {
        return Err(at(lines.len() + 2, "it is missing"));
    };
    let mut fact = parse_line(fact).map_err(|problem| at(2, problem))?;
    let (origin, since) =
        parse_origin(origin).ok_or_else(|| at(3, "it does not say who computed it"))?;
    // A fact may lack both parts.
    let (offered, files) = match rest {
        [first, files @ ..] if first.starts_with("offered ") => (Some(first), files),
        files => (None, files),
    };
    if let Some(offered) = offered {
        fact.offered = offered
            .split(' ')
            .skip(1)
            .map(parsed)
            .collect::<Option<Vec<Platform>>>()
            .filter(|platforms| platforms.len() <= MAX_PLATFORMS)
            .ok_or_else(|| at(4, "it does not state platforms"))?;
    }
    let above = 1 + lines.len() - files.len();
    if files.len() > MAX_FILES {
        return Err(at(above + 1 + MAX_FILES, "there are too many files"));
    }
    for (index, file) in files.iter().enumerate() {
        let file =
            parse_file(file).ok_or_else(|| at(above + 1 + index, "it does not state a file"))?;
        fact.files.push(file);
    }
    let digests = fact
        .files
        .iter()
        .map(|file| (file.name.as_bytes(), file.digest));
    // The files must have the recorded `h1:`, so that `verify` may name the ones that differ (rules 2.1).
    if !files.is_empty() && h1_of_digests(digests).as_ref() != Ok(&fact.h1) {
        return Err(at(above + 1, "the files do not have the h1:"));
    }
    Ok(StoredFact {
        fact,
        origin,
        since,
    })
}

pub(super) fn parse_origin(text: &str) -> Option<(FactOrigin, u64)> {
    if let Some(since) = text.strip_prefix("computed ") {
        return Some((FactOrigin::Computed, parsed(since)?));
    }
    if let Some(signed) = text.strip_prefix("signed ") {
        let (since, key) = signed.split_once(' ')?;
        return Some((FactOrigin::Signed(key.to_owned()), parsed(since)?));
    }
    // The name of an import may have spaces, so it comes last.
    let (since, from) = text.strip_prefix("imported ")?.split_once(' ')?;
    Some((FactOrigin::Imported(from.to_owned()), parsed(since)?))
}

fn parse_file(text: &str) -> Option<PackedFile> {
    let (digest, name) = text.strip_prefix("file ")?.split_once(' ')?;
    Some(PackedFile {
        name: name.to_owned(),
        digest: digest_of_hex(digest)?,
    })
}

/// Returns the last line of an object with this text before it.
pub(super) fn check(text: &str) -> String {
    format!("sha256:{}", hex_of_digest(&sha256(text.as_bytes())))
}
