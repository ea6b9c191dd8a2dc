//! Tar archives of modules, in all three compressions: bounded, and nothing outside.

use std::io::{Cursor, Write as _};
use std::path::{Component, Path};

use flate2::Compression;
use flate2::write::GzEncoder;
use lockctl::modules::archive::{ArchiveKind, read_archive};
use lockctl::world::Files;

use super::Budget;

const BUDGET: Budget = Budget {
    // The dictionary that a compressed file may ask for, and the buffers.
    base_bytes: 96 << 20,
    bytes: 2_000,
    base_allocations: 20_000,
    allocations: 100,
};

/// Bytes with the beginning of a compressed file are one; any others are put into one as they are.
pub fn run(data: &[u8]) {
    let kind = match data {
        [0x1f, 0x8b, ..] => ArchiveKind::TarGz,
        [b'B', b'Z', b'h', ..] => ArchiveKind::TarBz2,
        [0xfd, b'7', b'z', b'X', b'Z', ..] => ArchiveKind::TarXz,
        _ => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
            encoder.write_all(data).expect("memory");
            return check(ArchiveKind::TarGz, encoder.finish().expect("memory"));
        }
    };
    check(kind, data.to_vec());
}

fn check(kind: ArchiveKind, bytes: Vec<u8>) {
    let read = BUDGET.spend(&bytes, || {
        read_archive(kind, Box::new(Cursor::new(bytes.clone())))
    });
    let Ok(tree) = read else { return };
    let mut dirs = vec![Path::new("").to_path_buf()];
    let mut count = 0;
    while let Some(dir) = dirs.pop() {
        for entry in tree.list(&dir).unwrap_or_default() {
            count += 1;
            assert!(count < 100_000, "a tree has an end");
            let path = dir.join(&entry.name);
            assert!(
                path.components()
                    .all(|part| matches!(part, Component::Normal(_))),
                "{path:?}"
            );
            match entry.kind {
                lockctl::world::FileKind::Directory => dirs.push(path),
                _ => drop(tree.read(&path, 1 << 20)),
            }
        }
    }
}
