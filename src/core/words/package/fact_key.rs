//! Keys that sign facts: `NAME+ID+BASE64`, as in the signed notes of Go's checksum database.

use std::fmt;
use std::str::FromStr;

use crate::hash::{base64_of, bytes_of_base64, sha256};

/// The algorithm byte of Ed25519 in a signed note.
const ED25519: u8 = 1;

/// Maximum length of the name of a key, in bytes.
const MAX_NAME: usize = 100;

/// A public key that signs facts.
///
/// ```
/// use lockctl_core::package::FactKey;
///
/// let key = FactKey::new("ci.example", [7; 32]).expect("a name");
/// assert_eq!(key.to_string().parse(), Ok(key));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactKey {
    name: String,
    public: [u8; 32],
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no Ed25519 key of signed notes, NAME+ID+BASE64")]
pub struct FactKeyError;

impl FactKey {
    /// Makes a key of its name and its 32 bytes.
    ///
    /// # Errors
    /// If that cannot be the name of a key.
    pub fn new(name: &str, public: [u8; 32]) -> Result<Self, FactKeyError> {
        let is_plain = |letter: char| !letter.is_whitespace() && !letter.is_control();
        if name.is_empty()
            || name.len() > MAX_NAME
            || name.contains('+')
            || !name.chars().all(is_plain)
        {
            return Err(FactKeyError);
        }
        Ok(Self {
            name: name.to_owned(),
            public,
        })
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of the key.
    #[must_use]
    pub fn public(&self) -> &[u8; 32] {
        &self.public
    }

    /// Returns the number that signatures carry: the start of the SHA-256 of name and key.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        let mut text = format!("{}\n", self.name).into_bytes();
        text.push(ED25519);
        text.extend(self.public);
        let digest = sha256(&text);
        [digest[0], digest[1], digest[2], digest[3]]
    }

    /// Returns the name and the number, as messages show a key.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}+{:08x}", self.name, u32::from_be_bytes(self.id()))
    }
}

impl fmt::Display for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&[ED25519], &self.public[..]].concat();
        write!(f, "{}+{}", self.shown(), base64_of(&bytes))
    }
}

impl FromStr for FactKey {
    type Err = FactKeyError;

    fn from_str(text: &str) -> Result<Self, FactKeyError> {
        let [name, _, key] = text.splitn(3, '+').collect::<Vec<_>>()[..] else {
            return Err(FactKeyError);
        };
        let bytes = bytes_of_base64(key).ok_or(FactKeyError)?;
        let [ED25519, public @ ..] = &bytes[..] else {
            return Err(FactKeyError);
        };
        let key = Self::new(name, public.try_into().map_err(|_| FactKeyError)?)?;
        // The text is what people compare, so it has one spelling.
        if key.to_string() == text {
            Ok(key)
        } else {
            Err(FactKeyError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_signed_notes() {
        // The key of Go's checksum database, as the Go command has it.
        let known = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        let shown = |text: &str| text.parse::<FactKey>().ok().map(|key| key.shown());
        assert_eq!(shown(known).as_deref(), Some("sum.golang.org+033de0ae"));
        for text in [
            "",
            "a+b",
            "a+00000000+????",
            "a+00000000+AAAA",
            "a+00000000+AQAA",
            &known.replacen("sum", "s m", 1),
            &known.replacen("sum", "sun", 1),
            &known.replacen("033d", "033D", 1),
        ] {
            assert_eq!(shown(text), None, "{text:?}");
        }
    }
}
