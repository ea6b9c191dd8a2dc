//! `audit` where the contents of packages are known: the module that was built, the standard library, and modules.

use super::builds::{CLEAN, locked};
use super::*;

/// Writes an advisory about one module, fixed in a version.
fn advise(lab: &Lab, id: &str, module: &str, fixed: &str) {
    let advisory = json!({
        "id": id,
        "summary": format!("About {module}"),
        "affected": [{
            "package": {"name": module, "ecosystem": "Go"},
            "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": fixed}]}],
        }],
    });
    lab.write(&format!("db/{id}.json"), advisory.to_string());
}

fn audit(lab: &Lab, more: &[&str]) -> Outcome {
    let args = ["audit", "--db", "db", "--flavor", "terraform@1.11"];
    lab.run(&[&args, more].concat())
}

#[test]
fn each_level_is_judged_by_what_was_built() {
    let (_registry, lab) = locked(&[("1.0.0", [CLEAN, CLEAN])], "1.0.0");
    advise(&lab, "GO-1", "stdlib", "1.22.4");
    // The build is made by this version of Go, or has this version of the module.
    advise(&lab, "GO-2", "stdlib", "1.22.3");
    advise(&lab, "GO-3", "a.example/a", "1.2.4");
    advise(&lab, "GO-4", "a.example/a", "1.2.3");
    // Replaced by a directory, so that there is no version of it.
    advise(&lab, "GO-5", "b.example/b", "2.0.0");
    // Not in the program.
    advise(&lab, "GO-6", "c.example/c", "9.0.0");
    let outcome = audit(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
LEVEL       MODULE       VERSION   FIXED   ADVISORIES  IN
stdlib      stdlib       go1.22.3  1.22.4  GO-1        acme/lab 1.0.0
dependency  a.example/a  1.2.3     1.2.4   GO-3        acme/lab 1.0.0
dependency  b.example/b  (devel)   -       GO-5        acme/lab 1.0.0
1 advisory about the standard library concerns 1 of 1 provider version; 1 advisory about modules concerns 1 of 1 provider version; 1 advisory unknown

"#]]);
    outcome.stderr_lacks("are unknown");
    for (level, code) in [
        ("provider", 0),
        ("stdlib", 1),
        ("dependency", 1),
        ("never", 0),
    ] {
        assert_exit(&audit(&lab, &["--fail-on", level]), code);
    }
    let document: Value = serde_json::from_str(&audit(&lab, &["--format", "json"]).stdout).unwrap();
    let provider = &document["roots"][0]["providers"][0];
    assert_eq!(provider["contents"], "known");
    let advisories: Vec<_> = provider["advisories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|advisory| {
            let text = |name: &str| advisory[name].as_str().unwrap().to_owned();
            let [id, level] = ["id", "level"].map(text);
            let [status, version] = ["status", "module_version"].map(text);
            (id, level, status, version)
        })
        .collect();
    let row = |id: &str, level: &str, status: &str, version: &str| {
        let [id, level, status, version] = [id, level, status, version].map(str::to_owned);
        (id, level, status, version)
    };
    assert_eq!(
        advisories,
        [
            row("GO-1", "stdlib", "affected", "go1.22.3"),
            row("GO-3", "dependency", "affected", "1.2.3"),
            row("GO-5", "dependency", "unknown", "(devel)"),
        ]
    );
}

/// A platform that was built by another version of Go is judged as well.
#[test]
fn one_platform_is_enough() {
    let newer = CLEAN.replace("go1.22.3", "go1.22.9");
    let (_registry, lab) = locked(&[("1.0.0", [&newer, CLEAN])], "1.0.0");
    advise(&lab, "GO-1", "stdlib", "1.22.4");
    assert_exit(&audit(&lab, &["--fail-on", "stdlib"]), 1);
    let (_registry, lab) = locked(&[("1.0.0", [&newer, &newer])], "1.0.0");
    advise(&lab, "GO-1", "stdlib", "1.22.4");
    assert_exit(&audit(&lab, &["--fail-on", "stdlib"]), 0);
}

/// The module in the build decides, and not the address: advisories about the suggested one are only mentioned.
#[test]
fn a_fork_is_judged_as_the_module_that_it_is() {
    let fork = CLEAN.replace("github.com/acme/", "github.com/other/");
    let (_registry, lab) = locked(&[("1.0.0", [&fork, &fork])], "1.0.0");
    advise(
        &lab,
        "GO-1",
        "github.com/acme/terraform-provider-lab",
        "2.0.0",
    );
    audit(&lab, &[]).exits(0).stdout_eq(str![[r#"
ADVISORY  PROVIDER  VERSION  FIXED  HOW
GO-1      acme/lab  1.0.0    2.0.0  unknown, because the program is built from another module
    About github.com/acme/terraform-provider-lab
no advisory is known to concern 1 provider version; 1 advisory unknown

"#]]);
    advise(
        &lab,
        "GO-2",
        "github.com/other/terraform-provider-lab",
        "2.0.0",
    );
    audit(&lab, &[]).exits(1).stdout_eq(str![[r#"
ADVISORY  PROVIDER  VERSION  FIXED  HOW
GO-2      acme/lab  1.0.0    2.0.0  the constraint 1.0.0 (main.tf:3) excludes it
    About github.com/other/terraform-provider-lab
GO-1      acme/lab  1.0.0    2.0.0  unknown, because the program is built from another module
    About github.com/acme/terraform-provider-lab
1 advisory about providers concerns 1 of 1 provider version; 1 advisory unknown

"#]]);
}
