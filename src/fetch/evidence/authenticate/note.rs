//! Signed notes, as Go's checksum database and C2SP define them: a text, an empty line, and lines with signatures.
//!
//! ```text
//! # lockctl facts 1
//! …
//!
//! — NAME BASE64
//! ```

use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use crate::hash::{base64_of, bytes_of_base64};
use crate::package::FactKey;
use crate::world::Secret;

/// The first words of a private key, as Go's package `note` writes it.
const PRIVATE: &str = "PRIVATE+KEY+";

/// The beginning of a line with a signature.
const SIGNED: &str = "— ";

/// The algorithm byte of Ed25519.
const ALGORITHM: u8 = 1;

/// Maximum number of signatures of a note that are looked at.
const MAX_SIGNATURES: usize = 16;

/// A text with its signatures, which are not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'t> {
    /// The note as it is written.
    pub whole: &'t str,
    /// The part that is signed.
    pub text: &'t str,
    signatures: &'t str,
}

/// A private key that signs notes.
#[derive(Debug)]
pub struct FactSigner {
    key: FactKey,
    pair: Ed25519KeyPair,
}

/// The reason why a text is no private key; the text itself is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    #[error("it is not a private key as `lockctl cache keygen` writes it")]
    Form,
    #[error("the system has no random numbers")]
    NoRandomNumbers,
}

impl<'t> Note<'t> {
    /// Splits a text into notes that follow each other. A part without a signature is a note, too.
    #[must_use]
    pub fn split(text: &'t str) -> Vec<Self> {
        let mut notes = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let signed = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
            let (text, after) = rest.split_at(signed);
            let mut end = usize::from(!after.is_empty());
            for line in after[end..].split_inclusive('\n') {
                if !line.starts_with(SIGNED) {
                    break;
                }
                end += line.len();
            }
            notes.push(Self {
                whole: &rest[..signed + end],
                text,
                signatures: &after[..end],
            });
            rest = &after[end..];
        }
        notes
    }

    /// Returns whether lines with signatures follow the text; they are not checked.
    #[must_use]
    pub fn has_signatures(&self) -> bool {
        self.signatures.lines().any(|line| line.starts_with(SIGNED))
    }

    /// Returns the first of these keys that signed the note.
    #[must_use]
    pub fn signer<'k>(&self, keys: impl IntoIterator<Item = &'k FactKey>) -> Option<&'k FactKey> {
        keys.into_iter().find(|key| {
            let id = key.id();
            let public = UnparsedPublicKey::new(&ED25519, key.public());
            self.signatures
                .lines()
                .filter_map(|line| line.strip_prefix(SIGNED)?.split_once(' '))
                .take(MAX_SIGNATURES)
                .filter(|(name, _)| *name == key.name())
                .filter_map(|(_, signature)| bytes_of_base64(signature))
                .any(|bytes| {
                    bytes.strip_prefix(&id).is_some_and(|signature| {
                        public.verify(self.text.as_bytes(), signature).is_ok()
                    })
                })
        })
    }
}

impl FactSigner {
    /// Makes a new key with this name; returns its private text, which is a secret.
    ///
    /// # Errors
    /// If that cannot be the name of a key, or without random numbers.
    pub fn generate(name: &str) -> Result<(Secret, Self), SignerError> {
        let mut seed = [0; 32];
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| SignerError::NoRandomNumbers)?;
        let signer = Self::new(name, &seed)?;
        let bytes = [&[ALGORITHM], &seed[..]].concat();
        let text = format!("{PRIVATE}{}+{}", signer.key.shown(), base64_of(&bytes));
        Ok((Secret::new(text), signer))
    }

    /// Reads the text of a private key.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, SignerError> {
        let private = text.trim().strip_prefix(PRIVATE).ok_or(SignerError::Form)?;
        let [name, id, key] = private.splitn(3, '+').collect::<Vec<_>>()[..] else {
            return Err(SignerError::Form);
        };
        let bytes = bytes_of_base64(key).ok_or(SignerError::Form)?;
        let [ALGORITHM, seed @ ..] = &bytes[..] else {
            return Err(SignerError::Form);
        };
        let signer = Self::new(name, seed)?;
        // A private key that was cut or mixed up would sign what no reader accepts.
        if signer.key.shown() == format!("{name}+{id}") {
            Ok(signer)
        } else {
            Err(SignerError::Form)
        }
    }

    fn new(name: &str, seed: &[u8]) -> Result<Self, SignerError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| SignerError::Form)?;
        let public = pair.public_key().as_ref().try_into();
        let public = public.map_err(|_| SignerError::Form)?;
        let key = FactKey::new(name, public).map_err(|_| SignerError::Form)?;
        Ok(Self { key, pair })
    }

    /// Returns the public key.
    #[must_use]
    pub fn key(&self) -> &FactKey {
        &self.key
    }

    /// Makes a note of a text, which ends a line and has no empty one.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes());
        let bytes = [&self.key.id(), signature.as_ref()].concat();
        let name = self.key.name();
        format!("{text}\n{SIGNED}{name} {}\n", base64_of(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Go's package `note`.
    const GO_PRIVATE: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    const GO_PUBLIC: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const GO_TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                           then you don't know what your problem is.\n";
    const GO_SIGNATURE: &str = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    fn public() -> FactKey {
        GO_PUBLIC.parse().expect("valid")
    }

    #[test]
    fn notes_are_those_of_go() {
        let signer = FactSigner::parse(GO_PRIVATE).expect("valid");
        assert_eq!(signer.key(), &public());
        let note = signer.sign(GO_TEXT);
        assert_eq!(note, format!("{GO_TEXT}\n{GO_SIGNATURE}"));
        let notes = Note::split(&note);
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].text, GO_TEXT);
        assert_eq!(notes[0].signer([&public()]), Some(&public()));
    }

    #[track_caller]
    fn check(text: &str, parts: usize, signed: usize) {
        let notes = Note::split(text);
        let key = public();
        let good = notes.iter().filter(|note| note.signer([&key]).is_some());
        assert_eq!((notes.len(), good.count()), (parts, signed), "{text:?}");
        let whole: String = notes.iter().map(|note| note.whole).collect();
        assert_eq!(whole, text, "nothing is lost");
    }

    #[test]
    fn each_note_stands_for_itself() {
        let note = format!("{GO_TEXT}\n{GO_SIGNATURE}");
        check("", 0, 0);
        check("unsigned\n", 1, 0);
        check("\n\n\n", 2, 0);
        check(&format!("{note}{note}"), 2, 2);
        check(&format!("{note}unsigned\n"), 2, 1);
        check(&format!("unsigned\n\n{note}"), 2, 1);
        check(&note.replace("think", "know"), 1, 0);
        check(&note.replace("PeterNeumann", "Somebody"), 1, 0);
        check(&note.replace("x08g", "AAAA"), 1, 0);
        check(
            &note.replace(GO_SIGNATURE, "— PeterNeumann x08go/Zi\n"),
            1,
            0,
        );
        check(&note.replace("\n\n", "\n"), 1, 0);
    }

    #[test]
    fn new_keys_can_be_read_again() {
        let (text, signer) = FactSigner::generate("ci.example").expect("made");
        let again = FactSigner::parse(&format!("{}\n", text.reveal())).expect("valid");
        assert_eq!(again.key(), signer.key());
        for text in [
            "",
            GO_PUBLIC,
            &GO_PRIVATE[..70],
            &GO_PRIVATE.replace("c74f", "0000"),
        ] {
            assert_eq!(FactSigner::parse(text).err(), Some(SignerError::Form));
        }
        assert_eq!(FactSigner::generate("a b").err(), Some(SignerError::Form));
    }
}
