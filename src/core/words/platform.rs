//! `OS_ARCH` pairs and the presets of `--platform`.

use std::fmt;

/// An operating system and an architecture, e.g. `linux_amd64`.
///
/// Any two non-empty words are a platform: neither program checks them against a list, and case
/// is kept (`locker` rules 1.1). Refused are slashes and control characters, because platforms
/// become parts of paths and messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    os: Box<str>,
    arch: Box<str>,
}

/// A text that is no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a platform: write OS_ARCH with exactly one underscore, as in linux_amd64")]
pub struct PlatformError {
    text: String,
}

/// The platforms of the preset `common`.
const COMMON: [&str; 5] = [
    "linux_amd64",
    "linux_arm64",
    "darwin_amd64",
    "darwin_arm64",
    "windows_amd64",
];

/// The platforms that providers are commonly released for.
const RELEASED: [&str; 22] = [
    "darwin_amd64",
    "darwin_arm64",
    "freebsd_386",
    "freebsd_amd64",
    "freebsd_arm",
    "freebsd_arm64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "linux_mips64",
    "linux_mips64le",
    "linux_ppc64le",
    "linux_riscv64",
    "linux_s390x",
    "netbsd_amd64",
    "openbsd_386",
    "openbsd_amd64",
    "solaris_amd64",
    "windows_386",
    "windows_amd64",
    "windows_arm64",
];

impl Platform {
    /// Returns whether providers are commonly released for this platform; another one is most
    /// likely a slip.
    #[must_use]
    pub fn is_common(&self) -> bool {
        RELEASED.contains(&self.to_string().as_str())
    }

    /// Returns every platform that providers are commonly released for.
    #[must_use]
    pub fn released() -> Vec<Self> {
        RELEASED
            .iter()
            .map(|text| text.parse().expect("the table is well-formed"))
            .collect()
    }

    /// Returns the operating system, as in `linux`.
    #[must_use]
    pub fn os(&self) -> &str {
        &self.os
    }

    /// Returns the architecture, as in `amd64`.
    #[must_use]
    pub fn arch(&self) -> &str {
        &self.arch
    }

    /// Returns the platform that this program was built for, by the registry's names.
    #[must_use]
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            // Registries use the names of Go for systems and architectures.
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Self {
            os: os.into(),
            arch: arch.into(),
        }
    }

    /// Returns the preset `common`: what most teams need.
    #[must_use]
    pub fn common() -> Vec<Self> {
        COMMON
            .iter()
            .map(|text| text.parse().expect("the preset is well-formed"))
            .collect()
    }
}

/// Writes platforms one after the other.
#[must_use]
pub fn join(platforms: &[Platform], separator: &str) -> String {
    platforms
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

impl std::str::FromStr for Platform {
    type Err = PlatformError;

    /// Reads two words joined by one underscore.
    ///
    /// ```
    /// use lockctl_core::platform::Platform;
    ///
    /// assert_eq!("linux_amd64".parse::<Platform>()?.os(), "linux");
    /// assert!("linux".parse::<Platform>().is_err());
    /// # Ok::<(), lockctl_core::platform::PlatformError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let error = || PlatformError {
            text: text.to_owned(),
        };
        let (os, arch) = text.split_once('_').ok_or_else(error)?;
        // Platforms become parts of paths and of messages; everything else is kept as it is.
        let is_odd = |c: char| matches!(c, '_' | ' ' | '/' | '\\') || c.is_control();
        let is_word = |word: &str| !word.is_empty() && !word.contains(is_odd);
        if !is_word(os) || !is_word(arch) {
            return Err(error());
        }
        Ok(Self {
            os: os.into(),
            arch: arch.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_and_one_underscore() {
        for good in ["linux_amd64", "LINUX_AMD64", "plan9_386", "linux_armv6l"] {
            assert_eq!(good.parse::<Platform>().expect("valid").to_string(), good);
        }
        for bad in [
            "",
            "linux",
            "_amd64",
            "linux_",
            "linux_amd64_x",
            "linux amd64",
            "li nux_amd64",
            "linux_amd64\n",
        ] {
            assert!(bad.parse::<Platform>().is_err(), "{bad:?}");
        }
    }
}
