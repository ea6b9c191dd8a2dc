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
    #[error("its lines are not those of its kind")]
    Form,
    #[error("line {line} is not a fact")]
    Line {
        /// The line number, counted from 1.
        line: usize,
    },
    #[error("its contents of packages are no build information, or too many")]
    Contents,
    #[error("line {line} contradicts an earlier line")]
    Contradiction {
        /// The line number, counted from 1.
        line: usize,
    },
}

/// The parts of an object behind its header.
pub(super) struct ObjectText<'a> {
    pub(super) subject: &'a str,
    pub(super) origin: FactOrigin,
    pub(super) since: u64,
    /// The lines behind these, each with its end.
    pub(super) rest: &'a str,
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
pub(super) fn parse_line(text: &str) -> Option<Fact> {
    if text.len() > MAX_LINE_BYTES {
        return None;
    }
    let words: Vec<&str> = text.split(' ').collect();
    let &[zh, h1, size, provider, version, platform] = &words[..] else {
        return None;
    };
    let fact = Fact {
        zh: hash(zh, Scheme::Zh)?,
        h1: hash(h1, Scheme::H1)?,
        size: parsed(size)?,
        id: PackageId {
            // A full address is read alike by all flavors.
            provider: ProviderAddr::parse(provider, Flavor::Terraform1_11).ok()?,
            version: parsed(version)?,
            platform: parsed(platform)?,
        },
        offered: Vec::new(),
        files: Vec::new(),
    };
    // What is spelled differently, such as a short address or `1.0`, was not written by this program.
    (line(&fact) == text).then_some(fact)
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
    let mut text = String::new();
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
    sealed(HEADER, &line(fact), (origin, *since), &text)
}

/// Writes an object: its header, its subject, who computed it and since when it has been kept, other lines, and the
/// check.
pub(super) fn sealed(
    header: &str,
    subject: &str,
    (origin, since): (&FactOrigin, u64),
    rest: &str,
) -> String {
    let origin = match origin {
        FactOrigin::Computed => format!("computed {since}"),
        FactOrigin::Imported(from) => format!("imported {since} {}", name_of_import(from)),
        FactOrigin::Signed(key) => format!("signed {since} {}", name_of_import(key)),
    };
    let text = format!("{header}\n{subject}\n{origin}\n{rest}");
    let check = check(&text);
    format!("{text}{check}\n")
}

/// Takes an object apart. The check finds damage, not forgery.
///
/// # Errors
/// If it is another text, or damaged.
pub(super) fn unsealed<'a>(
    bytes: &'a [u8],
    header: &'static str,
) -> Result<ObjectText<'a>, FactError> {
    let text = std::str::from_utf8(bytes).map_err(|_| FactError::Damaged)?;
    if text.split('\n').next() != Some(header) {
        return Err(FactError::Header { expected: header });
    }
    // The last line is the check of all lines before it.
    let covered = text.trim_end_matches('\n');
    let covered = covered.rfind('\n').map_or(0, |end| end + 1);
    if text[covered..] != format!("{}\n", check(&text[..covered])) {
        return Err(FactError::Damaged);
    }
    let parts = text[..covered].splitn(4, '\n').collect::<Vec<_>>();
    let [_, subject, origin, rest] = parts[..] else {
        return Err(FactError::Form);
    };
    let (origin, since) = parse_origin(origin).ok_or(FactError::Form)?;
    Ok(ObjectText {
        subject,
        origin,
        since,
        rest,
    })
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
/// If it is another text, or damaged.
pub(super) fn parse_object(bytes: &[u8]) -> Result<StoredFact, FactError> {
    let object = unsealed(bytes, HEADER)?;
    let mut fact = parse_line(object.subject).ok_or(FactError::Form)?;
    // A fact may lack both the platforms of the release and the files of the package.
    let mut lines = object.rest.lines().peekable();
    if let Some(offered) = lines.next_if(|line| line.starts_with("offered ")) {
        fact.offered = offered
            .split(' ')
            .skip(1)
            .map(parsed)
            .collect::<Option<Vec<Platform>>>()
            .filter(|platforms| platforms.len() <= MAX_PLATFORMS)
            .ok_or(FactError::Form)?;
    }
    fact.files = lines
        .map(|line| {
            let (digest, name) = line.strip_prefix("file ")?.split_once(' ')?;
            Some(PackedFile {
                name: name.to_owned(),
                digest: digest_of_hex(digest)?,
            })
        })
        .collect::<Option<_>>()
        .ok_or(FactError::Form)?;
    let digests = fact
        .files
        .iter()
        .map(|file| (file.name.as_bytes(), file.digest));
    // The files must have the recorded `h1:`, so that `verify` may name the ones that differ (rules 2.1).
    let has_h1 = fact.files.is_empty() || h1_of_digests(digests).as_ref() == Ok(&fact.h1);
    if !has_h1 || fact.files.len() > MAX_FILES {
        return Err(FactError::Form);
    }
    Ok(StoredFact {
        fact,
        origin: object.origin,
        since: object.since,
    })
}

fn parse_origin(text: &str) -> Option<(FactOrigin, u64)> {
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

/// Returns the last line of an object with this text before it.
pub(super) fn check(text: &str) -> String {
    format!("sha256:{}", hex_of_digest(&sha256(text.as_bytes())))
}
