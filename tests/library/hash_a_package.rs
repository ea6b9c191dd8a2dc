//! Computes the `h1:` of an unpacked package, as a lock file records it.

use std::num::NonZeroUsize;
use std::path::Path;

use lockctl_core::archive::{ArchiveError, Limits};
use lockctl_core::os::RealDisk;
use lockctl_core::{Hash, hash_directory};

fn h1(dir: &Path) -> Result<Hash, ArchiveError> {
    let hashed = hash_directory(&RealDisk, dir, &Limits::PACKAGE, NonZeroUsize::MIN)?;
    Ok(hashed.h1)
}

#[test]
fn packages_differ_by_platform() {
    let mirror = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/quickstart/mirror");
    let package = mirror.join("example.com/acme/greeter/1.2.0");
    let hashes = ["linux_amd64", "darwin_arm64"].map(|name| h1(&package.join(name)).unwrap());
    assert!(hashes[0].as_str().starts_with("h1:"), "{hashes:?}");
    assert_ne!(hashes[0], hashes[1]);
}
