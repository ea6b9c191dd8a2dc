//! Checksums that people write beside an address: of four kinds, in hexadecimal digits.

use std::fmt;
use std::io::{self, Read};

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::READ_BUFFER_BYTES;

/// A checksum over all bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    kind: ChecksumKind,
    /// Lower-case hexadecimal digits, as many as the kind has.
    digits: Box<str>,
}

/// The algorithm of a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumKind {
    /// MD5, which proves nothing against an attacker.
    Md5,
    /// SHA-1, which proves little against an attacker.
    Sha1,
    /// SHA-256, with 64 digits.
    Sha256,
    /// SHA-512, with 128 digits.
    Sha512,
}

/// A text that is no checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a checksum is KIND:DIGITS with md5, sha1, sha256 or sha512 and hexadecimal digits")]
pub struct ChecksumError;

/// Every kind with its name and its count of digits.
const KINDS: [(ChecksumKind, &str, usize); 4] = [
    (ChecksumKind::Md5, "md5", 32),
    (ChecksumKind::Sha1, "sha1", 40),
    (ChecksumKind::Sha256, "sha256", 64),
    (ChecksumKind::Sha512, "sha512", 128),
];

impl Checksum {
    /// Reads `KIND:DIGITS`, or digits whose count shows the kind; case does not matter.
    ///
    /// ```
    /// use lockctl_core::hash::Checksum;
    ///
    /// let checksum = Checksum::parse("D41D8CD98F00B204E9800998ECF8427E")?;
    /// assert_eq!(checksum.to_string(), "md5:d41d8cd98f00b204e9800998ecf8427e");
    /// assert!(checksum.is_of(&b""[..]).is_ok_and(|is| is));
    /// # Ok::<(), lockctl_core::hash::ChecksumError>(())
    /// ```
    ///
    /// # Errors
    /// If it is of no known kind, or has other digits than that kind.
    pub fn parse(text: &str) -> Result<Self, ChecksumError> {
        let (name, digits) = match text.split_once(':') {
            Some((name, digits)) => (Some(name), digits),
            None => (None, text),
        };
        let (kind, _, count) = KINDS
            .iter()
            .find(|(_, known, count)| match name {
                Some(name) => name.eq_ignore_ascii_case(known),
                None => digits.len() == *count,
            })
            .ok_or(ChecksumError)?;
        let are_digits = digits.bytes().all(|b| b.is_ascii_hexdigit());
        if digits.len() != *count || !are_digits {
            return Err(ChecksumError);
        }
        Ok(Self {
            kind: *kind,
            // Case does not matter here, unlike in the hashes of a lock file (rules 1.2).
            digits: digits.to_ascii_lowercase().into(),
        })
    }

    /// Returns how it is computed.
    #[must_use]
    pub fn kind(&self) -> ChecksumKind {
        self.kind
    }

    /// Returns whether it is that of what a reader gives.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn is_of(&self, reader: impl Read) -> io::Result<bool> {
        let digits = match self.kind {
            ChecksumKind::Md5 => digits::<Md5>(reader),
            ChecksumKind::Sha1 => digits::<Sha1>(reader),
            ChecksumKind::Sha256 => digits::<Sha256>(reader),
            ChecksumKind::Sha512 => digits::<Sha512>(reader),
        }?;
        Ok(*digits == *self.digits)
    }
}

fn digits<D: Digest>(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = D::new();
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hex::encode(hasher.finalize())),
            Ok(length) => hasher.update(&buffer[..length]),
            // A signal came before the first byte; the read is repeated, as `io::copy` does.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name, _) = KINDS
            .iter()
            .find(|(kind, ..)| *kind == self.kind)
            .expect("the table has every kind");
        write!(f, "{name}:{}", self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_computed() {
        for text in [
            "900150983cd24fb0d6963f7d28e17f72",
            "sha1:A9993E364706816ABA3E25717850C26C9CD0D89D",
            "SHA256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd\
             454d4423643ce80e2a9ac94fa54ca49f",
        ] {
            let checksum = Checksum::parse(text).expect("valid");
            assert!(checksum.is_of(&b"abc"[..]).expect("readable"), "{text}");
            assert!(!checksum.is_of(&b"abd"[..]).expect("readable"), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "md5:",
            "blake2:00",
            "00",
            "sha256:00",
            "md5:900150983cd24fb0d6963f7d28e17f7g",
        ] {
            assert_eq!(Checksum::parse(text), Err(ChecksumError), "{text}");
        }
    }
}
