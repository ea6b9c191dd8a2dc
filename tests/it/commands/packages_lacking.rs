//! `verify`: packages whose hash the lock file may lack, and those that it contradicts.

use super::packages::verify;
use super::*;

/// A lock file that another platform wrote: its `h1:`, and the signed list of the release.
fn locked_elsewhere() -> Lab {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "darwin_arm64"]), 0);
    let zh: String = (1..4)
        .map(|n| format!("    \"zh:{}\",\n", n.to_string().repeat(64)))
        .collect();
    let text = lab.read(LOCK).replace("  ]\n", &format!("{zh}  ]\n"));
    lab.write(LOCK, text);
    lab
}

/// `init -lockfile=readonly` installs such a package by its `zh:`, and `plan` refuses it.
#[test]
fn a_package_that_the_lock_file_need_not_cover_is_not_called_wrong() {
    let lab = locked_elsewhere();
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    // The only h1: counts for the only wanted platform, and may be that of any.
    for wanted in ["linux_amd64", "linux_amd64,darwin_arm64"] {
        let outcome = lab.run(&["verify", "--only", "packages", "--platform", wanted]);
        assert_exit(&outcome, 1);
        outcome.stdout_eq(str![[r#"
error[package-unverifiable]: The lock file has no hash that can verify the installed package of example.com/t/x 1.1.0 for linux_amd64
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded, none known to be for linux_amd64: the lock file may lack it
  |
  = help: run `lockctl lock . --platform linux_amd64` to add its h1:; until then `terraform plan` refuses it
          if it still does not match then, it is not the locked package: delete that directory and run `terraform init` again

.terraform.lock.hcl: 1 error

"#]]);
    }
    let proven = verify(&lab, &["--fs-mirror", "mirror"]).exits(1);
    proven.stdout_has(
        "1 h1: recorded, all of other platforms: the lock file lacks that of linux_amd64",
    );
    // The command that is named ends it.
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    assert_exit(&verify(&lab, &[]), 0);
}

/// What facts contradict is not taken for a platform that the lock file lacks.
#[test]
fn a_package_that_facts_contradict_stays_wrong() {
    let lab = locked_elsewhere();
    let mismatch = "error[package-mismatch]: The installed package of";
    let install = |content: &str| {
        let package = "example.com/t/x/1.1.0/linux_amd64";
        lab.unpacked(".terraform/providers", package, content);
    };
    // A zip is compared with the signed list.
    lab.packed(
        "zips",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    let outcome = verify(&lab, &["--fs-mirror", "zips"]).exits(1);
    outcome.stdout_has(
        "error[package-mismatch]: The mirrored package of example.com/t/x 1.1.0 for linux_amd64",
    );
    // Another copy of the package is recorded.
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    install("tampered");
    verify(&lab, &["--fs-mirror", "mirror"]).stdout_has(mismatch);
    // There are as many hashes as platforms.
    let counted = verify(&lab, &[]).exits(1);
    counted.stdout_has(mismatch);
    counted.stdout_has("run `lockctl lock . --platform linux_amd64`: if that adds this hash, the lock file lacked it");
}
