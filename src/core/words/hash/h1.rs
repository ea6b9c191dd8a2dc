//! The hash of package content: names and contents of files, equal for a zip and a directory.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Hash;
use super::sha256::{Digest, READ_BUFFER_BYTES, Sha256Stream, hex_of_digest};

/// A file name that would make the list behind an `h1` ambiguous.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file name {:?} holds a line feed, which h1 cannot cover", String::from_utf8_lossy(.name))]
pub struct LineFeedInName {
    /// The name as raw bytes, with the line feed.
    pub name: Box<[u8]>,
}

/// Hashes package content: SHA-256 over one `<hex>  <name>\n` line per file, raw names in byte order.
///
/// The order of `names` does not matter; a repeated name counts as often as it occurs.
///
/// ```
/// use lockctl_core::hash::h1;
///
/// let names = [Box::from(&b"terraform-provider-x_v1.0.0"[..])];
/// let hash = h1(&names, |_| Ok(&b"fake"[..]))?;
/// assert_eq!(hash.as_str(), "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The first error from `open` or from reading what it opened; `InvalidInput` with a
/// [`LineFeedInName`] inside if a name holds a line feed.
pub fn h1<R: Read>(
    names: &[Box<[u8]>],
    mut open: impl FnMut(&[u8]) -> io::Result<R>,
) -> io::Result<Hash> {
    let mut buffer = vec![0; READ_BUFFER_BYTES];
    let mut digests = Vec::with_capacity(names.len());
    for name in names {
        let mut stream = Sha256Stream::default();
        stream.read_all(open(name)?, &mut buffer)?;
        digests.push((&**name, stream.finish()));
    }
    h1_of_digests(digests).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))
}

/// Hashes package content from the SHA-256 of every file.
///
/// # Errors
/// If a name holds a line feed: the first such name in byte order.
pub fn h1_of_digests<'a>(
    files: impl IntoIterator<Item = (&'a [u8], Digest)>,
) -> Result<Hash, LineFeedInName> {
    let mut files: Vec<(&[u8], Digest)> = Vec::from_iter(files);
    // Raw bytes of whole paths: `a-b` comes before `a/b`, and the order of the directory does not count (rules
    // 2.2). Equal names are possible in a zip, so that the digest has to decide as well.
    files.sort_unstable();
    let mut list = Sha256Stream::default();
    for (name, digest) in files {
        if name.contains(&b'\n') {
            return Err(LineFeedInName { name: name.into() });
        }
        // The format of `sha256sum`, with two spaces; a line feed in a name would make two lines (rules 2.3).
        for part in [hex_of_digest(&digest).as_bytes(), b"  ", name, b"\n"] {
            list.update(part);
        }
    }
    Ok(Hash::computed("h1", &STANDARD.encode(list.finish())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &str) {
        let names: Vec<Box<[u8]>> = files
            .iter()
            .map(|(name, _)| name.as_bytes().into())
            .collect();
        let hash = h1(&names, |name| {
            let found = files.iter().find(|(other, _)| other.as_bytes() == name);
            Ok(found.expect("a listed name").1.as_bytes())
        });
        assert_eq!(hash.expect("no error").as_str(), expected, "of {files:?}");
    }

    #[test]
    fn check_values_of_the_specification() {
        check(&[], "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        check(
            &[("terraform-provider-x_v1.0.0", "fake")],
            "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=",
        );
    }

    #[test]
    fn names_are_sorted_as_whole_paths() {
        check(
            &[
                ("terraform-provider-x_v1.0.0", "fake"),
                ("a/b", "1"),
                ("a-b", "2"),
                ("a.b", "3"),
                ("aB", "4"),
                ("A", "5"),
                ("é", "6"),
                ("ab/c", "7"),
            ],
            "h1:+k/8OdHJtbamsku3thrNkCkfMu11ZZ49iBCFKbP/3dE=",
        );
    }

    #[test]
    fn a_line_feed_in_a_name_is_refused() {
        let names: [Box<[u8]>; 1] = [Box::from(&b"a\nb"[..])];
        let error = h1(&names, |_| Ok(io::empty())).expect_err("ambiguous");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            "the file name \"a\\nb\" holds a line feed, which h1 cannot cover"
        );
    }

    #[test]
    fn an_error_from_opening_is_passed_on() {
        let names: [Box<[u8]>; 1] = [Box::from(&b"a"[..])];
        let open = |_: &[u8]| Err::<io::Empty, _>(io::ErrorKind::NotFound.into());
        let error = h1(&names, open).expect_err("not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
