//! What a reader is told for each title that the programs have: `titles.txt`.

use std::collections::BTreeMap;

use lockctl::config;
use lockctl::diag::{Diagnostic, Severity};
use lockctl::flavor::Flavor;
use lockctl::report::{Screen, TextBlock, human};
use lockctl::world::mem::MemFiles;
use serde_json::Value;

use super::judge::{self, Said};
use super::txtar;

/// Titles that `config` rules 12 name and no case shows, and what leads to them.
const UNRECORDED: &[(&str, &str)] = &[
    (
        "Duplicate data \"alpha_x\" configuration",
        "data \"alpha_x\" \"a\" {}\ndata \"alpha_x\" \"a\" {}\n",
    ),
    (
        "Duplicate local value definition",
        "locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n",
    ),
    (
        "Duplicate module call",
        "module \"m\" {\n  source = \"./m\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n",
    ),
    (
        "Duplicate output definition",
        "output \"o\" {\n  value = 1\n}\noutput \"o\" {\n  value = 1\n}\n",
    ),
    (
        "Duplicate variable declaration",
        "variable \"v\" {}\nvariable \"v\" {}\n",
    ),
    (
        "Invalid Attribute",
        "terraform {\n  required_providers {\n    a = { 1 = \"b\" }\n  }\n}\n",
    ),
];

/// Where a title was recorded first, and our message for it.
struct Told {
    place: String,
    /// From the first case that has it in which we say it, too.
    message: Option<String>,
}

#[test]
fn every_recorded_title_is_told_well() {
    let mut all: BTreeMap<String, Told> = BTreeMap::new();
    for case in &txtar::cases() {
        let Some(place) = case.lay_out() else {
            return; // Without links a case or two would be missing.
        };
        for flavor in Flavor::ALL {
            let Some(expected) = case.expected(flavor) else {
                continue;
            };
            let recorded = titles(&expected);
            let is_new = |title: &&str| all.get(*title).is_none_or(|told| told.message.is_none());
            let recorded: Vec<&str> = recorded.into_iter().filter(is_new).collect();
            if recorded.is_empty() {
                continue;
            }
            let said = judge::load(&*place.files, &place.root, case.settings(flavor));
            for title in recorded {
                let place = format!("{}, {flavor}", case.name);
                let message = message(&said, title);
                if message.is_some() || !all.contains_key(title) {
                    all.insert(title.to_owned(), Told { place, message });
                }
            }
        }
    }
    for (title, text) in UNRECORDED {
        let files = MemFiles::with(&[("root/main.tf", text), ("root/m/main.tf", "")]);
        let settings = config::Settings::new(Flavor::Terraform1_11);
        let said = judge::load(&files, "root".as_ref(), settings);
        let place = "not recorded".to_owned();
        let message = message(&said, title);
        all.insert((*title).to_owned(), Told { place, message });
    }
    snapbox::assert_data_eq!(text(&all), snapbox::file!["titles.txt"].raw());
}

/// Returns every title that was recorded.
fn titles(expected: &Value) -> Vec<&str> {
    let by_commands = expected["errors"].as_object().into_iter().flatten();
    let errors = by_commands.flat_map(|(_, titles)| titles.as_array().into_iter().flatten());
    let warnings = expected["warnings"].as_array().into_iter().flatten();
    errors.chain(warnings).filter_map(Value::as_str).collect()
}

fn message(said: &Said, title: &str) -> Option<String> {
    let mut all = said.diagnostics.iter();
    let found = all.find(|found| found.title == title);
    found.map(|found| rendered(said, found))
}

fn rendered(said: &Said, found: &Diagnostic) -> String {
    let block = TextBlock::Diagnostic(found.clone());
    let screen = Screen::UNLIMITED;
    let text = human::text(&[block], &said.texts, human::Colors::Off, screen);
    text.replace(&format!("{}/", said.root.display()), "")
}

fn text(all: &BTreeMap<String, Told>) -> String {
    let mut text =
        String::from("What a reader is told for each title, from the first case that has it.\n");
    for (title, told) in all {
        if let Some(message) = &told.message {
            text += &format!("\n## {title} ({})\n\n{}\n", told.place, message.trim_end());
        }
    }
    text += "\nTitles that are never given:\n\n";
    for (title, told) in all {
        if told.message.is_none() {
            text += &format!("- {title} ({})\n", told.place);
        }
    }
    text
}

#[test]
fn problems_of_all_files_are_reported() {
    let files = MemFiles::with(&[
        ("root/a.tf", "resource \"x\" {}\n"),
        (
            "root/b.tf",
            "\nfoo {}\nmodule \"m\" {\n  source = \"./m\"\n}\n",
        ),
        (
            "root/m/c.tf",
            "terraform {\n  required_providers {\n    x = []\n  }\n}\n",
        ),
    ]);
    let said = judge::load(
        &files,
        "root".as_ref(),
        config::Settings::new(Flavor::Terraform1_11),
    );
    let told: Vec<String> = said
        .with(Severity::Error)
        .map(|error| format!("{} {}", said.at(error).unwrap(), error.title))
        .collect();
    assert_eq!(
        told,
        [
            "a.tf:1 Missing name for resource",
            "b.tf:2 Unsupported block type",
            "m/c.tf:3 Invalid required_providers object",
        ]
    );
}

#[test]
fn names_that_are_nearly_right_are_asked_about() {
    let files = MemFiles::with(&[
        (
            "root/a.tf",
            "resorce \"x\" \"y\" {}\nvariable \"o\" {\n  descripton = \"x\"\n}\n",
        ),
        ("root/b.tf.json", "{\"outputs\": {}, \"foo\": {}}\n"),
    ]);
    let settings = config::Settings::new(Flavor::Terraform1_11);
    let said = judge::load(&files, "root".as_ref(), settings);
    let told: Vec<String> = said
        .with(Severity::Error)
        .map(|error| {
            let help = error.help.as_ref().map_or("no help", |help| &help.text);
            format!("{}: {help}", said.at(error).unwrap())
        })
        .collect();
    assert_eq!(
        told,
        [
            "a.tf:1: did you mean resource?",
            "a.tf:3: did you mean description?",
            "b.tf.json:1: did you mean output?",
            "b.tf.json:1: no help",
        ]
    );
}
