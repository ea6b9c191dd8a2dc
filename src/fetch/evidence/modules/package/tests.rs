use std::io;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::modules::package::glob::has_meta;
use crate::remote_module::is_leaving;
use crate::world::mem::slashed;
use crate::world::{FileKind, Files};

/// Makes a package of lines: `DIR/`, `FILE=TEXT` or `LINK>TARGET`.
fn tree(lines: &[&str]) -> PackageTree {
    let mut builder = PackageBuilder::new();
    for line in lines {
        add(&mut builder, line).expect("usable");
    }
    builder.finish()
}

fn add(builder: &mut PackageBuilder, line: &str) -> Result<(), PackageError> {
    if let Some((path, target)) = line.split_once('>') {
        return builder.link(path.as_bytes(), target.as_bytes());
    }
    match line.split_once('=') {
        Some((path, text)) => builder.file(path.as_bytes(), kept(text.as_bytes())),
        None => builder.directory(line.as_bytes()),
    }
}

fn kept(bytes: &[u8]) -> FileContent {
    FileContent::Kept(bytes.into())
}

/// Reads a text, or says why it cannot be read.
fn text(tree: &PackageTree, path: &str) -> String {
    match tree.read(Path::new(path), 1 << 30) {
        Ok(bytes) => String::from_utf8(bytes).expect("text"),
        Err(error) => format!("! {error}"),
    }
}

/// Lists everything with its kind, as the programs would find it on the disk.
fn listed(tree: &PackageTree, dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in tree.list(dir).expect("a directory") {
        let path = dir.join(&entry.name);
        let shown = slashed(&path);
        match entry.kind {
            FileKind::Directory => {
                all.push(format!("{shown}/"));
                all.extend(listed(tree, &path));
            }
            FileKind::Symlink => all.push(format!("{shown}@")),
            FileKind::File | FileKind::Other => all.push(shown),
        }
    }
    all
}

#[test]
fn files_are_found_by_their_paths() {
    let tree = tree(&["main.tf=a", "sub/deep/x.tf=b", "empty/", "./n//m/=c"]);
    let all = [
        "empty/",
        "main.tf",
        "n/",
        "n/m",
        "sub/",
        "sub/deep/",
        "sub/deep/x.tf",
    ];
    assert_eq!(listed(&tree, Path::new("")), all);
    for (path, expected) in [
        ("main.tf", "a"),
        ("./sub/../sub/deep/x.tf", "b"),
        ("missing", "! entity not found"),
        ("main.tf/x", "! not a directory"),
        ("sub", "! is a directory"),
        ("missing/../main.tf", "! entity not found"),
        ("..", "! it leads out of the package"),
        ("sub/../../main.tf", "! it leads out of the package"),
        ("/main.tf", "! it leads out of the package"),
    ] {
        assert_eq!(text(&tree, path), expected, "{path}");
    }
    let limited = tree.read(Path::new("main.tf"), 0).expect_err("too large");
    assert_eq!(limited.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(
        tree.kind(Path::new("")).expect("there"),
        FileKind::Directory
    );
}

#[test]
fn links_are_followed_inside_of_the_package_only() {
    let tree = tree(&[
        "a/real.tf=x",
        "a/link.tf>real.tf",
        "b>a",
        "c/up>../a/./link.tf",
        "c/dir>..//b",
        "loop>loop",
        "ping>pong",
        "pong>ping",
        "out>../other",
        "root>/etc/passwd",
        "far/far>../../x",
        "gone>missing",
        "file>a/real.tf/x",
    ]);
    for (path, expected) in [
        ("a/link.tf", "x"),
        ("b/link.tf", "x"),
        ("c/up", "x"),
        ("c/dir/real.tf", "x"),
        // A step up from a link is one from where it leads.
        ("c/dir/../c/up", "x"),
        ("loop", "! too many links in a row"),
        ("ping/x", "! too many links in a row"),
        ("out", "! it leads out of the package"),
        ("root", "! it leads out of the package"),
        ("far/far", "! it leads out of the package"),
        ("gone", "! entity not found"),
        ("file", "! not a directory"),
    ] {
        assert_eq!(text(&tree, path), expected, "{path}");
    }
    let real = tree.resolve(Path::new("c/dir/link.tf")).expect("there");
    assert_eq!(real, Path::new("a").join("real.tf"));
    let error = tree.kind(Path::new("out")).expect_err("outside");
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(is_leaving(&error));
}

#[test]
fn what_is_a_file_and_a_directory_is_refused() {
    for (lines, expected) in [
        (&["a=1", "a=2"][..], "a=2"),
        (&["a=1", "a>b"], "a@"),
        (
            &["a=1", "a/b=2"],
            "\"a/b\" is a file and a directory in the same package",
        ),
        (
            &["a/b=2", "a=1"],
            "\"a\" is a file and a directory in the same package",
        ),
        (
            &["a>b", "a/b=2"],
            "\"a/b\" is a file and a directory in the same package",
        ),
        (&["a/../b=1"], "the entry \"a/../b\" has a path part \"..\""),
        (
            &["a\0=1"],
            "the entry \"a\\0\" cannot be unpacked under that name",
        ),
        (
            &["/./=1"],
            "the entry \"/./\" cannot be unpacked under that name",
        ),
        (
            &["a>"],
            "the entry \"a\" cannot be unpacked under that name",
        ),
    ] {
        let mut builder = PackageBuilder::new();
        let made: Result<(), PackageError> =
            lines.iter().try_for_each(|line| add(&mut builder, line));
        let found = match made {
            Ok(()) => {
                let tree = builder.finish();
                let content = text(&tree, "a");
                let all = listed(&tree, Path::new("")).join(" ");
                if all == "a" {
                    format!("a={content}")
                } else {
                    all
                }
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{lines:?}");
    }
}

#[test]
fn names_have_limits() {
    let check = |path: &str| {
        let mut builder = PackageBuilder::new();
        builder
            .file(path.as_bytes(), kept(b""))
            .map_err(|error| error.to_string())
    };
    assert!(check(&"n".repeat(255)).is_ok());
    assert!(check(&"n".repeat(256)).is_err());
    assert!(check(&vec!["d"; 128].join("/")).is_ok());
    assert!(check(&vec!["d"; 200].join("/")).is_err());
    let mut builder = PackageBuilder::new();
    let error = (0..=MAX_ENTRIES).find_map(|number| {
        let path = number.to_string();
        builder.file(path.as_bytes(), kept(b"")).err()
    });
    let text = error.expect("refused").to_string();
    assert_eq!(
        text,
        format!("the package has more than {MAX_ENTRIES} entries")
    );
}

#[test]
fn configuration_and_other_contents_have_their_own_room() {
    let large = vec![b'x'; MAX_KEPT_FILE_BYTES as usize];
    let configuration = vec![b'y'; 8 << 20];
    let mut builder = PackageBuilder::new();
    let others = MAX_ALL_OTHERS_BYTES / MAX_KEPT_FILE_BYTES;
    for number in 0..=others {
        let path = format!("{number:04}.txt");
        builder.file(path.as_bytes(), kept(&large)).expect("kept");
    }
    for number in 0..=MAX_ALL_CONFIGURATION_BYTES >> 23 {
        let path = format!("{number}.tf");
        builder
            .file(path.as_bytes(), kept(&configuration))
            .expect("kept");
    }
    builder
        .file(b"long.txt", kept(&[&large[..], b"x"].concat()))
        .expect("named");
    let tree = builder.finish();
    assert_eq!(text(&tree, "0000.txt").len(), large.len());
    let lacking = "! its content of 262144 bytes is not kept: too much for a file of a module";
    assert_eq!(text(&tree, &format!("{others:04}.txt")), lacking);
    assert_eq!(text(&tree, "5.tf").len(), configuration.len());
    assert!(text(&tree, "6.tf").starts_with("! its content of 8388608 bytes is not kept"));
    assert!(text(&tree, "long.txt").starts_with("! its content of 262145 bytes is not kept"));
    assert_eq!(
        tree.kind(Path::new("long.txt")).expect("there"),
        FileKind::File
    );
    let opened = tree.open(Path::new("long.txt")).err().expect("not kept");
    assert!(opened.get_ref().expect("inner").is::<ContentNotKept>());
}

#[test]
fn the_directory_of_the_module_is_found() {
    use SubdirectoryPattern::{Glob, Path as Plain};
    const MISSING: &str = "! the package has no such directory";
    const AMBIGUOUS: &str = "! the pattern matches more than one name of the package";
    const LEAVES: &str = "! it leads out of the package";
    const NO_DIRECTORY: &str = "! it is not a directory";
    let tree = tree(&[
        "main.tf=",
        "modules/a/main.tf=",
        "modules/b/main.tf=",
        "modules/README=",
        ".git/",
        "link>modules/a",
        "out>..",
        "s*r/",
    ]);
    let find = |sub: &str, pattern| match tree.expand(sub, pattern) {
        Ok(path) => crate::world::mem::slashed(path),
        Err(error) => format!("! {error}"),
    };
    for (sub, glob, plain) in [
        ("", "", ""),
        (".", "", ""),
        ("modules/a", "modules/a", "modules/a"),
        ("/modules/a", "modules/a", "modules/a"),
        ("modules/[a]", "modules/a", MISSING),
        ("m*/b", "modules/b", MISSING),
        ("*s/?", AMBIGUOUS, MISSING),
        ("m*/z", MISSING, MISSING),
        ("*/z", LEAVES, MISSING),
        ("l*", "link", MISSING),
        ("link", "link", "link"),
        (".g*", ".git", MISSING),
        ("*", AMBIGUOUS, MISSING),
        ("s[*]r", "s*r", MISSING),
        ("s*r", "s*r", "s*r"),
        ("[", "! the pattern is not valid", MISSING),
        ("main.tf", NO_DIRECTORY, NO_DIRECTORY),
        ("main.tf/x", NO_DIRECTORY, NO_DIRECTORY),
        ("modules/R*", NO_DIRECTORY, MISSING),
        ("..", LEAVES, LEAVES),
        ("out", LEAVES, LEAVES),
        ("o*", LEAVES, MISSING),
        ("*/a", "modules/a", MISSING),
        ("o*/*", LEAVES, MISSING),
    ] {
        assert_eq!(find(sub, Glob), glob, "{sub} as a pattern");
        assert_eq!(find(sub, Plain), plain, "{sub} as a path");
    }
    assert!(has_meta("a[b") && !has_meta("a]b"));
}

#[test]
fn a_pattern_with_links_in_circles_ends() {
    let mut lines: Vec<String> = (0..100).map(|number| format!("l{number}>.")).collect();
    lines.push("main.tf=".to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = tree(&lines).expand("*/*/*/*/*", SubdirectoryPattern::Glob);
    assert_eq!(found, Err(SubdirectoryError::Ambiguous));
}

#[test]
fn a_part_of_a_package_is_a_package() {
    let package = tree(&[
        "top.tf=t",
        "sub/a.tf=a",
        "sub/l.tf>../top.tf",
        "sub/.x/y=z",
        "d>sub",
    ]);
    let sub = package.below(Path::new("d")).expect("a directory");
    assert_eq!(listed(&sub, Path::new("")), [".x/", ".x/y", "a.tf", "l.tf"]);
    assert_eq!(text(&sub, "l.tf"), "t");
    assert!(sub.read(Path::new("../top.tf"), 9).is_err());
    let error = package
        .below(Path::new(""))
        .expect_err("a link to a directory");
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    let leading_out = tree(&["s/l>../../x", "s/a>/x", "s/b=b"]).below(Path::new("s"));
    let leading_out = leading_out.expect("a directory");
    for link in ["l", "a"] {
        let error = leading_out.read(Path::new(link), 9);
        assert!(is_leaving(&error.expect_err("outside")), "{link}");
    }
    assert_eq!(text(&leading_out, "b"), "b");
}

#[test]
fn packages_are_joined_at_a_directory() {
    let mut builder = PackageBuilder::new();
    builder.file(b"main.tf", kept(b"1")).expect("usable");
    builder.directory(b"lib/x").expect("usable");
    let inner = tree(&["a.tf=2", "b>../main.tf", "c/"]);
    builder.join(b"lib/x", &inner).expect("joined");
    let tree = builder.finish();
    assert_eq!(text(&tree, "lib/x/a.tf"), "2");
    assert_eq!(
        tree.kind(Path::new("lib/x/c")).expect("there"),
        FileKind::Directory
    );
    assert_eq!(text(&tree, "lib/x/b"), "! entity not found");
}

#[test]
fn hostile_bytes_are_no_package() {
    let good = tree(&["a/b=1", "l>a"]).to_bytes();
    assert!(PackageTree::from_bytes(&good).is_some());
    for end in 0..good.len() {
        let is_whole_row =
            PackageTree::from_bytes(&good[..end]).is_none_or(|tree| tree.to_bytes() == good[..end]);
        assert!(is_whole_row, "cut off at {end}");
    }
    let row = |kind: u8, path: &[u8], body: &[u8]| {
        let lengths = [path, body].map(|part| (part.len() as u64).to_le_bytes());
        [&[kind], &lengths[0][..], path, &lengths[1], body].concat()
    };
    let size = 1_u64.to_le_bytes();
    for rows in [
        row(b'x', b"a", b""),
        row(b'd', b"..", b""),
        row(b'd', b"a", b"b"),
        row(b'p', b"a", b"1"),
        row(b'p', b"a", &[&size[..], b"half a digest"].concat()),
        [row(b'p', b"a", &size), row(b'p', b"a/b", &size)].concat(),
        [b"k".to_vec(), vec![0xff; 8]].concat(),
    ] {
        let bytes = [HEADER, &rows].concat();
        assert!(PackageTree::from_bytes(&bytes).is_none(), "{rows:?}");
    }
    assert!(PackageTree::from_bytes(b"lockctl package 1\n").is_none());
}

const HEADER: &[u8] = b"lockctl package 2\n";

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof!["[a-c]", "[a-c.]{1,3}", Just("é".to_owned())];
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/").into_bytes())
}

proptest! {
    #[test]
    fn a_package_is_read_as_it_was_written(
        rows in prop::collection::vec((any_path(), 0_u8..4, prop::collection::vec(any::<u8>(), 0..200)), 0..20)
    ) {
        let mut builder = PackageBuilder::new();
        for (path, kind, bytes) in &rows {
            // Whatever is refused is not in the package.
            let _ = match kind {
                0 => builder.directory(path),
                1 => builder.file(path, kept(bytes)),
                2 => builder.file(path, FileContent::of_passed(bytes)),
                _ => builder.link(path, bytes),
            };
        }
        let tree = builder.finish();
        let bytes = tree.to_bytes();
        prop_assert_eq!(&PackageTree::from_bytes(&bytes).expect("written by us"), &tree);
    }

    #[test]
    fn no_bytes_make_the_reader_fail(rows in prop::collection::vec(any::<u8>(), 0..300), path in any_path()) {
        let bytes = [HEADER, &rows].concat();
        if let Some(tree) = PackageTree::from_bytes(&bytes) {
            let path = PathBuf::from(String::from_utf8(path).expect("text"));
            let _ = tree.read(&path, 100);
            prop_assert_eq!(PackageTree::from_bytes(&tree.to_bytes()).expect("again"), tree);
        }
    }
}
