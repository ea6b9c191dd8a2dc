//! SHA-256 over bytes as they come: the one place that uses the library.

use std::io::{self, Read};

use sha2::Digest as _;

/// Length of a SHA-256 digest in bytes.
pub const DIGEST_BYTES: usize = 32;

/// Size of the read buffer, in bytes: large enough that system calls cost nothing beside the hashing.
pub const READ_BUFFER_BYTES: usize = 256 * 1024;

/// A SHA-256 digest as raw bytes.
pub type Digest = [u8; DIGEST_BYTES];

/// A SHA-256 computation under way.
#[derive(Clone, Debug, Default)]
pub struct Sha256Stream {
    state: sha2::Sha256,
}

impl Sha256Stream {
    /// Adds bytes to the input.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// Adds everything that a reader still holds, through the caller's buffer; returns how many
    /// bytes that was.
    ///
    /// # Errors
    /// The first error from the reader.
    pub fn read_all(&mut self, mut reader: impl Read, buffer: &mut [u8]) -> io::Result<u64> {
        let mut total = 0;
        loop {
            match reader.read(buffer) {
                Ok(0) => return Ok(total),
                Ok(n) => {
                    self.update(&buffer[..n]);
                    total += n as u64;
                }
                // A signal came before the first byte; the read is repeated.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Returns the digest of all that was added.
    #[must_use]
    pub fn finish(self) -> Digest {
        self.state.finalize().into()
    }
}

/// Returns the SHA-256 digest of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    sha2::Sha256::digest(bytes).into()
}

/// Spells a digest in lower-case hexadecimal.
#[must_use]
pub fn hex_of_digest(digest: &Digest) -> String {
    hex::encode(digest)
}

/// Reads a digest: 64 hexadecimal digits, upper or lower case, and nothing else.
///
/// ```
/// use lockctl_core::hash::digest_of_hex;
///
/// assert!(digest_of_hex(&"0aF".repeat(22)[..64]).is_some());
/// assert!(digest_of_hex("abc").is_none());
/// ```
#[must_use]
pub fn digest_of_hex(text: &str) -> Option<Digest> {
    let mut digest = [0; DIGEST_BYTES];
    hex::decode_to_slice(text, &mut digest).ok()?;
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let mut stream = Sha256Stream::default();
        stream.update(b"a");
        let read = stream.read_all(&b"bc"[..], &mut [0; 1]).expect("no error");
        assert_eq!(read, 2);
        assert_eq!(
            hex_of_digest(&stream.finish()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
