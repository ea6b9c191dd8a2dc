//! The checksum document of a release.

use std::collections::BTreeSet;

use lockctl::package::ChecksumList;

use super::Budget;

const BUDGET: Budget = Budget {
    base_bytes: 64 * 1024,
    bytes: 400,
    base_allocations: 100,
    allocations: 20,
};

pub fn run(data: &[u8]) {
    let list = BUDGET.spend(data, || ChecksumList::parse(data));
    assert_eq!(list.document(), data);
    let names: Vec<&str> = list.file_names().collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    if list.first_fault().is_none()
        && distinct.len() == names.len()
        && std::str::from_utf8(data).is_ok()
    {
        assert_eq!(
            list.disagreement(&list),
            None,
            "a document agrees with itself"
        );
    }
    for zip in list.zips().iter() {
        assert!(list.hashes().contains(zip) && zip.is_well_formed());
    }
    for name in list.file_names() {
        assert!(list.digest_of(name).is_some(), "{name:?} is listed");
    }
    for hash in list.names().keys() {
        assert!(list.hashes().contains(hash));
    }
    // One line more takes nothing away.
    if data.ends_with(b"\n") && list.first_fault().is_none() {
        let longer = [data, "ab".repeat(32).as_bytes(), b"  zz_more.zip\n"].concat();
        let longer = ChecksumList::parse(&longer);
        if longer.first_fault().is_none() {
            assert!(
                list.hashes()
                    .iter()
                    .all(|hash| longer.hashes().contains(hash))
            );
            assert!(longer.digest_of("zz_more.zip").is_some());
        }
    }
}
