//! Package hashes as lock files record them, and the two algorithms behind them.
//!
//! A [`struct@Hash`] keeps its text exactly, because a hash of an unknown scheme must survive a rewrite
//! and a malformed one must be shown as it is. Everything is compared as text, as the programs
//! do (rules 1.2). The algorithms work on readers and on digests, never on paths.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

mod checksum;
mod h1;
mod matching;
mod set;
mod sha256;
mod zh;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

pub use checksum::{Checksum, ChecksumError, ChecksumKind};
pub use h1::{LineFeedInName, h1, h1_of_digests};
pub use matching::{CheckedPackage, Match, matches};
pub use set::Hashes;
pub use sha256::{
    DIGEST_BYTES, Digest, READ_BUFFER_BYTES, Sha256Stream, digest_of_hex, hex_of_digest, sha256,
};
pub use zh::{zh, zh_of_digest};

/// Spells bytes in standard base64, with padding.
#[must_use]
pub fn base64_of(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads standard base64 with padding.
#[must_use]
pub fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// One package hash exactly as a lock file spells it, e.g. `h1:Zk2c…=`.
///
/// The text is kept: an unknown scheme must survive a rewrite. It never matches a package.
/// Ordered by the bytes of the whole text, which is the order of a lock file. Copies share the text:
/// a run over many roots holds a million of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash {
    text: Arc<str>, // Invariant: holds a ':', and does not start with one.
}

/// The algorithm and input of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// `h1`: the names and contents of the files of a package.
    H1,
    /// `zh`: the bytes of the zip of a package.
    Zh,
    /// Any other word before the colon, also `H1` or `ZH`; it says nothing to either program.
    Other,
}

/// A text that is no hash, because it has no scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no hash: write SCHEME:VALUE, as in h1:vSUZJPJl…")]
pub struct HashError {
    text: String,
}

impl Hash {
    /// Makes the hash of a scheme that this program computes.
    fn computed(scheme: &str, value: &str) -> Self {
        Self {
            text: format!("{scheme}:{value}").into(),
        }
    }

    /// Returns the whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the scheme, by the word before the first colon.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        // In this spelling only: `H1` and `ZH` are unknown schemes (rules 1.1).
        match self.text.as_bytes() {
            [b'h', b'1', b':', ..] => Scheme::H1,
            [b'z', b'h', b':', ..] => Scheme::Zh,
            _ => Scheme::Other,
        }
    }

    /// Returns the word before the first colon, as it is spelled.
    #[must_use]
    pub fn scheme_name(&self) -> &str {
        self.parts().0
    }

    /// Returns what follows the first colon; may be empty.
    #[must_use]
    pub fn value(&self) -> &str {
        self.parts().1
    }

    /// Returns whether the value fits its scheme; if not, the hash can never match a package.
    ///
    /// `h1` is standard base64 with padding of 32 bytes, `zh` is 64 lower-case hexadecimal digits;
    /// any value fits an unknown scheme.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let value = self.value();
        match self.scheme() {
            // Padding is required: a text without it is never equal to a computed hash (rules 1.2). The library
            // asks for the room of the padding as well.
            Scheme::H1 => STANDARD
                .decode_slice(value, &mut [0; DIGEST_BYTES + 1])
                .is_ok_and(|bytes| bytes == DIGEST_BYTES),
            Scheme::Zh => {
                let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
                value.len() == 2 * DIGEST_BYTES && value.bytes().all(is_digit)
            }
            Scheme::Other => true,
        }
    }

    fn parts(&self) -> (&str, &str) {
        self.text
            .split_once(':')
            .expect("the constructors look for a colon")
    }
}

impl FromStr for Hash {
    type Err = HashError;

    /// Reads `SCHEME:VALUE`; nothing is trimmed, and the value may be anything.
    ///
    /// ```
    /// use lockctl_core::hash::{Hash, Scheme};
    ///
    /// let hash: Hash = "zh:XYZ".parse()?;
    /// assert_eq!((hash.scheme(), hash.value()), (Scheme::Zh, "XYZ"));
    /// assert!(!hash.is_well_formed());
    /// assert!(":abc".parse::<Hash>().is_err());
    /// # Ok::<(), lockctl_core::hash::HashError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, HashError> {
        // At least one byte comes before the colon; the value may be anything (rules 1.1).
        match text.find(':') {
            None | Some(0) => Err(HashError {
                text: text.to_owned(),
            }),
            Some(_) => Ok(Self { text: text.into() }),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, scheme: Scheme, value: &str, well_formed: bool) {
        let hash: Hash = given.parse().expect("valid");
        assert_eq!(
            (hash.scheme(), hash.value(), hash.is_well_formed()),
            (scheme, value, well_formed),
            "from {given:?}"
        );
        assert_eq!(hash.to_string(), given);
    }

    #[test]
    fn the_text_is_split_at_the_first_colon_and_kept() {
        check("h1:", Scheme::H1, "", false);
        check("zh:XYZ", Scheme::Zh, "XYZ", false);
        check("h1: spaced ", Scheme::H1, " spaced ", false);
        check("H1:a", Scheme::Other, "a", true);
        check("zz99:x", Scheme::Other, "x", true);
        check("a b:c", Scheme::Other, "c", true);
        check("h1:a:b", Scheme::H1, "a:b", false);
    }

    #[test]
    fn well_formed_means_that_it_could_match() {
        let zeros = "A".repeat(43);
        check(
            &format!("h1:{zeros}="),
            Scheme::H1,
            &format!("{zeros}="),
            true,
        );
        check(&format!("h1:{zeros}"), Scheme::H1, &zeros, false);
        let bits = format!("{}B=", "A".repeat(42));
        check(&format!("h1:{bits}"), Scheme::H1, &bits, false);
        let short = format!("{}==", "A".repeat(42));
        check(&format!("h1:{short}"), Scheme::H1, &short, false);
        let url_safe = format!("-_{}=", "A".repeat(41));
        check(&format!("h1:{url_safe}"), Scheme::H1, &url_safe, false);
        let hex = "0123456789abcdef".repeat(4);
        check(&format!("zh:{hex}"), Scheme::Zh, &hex, true);
        check(&format!("zh:{hex}0"), Scheme::Zh, &format!("{hex}0"), false);
        let upper = hex.to_uppercase();
        check(&format!("zh:{upper}"), Scheme::Zh, &upper, false);
    }

    #[test]
    fn a_hash_needs_a_scheme() {
        for bad in ["", ":", ":abc", "::", "abc"] {
            assert!(bad.parse::<Hash>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn order_is_that_of_the_bytes() {
        let mut hashes: Vec<Hash> = ["zh:a", "h1:b", "H1:c", "h1:B", "é:a"]
            .iter()
            .map(|text| text.parse().expect("valid"))
            .collect();
        hashes.sort();
        let texts: Vec<&str> = hashes.iter().map(Hash::as_str).collect();
        assert_eq!(texts, ["H1:c", "h1:B", "h1:b", "zh:a", "é:a"]);
    }
}
