//! Blocks of OpenTofu that use a variable without a value: `init -backend=false` and `providers lock` write what
//! lockctl writes.

use crate::lab::Lab;
use crate::registry::Registry;
use crate::terraform::Terraform;
use crate::unset_values::{BLOCKS, PLATFORMS, RECORDED, publish, write};
use crate::{LOCK, lockctl};

#[test]
fn values_that_no_provider_needs_change_no_byte() {
    let Some(tofu) = Terraform::find_tofu() else {
        return;
    };
    let registry = Registry::start();
    publish(&registry);
    let mut lab = Lab::new();
    tofu.use_registry(&mut lab, &registry, &[]);
    let home = lab.path("home").into();
    lab.env.vars.insert("HOME".to_owned(), home);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
    let recorded = std::fs::read_to_string(path).unwrap();
    for (name, block, passes) in BLOCKS {
        for root in ["ours", "init", "lock"] {
            write(&lab, &format!("{name}/{root}"), block);
        }
        let dir = |root: &str| format!("{name}/{root}");
        let args = ["init", "-input=false", "-no-color"];
        let (succeeded, said) = tofu.run(&lab, &dir("init"), &args);
        assert_eq!(succeeded, *passes, "{name}: {said}");
        if !succeeded {
            assert!(said.contains("variable var.v"), "{name}: {said}");
            let args = [&args[..], &["-backend=false"]].concat();
            tofu.succeeds(&lab, &dir("init"), &args);
        }
        let lock = |platforms: &str| {
            let args = ["lock", &dir("ours"), "--no-cache", "--platform", platforms];
            let outcome = lockctl(&lab, &tofu, &args);
            assert_eq!(outcome.code, 0, "{name}: {outcome:#?}");
        };
        lock("linux_amd64");
        let bytes = |root: &str| lab.read(&format!("{name}/{root}/{LOCK}"));
        assert_eq!(bytes("ours"), bytes("init"), "{name}");
        let two = ["-platform=linux_amd64", "-platform=linux_arm64"];
        let args = [&["providers", "lock", "-no-color"], &two[..]].concat();
        tofu.succeeds(&lab, &dir("lock"), &args);
        lock(PLATFORMS);
        assert_eq!(bytes("ours"), bytes("lock"), "{name}");
        assert_eq!(bytes("lock"), recorded, "{name}");
    }
}
