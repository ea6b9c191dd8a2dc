//! Versions of Go modules and of Go, in the order of semantic versions.

use std::cmp::Ordering;
use std::fmt;

/// Maximum length of a version, in bytes.
const MAX_VERSION_BYTES: usize = 256;

/// A version of a Go module, a provider or Go itself (rules 2).
///
/// ```
/// use lockctl::audit::GoVersion;
///
/// let version = |text| GoVersion::parse(text).expect("a version");
/// assert!(version("v1.2.3-0.20260316182343-b3364f3f32e7") < version("1.2.3"));
/// assert!(version("v2.0.0+incompatible") == version("2.0.0"));
/// assert_eq!(GoVersion::of_go("go1.22rc1 X:boringcrypto"), Some(version("1.22.0-rc.1")));
/// ```
#[derive(Clone, Debug)]
pub struct GoVersion {
    /// The text without `v` and without build metadata.
    text: Box<str>,
    /// Major, minor and patch number; an omitted number is 0.
    core: [u64; 3],
    // Invariant: empty, or non-empty parts of letters, digits and `-` with dots between them.
    prerelease: Box<str>,
}

impl GoVersion {
    /// Reads a version with or without `v`; ignores build metadata such as `+incompatible`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_VERSION_BYTES {
            return None;
        }
        let text = text.strip_prefix('v').unwrap_or(text);
        // Build metadata may contain dashes, so it is removed before the dash of a pre-release is looked for.
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (numbers, prerelease) = match text.split_once('-') {
            Some((_, "")) => return None,
            Some((numbers, prerelease)) => (numbers, prerelease),
            None => (text, ""),
        };
        let mut core = [0; 3];
        let mut parts = numbers.split('.');
        for (place, part) in core.iter_mut().zip(&mut parts) {
            // `parse` alone would also accept a sign.
            if !is_number(part) {
                return None;
            }
            *place = part.parse().ok()?;
        }
        let is_identifier = |part: &str| {
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            !part.is_empty() && part.bytes().all(is_allowed)
        };
        let is_sound = parts.next().is_none()
            && (prerelease.is_empty() || prerelease.split('.').all(is_identifier));
        is_sound.then(|| Self {
            text: text.into(),
            core,
            prerelease: prerelease.into(),
        })
    }

    /// Reads the version of Go in a build, e.g. `go1.22rc1`; `None` for development versions (rules 2.4).
    #[must_use]
    pub fn of_go(text: &str) -> Option<Self> {
        let version = text.strip_prefix("go")?;
        // Experiments follow a space; additions of vendors follow a dash or a plus sign. Neither changes a number.
        let end = version.find([' ', '-', '+']).unwrap_or(version.len());
        let version = &version[..end];
        let kind = ["rc", "beta"].iter().find_map(|kind| {
            let (numbers, count) = version.split_once(kind)?;
            Some((numbers, *kind, count))
        });
        match kind {
            None => Self::parse(version),
            Some((numbers, kind, count)) => {
                let [major, minor, patch] = Self::parse(numbers)?.core;
                Self::parse(&format!("{major}.{minor}.{patch}-{kind}.{count}"))
            }
        }
    }

    /// Returns the major version.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.core[0]
    }

    /// Returns the timestamp and the commit of a pseudo-version, e.g. `20260316182343` and `b3364f3f32e7`.
    #[must_use]
    pub fn commit(&self) -> Option<(&str, &str)> {
        let (before, commit) = self.prerelease.rsplit_once('-')?;
        // The timestamp follows `0.`, another pre-release with `.0.`, or nothing (Go's `module.IsPseudoVersion`).
        let moment = before.rsplit_once('.').map_or(before, |(_, moment)| moment);
        let is_pseudo = moment.len() == 14
            && is_number(moment)
            && commit.len() == 12
            && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_pseudo.then_some((moment, commit))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Ord for GoVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.core.cmp(&other.core).then_with(|| {
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (true, true) => Ordering::Equal,
                // A release sorts after its pre-releases, and so after the pseudo-versions below it (rules 2.3).
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => compare_prereleases(&self.prerelease, &other.prerelease),
            }
        })
    }
}

/// Compares pre-releases part by part (semver 11.4).
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => match (is_number(left), is_number(right)) {
                (true, true) => {
                    // A number may exceed every integer type: without leading zeros, the longer one is larger.
                    let trimmed = |text: &str| text.trim_start_matches('0').to_owned();
                    let (left, right) = (trimmed(left), trimmed(right));
                    left.len().cmp(&right.len()).then(left.cmp(&right))
                }
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => left.cmp(right),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

impl PartialOrd for GoVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for GoVersion {
    fn eq(&self, other: &Self) -> bool {
        // `v1.2` and `1.2.0` are the same version (rules 2.2), although their texts differ.
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GoVersion {}
