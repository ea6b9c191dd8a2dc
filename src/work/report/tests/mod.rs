//! What programs of CI read, rendered from the same value.

mod markdown;

use snapbox::{assert_data_eq, file, str};

use super::rows::{CheckedProvider, FileRange, FindingRow, Provider, Related, TurnedOffRow};
use super::{Checked, Failure, RootRow, RootStatus, Tone, github, junit, sarif};
use crate::diag::{self, Rule};

/// Makes a finding that has no place in a file.
pub(super) fn without_place(rule: &Rule, title: String) -> FindingRow {
    FindingRow {
        rule: rule.name,
        severity: rule.severity,
        provider: None,
        platform: None,
        range: None,
        title,
        detail: None,
        help: None,
        related: Vec::new(),
        share: None,
        advisory: None,
        is_folded: false,
    }
}

fn root(path: &str, status: RootStatus) -> RootRow<'static> {
    RootRow {
        path: path.to_owned(),
        flavor: None,
        status,
        proof: None,
        findings: Vec::new(),
        turned_off: Vec::new(),
        remarks: Vec::new(),
        not_seen: None,
        policy_not_checked: &[],
        fixed: None,
        failures: Vec::new(),
        providers: &[],
        matrix: None,
        converted: None,
        configuration: None,
        git_settings: None,
        modules: None,
        changed: None,
    }
}

fn finding(rule: &str, file: &str, title: &str) -> FindingRow {
    FindingRow {
        provider: Some("example.com/t/x".to_owned()),
        range: Some(FileRange {
            file: file.to_owned(),
            line: 4,
            column: 1,
            end_line: 4,
            end_column: 27,
        }),
        help: Some(diag::RootCommand::new("lockctl lock").run("")),
        ..without_place(diag::named(rule), title.to_owned())
    }
}

/// Lends values for as long as the tests run.
fn kept<T, const N: usize>(values: [T; N]) -> &'static [T] {
    Box::leak(Box::new(values))
}

/// A root with findings, one that fails, and one that is clean.
fn three_roots() -> Checked<'static> {
    let mut bad = root("live/a", RootStatus::Findings);
    bad.providers = kept([Provider::Checked(CheckedProvider {
        provider: "example.com/t/y".to_owned(),
        version: "1.0.0".to_owned(),
        constraints: String::new(),
        h1_count: 1,
        zh_count: 0,
    })]);
    let mut incomplete = finding(
        "platforms-incomplete",
        "live/a/.terraform.lock.hcl",
        "One lacks",
    );
    incomplete.detail = Some("none is known to be that of darwin_arm64".to_owned());
    let mut outside = finding("version-outside-constraint", "m/main.tf", "Locked at 1.1.0");
    outside.related = vec![Related {
        range: FileRange {
            file: "live/a/.terraform.lock.hcl".to_owned(),
            line: 5,
            column: 17,
            end_line: 5,
            end_column: 24,
        },
        text: "locked here".to_owned(),
    }];
    bad.findings = vec![incomplete, outside.clone()];
    bad.turned_off = vec![TurnedOffRow {
        finding: finding("package-missing", "live/a/main.tf", "Not there"),
        reason: "it is not used".to_owned(),
    }];
    let mut failed = root("live/b", RootStatus::Failed);
    failed.findings = vec![outside];
    failed.failures = kept([Failure::new("no configuration in live/b")
        .because("there is no .tf file")
        .help("name the directory of a root module")])
    .iter()
    .collect();
    let mut clean = root("live/c", RootStatus::Clean);
    let mut note = without_place(diag::named("state-not-visible"), "No state".to_owned());
    note.help = Some("nothing".into());
    clean.findings = vec![note];
    Checked {
        command: "verify",
        exit: 2,
        roots: vec![bad, failed, clean],
        remarks: vec![(Tone::Warning, "all platforms, really".to_owned())],
        not_locked: 0,
    }
}

/// A root whose only finding is full of text that would like to be something else.
fn hostile(text: &str) -> Checked<'static> {
    let mut bad = root(text, RootStatus::Findings);
    let mut finding = finding("syntax-error", text, text);
    finding.detail = Some(text.to_owned());
    finding.help = Some(text.into());
    finding.provider = Some(text.to_owned());
    bad.findings = vec![finding.clone()];
    bad.turned_off = vec![TurnedOffRow {
        finding,
        reason: text.to_owned(),
    }];
    bad.failures = kept([Failure::new(text.to_owned())
        .because(text.to_owned())
        .help(text.to_owned())])
    .iter()
    .collect();
    let clean = root(text, RootStatus::Clean);
    Checked {
        roots: vec![bad, clean],
        remarks: vec![(Tone::Note, text.to_owned())],
        ..three_roots()
    }
}

type Render = fn(&mut dyn std::io::Write, &Checked<'_>) -> std::io::Result<()>;

fn rendered(render: Render, checked: &Checked<'_>) -> String {
    let mut out = Vec::new();
    render(&mut out, checked).expect("memory");
    String::from_utf8(out).expect("text")
}

#[test]
fn github_shows_what_is_worst_first_and_each_thing_once() {
    assert_data_eq!(
        rendered(github::render, &three_roots()),
        str![[r#"
::error title=lockctl verify::live/b: no configuration in live/b%0Acause: there is no .tf file%0Ahelp: name the directory of a root module
::error file=m/main.tf,line=4,endLine=4,col=1,endColumn=27,title=version-outside-constraint::Locked at 1.1.0%0Ahelp: run `lockctl lock`
::warning file=live/a/.terraform.lock.hcl,line=4,endLine=4,col=1,endColumn=27,title=platforms-incomplete::One lacks%0Anone is known to be that of darwin_arm64%0Ahelp: run `lockctl lock`
::notice title=state-not-visible::No state%0Ahelp: nothing
::warning title=lockctl verify::all platforms, really
lockctl verify: 3 roots: 1 clean, 1 with findings, 1 failed; 1 error, 1 warning, 1 note; not everything could be checked; 1 finding turned off

"#]]
    );
}

#[test]
fn a_test_tab_shows_each_provider() {
    assert_data_eq!(
        rendered(junit::render, &three_roots()),
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="lockctl verify" tests="9" skipped="0" failures="2" errors="1">
    <testsuite name="live/a" tests="4" skipped="0" errors="0" failures="1">
        <testcase name="everything could be checked" classname="live/a"/>
        <testcase name="lock file and configuration" classname="live/a"/>
        <testcase name="example.com/t/x" classname="live/a" file="m/main.tf">
            <failure message="Locked at 1.1.0 (and 1 more)" type="version-outside-constraint">m/main.tf:4:1: error[version-outside-constraint]: Locked at 1.1.0
help: run `lockctl lock`

live/a/.terraform.lock.hcl:4:1: warning[platforms-incomplete]: One lacks
none is known to be that of darwin_arm64
help: run `lockctl lock`</failure>
            <system-out>turned off, because it is not used: live/a/main.tf:4:1: warning[package-missing]: Not there
help: run `lockctl lock`</system-out>
        </testcase>
        <testcase name="example.com/t/y" classname="live/a"/>
    </testsuite>
    <testsuite name="live/b" tests="3" skipped="0" errors="1" failures="1">
        <testcase name="everything could be checked" classname="live/b">
            <error message="no configuration in live/b">no configuration in live/b
cause: there is no .tf file
help: name the directory of a root module</error>
        </testcase>
        <testcase name="lock file and configuration" classname="live/b"/>
        <testcase name="example.com/t/x" classname="live/b" file="m/main.tf">
            <failure message="Locked at 1.1.0" type="version-outside-constraint">m/main.tf:4:1: error[version-outside-constraint]: Locked at 1.1.0
help: run `lockctl lock`</failure>
        </testcase>
    </testsuite>
    <testsuite name="live/c" tests="2" skipped="0" errors="0" failures="0">
        <testcase name="everything could be checked" classname="live/c"/>
        <testcase name="lock file and configuration" classname="live/c">
            <system-out>note[state-not-visible]: No state
help: nothing</system-out>
        </testcase>
    </testsuite>
</testsuites>

"#]]
    );
}

#[test]
fn code_scanning_has_rules_places_and_what_is_suppressed() {
    let mut log = log(&three_roots());
    let driver = log["runs"][0]["tool"]["driver"].take();
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    let rules = driver["rules"].as_array().expect("rules");
    let ids: Vec<&str> = rules
        .iter()
        .filter_map(|rule| rule["id"].as_str())
        .collect();
    let wanted = [
        "platforms-incomplete",
        "version-outside-constraint",
        "state-not-visible",
        "package-missing",
    ];
    assert_eq!(ids, wanted);
    for (id, rule) in ids.iter().zip(rules) {
        assert_eq!(rule["help"]["markdown"], diag::named(id).page);
        for name in ["shortDescription", "fullDescription"] {
            let text = rule[name]["text"].as_str().expect("text");
            assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }
    assert_eq!(rules[1]["defaultConfiguration"]["level"], "error");
    assert_data_eq!(
        serde_json::to_string_pretty(&log).expect("JSON") + "\n",
        file!["../../../../fixtures/sarif/three_roots.sarif"].raw()
    );
}

fn log(checked: &Checked<'_>) -> serde_json::Value {
    serde_json::from_str(&rendered(sarif::render, checked)).expect("JSON")
}

#[test]
fn no_foreign_text_is_a_workflow_command() {
    let commands = "x\n::add-mask::y\r##[add-mask]z%0A::set-output name=a::b,line=9";
    for text in [
        commands,
        "::stop-commands::x",
        " \t::debug::x",
        "##[group]x",
    ] {
        for line in rendered(github::render, &hostile(text)).lines() {
            let Some((head, _)) = line
                .strip_prefix("::")
                .and_then(|rest| rest.split_once("::"))
            else {
                assert!(line.starts_with("lockctl verify: "), "{line}");
                continue;
            };
            let (kind, properties) = head.split_once(' ').expect("a title at least");
            assert!(["error", "warning", "notice"].contains(&kind), "{line}");
            let names = properties.split(',').map(|one| one.split('=').next());
            let names: Vec<&str> = names.flatten().collect();
            let known = ["file", "line", "endLine", "col", "endColumn", "title"];
            assert!(names.iter().all(|name| known.contains(name)), "{line}");
            assert!(names.is_sorted_by_key(|name| known.iter().position(|own| own == name)));
        }
    }
}

/// Roots that each lack platforms for seven providers.
fn incomplete_roots(count: usize) -> Checked<'static> {
    let roots = (0..count).map(|number| {
        let mut bad = root(&format!("live/{number}"), RootStatus::Findings);
        let command = diag::RootCommand {
            for_root: format!("lockctl lock live/{number}"),
            for_all: "lockctl lock -r".to_owned(),
        };
        let findings = (0..7).map(|provider| {
            let lock = format!("live/{number}/.terraform.lock.hcl");
            let title =
                format!("4 of 5 wanted platforms of example.com/t/{provider} lack an h1: hash");
            FindingRow {
                provider: Some(format!("example.com/t/{provider}")),
                help: Some(command.run(" to add what is missing")),
                share: Some(diag::Share { part: 4, of: 5 }),
                ..finding("platforms-incomplete", &lock, &title)
            }
        });
        bad.findings = findings.collect();
        bad
    });
    Checked {
        exit: 1,
        roots: roots.collect(),
        remarks: Vec::new(),
        ..three_roots()
    }
}

#[test]
fn an_annotation_stands_for_one_cause_in_one_root() {
    assert_data_eq!(
        rendered(github::render, &incomplete_roots(2)),
        str![[r#"
::warning file=live/0/.terraform.lock.hcl,line=4,endLine=4,col=1,endColumn=27,title=platforms-incomplete::4 of 5 wanted platforms are missing for 7 providers%0Alive/0/.terraform.lock.hcl:4:1: example.com/t/0%0Alive/0/.terraform.lock.hcl:4:1: example.com/t/1%0Alive/0/.terraform.lock.hcl:4:1: example.com/t/2%0Alive/0/.terraform.lock.hcl:4:1: example.com/t/3%0Alive/0/.terraform.lock.hcl:4:1: example.com/t/4%0Aand 2 more%0Ahelp: run `lockctl lock live/0` to add what is missing
::warning file=live/1/.terraform.lock.hcl,line=4,endLine=4,col=1,endColumn=27,title=platforms-incomplete::4 of 5 wanted platforms are missing for 7 providers%0Alive/1/.terraform.lock.hcl:4:1: example.com/t/0%0Alive/1/.terraform.lock.hcl:4:1: example.com/t/1%0Alive/1/.terraform.lock.hcl:4:1: example.com/t/2%0Alive/1/.terraform.lock.hcl:4:1: example.com/t/3%0Alive/1/.terraform.lock.hcl:4:1: example.com/t/4%0Aand 2 more%0Ahelp: run `lockctl lock live/1` to add what is missing
lockctl verify: 2 roots: 2 with findings; 14 warnings

"#]]
    );
}

#[test]
fn xml_holds_no_character_that_it_forbids() {
    let text = "a\u{0}\u{1b}[31m\u{b}\u{fffe}\u{ffff}]]><x y='\"'>&amp;";
    let out = rendered(junit::render, &hostile(text));
    let allowed = |c: char| c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}' || c == '\n';
    assert!(out.chars().all(allowed), "{out:?}");
    let report = quick_junit::Report::deserialize_from_str(&out).expect("well-formed");
    let name = report.test_suites[0].name.as_str();
    assert_eq!(
        name,
        "a\u{fffd}\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}]]><x y='\"'>&amp;"
    );
}

#[test]
fn fingerprints_stay_when_lines_move_and_distinguish_findings() {
    let fingerprints = |checked: &Checked<'_>| -> Vec<String> {
        let log = log(checked);
        let results = log["runs"][0]["results"].as_array().expect("results");
        let one = |result: &serde_json::Value| {
            let all = &result["partialFingerprints"]["lockctlFinding/v1"];
            all.as_str().expect("text").to_owned()
        };
        results.iter().map(one).collect()
    };
    let mut checked = three_roots();
    let mut again = checked.roots[0].findings[0].clone();
    again.range.as_mut().expect("a place").line = 40;
    checked.roots[0].findings.push(again);
    let before = fingerprints(&checked);
    let distinct: std::collections::BTreeSet<&String> = before.iter().collect();
    assert_eq!(distinct.len(), before.len());
    for finding in &mut checked.roots[0].findings {
        finding.range.as_mut().expect("a place").line += 7;
        finding.title.push_str(", differently");
    }
    checked.roots[1].findings = Vec::new();
    assert_eq!(fingerprints(&checked), before);
}

#[test]
fn paths_are_uris_from_the_top_on() {
    let mut checked = three_roots();
    let mut uri = |path: &str| {
        let range = checked.roots[0].findings[0].range.as_mut();
        range.expect("a place").file = path.to_owned();
        let log = log(&checked);
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        let place = &place["artifactLocation"];
        let base = place["uriBaseId"].as_str().unwrap_or("none");
        format!("{} {base}", place["uri"].as_str().expect("text"))
    };
    assert_eq!(uri("a b/é:%#?.tf"), "a%20b/%C3%A9%3A%25%23%3F.tf %SRCROOT%");
    assert_eq!(uri("/a b/c"), "file:///a%20b/c none");
}

#[test]
fn no_foreign_text_is_a_link_in_a_message() {
    let log = log(&hostile("[x](https://f.example)\u{1b}[1m"));
    let text = &log["runs"][0]["results"][0]["message"]["text"];
    let text = text.as_str().expect("text");
    assert!(
        text.starts_with("[x] (https://f.example)\u{fffd}[1m\n"),
        "{text}"
    );
}
