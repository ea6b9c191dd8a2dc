//! `verify --matrix`: the table, its footnotes, and the rows of JSON.

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use super::{BOTH, LOCK, ONE_PROVIDER, assert_exit, lock, simple};
use crate::lab::Lab;

/// Installs the package of linux, which tells whose its hash is.
fn install(lab: &Lab) {
    let package = "example.com/t/x/1.1.0/linux_amd64";
    lab.unpacked(".terraform/providers", package, "1.1.0 linux_amd64");
}

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the table is that of a machine of the platform linux_amd64"
)]
#[test]
fn platforms_on_which_the_same_happens_share_a_line() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    install(&lab);
    let outcome = lab.run(&["verify", "--matrix", "--only", "packages"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
                                        registry  unpacked  packed    cache     readonly  plan      after init  validate  init here  plan here
example.com/t/x  linux_amd64            rewrites  passes    passes    passes    warns[1]  passes    passes      passes    passes     passes
                 the other 4 platforms  fails[2]  fails[2]  fails[2]  fails[2]  fails[2]  fails[3]  fails[3]    fails[4]  -          -
  [1] Provider lock file not updated
  [2] Failed to install provider
  [3] Required plugins are not installed
  [4] the cached package … does not match any of the checksums recorded in the dependency lock file
  all columns but "here" assume a clean checkout for init, and the right packages; plan and validate use what is installed

.terraform.lock.hcl: ok; 1 provider, 1 installed package verified

"#]]
    );
}

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the table is that of a machine of the platform linux_amd64"
)]
#[test]
fn a_hash_that_nothing_attributes_is_marked() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&[&["verify", "--matrix"], BOTH].concat());
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
all 2 platforms  registry   unpacked  packed   cache    readonly   plan     after init  validate  init here  plan here
example.com/t/x  rewrites?  passes?   passes?  passes?  warns?[1]  passes?  passes?     passes?   rewrites?  fails[2]
  [1] Provider lock file not updated
  [2] Required plugins are not installed
  ? assumed: a lock file does not say which platform an h1: is for; too few h1: count as missing
  all columns but "here" assume a clean checkout for init, and the right packages; plan and validate use what is installed

.terraform.lock.hcl: ok; 1 provider, h1: hashes for 2 platforms (only counted), no package installed

"#]]
    );
}

#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the table is that of a machine of the platform linux_amd64"
)]
#[test]
fn verbose_unfolds_and_explains() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let args = ["verify", "--matrix", "-v", "--only", "packages"];
    let outcome = lab.run(&[&args, BOTH].concat());
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
                               registry   unpacked  packed   cache    readonly   plan     after init  validate  init here  plan here
example.com/t/x  darwin_arm64  rewrites?  passes?   passes?  passes?  warns?[1]  passes?  passes?     passes?   -          -
                 linux_amd64   rewrites   passes    passes   passes   warns[1]   passes   passes      passes    passes     passes
  [1] Provider lock file not updated
  ? assumed: a lock file does not say which platform an h1: is for; too few h1: count as missing
  all columns but "here" assume a clean checkout for init, and the right packages; plan and validate use what is installed
  registry: `terraform init` from a registry that signs its checksums, where nothing is installed
  unpacked: `terraform init` from an unpacked mirror: a directory of unpacked packages
  packed: `terraform init` from a packed mirror: a directory of zips
  cache: `terraform init` with a plugin cache that holds the package, from a registry
  readonly: `terraform init` with -lockfile=readonly, from a registry
  plan: `terraform plan` with the package installed
  after init: `terraform plan` after a read-only init
  validate: `terraform validate` with the package installed
  init here: `terraform init` in this root as it is now: what is installed, configured and cached
  plan here: `terraform plan` in this root as it is now

.terraform.lock.hcl: ok; 1 provider, 1 installed package verified

"#]]
    );
}

/// The exit code is that of `verify`, and the findings stand before the table.
#[test]
fn without_a_lock_file_it_is_created_or_missed() {
    let lab = simple();
    let outcome = lab.run(&["verify", "--matrix"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
error[lock-missing]: There is no .terraform.lock.hcl
 --> main.tf:5:17
  |
5 |       version = "~> 1.0"
  |                 ^^^^^^^^ example.com/t/x is required here
  |
  = help: run `lockctl lock .` to create it

all 5 platforms  registry   unpacked      packed        cache      readonly  plan      after init  validate  init here  plan here
example.com/t/x  rewrites*  rewrites*[1]  rewrites*[1]  rewrites*  fails[2]  fails[3]  fails[3]    fails[4]  rewrites*  fails[3]
  [1] Incomplete lock file information for providers
  [2] Provider dependency changes detected
  [3] Inconsistent dependency lock file
  [4] Missing required provider
  * no recorded hash can be compared with the package
  all columns but "here" assume a clean checkout for init, and the right packages; plan and validate use what is installed

.terraform.lock.hcl: 1 error

"#]]
    );
}

#[test]
fn an_unreadable_lock_file_stops_every_route() {
    let lab = simple();
    lab.write(
        LOCK,
        "provider \"example.com/t/x\" {\n  version = \"1.0\"\n}\n",
    );
    for (flavor, title) in [
        (
            "terraform@1.11",
            "[1] failed to read dependency lock file\n",
        ),
        ("terraform@1.16", "[1] Invalid provider version number\n"),
        ("opentofu", "[1] failed to read dependency lock file\n"),
    ] {
        let outcome = lab.run(&["verify", "--matrix", "--flavor", flavor]);
        assert_exit(&outcome, 1);
        let table = &outcome.stdout;
        assert!(table.contains("example.com/t/x  fails[1]"), "{table}");
        assert!(table.contains(title), "{flavor}: {table}");
    }
}

#[test]
fn nothing_required_and_nothing_locked_is_said() {
    let lab = Lab::new();
    lab.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    let outcome = lab.run(&["verify", "--matrix"]);
    assert_exit(&outcome, 0);
    assert!(
        outcome
            .stdout
            .starts_with("no provider is known to be required or locked"),
        "{}",
        outcome.stdout
    );
}

/// Returns the rows of each provider.
fn rows(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let mut rows = all_rows(lab, args);
    rows.retain(|row| row["provider"] != Value::Null && !is_here(row));
    rows
}

/// Tells whether a row is about this machine, which may be any.
fn is_here(row: &Value) -> bool {
    ["here", "here-plan"].contains(&row["route"].as_str().unwrap())
}

/// Returns the rows of each provider and those of the whole run.
fn all_rows(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let args = [&["verify", "--matrix", "--format", "json"], args].concat();
    let outcome = lab.run(&args);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    json["roots"][0]["matrix"].as_array().unwrap().clone()
}

#[test]
fn json_has_a_row_for_each_provider_platform_and_route() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let rows = rows(&lab, BOTH);
    assert_eq!(rows.len(), 2 * 8);
    let words: Vec<&str> = rows[8..]
        .iter()
        .map(|row| row["route"].as_str().unwrap())
        .collect();
    assert_eq!(
        words,
        [
            "registry",
            "unpacked-mirror",
            "packed-mirror",
            "plugin-cache",
            "readonly",
            "plan",
            "plan-after-init",
            "validate"
        ]
    );
    let readonly = serde_json::json!({
        "provider": "example.com/t/x", "platform": "linux_amd64", "route": "readonly",
        "outcome": "warns", "title": "Provider lock file not updated", "unchecked": false,
        "assumed": false,
    });
    assert_eq!(rows[12], readonly);
    let counted = serde_json::json!({
        "provider": "example.com/t/x", "platform": "darwin_arm64", "route": "plan",
        "outcome": "passes", "unchecked": false, "assumed": true,
    });
    assert_eq!(rows[5], counted);
    let without = lab.run(&["verify", "--format", "json"]);
    assert!(!without.stdout.contains("matrix"), "{}", without.stdout);
}

/// An unseen module may require what seems left over, and may not allow the locked version.
#[test]
fn what_cannot_be_seen_makes_rows_uncertain() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let outcomes = |lab: &Lab| -> Vec<String> {
        let rows = rows(lab, &["--platform", "linux_amd64"]);
        let word = |row: &Value| {
            let mark = if row["assumed"] == true { "?" } else { "" };
            format!("{}{mark}", row["outcome"].as_str().unwrap())
        };
        rows.iter().map(word).collect()
    };
    let required = [
        "rewrites", "passes", "passes", "passes", "warns", "passes", "passes", "passes",
    ];
    assert_eq!(outcomes(&lab), required);
    let unseen = "module \"m\" {\n  source = \"example.com/a/b/c\"\n}\n";
    lab.write("more.tf", unseen);
    let doubted = [
        "rewrites?",
        "passes?",
        "passes?",
        "passes?",
        "warns?",
        "passes?",
        "passes?",
        "passes",
    ];
    assert_eq!(outcomes(&lab), doubted);
    lab.write("main.tf", "");
    let left_over = [
        "rewrites", "passes?", "passes?", "passes?", "warns?", "passes", "passes?", "passes",
    ];
    assert_eq!(outcomes(&lab), left_over);
    lab.write("more.tf", "");
    let removed = [
        "rewrites", "rewrites", "rewrites", "rewrites", "fails", "passes", "fails", "passes",
    ];
    assert_eq!(outcomes(&lab), removed);
}

#[test]
fn fifteen_providers_on_five_platforms_fit_a_terminal() {
    let lab = Lab::new();
    let names: Vec<String> = (0..15)
        .map(|n| format!("provider-of-medium-length-{n}"))
        .collect();
    let required = names
        .iter()
        .map(|name| format!("    {name} = {{ source = \"hashicorp/{name}\" }}\n"));
    let required: String = required.collect();
    lab.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n"),
    );
    let h1 = "    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n";
    let zh: String = (1..8)
        .map(|n| format!("    \"zh:{}\",\n", n.to_string().repeat(64)))
        .collect();
    let entry = |name: &String| {
        let label = format!("registry.terraform.io/hashicorp/{name}");
        format!("provider \"{label}\" {{\n  version = \"1.0.0\"\n  hashes = [\n{h1}{zh}  ]\n}}\n")
    };
    lab.write(LOCK, names.iter().map(entry).collect::<String>());
    let outcome = lab.run(&["verify", "--matrix", "--only", "file"]);
    assert_exit(&outcome, 0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
    assert!(
        lines.len() <= 26 && widest <= 130,
        "{widest}\n{}",
        outcome.stdout
    );
}

#[test]
fn a_provider_with_platforms_of_its_own_is_foretold_for_these() {
    let lab = simple();
    lab.write(
        ".lockctl.hcl",
        "provider \"example.com/t/x\" {\n  platforms = [\"linux_amd64\"]\n}\n",
    );
    lab.write("main.tf", ONE_PROVIDER);
    let rows = rows(&lab, &[]);
    assert!(
        rows.iter().all(|row| row["platform"] == "linux_amd64"),
        "{rows:#?}"
    );
    assert_eq!(rows.len(), 8);
}

/// An installed package that is not recorded fails, whatever the only `h1:` may be.
#[test]
fn an_installed_package_that_does_not_match_fails_for_certain() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "darwin_arm64"]), 0);
    let plan = || {
        let rows = rows(&lab, &["--platform", "linux_amd64"]);
        let of = |route: &str| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row["provider"] != Value::Null && row["route"] == route);
            let row = row.unwrap();
            (row["outcome"].clone(), row["assumed"].clone())
        };
        [of("plan"), of("validate")]
    };
    let guessed = ("passes".into(), true.into());
    assert_eq!(plan(), [guessed.clone(), guessed]);
    install(&lab);
    let fails = ("fails".into(), false.into());
    assert_eq!(plan(), [fails.clone(), fails]);
}

/// `plan` does not read what only a test needs, and `validate` not what only the state does.
#[test]
fn a_command_needs_what_it_reads() {
    let lab = simple();
    let outcomes = |lab: &Lab| {
        let rows = rows(lab, &["--platform", "linux_amd64"]);
        let of = |route: &str| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row["provider"] != Value::Null && row["route"] == route);
            let row = row.unwrap();
            let title = row["title"].as_str().unwrap_or("no title");
            format!("{} ({title})", row["outcome"].as_str().unwrap())
        };
        [of("plan"), of("validate")]
    };
    lab.write("h/main.tf", ONE_PROVIDER);
    lab.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    let run = "run \"a\" {\n  module {\n    source = \"./h\"\n  }\n}\n";
    lab.write("tests/a.tftest.hcl", run);
    let missing = "fails (Missing required provider)";
    assert_eq!(outcomes(&lab), ["passes (no title)", missing]);
    std::fs::remove_dir_all(lab.path("tests")).unwrap();
    let state = r#"{ "version": 4, "resources": [{ "type": "x_y", "provider": "provider[\"example.com/t/x\"]", "instances": [] }] }"#;
    lab.write("terraform.tfstate", state);
    assert_eq!(outcomes(&lab), [missing, "passes (no title)"]);
}

/// Of several providers the worst counts, as the line below the table has it.
#[test]
fn json_has_a_row_for_the_run_as_a_whole() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let both = "    y = { source = \"example.com/t/y\" }\n    x = {";
    lab.write("main.tf", ONE_PROVIDER.replace("    x = {", both));
    let mut all = all_rows(&lab, &["--platform", "linux_amd64"]);
    all.retain(|row| !is_here(row));
    let whole: Vec<&Value> = all.iter().filter(|row| row["provider"].is_null()).collect();
    assert_eq!(whole.len(), 8);
    assert!(
        all[all.len() - 8].get("provider").is_some(),
        "null is written"
    );
    assert_eq!(whole[0]["outcome"], "rewrites");
    assert_eq!(whole[5]["title"], "Inconsistent dependency lock file");
}

#[test]
fn a_format_without_a_place_for_the_matrix_refuses_it() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    for format in ["markdown", "junit", "sarif", "github"] {
        let outcome = lab.run(&["verify", "--matrix", "--format", format]);
        assert_exit(&outcome, 2);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(
            said.contains("--matrix cannot be shown in this format"),
            "{outcome:#?}"
        );
    }
}

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
    let name = "TF_CLI_CONFIG_FILE".to_owned();
    lab.env.vars.insert(name, rc.into());
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
    let name = "TF_CLI_CONFIG_FILE".to_owned();
    lab.env.vars.insert(name, rc.into());
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
    let outcome = lab.run(&["verify", "--only", "packages"]);
    assert_exit(&outcome, 1);
    let title = "error[mirror-lacks-version]: No local mirror has example.com/t/x 1.1.0\n";
    assert!(outcome.stdout.contains(title), "{outcome:#?}");
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
    assert!(outcome.stdout.contains(line), "{outcome:#?}");
}
