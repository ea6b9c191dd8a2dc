//! An entry that no package of its release matches: `init` refuses, `providers lock` adds to it, lockctl refuses.

use crate::lab::{Lab, zip_of};
use crate::registry::Registry;
use crate::terraform::Terraform;
use crate::{LOCK, lockctl};

const PROVIDER: &str = "registry.terraform.io/acme/single";
const WRONG_ZH: &str = "zh:0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_release_of_one_platform_refuses_a_zh_that_it_does_not_list() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let registry = Registry::start();
    let zip = zip_of(&[("terraform-provider-single_v1.0.0", "single")]);
    registry.add_zip("acme/single", "1.0.0", "linux_amd64", &zip);
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, &registry, &[]);
    let home = lab.path("home").into();
    lab.env.vars.insert("HOME".to_owned(), home);
    let entry = format!(
        "provider \"{PROVIDER}\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"{WRONG_ZH}\",\n  ]\n}}\n"
    );
    for root in ["theirs", "ours"] {
        lab.write(
            &format!("{root}/main.tf"),
            "terraform {\n  required_providers {\n    s = { source = \"acme/single\" }\n  }\n}\n",
        );
        lab.write(&format!("{root}/{LOCK}"), &entry);
    }
    let (succeeded, said) = terraform.run(&lab, "theirs", &["init", "-no-color"]);
    assert!(
        !succeeded && said.contains("Failed to install provider"),
        "{said}"
    );
    let outcome = lockctl(
        &lab,
        &terraform,
        &["lock", "ours", "--platform", "linux_amd64"],
    );
    assert_eq!(outcome.code, 1, "{outcome:#?}");
    assert!(outcome.stderr.contains(WRONG_ZH), "{outcome:#?}");
    assert_eq!(lab.read(&format!("ours/{LOCK}")), entry);
    // A deliberate difference: nothing is compared there, and the next `init` passes (`locker` rules 2.4).
    let args = ["providers", "lock", "-no-color", "-platform=linux_amd64"];
    let (succeeded, said) = terraform.run(&lab, "theirs", &args);
    assert!(succeeded, "{said}");
    let theirs = lab.read(&format!("theirs/{LOCK}"));
    assert!(
        theirs.contains(WRONG_ZH) && theirs.contains("h1:"),
        "{theirs}"
    );
}
