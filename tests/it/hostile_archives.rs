//! Packages that nobody in good faith would build, and properties of those that are.
//!
//! What happens to each was tried with Terraform 1.11.4 where the comment does not say otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockctl::archive::dir::hash_directory;
use lockctl::archive::zip::{EntryOddity, Oddity, ZipHashes, hash_zip};
use lockctl::archive::{ArchiveError, EntryFault, FREE_UNPACKED_BYTES, Limits};
use lockctl::hash::zh;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::zips::{Entry, Zip, deflate, numbers16, numbers32};
use lockctl::os::RealDisk;
use lockctl::parallel::cores;

/// The signature that may stand before the checksum behind a content.
const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;

fn read(zip: &Zip) -> Result<ZipHashes, ArchiveError> {
    read_within(zip, &Limits::PACKAGE)
}

fn read_within(zip: &Zip, limits: &Limits) -> Result<ZipHashes, ArchiveError> {
    hash_zip(Cursor::new(zip.bytes()), limits)
}

fn program() -> Entry {
    Entry::file("terraform-provider-x_v1.0.0", "fake")
}

/// Checks a zip of the program and one more entry, which is refused.
#[track_caller]
fn refused(entry: Entry, message: &str) {
    let error = read(&Zip::of([program(), entry])).expect_err("refused");
    assert_eq!(error.to_string(), message);
}

/// Checks a zip of the program and one more entry, which is accepted as these files, with oddities.
#[track_caller]
fn accepted(entry: Entry, files: &[(&str, &str)], oddities: &[Oddity]) {
    let found = read(&Zip::of([program(), entry])).expect("accepted");
    assert_eq!(found.oddities, oddities);
    let all = files
        .iter()
        .copied()
        .chain([("terraform-provider-x_v1.0.0", "fake")]);
    assert_eq!(found.h1.as_str(), h1_by_hand(all));
}

/// The algorithm of `hash` rules 2.2 once more, as plainly as it can be said.
fn h1_by_hand<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable();
    let mut list = String::new();
    for (name, content) in files {
        for byte in Sha256::digest(content) {
            list += &format!("{byte:02x}");
        }
        list += &format!("  {name}\n");
    }
    format!("h1:{}", STANDARD.encode(Sha256::digest(list)))
}

fn named(name: &str) -> Box<[u8]> {
    name.as_bytes().into()
}

#[test]
fn stated_sizes_are_held_to() {
    let stated = |n| move |entry: &mut Entry| entry.stated_size = Some(n);
    let text = "12".repeat(9);
    for entry in [Entry::file("a", &text), Entry::file("a", &text).deflated()] {
        let short = "the entry \"a\" is damaged: it ends after 18 of 30 bytes";
        refused(entry.clone().with(stated(30)), short);
        let long = "the entry \"a\" is damaged: it has more than the stated 3 bytes";
        refused(entry.with(stated(3)), long);
    }
    refused(
        Entry::file("a", "hello").with(|entry| entry.packed = Some(b"hello!!".to_vec())),
        "the entry \"a\" is damaged: it has more than the stated 5 bytes",
    );
    refused(
        Entry::file("a", "").with(|entry| entry.stated_packed = Some(1_000_000)),
        "the entry \"a\" overlaps another one",
    );
}

#[test]
fn deflated_data_must_reach_its_end() {
    let mut packed = deflate(b"hello");
    let packed_as = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        Entry::file("a", "hello")
            .deflated()
            .with(|entry| entry.packed = Some(bytes))
    };
    for length in 0..packed.len() {
        let cut_off = "the entry \"a\" is damaged: it is cut off";
        refused(packed_as(&packed[..length]), cut_off);
    }
    refused(
        packed_as(&[0xff; 10]),
        "the entry \"a\" is damaged: its compressed data is corrupt",
    );
    packed.extend(b"JUNKJUNK");
    accepted(packed_as(&packed), &[("a", "hello")], &[]);
}

#[test]
fn stated_checksums_are_held_to() {
    let stated = |crc| move |entry: &mut Entry| entry.stated_crc = Some(crc);
    let wrong = "the entry \"a\" is damaged: its checksum is 4f5344cd, not the stated 00000007";
    refused(Entry::file("a", "12").with(stated(7)), wrong);
    refused(Entry::file("a", "12").deflated().with(stated(7)), wrong);
    let unchecked = Oddity::Entry(named("a"), EntryOddity::UncheckedContent);
    accepted(
        Entry::file("a", "12").with(stated(0)),
        &[("a", "12")],
        &[unchecked],
    );
    accepted(Entry::file("a", "").with(stated(0)), &[("a", "")], &[]);
}

#[test]
fn checksums_behind_the_content_are_held_to() {
    let crc = crc32fast::hash(b"12");
    let streamed = |listed: u32, behind: &[u32]| {
        let behind = numbers32(behind);
        Entry::file("a", "12").with(|entry| {
            entry.flags = 8;
            entry.stated_crc = Some(listed);
            entry.descriptor = behind;
        })
    };
    accepted(
        streamed(crc, &[DESCRIPTOR_SIGNATURE, crc, 2, 2]),
        &[("a", "12")],
        &[],
    );
    accepted(streamed(crc, &[crc, 2, 2]), &[("a", "12")], &[]);
    refused(
        streamed(crc, &[DESCRIPTOR_SIGNATURE, 5, 2, 2]),
        "the entry \"a\" is damaged: its checksum is 4f5344cd, not the stated 00000005",
    );
    refused(
        streamed(0, &[DESCRIPTOR_SIGNATURE, 0, 2, 2]),
        "the entry \"a\" is damaged: its checksum is 4f5344cd, not the stated 00000000",
    );
}

#[test]
fn an_earlier_entry_of_the_same_name_is_read_as_well() {
    let zip = |crc| {
        let first = Entry::file("a", "1").with(|entry| entry.stated_crc = crc);
        Zip::of([program(), first, Entry::file("a", "2")])
    };
    let found = read(&zip(None)).expect("accepted");
    let files = [("a", "2"), ("terraform-provider-x_v1.0.0", "fake")];
    assert_eq!(found.h1.as_str(), h1_by_hand(files));
    let members = [
        ("a", "2"),
        ("a", "2"),
        ("terraform-provider-x_v1.0.0", "fake"),
    ];
    assert_eq!(found.member_h1.as_str(), h1_by_hand(members));
    let replaced = Oddity::Entry(named("a"), EntryOddity::Replaced);
    assert_eq!(found.oddities, [Oddity::HashesDiffer, replaced]);
    assert!(read(&zip(Some(9))).is_err());
}

#[test]
fn directories_are_told_by_what_the_making_system_means() {
    let made_by = |system, attributes| {
        Entry::file("a", "1").with(|entry| {
            entry.system = system;
            entry.attributes = attributes;
        })
    };
    let unix_directory = 0o040_755 << 16;
    let directory = [
        Oddity::HashesDiffer,
        Oddity::Entry(named("a"), EntryOddity::Directory),
    ];
    for (system, attributes) in [
        (3, unix_directory),
        (19, unix_directory),
        (0, 0x10),
        (11, 0x10),
        (14, 0x10),
    ] {
        accepted(made_by(system, attributes), &[], &directory);
    }
    // The mode of a block device holds the bits of a directory, too.
    for (system, attributes) in [
        (0, unix_directory),
        (10, 0x10),
        (3, 0x10),
        (3, 0o060_644 << 16),
    ] {
        accepted(made_by(system, attributes), &[("a", "1")], &[]);
    }
}

#[test]
fn directories_with_data_are_refused() {
    // Terraform accepts this one without a lock, and fails as soon as it has an h1 to compare.
    refused(
        Entry::directory("docs/").with(|entry| entry.content = b"data".to_vec()),
        "the entry \"docs/\" is a directory that holds data",
    );
}

#[test]
fn names_in_extra_fields_do_not_count() {
    let mut unicode_path = numbers16(&[0x7075, 9]);
    unicode_path.push(1);
    unicode_path.extend(numbers32(&[crc32fast::hash(b"a")]));
    unicode_path.extend(b"evil");
    let entry = Entry::file("a", "1").with(|entry| entry.extra = unicode_path);
    accepted(entry, &[("a", "1")], &[]);
}

#[test]
fn the_list_wins_over_the_headers() {
    let entry = Entry::file("a", "1").with(|entry| entry.header_name = Some(b"bb".to_vec()));
    let differs = Oddity::Entry(named("a"), EntryOddity::HeaderDiffers);
    accepted(entry, &[("a", "1")], &[differs]);
}

#[test]
fn flags_and_methods_are_told_apart_from_data() {
    let flagged = Entry::file("a", "1").with(|entry| entry.flags = 1);
    let oddity = Oddity::Entry(named("a"), EntryOddity::FlaggedEncrypted);
    accepted(flagged.clone(), &[("a", "1")], &[oddity]);
    refused(
        flagged.with(|entry| entry.packed = Some(b"0123456789abX".to_vec())),
        "the entry \"a\" is damaged: it is encrypted",
    );
    refused(
        Entry::file("a", "1").with(|entry| entry.method = 12),
        "the entry \"a\" is compressed by the unsupported method 12",
    );
}

#[test]
fn no_byte_belongs_to_two_entries() {
    // Terraform accepts these; they are how a small zip unpacks to very much.
    let twice = Zip::of([program(), program().with(|entry| entry.header_at = Some(0))]);
    assert!(matches!(
        read(&twice),
        Err(ArchiveError::Entry {
            fault: EntryFault::Overlap,
            ..
        })
    ));
    let inner = Zip::of([Entry::file("b", "inner")]).bytes();
    let nested = Zip::of([
        Entry::file("a", &inner),
        Entry::file("b", "inner").with(|entry| entry.header_at = Some(31)),
    ]);
    assert!(matches!(
        read(&nested),
        Err(ArchiveError::Entry {
            fault: EntryFault::Overlap,
            ..
        })
    ));
}

#[test]
fn there_is_one_list_of_entries_only() {
    let good = Zip::of([program(), Entry::file("a", "1")]);
    for (count, accepted) in [(0, false), (1, false), (2, true), (3, false)] {
        let zip = Zip {
            stated_entries: Some(count),
            ..good.clone()
        };
        assert_eq!(read(&zip).is_ok(), accepted, "{count} entries");
    }
    let cut_comment = Zip {
        stated_comment: Some(9),
        ..good.clone()
    };
    assert!(matches!(
        read(&cut_comment),
        Err(ArchiveError::NotAZip { .. })
    ));
    let off_the_list = Zip {
        stated_list_start: Some(7),
        ..good
    };
    assert!(read(&off_the_list).is_err());
}

#[test]
fn the_last_of_two_zips_counts() {
    let mut first = Zip::of([program()]).bytes();
    let second = Zip::of([Entry::file("terraform-provider-x_v1.0.0", "other")]);
    first.extend(second.bytes());
    let found = hash_zip(Cursor::new(first), &Limits::PACKAGE).expect("accepted");
    let files = [("terraform-provider-x_v1.0.0", "other")];
    assert_eq!(found.h1.as_str(), h1_by_hand(files));
    assert_eq!(found.h1, read(&second).expect("accepted").h1);
}

#[test]
fn of_two_lists_the_one_at_the_stated_offset_counts() {
    // The first zip ends where the end record's size leads to, the other list is at its offset.
    let hidden = Zip::of([Entry::file("terraform-provider-x_v1.0.0", "evil")]).bytes();
    let end = hidden.len() - 22;
    let list_of_hidden = u32::from_le_bytes(hidden[end + 16..end + 20].try_into().unwrap());
    let zip = Zip {
        before: hidden,
        stated_list_start: Some(list_of_hidden),
        ..Zip::of([program()])
    };
    let found = read(&zip).expect("accepted");
    let files = [("terraform-provider-x_v1.0.0", "evil")];
    assert_eq!(found.h1.as_str(), h1_by_hand(files));
}

#[test]
fn something_may_stand_around_the_zip() {
    let plain = Zip::of([program()]);
    let h1 = read(&plain).expect("accepted").h1;
    for shifted in [false, true] {
        let zip = Zip {
            before: b"#!/bin/sh\n".to_vec(),
            shifted,
            ..plain.clone()
        };
        assert_eq!(read(&zip).expect("accepted").h1, h1, "{shifted}");
    }
    let zip = Zip {
        behind_list: b"JUNK".to_vec(),
        comment: b"a comment".to_vec(),
        ..plain
    };
    assert_eq!(read(&zip).expect("accepted").h1, h1);
}

#[test]
fn bombs_are_stopped_before_they_unpack() {
    let limits = Limits {
        unpacked_bytes: 1000,
        ..Limits::PACKAGE
    };
    let big = Entry::file("a", "0".repeat(1000)).deflated();
    let error = read_within(&Zip::of([program(), big.clone()]), &limits).expect_err("refused");
    let message = "the zip would unpack to 1004 bytes, more than 1000";
    assert_eq!(error.to_string(), message);
    assert!(read_within(&Zip::of([big.clone()]), &limits).is_ok());
    let lie = big.with(|entry| entry.stated_size = Some(10));
    let fault = match read_within(&Zip::of([program(), lie]), &limits) {
        Err(ArchiveError::Entry { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault, EntryFault::TooLong(10));
}

#[test]
fn the_ratio_counts_beyond_what_is_free() {
    let stated = |size: u64| {
        let size = u32::try_from(size).unwrap();
        Zip::of([Entry::file("a", "").with(|entry| entry.stated_size = Some(size))])
    };
    let error = read(&stated(FREE_UNPACKED_BYTES + 1)).expect_err("refused");
    assert!(matches!(
        error,
        ArchiveError::TooLarge {
            limit: FREE_UNPACKED_BYTES,
            ..
        }
    ));
    let error = read(&stated(FREE_UNPACKED_BYTES)).expect_err("refused");
    assert!(matches!(error, ArchiveError::Entry { .. }));
}

#[test]
fn lists_are_limited() {
    let zip = Zip::of((0..11).map(|n| Entry::file(format!("{n}"), "")));
    let limits = Limits {
        entries: 10,
        ..Limits::PACKAGE
    };
    let error = read_within(&zip, &limits).expect_err("refused");
    assert_eq!(error.to_string(), "the package has more than 10 entries");
    let limits = Limits {
        list_bytes: 100,
        ..Limits::PACKAGE
    };
    let error = read_within(&zip, &limits).expect_err("refused");
    assert!(matches!(
        error,
        ArchiveError::ListTooLong { limit: 100, .. }
    ));
}

#[test]
fn many_entries_are_read() {
    let names: Vec<String> = (0..70_000).map(|n| format!("{n}")).collect();
    let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = ::zip::write::SimpleFileOptions::default()
        .compression_method(::zip::CompressionMethod::Stored);
    for name in &names {
        writer.start_file(name, options).unwrap();
    }
    let zip = writer.finish().unwrap();
    // More than the fields of a plain end record can count, which no package may have.
    let limits = Limits {
        entries: 70_000,
        ..Limits::PACKAGE
    };
    let found = hash_zip(zip, &limits).expect("accepted");
    let files = names.iter().map(|name| (name.as_str(), ""));
    assert_eq!(found.h1.as_str(), h1_by_hand(files));
    assert_eq!(found.oddities, []);
}

/// Three entries of different kinds, in some 350 bytes.
fn small() -> Zip {
    Zip::of([
        program(),
        Entry::file("docs/a.txt", "aaaaaaaaaaaaaaaa").deflated(),
        Entry::file("b", "12").with(|entry| {
            entry.flags = 8;
            entry.descriptor = numbers32(&[DESCRIPTOR_SIGNATURE, crc32fast::hash(b"12"), 2, 2]);
        }),
    ])
}

#[test]
fn a_zip_cut_off_anywhere_is_refused() {
    let bytes = small().bytes();
    assert!(hash_zip(Cursor::new(&bytes), &Limits::PACKAGE).is_ok());
    for length in 0..bytes.len() {
        let outcome = hash_zip(Cursor::new(&bytes[..length]), &Limits::PACKAGE);
        assert!(outcome.is_err(), "after {length} bytes");
    }
}

#[test]
fn a_flipped_bit_never_goes_unseen_and_never_panics() {
    let bytes = small().bytes();
    let good = hash_zip(Cursor::new(&bytes), &Limits::PACKAGE).expect("accepted");
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let outcome = hash_zip(Cursor::new(&flipped), &Limits::PACKAGE);
        assert!(outcome.as_ref().ok() != Some(&good), "bit {bit}");
        // A content is checked wherever the flip is, so only names can have changed.
        if let Ok(found) = outcome {
            let contents = |hashes: &ZipHashes| {
                let mut digests: Vec<_> = hashes.files.iter().map(|file| file.digest).collect();
                digests.sort_unstable();
                digests
            };
            let known = contents(&good);
            assert!(
                contents(&found).iter().all(|digest| known.contains(digest)),
                "bit {bit}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn directories_have_limits() {
    let temp = crate::temp::dir();
    let deepest = temp.path().join(["d"; 20].join("/"));
    fs::create_dir_all(&deepest).unwrap();
    fs::write(deepest.join("f"), "1").unwrap();
    let within = |depth, entries| {
        let limits = Limits {
            depth,
            entries,
            ..Limits::PACKAGE
        };
        hash_directory(&RealDisk, temp.path(), &limits, cores())
    };
    assert_eq!(within(20, 21).expect("accepted").files.len(), 1);
    assert!(matches!(
        within(19, 21),
        Err(ArchiveError::TooDeep { limit: 19, .. })
    ));
    assert!(matches!(
        within(20, 20),
        Err(ArchiveError::TooManyEntries { limit: 20 })
    ));
}

#[cfg(unix)]
#[test]
fn links_into_themselves_and_out_of_the_package() {
    use std::os::unix::fs::symlink;

    let temp = crate::temp::dir();
    symlink("loop", temp.path().join("loop")).unwrap();
    let error = hash_directory(&RealDisk, temp.path(), &Limits::PACKAGE, cores());
    assert!(matches!(error, Err(ArchiveError::Path { .. })));
    fs::remove_file(temp.path().join("loop")).unwrap();
    symlink("/dev/zero", temp.path().join("endless")).unwrap();
    let error = hash_directory(&RealDisk, temp.path(), &Limits::PACKAGE, cores());
    assert!(matches!(error, Err(ArchiveError::NotRegular { .. })));
}

#[cfg(unix)]
#[test]
fn names_of_files_are_raw_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let temp = crate::temp::dir();
    fs::write(temp.path().join(OsStr::from_bytes(b"caf\x82")), "1").unwrap();
    let found =
        hash_directory(&RealDisk, temp.path(), &Limits::PACKAGE, cores()).expect("accepted");
    assert_eq!(&*found.files[0].name, b"caf\x82");
}

/// Files of a package: paths that cannot collide, and contents.
fn files() -> impl Strategy<Value = BTreeMap<String, String>> {
    let name = "[a-cA-C]{1,3}([-._ é][a-c]{1,2})?";
    let path = proptest::collection::vec(name, 0..3).prop_map(|mut parts| {
        parts.push("f.txt".to_owned());
        parts.join("/")
    });
    proptest::collection::btree_map(path, "[a-c\n]{0,400}", 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn order_and_method_do_not_matter(files in files(), methods in any::<u64>(), start in 0_usize..8) {
        let mut entries: Vec<Entry> = files
            .iter()
            .enumerate()
            .map(|(n, (name, content))| {
                let entry = Entry::file(name, content);
                if methods >> n & 1 == 1 { entry.deflated() } else { entry }
            })
            .collect();
        let start = start % entries.len();
        entries.rotate_left(start);
        let zip = Zip::of(entries);
        let found = read(&zip).expect("accepted");
        let expected = h1_by_hand(files.iter().map(|(name, content)| (&**name, &**content)));
        prop_assert_eq!(found.h1.as_str(), &expected);
        prop_assert_eq!(found.member_h1.as_str(), &expected);
        prop_assert_eq!(&found.zh, &zh(&*zip.bytes()).unwrap());
        prop_assert_eq!(found.oddities.len(), 0);
    }

    #[test]
    fn a_zip_of_another_hand_and_its_directory_agree(files in files()) {
        // To the file systems of macOS and Windows names that differ in case only are one.
        let ignores_case = cfg!(any(windows, target_os = "macos"));
        let name_of = |name: String| if ignores_case { name.to_lowercase() } else { name };
        let files: BTreeMap<String, String> =
            files.into_iter().map(|(name, content)| (name_of(name), content)).collect();
        let temp = crate::temp::dir();
        let mut writer = ::zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in &files {
            writer.start_file(name, ::zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
            let path = temp.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let zipped = hash_zip(writer.finish().unwrap(), &Limits::PACKAGE).expect("accepted");
        let unpacked = hash_directory(&RealDisk, temp.path(), &Limits::PACKAGE, cores()).expect("accepted");
        prop_assert_eq!(zipped.h1, unpacked.h1);
        prop_assert_eq!(zipped.files, unpacked.files);
    }

    #[test]
    fn scribbling_over_a_zip_never_panics(scribbles in proptest::collection::vec((any::<prop::sample::Index>(), any::<[u8; 4]>()), 1..6)) {
        let mut bytes = small().bytes();
        for (at, values) in scribbles {
            let at = at.index(bytes.len() - values.len());
            bytes[at..at + values.len()].copy_from_slice(&values);
        }
        if let Ok(found) = hash_zip(Cursor::new(&bytes), &Limits::PACKAGE) {
            prop_assert_eq!(found.zh, zh(&*bytes).unwrap());
        }
    }
}
