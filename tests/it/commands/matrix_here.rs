//! `verify --matrix`: the columns about this machine.

use super::matrix::{all_rows, is_here, rows};
use super::*;

/// The title of a package that is not installed, or not the locked one.
const NOT_THERE: &str = "fails (Required plugins are not installed)";
const PASSES: &str = "passes (no title)";
const REWRITES: &str = "rewrites (no title)";
const INCOMPLETE: &str = "rewrites (Incomplete lock file information for providers)";
const REFUSED: &str = "fails (Failed to install provider)";
const WRONG_H1: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const MIRROR: &str =
    "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n";

/// Returns what `init` and `plan` do in the root now, with a `?` where it is assumed.
fn here(lab: &Lab, args: &[&str]) -> Vec<String> {
    let mut rows = all_rows(lab, args);
    rows.retain(|row| row["provider"] == "example.com/t/x" && is_here(row));
    let word = |row: &Value| {
        let title = row["title"].as_str().unwrap_or("no title");
        let mark = if row["assumed"] == true { "?" } else { "" };
        format!("{}{mark} ({title})", row["outcome"].as_str().unwrap())
    };
    rows.iter().map(word).collect()
}

/// Returns what `init` does in the root now.
fn init_here(lab: &Lab) -> String {
    let current = lockctl::platform::Platform::current().to_string();
    here(lab, &["--platform", &current]).swap_remove(0)
}

/// Writes the CLI configuration of the program.
fn configure(lab: &mut Lab, text: &str) {
    lab.write("rc", text);
    let rc = lab.path("rc");
    lab.set("TF_CLI_CONFIG_FILE", rc);
}

/// Returns the package of a version for the platform that runs this.
fn own_package(version: &str) -> String {
    let current = lockctl::platform::Platform::current();
    format!("example.com/t/x/{version}/{current}")
}

/// Locks a mirror with the package of this platform.
fn locked_from_mirror() -> Lab {
    let current = lockctl::platform::Platform::current().to_string();
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.unpacked("mirror", &own_package("1.1.0"), "right");
    assert_exit(&lock(&lab, &["--platform", &current]), 0);
    lab
}

/// Replaces the hashes of the only entry.
fn record(lab: &Lab, hashes: &[&str]) {
    let text = lab.read(LOCK);
    let end = text.find("  hashes").or(text.rfind('}'));
    let before = &text[..end.unwrap()];
    let list = match hashes {
        [] => String::new(),
        some => format!("  hashes = {some:?}\n"),
    };
    lab.write(LOCK, format!("{before}{list}}}\n"));
}

/// What is installed, cached and configured decides what this root does, beside the other columns.
#[test]
fn the_root_as_it_is_now_has_columns_of_its_own() {
    let current = lockctl::platform::Platform::current().to_string();
    let mut lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let package = format!("example.com/t/x/1.1.0/{current}");
    lab.unpacked("mirror", &package, "right");
    assert_exit(&lock(&lab, &["--platform", &current]), 0);
    let here = |lab: &Lab| here(lab, &["--platform", &current]);
    // Nothing is installed, and a registry can be reached, or so it is taken.
    assert_eq!(here(&lab), ["rewrites? (no title)", NOT_THERE]);
    lab.write(
        "rc",
        "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n",
    );
    let rc = lab.path("rc");
    lab.set("TF_CLI_CONFIG_FILE", rc);
    assert_eq!(here(&lab), ["passes (no title)", NOT_THERE]);
    lab.unpacked(".terraform/providers", &package, "right");
    assert_eq!(here(&lab), ["passes (no title)", "passes (no title)"]);
    // The installed package is right, but the mirror is asked first.
    let version = lab.path("mirror/example.com/t/x/1.1.0");
    std::fs::rename(&version, lab.path("mirror/example.com/t/x/1.0.0")).unwrap();
    let gone = "fails (Failed to query available provider packages)";
    assert_eq!(here(&lab), [gone, "passes (no title)"]);
    lab.unpacked("mirror", &package, "tampered");
    assert_eq!(here(&lab), ["passes (no title)"; 2]);
    lab.unpacked(".terraform/providers", &package, "tampered");
    assert_eq!(
        here(&lab),
        ["fails (Failed to install provider)", NOT_THERE]
    );
    // The plugin cache has the recorded package.
    lab.write("rc", "plugin_cache_dir = \"cache\"\n");
    lab.unpacked("cache", &package, "right");
    assert_eq!(here(&lab), ["passes (no title)", NOT_THERE]);
}

/// Each row was tried with Terraform 1.11.4, a mirror and a plugin cache.
#[test]
fn a_plugin_cache_is_used_as_the_program_uses_it() {
    let mut lab = locked_from_mirror();
    let text = lab.read(LOCK);
    let (_, rest) = text.split_once("h1:").unwrap();
    let h1 = format!("h1:{}", rest.split_once('"').unwrap().0);
    let zh = "zh:0000000000000000000000000000000000000000000000000000000000000000";
    let shared = "fails (Failed to install provider from shared cache)";
    let rows: [(&[&str], &str, &str, &str); 8] = [
        (&[&h1], "right", PASSES, PASSES),
        (&[&h1], "wrong", PASSES, shared),
        (&[WRONG_H1], "right", REFUSED, shared),
        (&[zh], "right", REWRITES, shared),
        (&[], "right", INCOMPLETE, INCOMPLETE),
        (&[&h1, zh], "right", PASSES, PASSES),
        (&[&h1, zh], "wrong", PASSES, shared),
        (&[&h1, WRONG_H1], "right", PASSES, PASSES),
    ];
    for (hashes, cached, want, may_break) in rows {
        record(&lab, hashes);
        lab.unpacked("cache", &own_package("1.1.0"), cached);
        let cache = format!("plugin_cache_dir = \"cache\"\n{MIRROR}");
        configure(&mut lab, &cache);
        assert_eq!(init_here(&lab), want, "{hashes:?} {cached}");
        let flag = "plugin_cache_may_break_dependency_lock_file = true\n";
        configure(&mut lab, &format!("{flag}{cache}"));
        assert_eq!(init_here(&lab), may_break, "{hashes:?} {cached}, may break");
        // The same by variables.
        configure(&mut lab, MIRROR);
        let dir = lab.path("cache").into();
        let vars = &mut lab.env.vars;
        vars.insert("TF_PLUGIN_CACHE_DIR".to_owned(), dir);
        let name = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE".to_owned();
        vars.insert(name, "1".into());
        assert_eq!(init_here(&lab), may_break, "{hashes:?} {cached}, variables");
        lab.env
            .vars
            .retain(|name, _| !name.starts_with("TF_PLUGIN"));
    }
}

/// Each row was tried with Terraform 1.11.4: it unpacks a zip over what is installed, and puts a directory of a
/// mirror in its place.
#[test]
fn a_file_that_stays_where_a_zip_is_unpacked_is_locked() {
    let mut lab = locked_from_mirror();
    lab.packed("zips", &own_package("1.1.0"), "right");
    let package = format!(".terraform/providers/{}", own_package("1.1.0"));
    let zips = MIRROR.replace("mirror\"", "zips\"");
    let program = format!("{package}/terraform-provider-x_v1.1.0");
    for (content, stray, unpacked, packed) in [
        ("right", None, PASSES, PASSES),
        ("right", Some("stray.log"), PASSES, REWRITES),
        ("wrong", Some("stray.log"), PASSES, REWRITES),
        ("wrong", None, PASSES, PASSES),
    ] {
        lab.write(&program, content);
        if let Some(name) = stray {
            lab.write(&format!("{package}/{name}"), "");
        }
        for (config, want) in [(MIRROR, unpacked), (&zips, packed)] {
            configure(&mut lab, config);
            assert_eq!(init_here(&lab), want, "{content} {stray:?} {config}");
        }
        // A link into the cache takes the place of the directory.
        std::fs::create_dir_all(lab.path("cache")).unwrap();
        configure(&mut lab, &format!("plugin_cache_dir = \"cache\"\n{zips}"));
        assert_eq!(init_here(&lab), PASSES, "{content} {stray:?}, cache");
        if stray.is_some() {
            let outcome = lab.run(&["verify", "--flavor", "terraform@1.11", "--only", "packages"]);
            let says = outcome
                .stdout
                .contains("may keep what was added and record the h1:");
            assert_eq!(says, content == "right", "{outcome:#?}");
            std::fs::remove_file(lab.path(&format!("{package}/stray.log"))).unwrap();
        }
    }
}

/// OpenTofu asks no source for what it has cached, and unpacks over nothing.
#[test]
fn a_plugin_cache_is_used_as_opentofu_uses_it() {
    let mut lab = locked_from_mirror();
    let init = |lab: &Lab| here(lab, &["--flavor", "opentofu"]).swap_remove(0);
    let lacking = MIRROR.replace("mirror\"", "other\"");
    lab.unpacked("other", &own_package("1.0.0"), "old");
    configure(
        &mut lab,
        &format!("plugin_cache_dir = \"cache\"\n{lacking}"),
    );
    assert_eq!(init(&lab), "fails (Failed to resolve provider packages)");
    lab.unpacked("cache", &own_package("1.1.0"), "right");
    assert_eq!(init(&lab), PASSES);
    configure(&mut lab, "plugin_cache_dir = \"cache\"\n");
    lab.unpacked("cache", &own_package("1.1.0"), "wrong");
    assert_eq!(init(&lab), REFUSED);
}

/// What is installed is most often a link to what is cached, and both count.
#[cfg(unix)]
#[test]
fn a_package_that_is_linked_from_the_cache_is_in_the_cache() {
    let mut lab = locked_from_mirror();
    record(&lab, &[WRONG_H1]);
    lab.unpacked("cache", &own_package("1.1.0"), "right");
    let installed = lab.path(&format!(".terraform/providers/{}", own_package("1.1.0")));
    std::fs::create_dir_all(installed.parent().unwrap()).unwrap();
    let cached = lab.path(&format!("cache/{}", own_package("1.1.0")));
    std::os::unix::fs::symlink(cached, installed).unwrap();
    let cache =
        "plugin_cache_dir = \"cache\"\nplugin_cache_may_break_dependency_lock_file = true\n";
    configure(&mut lab, &format!("{cache}{MIRROR}"));
    let shared = "fails (Failed to install provider from shared cache)";
    assert_eq!(init_here(&lab), shared);
}

/// The first source that has the package counts, as Terraform 1.11.4 did for each row.
#[test]
fn installation_methods_are_tried_in_the_order_of_the_program() {
    let mut lab = locked_from_mirror();
    let current = lockctl::platform::Platform::current().to_string();
    let foreign = own_package("1.1.0").replace(&current, "plan9_arm");
    lab.unpacked("other", &foreign, "foreign");
    let method = |kind: &str| format!("  {kind} {{\n  }}\n");
    let mirror = |path: &str, more: &str| {
        format!("  filesystem_mirror {{\n    path = \"{path}\"\n{more}  }}\n")
    };
    let network = "  network_mirror {\n    url = \"https://example.com/m/\"\n  }\n";
    let exclude = "    exclude = [\"example.com/t/*\"]\n";
    let include = "    include = [\"example.com/t/*\"]\n";
    let direct = method("direct");
    let no_version = "fails (Failed to query available provider packages)";
    let right = mirror("mirror", "");
    // No package at hand shows whose the recorded hash is.
    let unattributed = "rewrites? (no title)";
    let rows = [
        // A registry signs a list, which the entry of a mirror lacks.
        (format!("{direct}{right}"), REWRITES),
        (format!("{right}{direct}"), PASSES),
        (format!("{}{right}", mirror("other", "")), PASSES),
        (mirror("other", ""), "fails (Incompatible provider version)"),
        (format!("{}{direct}", mirror("other", "")), unattributed),
        (mirror("mirror", exclude), no_version),
        (
            format!("{}{direct}", mirror("mirror", exclude)),
            unattributed,
        ),
        (format!("{}{direct}", mirror("mirror", include)), PASSES),
        (format!("{}{right}", mirror("missing", "")), no_version),
        (format!("{direct}{}", mirror("missing", "")), no_version),
        // What a network mirror states is not known, and it may lack the version.
        (network.to_owned(), "passes? (no title)"),
        (format!("{right}{network}"), PASSES),
        (String::new(), no_version),
    ];
    for (methods, want) in rows {
        configure(
            &mut lab,
            &format!("provider_installation {{\n{methods}}}\n"),
        );
        assert_eq!(init_here(&lab), want, "{methods}");
    }
    let oci = "  oci_mirror {\n    repository_template = \"example.com/${namespace}/${type}\"\n    include = [\"example.com/*/*\"]\n  }\n";
    configure(&mut lab, &format!("provider_installation {{\n{oci}}}\n"));
    let init = |lab: &Lab| {
        let args = ["--flavor", "opentofu", "--platform", &current];
        here(lab, &args).swap_remove(0)
    };
    // It is compared by the hash of its zip alone.
    assert_eq!(init(&lab), "fails? (Failed to install provider)");
    record(&lab, &[]);
    let rewrites = "rewrites? (Incomplete lock file information for providers)";
    assert_eq!(init(&lab), rewrites);
}

/// A provider that such a directory holds is not looked for in its registry.
#[test]
fn an_implied_mirror_hides_the_registry() {
    let lab = locked_from_mirror();
    assert_eq!(init_here(&lab), "rewrites? (no title)");
    lab.unpacked("terraform.d/plugins", &own_package("1.0.0"), "old");
    let gone = "fails (Failed to query available provider packages)";
    assert_eq!(init_here(&lab), gone);
    let outcome = lab.run(&["verify", "--only", "packages"]).exits(1);
    outcome.stdout_has("error[mirror-lacks-version]: No local mirror has example.com/t/x 1.1.0\n");
    lab.unpacked("terraform.d/plugins", &own_package("1.1.0"), "right");
    assert_eq!(init_here(&lab), PASSES);
    assert_exit(&lab.run(&["verify", "--only", "packages"]), 0);
}

/// Without an entry `init` chooses a version among those of the sources.
#[test]
fn a_provider_that_is_not_locked_has_rows_for_this_machine() {
    let mut lab = locked_from_mirror();
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let inconsistent = "fails (Inconsistent dependency lock file)";
    assert_eq!(here(&lab, &[]), [REWRITES, inconsistent]);
    configure(&mut lab, MIRROR);
    assert_eq!(here(&lab, &[]), [INCOMPLETE, inconsistent]);
    lab.write(LOCK, "# nothing\n");
    assert_eq!(here(&lab, &[]), [INCOMPLETE, inconsistent]);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", "~> 2.0"));
    let no_version = "fails (Failed to query available provider packages)";
    assert_eq!(init_here(&lab), no_version);
    lab.unpacked("mirror", "example.com/t/x/2.1.0/plan9_arm", "foreign");
    assert_eq!(init_here(&lab), "fails (Incompatible provider version)");
    // One with errors stops every command.
    lab.write(
        LOCK,
        "provider \"example.com/t/x\" {\n  version = \"1.0\"\n}\n",
    );
    let fails = "fails (Invalid provider version number)";
    assert_eq!(here(&lab, &["--flavor", "terraform@1.16"]), [fails; 2]);
}

/// As both programs did: `plan` misses neither the entry nor the package.
#[test]
fn a_provider_under_development_needs_no_entry() {
    let mut lab = locked_from_mirror();
    let overrides = MIRROR.replace(
        "  filesystem_mirror",
        "  dev_overrides {\n    \"example.com/t/x\" = \"/dev/x\"\n  }\n  filesystem_mirror",
    );
    configure(&mut lab, &overrides);
    assert_eq!(here(&lab, &[]), [PASSES; 2]);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_eq!(here(&lab, &[]), [INCOMPLETE, PASSES]);
}

/// A module that was added since `init` stops `plan`, although all providers are installed.
#[test]
fn a_module_that_is_not_installed_stops_plan() {
    let mut lab = locked_from_mirror();
    configure(&mut lab, MIRROR);
    lab.unpacked(".terraform/providers", &own_package("1.1.0"), "right");
    let call = "module \"m\" {\n  source = \"./m\"\n}\n";
    lab.write("m/main.tf", "locals {}\n");
    lab.write("main.tf", format!("{ONE_PROVIDER}{call}"));
    assert_eq!(here(&lab, &[]), [PASSES, "fails (Module not installed)"]);
    lab.write(
        ".terraform/modules/modules.json",
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}"#,
    );
    assert_eq!(here(&lab, &[]), [PASSES; 2]);
}

/// `init` runs on this machine, whichever platforms are wanted.
#[test]
fn this_machine_has_a_row_although_its_platform_is_not_wanted() {
    let lab = locked_from_mirror();
    let args = ["--platform", "plan9_arm"];
    let refused = "fails? (Failed to install provider)";
    assert_eq!(here(&lab, &args), [refused, NOT_THERE]);
    lab.unpacked(".terraform/providers", &own_package("1.1.0"), "right");
    assert_eq!(here(&lab, &args), [PASSES; 2]);
    let rows = rows(&lab, &args);
    assert!(
        rows.iter().all(|row| row["platform"] == "plan9_arm"),
        "{rows:#?}"
    );
    let outcome = lab.run(&[&["verify", "--matrix", "--only", "packages"][..], &args].concat());
    let current = lockctl::platform::Platform::current().to_string();
    let own = outcome.stdout.lines().find(|line| line.contains(&current));
    let cells: Vec<&str> = own.unwrap().split_whitespace().collect();
    assert_eq!(
        cells[cells.len() - 3..],
        ["-", "passes", "passes"],
        "{outcome:#?}"
    );
}

#[test]
fn a_matrix_without_packages_says_what_it_lacks() {
    let lab = locked_from_mirror();
    let args = ["verify", "--matrix", "--only", "file"];
    let outcome = lab.run(&args);
    let line = "\"here\" is not predicted: the packages of this machine were not checked\n";
    outcome.stdout_has(line);
}
