//! Platforms that nobody stated: each format says once for the run what only the default list wants.

use super::*;

/// A list of `zh:` as of a release, so that `init` from the registry passes everywhere.
fn listed(text: &str) -> String {
    let zh = |digit: &str| format!("    \"zh:{}\",\n", digit.repeat(64));
    let list = ["a", "b", "c"].map(zh).concat();
    text.replace("  ]\n", &format!("{list}  ]\n"))
}

/// Three roots that were locked for one platform each.
fn roots() -> Lab {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let text = listed(&lab.read(LOCK));
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    for root in ["a", "b", "c"] {
        lab.write(&format!("live/{root}/main.tf"), ONE_PROVIDER);
        lab.write(&format!("live/{root}/{LOCK}"), &text);
    }
    lab
}

#[test]
fn annotations_have_one_notice_for_the_run() {
    let lab = roots();
    let args = ["verify", "-r", "live", "--no-cache", "--format", "github"];
    let outcome = lab.run(&args).exits(0);
    let notices = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("::notice"))
            .count()
    };
    assert_eq!(notices(&outcome.stdout), 1, "{}", outcome.stdout);
    outcome.stdout_has("3 of 3 entries have h1: hashes for 1 of the 5 common platforms");
    // Each place is shown on request, and programs always get it.
    let verbose = lab.run(&[&args[..], &["-v"]].concat());
    assert!(notices(&verbose.stdout) > 3, "{}", verbose.stdout);
    for format in ["json", "sarif"] {
        let outcome = lab.run(&["verify", "-r", "live", "--no-cache", "--format", format]);
        assert_exit(&outcome, 0);
        let count = outcome
            .stdout
            .matches("of 5 wanted platforms of example.com/t/x")
            .count();
        assert_eq!(count, 3, "{}", outcome.stdout);
    }
    // Of a stated list each root has its warning.
    let stated = lab.run(&[&args[..], &["--platform", "linux_amd64,windows_amd64"]].concat());
    assert_exit(&stated, 1);
    let warnings = stated.stdout.matches("::warning file=live/").count();
    assert_eq!(warnings, 3, "{}", stated.stdout);
}

/// The severities of the findings about packages, by their platforms.
fn of_packages(lab: &Lab, more: &[&str]) -> Vec<String> {
    let args = words("verify --no-cache --only packages --format json");
    let outcome = lab.run(&[&args[..], more].concat());
    let json = outcome.json();
    let findings = json["roots"][0]["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap().to_owned();
            format!("{} {} {}", text("severity"), text("rule"), text("platform"))
        })
        .collect()
}

#[test]
fn a_package_of_a_mirror_for_a_default_platform_is_a_note() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let mirror = ["--fs-mirror", "mirror"];
    assert_eq!(
        of_packages(&lab, &mirror),
        ["note package-unverifiable darwin_arm64"]
    );
    lab.run(&[&["verify", "--only", "packages"], &mirror[..]].concat())
        .exits(0);
    // Whoever states the platform wants its package.
    let stated = [&mirror[..], &["--platform", "linux_amd64,darwin_arm64"]].concat();
    assert_eq!(
        of_packages(&lab, &stated),
        ["warning package-unverifiable darwin_arm64"]
    );
    // What the lock file contradicts is wrong for whoever takes it.
    lab.write(LOCK, listed(&lab.read(LOCK)));
    lab.packed("zips", "example.com/t/x/1.1.0/linux_amd64", "changed");
    assert_eq!(
        of_packages(&lab, &["--fs-mirror", "zips"]),
        ["error package-mismatch linux_amd64"]
    );
}

/// Such a zip keeps nobody from working whose lock file does not hold the platform; `providers lock` for that
/// platform fails on it.
#[test]
fn an_unreadable_zip_for_a_default_platform_is_a_note() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.write(LOCK, listed(&lab.read(LOCK)));
    for (platform, content) in [("darwin_arm64", "garbage"), ("freebsd_amd64", "")] {
        let zip = format!("zips/example.com/t/x/terraform-provider-x_1.1.0_{platform}.zip");
        lab.write(&zip, content);
    }
    let mirror = ["--fs-mirror", "zips"];
    assert_eq!(
        of_packages(&lab, &mirror),
        [
            "note package-unreadable darwin_arm64",
            "note package-unreadable freebsd_amd64"
        ]
    );
    let outcome = lab.run(&[&["verify", "--no-cache"], &mirror[..]].concat());
    assert_exit(&outcome, 0);
    assert!(
        outcome.stdout.ends_with(", 2 packages not verified\n"),
        "{}",
        outcome.stdout
    );
    let stated = [&mirror[..], &["--platform", "linux_amd64,darwin_arm64"]].concat();
    assert_eq!(
        of_packages(&lab, &stated),
        [
            "error package-unreadable darwin_arm64",
            "note package-unreadable freebsd_amd64"
        ]
    );
    // A lock file with an `h1:` for each default platform is meant for all of them.
    let h1 = ["A", "E", "I", "M"].map(|letter| format!("    \"h1:{}=\",\n", letter.repeat(43)));
    let text = lab
        .read(LOCK)
        .replace("  hashes = [\n", &format!("  hashes = [\n{}", h1.concat()));
    lab.write(LOCK, text);
    assert_eq!(
        of_packages(&lab, &mirror),
        [
            "error package-unreadable darwin_arm64",
            "note package-unreadable freebsd_amd64"
        ]
    );
}
