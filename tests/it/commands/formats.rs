//! `verify` for programs of CI: SARIF, JUnit, annotations of GitHub, Markdown.

use super::*;
use std::collections::BTreeSet;

/// A lock file with many faults, and text that would like to be something else.
const BROKEN: &str = r#"provider "example.com/t/x" {
  version = "1.0"
  hashes  = []
}
provider "x" {
  version = "1.0.0"
}
provider "example.com/t/x" {
  constraints = "::add-mask::"
  hashes = ["abc", "h1:%0A::warning::hi"] # ##[add-mask]x
  foo = 1
}
"#;

/// A lock file that can be read, and fits nothing.
const STALE: &str = r#"provider "example.com/t/x" {
  version     = "2.0.0"
  constraints = "~> 2.0"
  hashes = [
    "h1:abc",
  ]
}
"#;

const PROJECT: &str = r#"platforms = ["linux_amd64", "darwin_arm64"]
rule "module-not-visible" {
  level  = "off"
  reason = "installed by a later job"
}
"#;

/// A repository of four roots, one of which is clean.
fn repository() -> Lab {
    let lab = Lab::new();
    let module = "module \"m\" {\n  source = \"git::https://example.com/m.git\"\n}\n";
    let another = "    y = { source = \"example.com/t/y\" }\n    x = {";
    let both = ONE_PROVIDER.replace("    x = {", another);
    lab.write(".lockctl.hcl", PROJECT)
        .write("live/a/main.tf", format!("{both}{module}"))
        .write(&format!("live/a/{LOCK}"), STALE)
        .write("live/b, é/main.tf", ONE_PROVIDER)
        .write(&format!("live/b, é/{LOCK}"), BROKEN)
        .write("live/c/main.tf", "terraform {\n  backend \"local\" {}\n}\n")
        .write("live/d/main.tf", ONE_PROVIDER)
        .write(
            "live/d/state.tf",
            "terraform {\n  backend \"local\" {}\n}\n",
        );
    lab
}

/// Returns what `verify` of all roots prints, told to exit with a code.
#[track_caller]
fn told(lab: &Lab, format: &str, code: u8) -> String {
    let outcome = lab.run(&["verify", "-r", "--format", format]).exits(code);
    outcome.stdout
}

#[track_caller]
fn log(lab: &Lab, code: u8) -> Value {
    serde_json::from_str(&told(lab, "sarif", code)).unwrap()
}

/// Makes sure that the official schema allows it.
#[track_caller]
fn assert_sarif(log: &Value) {
    let schema = include_str!("../../../fixtures/sarif/sarif-schema-2.1.0.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn sarif_meets_its_schema_and_tells_every_rule_once() {
    let log = log(&repository(), 1);
    assert_sarif(&log);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let found: BTreeSet<&str> = results
        .iter()
        .map(|result| result["ruleId"].as_str().unwrap())
        .collect();
    assert!(found.len() >= 10, "{found:?}");
    assert_eq!(rules.len(), found.len());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        assert!(place["region"]["startLine"].as_u64() >= Some(1), "{result}");
    }
    let levels: BTreeSet<&str> = results
        .iter()
        .map(|result| result["level"].as_str().unwrap())
        .collect();
    assert_eq!(levels, ["error", "note", "warning"].into());
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
}

#[test]
fn sarif_suppresses_what_is_turned_off() {
    let log = log(&repository(), 1);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let off: Vec<&Value> = results
        .iter()
        .filter(|result| result.get("suppressions").is_some())
        .collect();
    assert_eq!(off.len(), 1);
    assert_eq!(off[0]["ruleId"], "module-not-visible");
    let wanted = serde_json::json!([
        {"kind": "external", "justification": "installed by a later job"}
    ]);
    assert_eq!(off[0]["suppressions"], wanted);
}

#[test]
fn sarif_says_what_could_not_be_done() {
    let lab = repository();
    lab.write("live/a/main.tf", "terraform {\n");
    let log = log(&lab, 2);
    assert_sarif(&log);
    let nowhere = lab.run(&["verify", "nowhere", "--format", "sarif"]);
    assert_exit(&nowhere, 2);
    let log = nowhere.json();
    assert_sarif(&log);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitCode"], 2);
    let told = &invocation["toolExecutionNotifications"][0];
    assert_eq!(told["level"], "error");
    let text = told["message"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("nowhere cannot be read\ncause: "),
        "{text}"
    );
}

#[test]
fn github_is_told_by_commands_and_nothing_else() {
    let lab = repository();
    let outcome = lab.run(&["verify", "-r", "--format", "github"]).exits(1);
    // The title says enough here; advice follows it.
    let titles = outcome.stdout.lines().map(|line| line.split("%0A").next());
    let titles: Vec<&str> = titles.flatten().collect();
    titles.join("\n").reads(str![[r#"
::error file=live/a/main.tf,line=6,endLine=6,col=17,endColumn=25,title=version-outside-constraint::example.com/t/x is locked at 2.0.0, which a constraint does not allow
::error file=live/a/main.tf,line=3,endLine=3,col=5,endColumn=6,title=provider-not-locked::example.com/t/y is required but not locked
::error file=live/b%2C é/.terraform.lock.hcl,line=2,endLine=2,col=13,endColumn=18,title=version-malformed::Invalid provider version number
::error file=live/b%2C é/.terraform.lock.hcl,line=3,endLine=3,col=13,endColumn=15,title=hashes-empty::Invalid provider hash set
::error file=live/b%2C é/.terraform.lock.hcl,line=5,endLine=5,col=10,endColumn=13,title=address-not-canonical::Non-normalized provider source address
::error file=live/b%2C é/.terraform.lock.hcl,line=8,endLine=8,col=1,endColumn=27,title=version-missing::Missing required argument
::error file=live/b%2C é/.terraform.lock.hcl,line=8,endLine=8,col=1,endColumn=27,title=duplicate-provider::Duplicate provider lock
::error file=live/b%2C é/.terraform.lock.hcl,line=9,endLine=9,col=17,endColumn=31,title=constraints-malformed::Invalid provider version constraints
::error file=live/b%2C é/.terraform.lock.hcl,line=10,endLine=10,col=13,endColumn=18,title=hash-scheme-missing::Invalid provider hash string
::error file=live/b%2C é/.terraform.lock.hcl,line=11,endLine=11,col=3,endColumn=6,title=unsupported-item::Unsupported argument
::error file=live/d/main.tf,line=5,endLine=5,col=17,endColumn=25,title=lock-missing::There is no live/d/.terraform.lock.hcl
::warning file=live/a/.terraform.lock.hcl,line=5,endLine=5,col=5,endColumn=13,title=hash-not-well-formed::Hash that can never match
::warning file=live/a/.terraform.lock.hcl,line=1,endLine=1,col=1,endColumn=27,title=platforms-incomplete::2 of 2 wanted platforms of example.com/t/x lack an h1: hash
::notice file=live/a/.terraform.lock.hcl,line=1,endLine=1,col=1,endColumn=29,title=file-not-canonical::The lock file is not in canonical form
::notice file=live/a/.terraform.lock.hcl,line=3,endLine=3,col=17,endColumn=25,title=constraints-stale::The recorded constraints of example.com/t/x differ from the configuration
lockctl verify: 4 roots: 1 clean, 3 with findings; 1 module of 1 root not seen (`--modules fetch`); 11 errors, 2 warnings, 2 notes; 1 finding turned off
"#]]);
    assert_eq!(outcome.stderr, "", "the runner reads this stream as well");
}

#[test]
fn junit_has_a_suite_for_each_root_and_a_test_for_each_provider() {
    let out = told(&repository(), "junit", 1);
    let report = quick_junit::Report::deserialize_from_str(&out).unwrap();
    let names: Vec<String> = report
        .test_suites
        .iter()
        .map(|suite| {
            let cases = suite.test_cases.iter();
            let cases: Vec<&str> = cases.map(|case| case.name.as_str()).collect();
            format!("{}: {}", suite.name.as_str(), cases.join(", "))
        })
        .collect();
    names.join("\n").reads(str![[r#"
live/a: everything could be checked, lock file and configuration, example.com/t/x, example.com/t/y
live/b, é: everything could be checked, lock file and configuration
live/c: everything could be checked, lock file and configuration
live/d: everything could be checked, lock file and configuration
"#]]);
    assert_eq!((report.failures, report.errors), (4, 0));
}

#[test]
#[cfg_attr(
    windows,
    ignore = "the lab writes each backslash of an output as a slash"
)]
fn markdown_shows_verdict_and_tables_and_folds_the_rest() {
    let out = told(&repository(), "markdown", 1);
    let mut is_folded = false;
    let mut shown = String::new();
    for line in out.lines() {
        if let Some(summary) = line.strip_prefix("<details><summary>") {
            assert!(!std::mem::replace(&mut is_folded, true), "{line}");
            shown += &format!("+ {summary}\n");
        }
        if !is_folded && !line.is_empty() {
            shown += &format!("{line}\n");
        }
        is_folded &= line != "</details>";
    }
    shown.reads(str![[r#"
**lockctl verify: 4 roots: 1 clean, 3 with findings; 1 module of 1 root not seen (`--modules fetch`); 11 errors, 2 warnings, 2 notes; 1 finding turned off**
| SEVERITY | RULE | PROVIDER | WHAT | PLACE | ROOTS | WHERE |
|---|---|---|---|---|---|---|
| **error** | `version-outside-constraint` | `example.com/t/x` | example.com/t/x is locked at 2.0.0, which a constraint does not allow<br>/~> 1.0 is required here | `live/a/main.tf:6:17` | 1 | `live/a` |
| **error** | `provider-not-locked` | `example.com/t/y` | example.com/t/y is required but not locked<br>required here | `live/a/main.tf:3:5` | 1 | `live/a` |
| **error** | `version-malformed` |  | Invalid provider version number<br>must be written as "1.0.0" | `live/b, é/.terraform.lock.hcl:2:13` | 1 | `live/b, é` |
| **error** | `hashes-empty` |  | Invalid provider hash set<br>must not be empty | `live/b, é/.terraform.lock.hcl:3:13` | 1 | `live/b, é` |
| **error** | `address-not-canonical` |  | Non-normalized provider source address<br>must be written as "registry.terraform.io/hashicorp/x" | `live/b, é/.terraform.lock.hcl:5:10` | 1 | `live/b, é` |
| **error** | `version-missing` |  | Missing required argument<br>"version" is required here | `live/b, é/.terraform.lock.hcl:8:1` | 1 | `live/b, é` |
| **error** | `duplicate-provider` |  | Duplicate provider lock<br>locked again | `live/b, é/.terraform.lock.hcl:8:1` | 1 | `live/b, é` |
| **error** | `constraints-malformed` |  | Invalid provider version constraints<br>"::add-mask::" is no version constraint: it starts with no known operator | `live/b, é/.terraform.lock.hcl:9:17` | 1 | `live/b, é` |
| **error** | `hash-scheme-missing` |  | Invalid provider hash string<br>a scheme and a colon must come first, as in "h1:…" | `live/b, é/.terraform.lock.hcl:10:13` | 1 | `live/b, é` |
| **error** | `unsupported-item` |  | Unsupported argument<br>not expected here | `live/b, é/.terraform.lock.hcl:11:3` | 1 | `live/b, é` |
| **error** | `lock-missing` |  | There is no live/d/.terraform.lock.hcl<br>example.com/t/x is required here | `live/d/main.tf:5:17` | 1 | `live/d` |
| **warning** | `hash-not-well-formed` | `example.com/t/x` | Hash that can never match<br>h1: needs the base64 form of 32 bytes, with padding | `live/a/.terraform.lock.hcl:5:5` | 1 | `live/a` |
| **warning** | `platforms-incomplete` | `example.com/t/x` | 2 of 2 wanted platforms of example.com/t/x lack an h1: hash<br>no h1: recorded; without one /`terraform init/` fails: Failed to install provider | `live/a/.terraform.lock.hcl:1:1` | 1 | `live/a` |
+ What to do</summary>
+ 2 notes</summary>
+ 1 root clean</summary>

"#]]);
}

#[test]
fn paths_start_from_the_top_of_the_repository_wherever_it_was_started() {
    let lab = repository();
    let files = |chdir: &str, root: &str| -> BTreeSet<String> {
        let outcome = lab.run_in(chdir, &["verify", root, "--format", "sarif"]);
        let log = outcome.json();
        let results = log["runs"][0]["results"].as_array().unwrap().iter();
        let places = results.map(|result| &result["locations"][0]["physicalLocation"]);
        let uris = places.map(|place| place["artifactLocation"]["uri"].as_str().unwrap());
        uris.map(str::to_owned).collect()
    };
    let wanted = ["live/a/.terraform.lock.hcl", "live/a/main.tf"];
    let wanted: BTreeSet<String> = wanted.map(str::to_owned).into();
    let absolute = lab.path("live/a");
    assert_eq!(files(".", "live/a"), wanted);
    assert_eq!(files("live/a", "."), wanted);
    assert_eq!(files("live/c", "../a"), wanted);
    assert_eq!(files("live/c", absolute.to_str().unwrap()), wanted);
    // Another repository has a top of its own, also below the first.
    std::fs::create_dir(lab.path("live/a/.git")).unwrap();
    let wanted = [".terraform.lock.hcl", "main.tf"].map(str::to_owned);
    assert_eq!(files(".", "live/a"), wanted.into());
}

#[test]
fn a_format_of_another_command_is_a_mistake() {
    let lab = repository();
    for format in ["sarif", "junit", "github", "markdown", "dot"] {
        let outcome = lab.run(&["show", "--format", format]).exits(2);
        let text = format!(
            "invalid value '{format}' for '--format <FORMAT>'\n  [possible values: human, json]"
        );
        outcome.stderr_has(&text);
    }
}
