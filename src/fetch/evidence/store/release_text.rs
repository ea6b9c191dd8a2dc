//! The text of a release: its name and statements about it, one in a line.
//!
//! ```text
//! lockctl release 1
//! registry.terraform.io/hashicorp/null 3.2.4
//! computed 1795338000
//! whole
//! signed C874011F0AB405110D02105534365D9472D7468F
//! expires C874011F0AB405110D02105534365D9472D7468F 1774900000
//! dated signature 1744900000
//! package zh:… linux_amd64 h1:…
//! other zh:…
//! attested zh:… github.com/acme/terraform-provider-x COMMIT refs/tags/v1.0.0 .github/workflows/release.yml
//! unattested zh:…
//! sha256:…
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::StoredRelease;
use super::text::{FactError, hash, parsed, sealed, unsealed};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::hash::Scheme;
use crate::package::{
    AttestedBuild, DateSource, ReleaseDate, ReleaseDates, ReleaseFact, ReleasePackage, SignerKey,
};
use crate::version::Version;

/// The first line of the object of a release.
const HEADER: &str = "lockctl release 1";

/// Maximum number of statements about a release: with more, its object might be longer than
/// [`MAX_OBJECT_BYTES`](super::MAX_OBJECT_BYTES). No release is known to have 40 files.
pub(super) const MAX_STATEMENTS: usize = 100;

/// The sources of dates, as they are written.
const DATES: [(DateSource, &str); 4] = [
    (DateSource::Signature, "signature"),
    (DateSource::Registry, "registry"),
    (DateSource::ChecksumList, "list"),
    (DateSource::Package, "package"),
];

/// The `h1:` of packages in statements. An export has them in the lines of its facts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StatedH1s {
    Stated,
    LeftOut,
}

/// Makes a release without any known property.
pub(super) fn unknown(provider: ProviderAddr, version: Version) -> ReleaseFact {
    ReleaseFact {
        provider,
        version,
        lists_release: false,
        signers: BTreeSet::new(),
        key_ends: BTreeMap::new(),
        dates: ReleaseDates::default(),
        packages: BTreeMap::new(),
        others: BTreeSet::new(),
        attested: BTreeMap::new(),
    }
}

/// Parses the name of a release: an address in full, and a version.
pub(super) fn parse_name(text: &str) -> Option<(ProviderAddr, Version)> {
    let (provider, version) = text.split_once(' ')?;
    // A full address is read alike by all flavors.
    let provider = ProviderAddr::parse(provider, Flavor::Terraform1_11).ok()?;
    let version: Version = parsed(version)?;
    // A short address would be another key for the same release.
    (format!("{provider} {version}") == text).then_some((provider, version))
}

/// Writes the statements about a release, in the order of their kinds.
pub(super) fn statements(release: &ReleaseFact, hashes: StatedH1s) -> Vec<String> {
    let mut lines = Vec::new();
    if release.lists_release {
        lines.push("whole".to_owned());
    }
    for SignerKey {
        fingerprint,
        subkey,
    } in &release.signers
    {
        let mut line = format!("signed {fingerprint}");
        if let Some(subkey) = subkey {
            line += &format!(" {subkey}");
        }
        lines.push(line);
    }
    for (fingerprint, end) in &release.key_ends {
        let seconds = end.duration_since(UNIX_EPOCH).unwrap_or_default();
        lines.push(format!("expires {fingerprint} {}", seconds.as_secs()));
    }
    for ReleaseDate { time, source } in release.dates.iter() {
        let name = DATES.iter().find(|(other, _)| *other == source);
        // A date before 1970 says no more than 1970.
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        lines.extend(name.map(|(_, name)| format!("dated {name} {}", seconds.as_secs())));
    }
    for (zh, ReleasePackage { platform, h1 }) in &release.packages {
        let mut line = format!("package {zh} {platform}");
        // An export has the facts of packages in lines of their own.
        if hashes == StatedH1s::Stated {
            line.extend(h1.iter().map(|h1| format!(" {h1}")));
        }
        lines.push(line);
    }
    lines.extend(release.others.iter().map(|zh| format!("other {zh}")));
    for (zh, build) in &release.attested {
        lines.push(match build {
            Some(AttestedBuild {
                repository,
                commit,
                git_ref,
                workflow,
            }) => format!("attested {zh} {repository} {commit} {git_ref} {workflow}"),
            None => format!("unattested {zh}"),
        });
    }
    lines
}

/// Adds a statement to what is known of a release; `None` if it is none.
pub(super) fn add(release: &mut ReleaseFact, statement: &str) -> Option<()> {
    let words: Vec<&str> = statement.split(' ').collect();
    let is_fingerprint = |text: &str| {
        text.len() == 40
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
    };
    let time = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(parsed(seconds)?));
    match &words[..] {
        ["whole"] => release.lists_release = true,
        ["signed", fingerprint, subkey @ ..]
            if subkey.len() < 2
                && is_fingerprint(fingerprint)
                && subkey.iter().copied().all(is_fingerprint) =>
        {
            release.signers.insert(SignerKey {
                fingerprint: (*fingerprint).to_owned(),
                subkey: subkey.first().map(|subkey| (*subkey).to_owned()),
            });
        }
        ["expires", fingerprint, seconds] if is_fingerprint(fingerprint) => {
            release
                .key_ends
                .insert((*fingerprint).to_owned(), time(seconds)?);
        }
        ["dated", name, seconds] => {
            let (source, _) = *DATES.iter().find(|(_, other)| other == name)?;
            let time = time(seconds)?;
            release.dates.extend([ReleaseDate { time, source }]);
        }
        // The `h1:` is missing where only the signed list was read, not the package.
        ["package", zh, platform, h1 @ ..] if h1.len() < 2 => {
            let platform = parsed(platform)?;
            let h1 = match h1 {
                [h1] => Some(hash(h1, Scheme::H1)?),
                _ => None,
            };
            release
                .packages
                .insert(hash(zh, Scheme::Zh)?, ReleasePackage { platform, h1 });
        }
        ["other", zh] => drop(release.others.insert(hash(zh, Scheme::Zh)?)),
        ["attested", zh, repository, commit, git_ref, workflow] => {
            let build = AttestedBuild {
                repository: (*repository).to_owned(),
                commit: (*commit).to_owned(),
                git_ref: (*git_ref).to_owned(),
                workflow: (*workflow).to_owned(),
            };
            release.attested.insert(hash(zh, Scheme::Zh)?, Some(build));
        }
        // Kept as well, so that the registry is not asked again for an attestation that does not exist.
        ["unattested", zh] => {
            release.attested.entry(hash(zh, Scheme::Zh)?).or_default();
        }
        _ => return None,
    }
    Some(())
}

/// Writes the object that holds a release.
pub(super) fn object(stored: &StoredRelease) -> String {
    let StoredRelease {
        release,
        origin,
        since,
    } = stored;
    let ReleaseFact {
        provider, version, ..
    } = &**release;
    let mut text = statements(release, StatedH1s::Stated).join("\n");
    text.push('\n');
    let name = format!("{provider} {version}");
    sealed(HEADER, &name, (origin, *since), &text)
}

/// Reads the object that holds a release.
///
/// # Errors
/// If it is another text, or damaged.
pub(super) fn parse_object(bytes: &[u8]) -> Result<StoredRelease, FactError> {
    let object = unsealed(bytes, HEADER)?;
    let (provider, version) = parse_name(object.subject).ok_or(FactError::Form)?;
    let mut release = unknown(provider, version);
    for statement in object.rest.lines() {
        add(&mut release, statement).ok_or(FactError::Form)?;
    }
    Ok(StoredRelease {
        release: Arc::new(release),
        origin: object.origin,
        since: object.since,
    })
}
