//! `verify --matrix`: the table, its footnotes, and the rows of JSON.

use super::*;

/// Installs the package of linux, which tells whose its hash is.
fn install(lab: &Lab) {
    let package = "example.com/t/x/1.1.0/linux_amd64";
    lab.unpacked(".terraform/providers", package, "1.1.0 linux_amd64");
}

// The table has columns of this machine.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn platforms_on_which_the_same_happens_share_a_line() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    install(&lab);
    let outcome = lab.run(&["verify", "--matrix", "--only", "packages"]);
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r#"
PROVIDER         PLATFORMS              registry  unpacked  cache     readonly  init here  plan here
example.com/t/x  linux_amd64            rewrites  passes    passes    warns[1]  passes     passes
example.com/t/x  the other 4 platforms  fails[2]  fails[2]  fails[2]  fails[2]  -          -
  [1] Provider lock file not updated
  [2] Failed to install provider
  all columns but "here" assume a clean checkout and the right packages

.terraform.lock.hcl: ok; 1 provider, 1 installed package verified

"#]]);
}

// The table has columns of this machine.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_hash_that_nothing_attributes_is_marked() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.run(&[&["verify", "--matrix"], BOTH].concat())
        .exits(0)
        .stdout_eq(str![[r#"
PROVIDER         registry   unpacked  cache    readonly   init here  plan here
example.com/t/x  rewrites?  passes?   passes?  warns?[1]  rewrites?  fails[2]
  [1] Provider lock file not updated
  [2] Required plugins are not installed
  ? assumed: a lock file does not say which platform an h1: is for; too few h1: count as missing
  on all 2 platforms
  all columns but "here" assume a clean checkout and the right packages

.terraform.lock.hcl: complete by count; 1 provider, h1: hashes for 2 platforms, no package installed

"#]]);
}

// The table has columns of this machine.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn verbose_unfolds_and_explains() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let args = ["verify", "--matrix", "-v", "--only", "packages"];
    lab.run(&[&args, BOTH].concat())
        .exits(0)
        .stdout_eq(str![[r#"
PROVIDER         PLATFORMS     registry   unpacked  cache    readonly   init here  plan here
example.com/t/x  darwin_arm64  rewrites?  passes?   passes?  warns?[1]  -          -
example.com/t/x  linux_amd64   rewrites   passes    passes   warns[1]   passes     passes
  [1] Provider lock file not updated
  ? assumed: a lock file does not say which platform an h1: is for; too few h1: count as missing
  registry: `terraform init` from a registry that signs its checksums, where nothing is installed
  unpacked: `terraform init` from an unpacked mirror: a directory of unpacked packages
  cache: `terraform init` with a plugin cache that holds the package, from a registry
  readonly: `terraform init` with -lockfile=readonly, from a registry
  init here: `terraform init` in this root as it is now: what is installed, configured and cached
  plan here: `terraform plan` in this root as it is now
  all columns but "here" assume a clean checkout and the right packages

.terraform.lock.hcl: ok; 1 provider, 1 installed package verified

"#]]);
}

/// The exit code is that of `verify`, and the findings stand before the table.
#[test]
fn without_a_lock_file_it_is_created_or_missed() {
    let lab = simple();
    lab.run(&["verify", "--matrix"])
        .exits(1)
        .stdout_eq(str![[r#"
PROVIDER         registry   unpacked      cache      readonly  init here  plan here
example.com/t/x  rewrites*  rewrites*[1]  rewrites*  fails[2]  rewrites*  fails[3]
  [1] Incomplete lock file information for providers
  [2] Provider dependency changes detected
  [3] Inconsistent dependency lock file
  * no recorded hash can be compared with the package
  on all 5 platforms
  all columns but "here" assume a clean checkout and the right packages

error[lock-missing]: There is no .terraform.lock.hcl
 --> main.tf:5:17
  |
5 |       version = "~> 1.0"
  |                 ^^^^^^^^ example.com/t/x is required here
  |
  = help: run `lockctl lock .` to create it

.terraform.lock.hcl: 1 error

"#]]);
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
        table.has("example.com/t/x  fails[1]");
        assert!(table.contains(title), "{flavor}: {table}");
    }
}

#[test]
fn nothing_required_and_nothing_locked_is_said() {
    let lab = Lab::new();
    lab.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    let outcome = lab.run(&["verify", "--matrix"]).exits(0);
    assert!(
        outcome
            .stdout
            .starts_with("no provider is known to be required or locked"),
        "{}",
        outcome.stdout
    );
}

/// Returns the rows of each provider.
pub(super) fn rows(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let mut rows = all_rows(lab, args);
    rows.retain(|row| row["provider"] != Value::Null && !is_here(row));
    rows
}

/// Tells whether a row is about this machine, which may be any.
pub(super) fn is_here(row: &Value) -> bool {
    ["here", "here-plan"].contains(&row["route"].as_str().unwrap())
}

/// Returns the rows of each provider and those of the whole run.
pub(super) fn all_rows(lab: &Lab, args: &[&str]) -> Vec<Value> {
    let args = [&["verify", "--matrix", "--format", "json"], args].concat();
    let outcome = lab.run(&args);
    let json = outcome.json();
    json["roots"][0]["matrix"].as_array().unwrap().clone()
}

#[test]
fn json_has_a_row_for_each_provider_platform_and_route() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    install(&lab);
    let rows = rows(&lab, BOTH);
    assert_eq!(rows.len(), 2 * 4);
    let words: Vec<&str> = rows[4..]
        .iter()
        .map(|row| row["route"].as_str().unwrap())
        .collect();
    assert_eq!(
        words,
        ["registry", "unpacked-mirror", "plugin-cache", "readonly"]
    );
    let readonly = serde_json::json!({
        "provider": "example.com/t/x", "platform": "linux_amd64", "route": "readonly",
        "outcome": "warns", "title": "Provider lock file not updated", "unchecked": false,
        "assumed": false,
    });
    assert_eq!(rows[7], readonly);
    let counted = serde_json::json!({
        "provider": "example.com/t/x", "platform": "darwin_arm64", "route": "unpacked-mirror",
        "outcome": "passes", "unchecked": false, "assumed": true,
    });
    assert_eq!(rows[1], counted);
    let without = lab.run(&["verify", "--format", "json"]);
    without.stdout_lacks("matrix");
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
    let required = ["rewrites", "passes", "passes", "warns"];
    assert_eq!(outcomes(&lab), required);
    let unseen = "module \"m\" {\n  source = \"example.com/a/b/c\"\n}\n";
    lab.write("more.tf", unseen);
    let doubted = ["rewrites?", "passes?", "passes?", "warns?"];
    assert_eq!(outcomes(&lab), doubted);
    lab.write("main.tf", "");
    let left_over = ["rewrites", "passes?", "passes?", "warns?"];
    assert_eq!(outcomes(&lab), left_over);
    lab.write("more.tf", "");
    let removed = ["rewrites", "rewrites", "rewrites", "fails"];
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
    let outcome = lab.run(&["verify", "--matrix", "--only", "file"]).exits(0);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
    assert!(
        lines.len() <= 27 && widest <= 130,
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
    assert_eq!(rows.len(), 4);
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
    assert_eq!(whole.len(), 4);
    assert!(
        all[all.len() - 4].get("provider").is_some(),
        "null is written"
    );
    assert_eq!(whole[0]["outcome"], "rewrites");
    assert_eq!(whole[3]["title"], "Provider dependency changes detected");
}

#[test]
fn a_format_without_a_place_for_the_matrix_refuses_it() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    for format in ["markdown", "junit", "sarif", "github"] {
        let outcome = lab.run(&["verify", "--matrix", "--format", format]);
        assert_exit(&outcome, 2);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        said.has("--matrix cannot be shown in this format");
    }
}

#[test]
fn the_registry_of_opentofu_states_hashes_in_every_namespace() {
    let read_only = |addr: &str| {
        let lab = Lab::new();
        let config = format!(
            "terraform {{\n  required_providers {{\n    x = {{ source = {addr:?} }}\n  }}\n}}\n"
        );
        lab.write("main.tf", config);
        // As Terraform would leave it: one `h1:`, and the signed list.
        let zh = |digit: &str| format!("    \"zh:{}\",\n", digit.repeat(64));
        let h1 = format!("    \"h1:{}=\",\n", "A".repeat(43));
        let hashes = [h1, zh("1"), zh("2"), zh("3")].concat();
        let entry =
            format!("provider {addr:?} {{\n  version = \"1.0.0\"\n  hashes = [\n{hashes}  ]\n}}\n");
        lab.write(LOCK, entry);
        let rows = rows(&lab, &["--flavor", "opentofu", "--platform", "linux_amd64"]);
        let mut rows = rows.iter().filter(|row| row["route"] == "readonly");
        rows.next().unwrap()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(read_only("registry.opentofu.org/hashicorp/x"), "warns");
    assert_eq!(read_only("registry.opentofu.org/acme/x"), "warns");
    assert_eq!(read_only("registry.terraform.io/acme/x"), "passes");
}
