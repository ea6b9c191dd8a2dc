//! Generated roots: the packed mirror of either program has the same tree, zips and documents, and serves `init` alike.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use lockctl::parallel;
use serde_json::{Value, json};

use super::{MirrorSetting, PLATFORMS, tree};
use crate::seed::{Seed, number_from};
use crate::static_files::StaticFiles;

/// Number of roots, unless `LOCKCTL_PARITY_CASES` states another one.
const ROOTS: u64 = 100;

/// Seed of the first root, unless `LOCKCTL_PARITY_SEED` states another one; each root has its own.
const SEED: u64 = 1;

/// Number of programs that run at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(4).expect("positive");

/// Takes the `zh:` out of a document; what is left must be that of `providers mirror`.
fn without_zh(document: &[u8]) -> (Value, usize) {
    let mut document: Value = serde_json::from_slice(document).unwrap();
    let mut removed = 0;
    let archives = document.get_mut("archives").and_then(Value::as_object_mut);
    for archive in archives.into_iter().flat_map(|all| all.values_mut()) {
        let hashes = archive["hashes"].as_array_mut().unwrap();
        let before = hashes.len();
        hashes.retain(|hash| !hash.as_str().unwrap().starts_with("zh:"));
        removed += before - hashes.len();
    }
    (document, removed)
}

/// Compares two mirrors; returns the number of zips.
#[track_caller]
fn assert_alike(
    root: &str,
    ours: &BTreeMap<String, Vec<u8>>,
    theirs: &BTreeMap<String, Vec<u8>>,
) -> usize {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(ours), names(theirs), "{root}");
    let (mut zips, mut added) = (0, 0);
    for (name, content) in theirs {
        let same = if name.ends_with(".zip") {
            zips += 1;
            ours[name] == *content
        } else if name.ends_with("index.json") {
            ours[name] == *content
        } else {
            let ((our_document, zh), (their_document, _)) =
                (without_zh(&ours[name]), without_zh(content));
            added += zh;
            our_document == their_document
        };
        assert!(same, "{root}: {name}");
    }
    // One for each package: `zh:` is all that is added.
    assert_eq!(added, zips, "{root}");
    zips
}

#[test]
fn mirrors_of_generated_roots_are_alike() {
    let Some(setting) = MirrorSetting::new() else {
        return;
    };
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let count = number_from("LOCKCTL_PARITY_CASES", ROOTS);
    let roots: Vec<String> = (first..first + count)
        .map(|seed| {
            let root = format!("roots/r{seed}");
            setting.write_root(&root, &mut Seed::new(seed));
            root
        })
        .collect();
    setting.lock("roots");
    let platforms = PLATFORMS.join(",");
    let flags = PLATFORMS.map(|platform| format!("-platform={platform}"));
    let zips = parallel::map(AT_ONCE, &roots, |root| {
        let (ours, theirs) = (format!("ours/{root}"), format!("theirs/{root}"));
        let config = format!("ours/{root}.tfrc");
        std::fs::create_dir_all(setting.lab.path(&ours)).unwrap();
        let more = ["--platform", &platforms, "--write-cli-config", &config];
        setting.mirror(&ours, &[&[root.as_str()], &more[..]].concat());
        let target = setting.lab.path(&theirs).display().to_string();
        std::fs::create_dir_all(&target).unwrap();
        let mut args = vec!["providers", "mirror", "-no-color"];
        args.extend(flags.iter().map(String::as_str));
        args.push(&target);
        setting.terraform.succeeds(&setting.lab, root, &args);
        assert_alike(
            root,
            &tree(&setting.lab.path(&ours)),
            &tree(&setting.lab.path(&theirs)),
        )
    });

    // Each root is installed from one of four: the mirror of either program, as a directory or behind a server.
    let server = StaticFiles::start(setting.lab.path("."));
    setting.registry.reset(&json!({}));
    let numbered: Vec<(usize, &String)> = roots.iter().enumerate().collect();
    let routes = parallel::map(AT_ONCE, &numbered, |(number, root)| {
        let dir = format!("{}/{root}", ["ours", "theirs"][number / 2 % 2]);
        let is_served = number % 2 == 0;
        let installation = if is_served {
            let url = server.url(&dir);
            format!("provider_installation {{\n  network_mirror {{\n    url = {url:?}\n  }}\n}}\n")
        } else if dir.starts_with("ours") {
            setting.lab.read(&format!("{dir}.tfrc"))
        } else {
            let path = setting.lab.path(&dir).display().to_string();
            format!(
                "provider_installation {{\n  filesystem_mirror {{\n    path = {path:?}\n  }}\n}}\n"
            )
        };
        setting.use_methods(root, &installation);
        setting.installs(root, &[]);
        (dir, is_served)
    });
    let paths = server.take_paths();
    for (dir, is_served) in &routes {
        let below = format!("/{dir}/");
        let requests = paths.iter().filter(|path| path.starts_with(&below)).count();
        assert_eq!(requests > 0, *is_served, "{dir}");
    }
    let served = routes.iter().filter(|(_, is_served)| *is_served).count();
    println!(
        "parity: {} roots, {} zips: equal trees, bytes and documents; init from {served} network and {} filesystem \
         mirrors of both programs, 0 registry requests",
        roots.len(),
        zips.iter().sum::<usize>(),
        roots.len() - served
    );
}
