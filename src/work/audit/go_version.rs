//! Versions of Go modules and of Go, in the order of semantic versions.

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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoVersion {
    /// Major, minor and patch number; an omitted number is 0.
    core: [u64; 3],
    stage: ReleaseStage,
}

/// The part of a version behind the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReleaseStage {
    /// A pre-release sorts before its release, and so do the pseudo-versions below it (rules 2.3). At least one part.
    Prerelease(Vec<PrereleasePart>),
    Release,
}

/// A part of a pre-release between dots; numbers sort before texts (semver 11.4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PrereleasePart {
    /// Digits without leading zeros, behind their number: a number may exceed every integer type.
    Number(usize, Box<str>),
    Text(Box<str>),
}

impl GoVersion {
    /// Reads a version with or without `v`; ignores build metadata such as `+incompatible`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_VERSION_BYTES {
            return None;
        }
        let text = text.strip_prefix('v').unwrap_or(text);
        // Build metadata may contain dashes, so it is removed before the dash of a pre-release is looked for.
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (numbers, prerelease) = match text.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (text, None),
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
        if parts.next().is_some() {
            return None;
        }
        let stage = match prerelease {
            Some(text) => {
                let parts: Option<Vec<_>> = text.split('.').map(PrereleasePart::parse).collect();
                ReleaseStage::Prerelease(parts?)
            }
            None => ReleaseStage::Release,
        };
        Some(Self { core, stage })
    }

    /// Reads the version of Go in a build, e.g. `go1.22rc1`; `None` for development versions (rules 2.4).
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
    pub fn major(&self) -> u64 {
        self.core[0]
    }

    /// Returns the timestamp and the commit of a pseudo-version, e.g. `20260316182343` and `b3364f3f32e7`.
    pub fn commit(&self) -> Option<(&str, &str)> {
        // The last part is both of them (Go's `module.IsPseudoVersion`).
        let ReleaseStage::Prerelease(parts) = &self.stage else {
            return None;
        };
        let Some(PrereleasePart::Text(last)) = parts.last() else {
            return None;
        };
        let (moment, commit) = last.rsplit_once('-')?;
        let is_pseudo = moment.len() == 14
            && is_number(moment)
            && commit.len() == 12
            && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_pseudo.then_some((moment, commit))
    }
}

impl PrereleasePart {
    fn parse(text: &str) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if is_number(text) {
            let digits = text.trim_start_matches('0');
            Some(Self::Number(digits.len(), digits.into()))
        } else if !text.is_empty() && text.bytes().all(is_allowed) {
            Some(Self::Text(text.into()))
        } else {
            None
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.core;
        write!(f, "{major}.{minor}.{patch}")?;
        if let ReleaseStage::Prerelease(parts) = &self.stage {
            for (number, part) in parts.iter().enumerate() {
                f.write_str(if number == 0 { "-" } else { "." })?;
                match part {
                    PrereleasePart::Number(0, _) => f.write_str("0")?,
                    PrereleasePart::Number(_, text) | PrereleasePart::Text(text) => {
                        f.write_str(text)?;
                    }
                }
            }
        }
        Ok(())
    }
}
