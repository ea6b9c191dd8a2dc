//! Line ends of lock files that git converts.

use crate::git::Repository;
use crate::lockfile::{FILE_NAME, LF_ATTRIBUTE, has_crlf_only};
use crate::report::RootResult;
use crate::run::World;
use crate::run::root::Root;

/// Returns true if the lock file of a root is another text than `canonical`: CRLF that git makes in the checkout, and
/// takes away again, is no difference.
pub(crate) fn differs(world: World<'_>, root: &Root, canonical: &str) -> bool {
    let Some(lock) = &root.lock else { return true };
    if *lock.bytes == *canonical.as_bytes() {
        return false;
    }
    // git is started only where it decides.
    !has_crlf_only(&lock.bytes, canonical)
        || !Repository::converts_line_ends(world.run, &root.dir, FILE_NAME).unwrap_or(false)
}

/// Names what keeps git from making CRLF, for a lock file that has such line ends.
pub(crate) fn remark(root: &Root, result: &mut RootResult) {
    let lock = root.lock.as_ref();
    if lock.is_some_and(|lock| lock.bytes.windows(2).any(|pair| pair == b"\r\n")) {
        result.remark(format!(
            "the lock file has CRLF line ends; the line `{LF_ATTRIBUTE}` in .gitattributes keeps git from making them"
        ));
    }
}
