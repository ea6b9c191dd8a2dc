//! `verify`: findings on mirrors and the matrix agree, and so do both and the program.

use super::packages_hostile::verify;
use super::*;
use crate::zips::{Entry, Zip};

const ZIP: &str = "example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip";
const LINUX: &[&str] = &["--platform", "linux_amd64"];

/// A zip with one file and an entry for a directory, which makes two `h1:`.
fn odd() -> Vec<u8> {
    let program = Entry::file("terraform-provider-x_v1.1.0", "1.1.0 linux_amd64");
    Zip::of([Entry::directory("docs/"), program]).bytes()
}

/// A zip that the lock file contradicts is refused by the route that takes it.
#[test]
fn the_matrix_knows_what_a_mirror_at_hand_has() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.packed("zips", "example.com/t/x/1.1.0/linux_amd64", "changed");
    lab.unpacked("dirs", "example.com/t/x/1.1.0/linux_amd64", "changed");
    let outcome = |mirror: &str, route: &str| {
        let args = ["--matrix", "--format", "json", "--fs-mirror", mirror];
        let json = verify(&lab, &[BOTH, &args].concat()).exits(1);
        let json = json.json();
        let rows = json["roots"][0]["matrix"].as_array().unwrap();
        let mut rows = rows.iter();
        let row = rows.find(|row| {
            row["provider"] == "example.com/t/x"
                && row["platform"] == "linux_amd64"
                && row["route"] == route
        });
        let row = row.unwrap();
        format!("{} {}", row["outcome"], row["assumed"])
    };
    assert_eq!(outcome("zips", "unpacked-mirror"), "\"passes\" true");
    assert_eq!(outcome("dirs", "unpacked-mirror"), "\"fails\" false");
}

/// `init` takes an odd zip that is recorded; one for a platform that is not wanted matters to nothing.
#[test]
fn an_odd_zip_is_a_note_unless_a_wanted_platform_refuses_it() {
    let lab = simple();
    lab.write("zips/example.com/t/x/main", "");
    lab.write(&format!("zips/{ZIP}"), odd());
    // The h1: that is recorded is that of the unpacked package, which the program never checks.
    let all = ["lock", "--fs-mirror", "zips", "--platform", "linux_amd64"];
    assert_exit(&lab.run(&all), 0);
    let refused = verify(&lab, &["--platform", "linux_amd64", "--fs-mirror", "zips"]).exits(1);
    refused.stdout_has("error[package-odd]");
    let unwanted = ["-v", "--platform", "darwin_arm64", "--fs-mirror", "zips"];
    let unwanted = verify(&lab, &unwanted).exits(0);
    unwanted.stdout_has("note[package-odd]");
    // With its zh: it is accepted.
    let hashed = lab.run(&["hash", &format!("zips/{ZIP}")]);
    let zh = hashed.stdout.split_whitespace().next().unwrap();
    let zh = format!("    \"{zh}\",\n  ]\n");
    lab.write(LOCK, lab.read(LOCK).replace("  ]\n", &zh));
    let accepted = verify(&lab, &[LINUX, &["-v", "--fs-mirror", "zips"]].concat()).exits(0);
    accepted.stdout_has("note[package-odd]");
}

/// No program reads such a zip, unless somebody runs there.
#[test]
fn a_broken_zip_for_a_platform_that_is_not_wanted_is_a_note() {
    let lab = simple();
    assert_exit(&lock(&lab, LINUX), 0);
    let climbing = Zip::of([Entry::file("../up", "climbs")]).bytes();
    for broken in [climbing, b"garbage".to_vec()] {
        lab.write("zips/example.com/t/x/main", "");
        lab.write(&format!("zips/{ZIP}"), broken);
        let unwanted = ["-v", "--platform", "darwin_arm64", "--fs-mirror", "zips"];
        let unwanted = verify(&lab, &unwanted).exits(0);
        unwanted.stdout_has("note[package-unreadable]");
        let wanted = verify(&lab, &[LINUX, &["--fs-mirror", "zips"]].concat()).exits(1);
        wanted.stdout_has("error[package-unreadable]");
        // The user asks about this one, wanted or not.
        let named = ["--platform", "darwin_arm64", "--package"];
        let path = format!("zips/{ZIP}");
        verify(&lab, &[&named[..], &[&path]].concat()).exits(1);
    }
}

/// The program finds no package there, and says no more than that.
#[test]
fn a_file_in_the_place_of_a_package_is_reported() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write(
        ".terraform/providers/example.com/t/x/1.1.0/linux_amd64",
        "x",
    );
    let outcome = verify(&lab, BOTH).exits(1);
    outcome.stdout_has(
        "error[package-unreadable]: The installed package of example.com/t/x 1.1.0 for \
         linux_amd64 is a file, not a directory\n",
    );
}

/// OpenTofu's installer leaves an empty file beside each package, in every place that it installs into.
#[test]
fn the_lock_of_an_installer_is_no_package() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let package = "example.com/t/x/1.1.0/linux_amd64";
    for place in [".terraform/providers", "cache", "mirror"] {
        lab.unpacked(place, package, "1.1.0 linux_amd64");
        lab.write(&format!("{place}/{package}.lock"), "");
    }
    lab.set("TF_PLUGIN_CACHE_DIR", lab.path("cache"));
    for more in [
        &[][..],
        &["--flavor", "opentofu"],
        &["--fs-mirror", "mirror"],
        &["--package", ".terraform/providers"],
    ] {
        let outcome = verify(&lab, &[BOTH, more, &["-v"]].concat()).exits(0);
        outcome.stdout_lacks("amd64.lock");
    }
}

/// The program asks the mirror first, whatever is installed.
#[test]
fn a_mirror_that_lacks_the_locked_version_is_reported() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let configure = |lab: &mut Lab, more: &str| {
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"mirror\"\n  }}\n{more}}}\n"
        );
        lab.write("rc", text);
        let path = lab.path("rc");
        lab.set("TF_CLI_CONFIG_FILE", path);
    };
    configure(&mut lab, "");
    assert_exit(&verify(&lab, BOTH), 0);
    std::fs::remove_dir_all(lab.path("mirror/example.com/t/x/1.1.0")).unwrap();
    let outcome = verify(&lab, BOTH).exits(1);
    outcome.stdout_has(
        "error[mirror-lacks-version]: No configured mirror has example.com/t/x 1.1.0\n",
    );
    configure(&mut lab, "  direct {}\n");
    assert_exit(&verify(&lab, BOTH), 0);
}
