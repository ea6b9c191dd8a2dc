//! `lock`: packages that nothing speaks for, or something speaks against.

use super::*;

#[test]
fn an_odd_zip_is_locked_with_a_warning() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let zip = zip_of(&[("./terraform-provider-x_v1.0.0", "fake")]);
    lab.write(
        "mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip",
        zip,
    );
    lock(&lab, &["--platform", "linux_amd64"]).exits(0).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
warning: example.com/t/x 1.0.0 for linux_amd64: unpacked it hashes differently than as a zip, so the programs record one h1: and check another; a lock file without its zh: would refuse it
warning: example.com/t/x 1.0.0 for linux_amd64: "./terraform-provider-x_v1.0.0" is a name that changes when it is unpacked

"#]]);
    lab.read(LOCK)
        .has("h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=");
}

#[test]
fn a_package_without_its_program_is_refused() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.write(
        "mirror/example.com/t/x/1.0.0/linux_amd64/README",
        "no program",
    );
    let outcome = lock(&lab, &["--platform", "linux_amd64"]).exits(2);
    outcome.stderr_has("terraform-provider-x");
}

/// Five platforms are locked, then one package of the mirror is exchanged.
#[test]
fn an_exchanged_package_is_a_warning_where_every_platform_is_known() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("mirror", "example.com/t/x/1.1.0/linux_amd64", "exchanged");
    lock(&lab, BOTH).exits(0).stderr_eq(str![[r#"
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0
warning: example.com/t/x 1.1.0: a package of the mirror does not match the lock file, and 1 recorded h1: belong to no package of the mirror; either a package was replaced, or the lock file was wrong before

"#]]);
}

#[test]
fn an_alarm_is_reported_beside_other_failures() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        format!("{ONE_PROVIDER}\nresource \"gone_thing\" \"a\" {{}}\n"),
    );
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "tampered");
    let hashes: Vec<String> = ["0", "1"]
        .map(|d| format!("\"zh:{}\"", d.repeat(64)))
        .to_vec();
    lab.write(
        LOCK,
        format!(
            "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [{}]\n}}\n",
            hashes.join(", ")
        ),
    );
    let outcome = lock(&lab, &["--platform", "linux_amd64"]).exits(2);
    outcome.stderr_has("does not match the lock file");
    outcome.stderr_has("hashicorp/gone");
}

/// A lone `zh:` for each `h1:` is what OCI mirrors leave: other platforms may be added.
#[test]
fn one_zh_for_each_h1_is_no_list_of_a_release() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "genuine");
    let (zero, one) = ("0".repeat(64), "1".repeat(64));
    lab.write(
        LOCK,
        format!(
            "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [\"h1:a\", \"h1:b\", \"zh:{zero}\", \"zh:{one}\"]\n}}\n"
        ),
    );
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
}

/// A lock with the `zh:` of every zip of the mirror; then two zips are exchanged.
#[test]
fn an_exchanged_zip_is_an_alarm_after_a_good_lock_too() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let platforms = ["linux_amd64", "linux_arm64", "darwin_arm64"];
    let mut zh = String::new();
    for platform in platforms {
        lab.packed(
            "mirror",
            &format!("example.com/t/x/1.0.0/{platform}"),
            platform,
        );
        let zip = zip_of(&[("terraform-provider-x_v1.0.0", platform)]);
        zh += &format!("\"{}\", ", lockctl::hash::zh(&*zip).unwrap());
    }
    lab.write(
        LOCK,
        format!("provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [{zh}]\n}}\n"),
    );
    let wanted = platforms.join(",");
    assert_exit(&lock(&lab, &["--platform", &wanted]), 0);
    assert_eq!(lab.read(LOCK).matches("\"h1:").count(), 3);
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_arm64", "exchanged");
    let outcome = lock(&lab, &["--platform", &wanted, "--format", "json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let findings = json["roots"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0]["rule"], "package-mismatch");
    assert_eq!(findings[0]["platform"], "linux_arm64");
    // It is about a package, not about a place in a file.
    for name in ["line", "column", "end_line", "end_column", "related"] {
        assert_eq!(findings[0].get(name), None, "{name}");
    }
}

#[test]
fn a_mirror_of_fewer_platforms_is_no_reason_for_a_warning() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        "part",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    let outcome = lab.run(&["lock", "--fs-mirror", "part", "--platform", "linux_amd64"]);
    assert_exit(&outcome, 0);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
}

#[test]
fn quiet_hides_notes_and_no_warning() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("mirror", "example.com/t/x/1.1.0/linux_amd64", "exchanged");
    let outcome = lock(&lab, &[BOTH, &["-q"]].concat());
    assert!(
        outcome.stderr.starts_with("warning: "),
        "{}",
        outcome.stderr
    );
    outcome.stderr_lacks("note: ");
}

#[test]
fn a_zip_that_the_recorded_list_does_not_know_is_an_alarm() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "tampered");
    let zeros = "0".repeat(64);
    let ones = "1".repeat(64);
    let locked = format!(
        "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"zh:{zeros}\",\n    \
         \"zh:{ones}\",\n  ]\n}}\n"
    );
    lab.write(LOCK, &locked);
    lock(&lab, &["--platform", "linux_amd64"]).exits(1).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
error: the package of example.com/t/x 1.0.0 for linux_amd64 does not match the lock file: mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip has zh:863f1f483ba75088cfa5ec949f668eac1cc37a2328721826889a42efcfb5c7c0
  help: nothing was written, and `terraform init` would refuse this package; find out which copy is genuine, and only if the release was replaced on purpose delete `hashes` from the entry and lock again, which keeps the version

"#]]);
    assert_eq!(lab.read(LOCK), locked);
}
