//! Bundles of packages: every package is in the file, once, and no name leads out.

use std::io::Cursor;
use std::path::{Component, Path};

use lockctl::mirror::bundle::Bundle;

use super::Budget;

const BUDGET: Budget = Budget {
    // The end of an archive, or the record with a name.
    base_bytes: 64 << 10,
    bytes: 40,
    base_allocations: 100,
    allocations: 2,
};

/// The offset of the checksum in a header, and its length.
const CHECKSUM: (usize, usize) = (148, 8);

/// Bytes are read as they are, and with the checksums that their headers should have: the fuzzer finds no sums.
pub fn run(data: &[u8]) {
    check(data);
    let mut summed = data.to_vec();
    for block in summed.chunks_exact_mut(512) {
        if block[257..].starts_with(b"ustar") {
            let (at, length) = CHECKSUM;
            block[at..at + length].fill(b' ');
            let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
            block[at..at + length].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    check(&summed);
}

fn check(bytes: &[u8]) {
    let read = BUDGET.spend(bytes, || {
        Bundle::read(Cursor::new(bytes), Path::new("b.tar"))
    });
    let Ok(bundle) = read else { return };
    let mut ranges: Vec<_> = Vec::new();
    for (package, range) in bundle.packages() {
        let name = package.name();
        assert!(
            Path::new(&name)
                .components()
                .all(|part| matches!(part, Component::Normal(_))),
            "{name}"
        );
        assert_eq!(range.end - range.start, package.bytes, "{name}");
        ranges.push(range);
    }
    ranges.sort_by_key(|range| range.start);
    let mut end = 512;
    for range in ranges {
        assert!(range.start > end, "no two packages share bytes");
        end = range.end;
    }
    assert!(end <= bytes.len() as u64, "no package is cut off");
}
