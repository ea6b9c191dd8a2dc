//! The hash of a zip as it was distributed.

use std::io::{self, Read};

use super::Hash;
use super::sha256::{Digest, READ_BUFFER_BYTES, Sha256Stream, hex_of_digest};

/// Hashes a zip: SHA-256 over its bytes, in lower-case hexadecimal (rules 2.1).
///
/// ```
/// let hash = lockctl_core::hash::zh(&b"not a zip, only bytes"[..])?;
/// assert!(hash.is_well_formed());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The first error from the reader.
pub fn zh(reader: impl Read) -> io::Result<Hash> {
    let mut stream = Sha256Stream::default();
    stream.read_all(reader, &mut vec![0; READ_BUFFER_BYTES])?;
    Ok(zh_of_digest(&stream.finish()))
}

/// Spells the SHA-256 of a zip as its hash.
#[must_use]
pub fn zh_of_digest(digest: &Digest) -> Hash {
    Hash::computed("zh", &hex_of_digest(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_at_all_has_a_hash() {
        let hash = zh(io::empty()).expect("no error");
        assert_eq!(
            hash.as_str(),
            "zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
