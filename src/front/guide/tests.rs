//! Messages in each form, and the table against the pages and rules.

use std::collections::BTreeSet;

use super::known;
use super::output::{ProgramMessage, decoded, messages};
use super::recognised::{explain, untitled};
use super::search::{names, page_named, search, words};
use crate::diag::Severity;
use crate::flavor::Flavor;

const BOXED: &str = "\
\u{1b}[31m╷\u{1b}[0m\u{1b}[0m
\u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[31mError: \u{1b}[0m\u{1b}[0m\u{1b}[1mFailed to install provider\u{1b}[0m
\u{1b}[31m│\u{1b}[0m \u{1b}[0m
\u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[0mError while installing acme/demo v1.0.0: the current package for
\u{1b}[31m│\u{1b}[0m \u{1b}[0mregistry.terraform.io/acme/demo 1.0.0 doesn't match any of the checksums
\u{1b}[31m│\u{1b}[0m \u{1b}[0mpreviously recorded in the dependency lock file; for more information:
\u{1b}[31m│\u{1b}[0m \u{1b}[0mhttps://developer.hashicorp.com/
\u{1b}[31m╵\u{1b}[0m\u{1b}[0m
";

const PLAIN: &str = "\
Initializing provider plugins...
- Installing acme/demo v1.0.0...

Error: Failed to install provider

Error while installing acme/demo v1.0.0: the current package for
registry.terraform.io/acme/demo 1.0.0 doesn't match any of the checksums
previously recorded in the dependency lock file; for more information:
https://developer.hashicorp.com/
";

const JSON: &str = r#"{"@level":"info","@message":"Terraform 1.11.4","@module":"terraform.ui","type":"version"}
{"@level":"error","@message":"Error: Failed to install provider","@module":"terraform.ui","diagnostic":{"severity":"error","summary":"Failed to install provider","detail":"Error while installing acme/demo v1.0.0: the current package for registry.terraform.io/acme/demo 1.0.0 doesn't match any of the checksums previously recorded in the dependency lock file; for more information: https://developer.hashicorp.com/"},"type":"diagnostic"}
"#;

/// The message that all three forms are of.
fn one_message() -> ProgramMessage {
    ProgramMessage {
        severity: Severity::Error,
        title: "Failed to install provider".to_owned(),
        body: vec![
            "Error while installing acme/demo v1.0.0: the current package for \
             registry.terraform.io/acme/demo 1.0.0 doesn't match any of the checksums previously \
             recorded in the dependency lock file; for more information: \
             https://developer.hashicorp.com/"
                .to_owned(),
        ],
    }
}

/// The message in a box of other characters, without colours, as a file or a log has it.
fn other_marks(line: &str, corner: &str) -> String {
    let body = PLAIN.split_once("\n\n").expect("a message").1;
    let body: String = body
        .lines()
        .map(|text| format!("{line} {text}\n"))
        .collect();
    format!("{corner}\n{body}{corner}\n\nnothing else\n")
}

fn before_each_line(prefix: &str, text: &str) -> String {
    text.lines()
        .map(|line| format!("{prefix}{line}\n"))
        .collect()
}

#[test]
fn outputs_of_any_encoding_are_read() {
    let wide = |unit: fn(u16) -> [u8; 2], mark: bool| {
        let text = if mark {
            format!("\u{feff}{BOXED}")
        } else {
            BOXED.to_owned()
        };
        text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
    };
    for bytes in [
        BOXED.as_bytes().to_vec(),
        format!("\u{feff}{BOXED}").into_bytes(),
        wide(u16::to_le_bytes, true),
        wide(u16::to_be_bytes, true),
        wide(u16::to_le_bytes, false),
        wide(u16::to_be_bytes, false),
    ] {
        assert_eq!(messages(&decoded(&bytes)), [one_message()]);
    }
}

#[test]
fn a_message_quotes_another_one() {
    let text = "| Error: A\n| \n| it says: Error: B\n| Error: C\n";
    let titles: Vec<String> = messages(text)
        .into_iter()
        .map(|found| found.title)
        .collect();
    assert_eq!(titles, ["A", "C"]);
    let text = "Error: A\n\n- Error: B\nmore: Error: C\n";
    assert_eq!(messages(text).len(), 1);
}

/// The text below a title decides, not the title alone; the texts are those of the programs.
#[test]
fn texts_decide_before_titles() {
    let installing = "Failed to install provider\n\nError while installing acme/demo v1.0.0: ";
    let inconsistent = "Inconsistent dependency lock file\n\n";
    for (text, names) in [
        (
            format!("{inconsistent}The given plan file was created with a different set of external dependency selections than the current configuration."),
            &["plan-of-other-lock-file"][..],
        ),
        (
            format!("{inconsistent}The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider registry.terraform.io/acme/a: required by this configuration but no version is selected\n  - provider registry.terraform.io/acme/b: locked version selection 1.0.0 doesn't match the updated version constraints \"2.0.0\""),
            &["entry-missing", "locked-version-conflicts"],
        ),
        (
            "Failed to update dependency lock file\n\nError while writing new dependency lock information to .terraform.lock.hcl: cannot create temporary file to update .terraform.lock.hcl: open ./.terraform.lock.hcl3582281752: permission denied.".to_owned(),
            &["lock-file-not-written"],
        ),
        (
            "missing or corrupted provider plugins:\n  - registry.terraform.io/acme/a: there is no package for registry.terraform.io/acme/a 3.2.4 cached in .terraform/providers\n  - registry.terraform.io/acme/b: the cached package for registry.terraform.io/acme/b 2.0.0 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file".to_owned(),
            &["package-not-installed", "installed-package-not-recorded"],
        ),
        (format!("{installing}unable to acquire file lock on \"/cache/x.lock\": no locks available"), &["file-lock-failed"]),
        (format!("{installing}write /tmp/terraform-provider1: no space left on device"), &["disk-full"]),
        ("failed to read module manifest: open /tmp/aaaa/modules/modules.json: file name too long".to_owned(), &["path-too-long"]),
        (format!("{installing}open .terraform\\\\providers\\\\x.exe: The system cannot find the path specified."), &["path-too-long"]),
        (format!("{installing}could not query provider registry for registry.terraform.io/acme/demo: 423\nLocked"), &["provider-cache-server-busy"]),
        ("Provider configuration not present\n\nTo work with null_resource.a its original provider configuration at provider[\"registry.terraform.io/hashicorp/null\"].west is required, but it has been removed.".to_owned(), &["provider-configuration-removed"]),
        ("Failed to download module\n\nCould not download module \"x\" (main.tf:1) source code from \"git::https://example.com/x.git\": error downloading".to_owned(), &["module-download-failed"]),
    ] {
        let text = format!("Error: {text}\n");
        let found = explain(&messages(&text), Flavor::Terraform1_11);
        let found: Vec<&str> = found.iter().map(|found| found.known.map_or("", |known| &known.name)).collect();
        assert_eq!(found, names, "{text}");
    }
    let found = explain(
        &messages(
            "Error: Provider configuration not present\n\nat module.m.provider[\"registry.terraform.io/hashicorp/null\"].west\n",
        ),
        Flavor::Terraform1_11,
    );
    let provider = found[0].subject.provider.as_ref().map(ToString::to_string);
    assert_eq!(
        provider.as_deref(),
        Some("registry.terraform.io/hashicorp/null")
    );
}

#[test]
fn lines_of_known_errors_are_found_without_titles() {
    let log = "step 3 failed\n  the current package for registry.terraform.io/acme/demo 1.0.0 doesn't match any of the checksums previously recorded\n";
    assert_eq!(messages(log), []);
    let found = explain(&untitled(log), Flavor::Terraform1_11);
    assert_eq!(found[0].known.expect("known").name, "package-not-recorded");
    assert_eq!(untitled("nothing is wrong\n"), []);
}

#[test]
fn every_form_gives_the_same_message() {
    let with_times: String = BOXED
        .lines()
        .map(|line| format!("2026-01-02T03:04:05.678Z {line}\r\n"))
        .collect();
    // Some services keep the sequences without the escape character.
    let without_escapes = BOXED.replace('\u{1b}', "");
    let plain_with_times: String = PLAIN
        .lines()
        .map(|line| format!("2026-01-02T03:04:05.678Z {line}\n"))
        .collect();
    for text in [
        BOXED,
        PLAIN,
        JSON,
        &with_times,
        &without_escapes,
        &plain_with_times,
        &format!("{BOXED}{BOXED}"),
        &other_marks("|", "+"),
        &other_marks("???", "???"),
        &other_marks("\u{fffd}", "\u{fffd}"),
        // The bytes of the lines in another code page.
        &other_marks("Ôöé", "Ôò"),
        &before_each_line("10:00:01.123 STDERR [live/app] terraform: ", BOXED),
        &before_each_line("build-1  | ", PLAIN),
        &before_each_line("[2026-01-02T03:04:05.678Z] ", PLAIN),
        &before_each_line("Jan  2 03:04:05 host job[17]: ", PLAIN),
        &before_each_line("    ", PLAIN),
    ] {
        assert_eq!(messages(text), [one_message()], "{text}");
    }
    let validate = r#"{"format_version": "1.0", "diagnostics": [
      {"severity": "warning", "summary": "A", "detail": "b\nc", "range": {"filename": "main.tf", "start": {"line": 3}}}
    ]}"#;
    let message = ProgramMessage {
        severity: Severity::Warning,
        title: "A".to_owned(),
        body: vec!["  on main.tf line 3:".to_owned(), "b c".to_owned()],
    };
    assert_eq!(messages(validate), [message]);
}

#[test]
fn a_message_without_a_box_ends_where_the_program_goes_on() {
    let text = "Warning: A\n\nb\n\nTerraform has been successfully initialized!\n\nError: C\n\nd\n";
    let found = messages(text);
    let titles: Vec<&str> = found.iter().map(|found| found.title.as_str()).collect();
    assert_eq!(titles, ["A", "C"]);
    assert_eq!(found[0].body, ["b"]);
    assert_eq!(messages("nothing is wrong\n{}\n"), []);
    // An object of the quoted configuration ends no box.
    let text = "╷\n│ Error: A\n│ \n│   on main.tf line 1:\n│    1: provider \"x\" {}\n│ \n│ b\n╵\n";
    assert_eq!(messages(text)[0].body.last().expect("text"), "b");
}

#[test]
fn lists_are_taken_apart() {
    let text = "\
╷
│ Error: Required plugins are not installed
│ 
│ The installed provider plugins are not consistent with the packages
│ selected in the dependency lock file:
│   - registry.terraform.io/acme/a: there is no package for registry.terraform.io/acme/a 1.0.0 cached in .terraform/providers
│   - registry.terraform.io/acme/b: the cached package for registry.terraform.io/acme/b 2.0.0 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file
│ 
│ Terraform uses external plugins to integrate with a variety of different
│ infrastructure services. To download the plugins required for this
│ configuration, run:
│   terraform init
╵
";
    let found = explain(&messages(text), Flavor::Terraform1_11);
    let kinds: Vec<(&str, String)> = found
        .iter()
        .map(|found| {
            let version = found.subject.version.as_ref().expect("a version");
            let provider = found.subject.provider.as_ref().expect("a provider");
            (
                &*found.known.expect("known").name,
                format!("{provider} {version}"),
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            (
                "package-not-installed",
                "registry.terraform.io/acme/a 1.0.0".to_owned()
            ),
            (
                "installed-package-not-recorded",
                "registry.terraform.io/acme/b 2.0.0".to_owned()
            ),
        ]
    );
}

#[test]
fn the_table_names_pages_and_rules_that_exist() {
    let pages: BTreeSet<&str> = names().collect();
    let mut seen = BTreeSet::new();
    for known in known::all() {
        assert!(seen.insert(&known.name), "{} is there twice", known.name);
        for name in known.causes.iter().chain([&known.page]) {
            assert!(pages.contains(&**name), "{}: {name}", known.name);
        }
        assert!(known.meaning.ends_with('.'), "{}", known.name);
    }
    for (alias, targets) in &words().aliases {
        assert!(!pages.contains(&**alias), "{alias} is a page");
        for target in targets {
            assert!(pages.contains(&**target), "{alias}: {target}");
        }
    }
}

#[test]
fn words_lead_to_a_page() {
    for (word, page) in [
        ("checksum", "trust"),
        ("Checksums", "trust"),
        ("policy", "policy"),
        ("min_age", "release-too-young"),
        ("pin", "key-not-allowed"),
        ("air gap", "mirror"),
        ("airgap", "mirror"),
        ("Air-Gapped", "mirror"),
        ("init", "matrix"),
        ("Exit-Codes", "exit-codes"),
        ("platforms_incomplete", "platforms-incomplete"),
    ] {
        assert_eq!(page_named(word), Some(page), "{word}");
    }
    assert_eq!(page_named("checksums do not match"), None);
}

#[test]
fn searches_rank_the_page_that_answers_first() {
    let first = |words: &str| search(words).first().map(|found| found.page);
    for (words, page) in [
        ("checksums do not match", "package-mismatch"),
        (
            "doesn't match any of the checksums previously recorded",
            "package-mismatch",
        ),
        ("which platforms are missing", "platforms-incomplete"),
        ("merge driver", "git"),
        ("Failed to query available provider packages", "network"),
        ("HTTPS_PROXY", "network"),
        ("no longer available", "version-gone"),
        ("exit code of verify", "exit-codes"),
    ] {
        assert_eq!(first(words), Some(page), "{words}: {:#?}", search(words));
    }
    assert_eq!(search("quux frobnicate").len(), 0);
    assert_eq!(search("").len(), 0);
    assert!(search("provider").len() <= super::search::MAX_MATCHES);
}
