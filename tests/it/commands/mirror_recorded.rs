//! Recorded mirrors of the programs: the documents of `mirror` have the same content and serve in the same way.
//!
//! | Recorded | Shows |
//! |---|---|
//! | `nm-locked-full` | documents with `zh:` and `h1:` install by a complete entry, which is not changed |
//! | `nm-init-zh`, `nm-init-h1` | either scheme alone installs as well |
//! | `fs-packed-locked-zh`, `fs-unpacked-locked-zh` | zips and directories of a filesystem mirror install |

use super::mirror::locked;
use super::registry::TWO;
use super::*;
use crate::registry::Origin;
use crate::scenarios::{Engine, Exit, LockAfter, Symbols, scenarios};
use crate::static_files::StaticFiles;

#[test]
fn every_program_was_recorded_to_install_from_such_mirrors() {
    let (registry, _lab) = locked();
    let mut seen = 0;
    for (group, ids) in [
        (
            "netmirror",
            &["nm-locked-full", "nm-init-zh", "nm-init-h1"][..],
        ),
        (
            "fsmirror",
            &["fs-packed-locked-zh", "fs-unpacked-locked-zh"],
        ),
    ] {
        for scenario in scenarios(group) {
            if !ids.contains(&&*scenario.id) {
                continue;
            }
            for engine in Engine::ALL {
                let symbols = Symbols::of(&registry, None, engine, "dir".as_ref());
                let expected = scenario.expect(engine, &symbols).unwrap();
                assert_eq!(expected.exit, Exit::Code(0), "{} {engine:?}", scenario.id);
                let is_unchanged = expected.lock == LockAfter::Unchanged;
                assert_eq!(
                    is_unchanged,
                    scenario.id == "nm-locked-full",
                    "{} {engine:?}",
                    scenario.id
                );
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 5 * Engine::ALL.len());
}

/// The test registry serves the network mirror that the programs were recorded with.
#[test]
fn our_network_mirror_serves_as_the_recorded_one() {
    let (registry, lab) = locked();
    let recorded = format!("{}/mirror/", registry.url(Origin::Lab));
    let server = StaticFiles::start(lab.path("."));
    for engine in Engine::ALL {
        let flavor = ["--flavor", engine.flavor()];
        std::fs::remove_file(lab.path(super::LOCK)).unwrap();
        lab.run(&[&["lock", "--no-cache"], TWO, &flavor].concat())
            .exits(0);
        let dir = format!("mirrors/{}", engine.version());
        assert_exit(&lab.run(&[&["mirror", &dir], TWO, &flavor].concat()), 0);
        let complete = lab.read(super::LOCK);
        let mut locks = Vec::new();
        for url in [&recorded, &server.url(&dir)] {
            std::fs::remove_file(lab.path(super::LOCK)).unwrap();
            registry.reset(&json!({}));
            let args = ["lock", "--no-cache", "--net-mirror", url];
            assert_exit(&lab.run(&[&args, TWO, &flavor[..]].concat()), 0);
            locks.push(lab.read(super::LOCK));
        }
        assert_eq!(
            registry.requests(),
            [""; 0],
            "{engine:?}: our mirror needs no registry"
        );
        assert_eq!(locks[0], locks[1], "{engine:?}");
        // A complete entry is served as well, and is not changed.
        lab.write(super::LOCK, &complete);
        let url = server.url(&dir);
        let args = ["lock", "--no-cache", "--check", "--net-mirror", &url];
        assert_exit(&lab.run(&[&args, TWO, &flavor[..]].concat()), 0);
    }
}
