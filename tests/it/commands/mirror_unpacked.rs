//! `mirror --unpacked`: packages as directories, instead of zips or beside them.

use super::mirror::{locked, mirror, times, tree, zips_requested};
use super::registry::{TWO, steady};
use super::*;

const DIR: &str = "m/registry.terraform.io/acme/demo/1.0.0";

const ONLY: &[&str] = &["--unpacked"];

const ALSO: &[&str] = &["--unpacked=also"];

#[test]
fn packages_are_unpacked() {
    let (registry, lab) = locked();
    let outcome = mirror(&lab, &[TWO, ONLY].concat()).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE  FROM
acme/demo  1.0.0    2         107 B  new    registry.terraform.io
placed 2 packages (611 B from registry.terraform.io)

"#]]);
    assert_eq!(outcome.stderr, "");
    let names: Vec<String> = tree(&lab.path("m")).into_keys().collect();
    let expected = ["darwin_arm64", "linux_amd64"].map(|platform| {
        ["README.md", "terraform-provider-demo_v1.0.0"]
            .map(|file| format!("registry.terraform.io/acme/demo/1.0.0/{platform}/{file}"))
    });
    assert_eq!(names, expected.concat());
    let before = times(&lab.path("m"));
    for more in [&[][..], &["--trust-existing"], &["--check", "--prune"]] {
        registry.reset(&json!({}));
        mirror(&lab, &[TWO, ONLY, more].concat()).exits(0);
        assert_eq!(registry.requests(), [""; 0]);
        assert_eq!(times(&lab.path("m")), before);
    }
}

#[test]
fn both_layouts_are_made_of_one_download() {
    let (registry, lab) = locked();
    let outcome = mirror(&lab, &[TWO, ALSO].concat()).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
PROVIDER   VERSION  PACKAGES  SIZE   STATE  FROM
acme/demo  1.0.0    2         718 B  new    registry.terraform.io
placed 2 packages (611 B from registry.terraform.io), unpacked 2 packages

"#]]);
    assert_eq!(zips_requested(&registry), 2);
    assert_eq!(tree(&lab.path("m")).len(), 8);
    registry.reset(&json!({}));
    let json = mirror(&lab, &[TWO, ALSO, &["--format", "json"]].concat()).exits(0);
    assert_eq!(registry.requests(), [""; 0]);
    let said = json.json();
    let packages = said["roots"][0]["providers"][0]["packages"].as_array();
    let rows: Vec<(&Value, &Value, &Value)> = packages
        .unwrap()
        .iter()
        .map(|row| (&row["platform"], &row["layout"], &row["state"]))
        .collect();
    let kept = json!("kept");
    let (packed, unpacked) = (json!("packed"), json!("unpacked"));
    let (darwin, linux) = (json!("darwin_arm64"), json!("linux_amd64"));
    assert_eq!(
        rows,
        [
            (&darwin, &packed, &kept),
            (&darwin, &unpacked, &kept),
            (&linux, &packed, &kept),
            (&linux, &unpacked, &kept),
        ]
    );
}

/// The other layout is made from the existing packages, which stay until `--prune`.
#[test]
fn layouts_change_without_a_download() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let packed = tree(&lab.path("m"));
    registry.reset(&json!({}));
    let outcome = mirror(&lab, &[TWO, ONLY].concat()).exits(0);
    assert_eq!(zips_requested(&registry), 0);
    assert!(
        outcome.stdout.ends_with("unpacked 2 packages\n"),
        "{outcome:#?}"
    );
    assert_eq!(tree(&lab.path("m")).len(), packed.len() + 4);
    for layout in [ONLY, &[]] {
        assert_exit(&mirror(&lab, &[TWO, layout, &["--check"]].concat()), 0);
        mirror(&lab, &[TWO, layout, &["--check", "--prune"]].concat()).exits(1);
    }
    mirror(&lab, &[TWO, ALSO, &["--check", "--prune"]].concat()).exits(0);
    assert_exit(&mirror(&lab, &[TWO, ONLY, &["--prune"]].concat()), 0);
    assert_eq!(tree(&lab.path("m")).len(), 4);
    assert_exit(&mirror(&lab, &[TWO, &["--prune"]].concat()), 0);
    assert_eq!(tree(&lab.path("m")), packed);
}

/// A changed, an additional or a missing file changes the `h1:`.
#[test]
fn a_directory_is_believed_only_if_its_hash_is_right() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
    let right = tree(&lab.path("m"));
    let program = lab.path(&format!("{DIR}/linux_amd64/terraform-provider-demo_v1.0.0"));
    let spoil: [&dyn Fn(); 3] = [
        &|| std::fs::write(&program, "changed").unwrap(),
        &|| {
            lab.write(&format!("{DIR}/linux_amd64/more"), "added");
        },
        &|| std::fs::remove_file(&program).unwrap(),
    ];
    for (spoil, state) in spoil.iter().zip(["wrong", "wrong", "wrong"]) {
        spoil();
        let checked = mirror(&lab, &[TWO, ONLY, &["--check"]].concat()).exits(1);
        let said = format!("1 package {state}");
        checked.stdout_has(&said);
        assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
        assert_eq!(tree(&lab.path("m")), right);
    }
    std::fs::remove_dir_all(lab.path(&format!("{DIR}/linux_amd64"))).unwrap();
    let planned = mirror(&lab, &[TWO, ONLY, &["--dry-run"]].concat()).exits(0);
    planned.stdout_has("would place 1 package (missing)");
}

/// If the lock file has their `h1:`, unpacked packages need no zip and no request.
#[test]
fn unpacked_packages_come_from_a_directory() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
    std::fs::rename(lab.path("m"), lab.path("cache")).unwrap();
    registry.reset(&json!({}));
    let offline = ["--offline", "--no-cache", "--from", "cache"];
    let outcome = mirror(&lab, &[TWO, ONLY, &offline].concat()).exits(0);
    assert_eq!(registry.requests(), [""; 0]);
    assert_eq!(tree(&lab.path("m")), tree(&lab.path("cache")));
    outcome.stdout_has("placed 2 packages (107 B from cache)");
    // No zip can be made from unpacked packages.
    let packed = mirror(
        &lab,
        &[&["--platform", "linux_amd64"], &offline[..]].concat(),
    );
    assert_exit(&packed, 2);
    packed.stderr_eq(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: cache: it has the package unpacked only, and the zip cannot be made from its files
  help: --unpacked makes a mirror of unpacked packages, which `init` installs from as well
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    // A package with other content under the right name is not copied.
    let program =
        "cache/registry.terraform.io/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_v1.0.0";
    lab.write(program, "changed");
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    let changed = mirror(&lab, &[TWO, ONLY, &offline].concat()).exits(2);
    changed.stderr_has("cache: its unpacked package has h1:");
    assert_eq!(tree(&lab.path("m")).len(), 2);
}

/// The programs would follow a link, but its target may change after it was hashed.
#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_not_followed() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
    let right = tree(&lab.path("m"));
    let place = lab.path(&format!("{DIR}/linux_amd64"));
    std::fs::rename(&place, lab.path("outside")).unwrap();
    crate::disk::link(lab.path("outside").to_str().unwrap(), &place);
    mirror(&lab, &[TWO, ONLY, &["--check"]].concat()).exits(1);
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
    assert!(!std::fs::symlink_metadata(&place).unwrap().is_symlink());
    assert_eq!(tree(&lab.path("m")), right);
    assert_eq!(tree(&lab.path("outside")).len(), 2);

    std::fs::rename(lab.path(DIR), lab.path("elsewhere")).unwrap();
    crate::disk::link(lab.path("elsewhere").to_str().unwrap(), &lab.path(DIR));
    std::fs::remove_dir_all(lab.path("elsewhere/linux_amd64")).unwrap();
    let outcome = mirror(&lab, &[TWO, ONLY].concat()).exits(2);
    outcome.stderr_has("1.0.0 is a symbolic link");
    assert_eq!(tree(&lab.path("elsewhere")).len(), 2);
}

#[cfg(unix)]
#[test]
fn the_program_is_executable_and_all_files_are_readable() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
    let mode = |path: &str| {
        let metadata = std::fs::metadata(lab.path(path)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&format!("{DIR}/linux_amd64")), 0o755);
    let program = format!("{DIR}/linux_amd64/terraform-provider-demo_v1.0.0");
    assert_eq!(mode(&program), 0o755);
}

#[test]
fn two_runs_at_once_end_well() {
    let (_registry, lab) = locked();
    let run = || mirror(&lab, &[TWO, ALSO].concat()).code;
    let codes: Vec<u8> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(run)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(codes, [0, 0]);
    assert_exit(
        &mirror(&lab, &[TWO, ALSO, &["--check", "--prune"]].concat()),
        0,
    );
    assert_eq!(tree(&lab.path("m")).len(), 8);
}

/// A network mirror serves zips only.
#[test]
fn a_network_mirror_needs_zips() {
    let (_registry, lab) = locked();
    let url = [
        "--write-cli-config",
        "rc2",
        "--url",
        "https://example.com/m/",
    ];
    let outcome = mirror(&lab, &[TWO, ONLY, &url].concat()).exits(2);
    outcome.stderr_eq(str![[r#"
error: a network mirror serves zips, and --unpacked alone places none
  help: --unpacked=also makes both

"#]]);
    assert_exit(&mirror(&lab, &[TWO, ALSO, &url].concat()), 0);
}

/// A run that changes nothing removes the temporary files of a killed run.
#[test]
fn old_temporary_files_and_directories_are_removed() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, &[TWO, ALSO].concat()), 0);
    let right = tree(&lab.path("m"));
    lab.write(&format!("{DIR}/../.lockctl-a1B2c3"), "half a zip");
    if cfg!(unix) {
        lab.write(
            &format!("{DIR}/.lockctl-d4E5f6/terraform-provider-demo"),
            "half",
        );
    }
    lab.write(&format!("{DIR}/../.lockctl-notes"), "of somebody else");
    assert_exit(&mirror(&lab, &[TWO, ALSO].concat()), 0);
    std::fs::remove_file(lab.path(&format!("{DIR}/../.lockctl-notes"))).unwrap();
    assert_eq!(tree(&lab.path("m")), right);
}

/// A value without `=` would be a root.
#[test]
fn the_value_of_the_option_is_not_taken_for_a_root() {
    let (_registry, lab) = locked();
    let outcome = mirror(&lab, &["--unpacked", "also"]).exits(2);
    let error = "error: the value of '--unpacked' needs '=': write '--unpacked=also', or './also' for a root of that name\n";
    assert!(outcome.stderr.starts_with(error), "{}", outcome.stderr);
    assert!(tree(&lab.path("m")).is_empty());
    let copied = lab.read(LOCK);
    lab.write(&format!("also/{LOCK}"), copied);
    assert_exit(&mirror(&lab, &[TWO, &["--unpacked", "./also"]].concat()), 0);
}

#[test]
fn a_download_that_breaks_off_leaves_no_directory() {
    let (registry, lab) = locked();
    registry.reset(&json!({"rules": [{"kind": "package", "action": "truncate", "times": -1}]}));
    let outcome = mirror(&lab, &[TWO, ONLY, &["--no-cache"]].concat()).exits(2);
    assert!(tree(&lab.path("m")).is_empty(), "{outcome:#?}");
    registry.reset(&json!({}));
    assert_exit(&mirror(&lab, &[TWO, ONLY].concat()), 0);
}
