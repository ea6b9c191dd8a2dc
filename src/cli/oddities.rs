//! What is unusual about a zip, in words.

use crate::archive::zip::Oddity;

/// Describes an oddity to somebody who has to decide whether it matters.
pub(super) fn describe(oddity: &Oddity) -> String {
    let (name, what) = match oddity {
        Oddity::HashesDiffer => {
            return "unpacked it hashes differently than as a zip, so the programs record one h1: \
                    and check another; a lock file without its zh: would refuse it"
                .to_owned();
        }
        Oddity::DirectoryEntry { name } => (name, "is an entry for a directory"),
        Oddity::UncleanName { name } => (name, "is a name that changes when it is unpacked"),
        Oddity::Replaced { name } => (name, "is there again further on, and the last one counts"),
        Oddity::Symlink { name } => (
            name,
            "is a symbolic link, unpacked as a file with its target's name",
        ),
        Oddity::FlaggedEncrypted { name } => (name, "claims to be encrypted and is not"),
        Oddity::HeaderDiffers { name } => {
            (name, "has a header that contradicts the list of entries")
        }
        Oddity::UncheckedContent { name } => {
            (name, "has no usable checksum, so damage would go unnoticed")
        }
    };
    format!("{:?} {what}", String::from_utf8_lossy(name))
}
