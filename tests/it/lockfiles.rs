//! Lock files: the recorded cases for all four programs, and the corpus of real ones.

use std::collections::BTreeSet;
use std::path::Path;

use lockctl::diag::{Diagnostic, Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::lockfile::{self, Document, header_of};
use serde_json::Value;

use crate::{cases, corpus};

/// Further titles that follow from the first one about the same text. A program prints them too;
/// lockctl says each problem once (`lockctl explain differences`).
const FOLLOW_UPS: [(&str, &str); 8] = [
    ("parse/not_utf8_string", "Unterminated template string"),
    ("parse/version_expr_func", "Unsuitable value type"),
    ("parse/version_expr_var", "Unsuitable value type"),
    ("parse/version_interp_var", "Unsuitable value type"),
    ("parse/syntax_error", "Unsuitable value type"),
    ("parse/single_quotes", "Invalid expression"),
    ("parse/single_quotes", "Unsuitable value type"),
    ("parse/semicolons", "Missing newline after argument"),
];

/// Real files with a title that follows from the first one, as above: the version is missing only
/// because the markers of a merge stand before it.
const CORPUS_FOLLOW_UPS: [(&str, &str); 1] = [(
    "0037_12091990__hashicat-aws.lock.hcl",
    "Missing required argument",
)];

/// What OpenTofu says when it reads an entry of Terraform's registry as its own.
const CARRIED_OVER: &str = "Dependency lock file entries automatically updated";

struct Read {
    document: Document,
    diagnostics: Vec<Diagnostic>,
    texts: Texts,
}

fn read(bytes: &[u8], flavor: Flavor) -> Read {
    let mut texts = Texts::default();
    let file = texts.add(".terraform.lock.hcl", bytes.to_vec());
    let (document, diagnostics) = lockfile::parse(file, bytes, flavor);
    Read {
        document,
        diagnostics,
        texts,
    }
}

impl Read {
    fn accepted(&self) -> bool {
        !lockctl::diag::has_errors(&self.diagnostics)
    }

    /// Severity, title and line of every problem, each once.
    fn said(&self) -> BTreeSet<(String, String, u64)> {
        let each = self.diagnostics.iter().map(|diagnostic| {
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            let label = diagnostic
                .primary
                .as_ref()
                .expect("a problem of a file has a place");
            let line = self.texts.position(label.file, label.span.start).line as u64;
            (severity.to_owned(), diagnostic.title.clone(), line)
        });
        each.collect()
    }

    fn notes(&self) -> String {
        let labels = self.diagnostics.iter().filter_map(|d| d.primary.as_ref());
        labels.map(|label| label.note.clone() + "\n").collect()
    }
}

#[test]
fn every_recorded_lock_file_reads_and_prints_as_recorded() {
    let cases = cases::load("parse");
    let mut used = BTreeSet::new();
    let mut runs = 0;
    for case in &cases {
        for flavor in Flavor::ALL {
            replay(&case.for_program(flavor), flavor, &mut used);
            runs += 1;
        }
    }
    let listed: BTreeSet<(&str, &str)> = FOLLOW_UPS.into_iter().collect();
    assert_eq!(used, listed, "every listed exception is needed");
    println!("parse: {} cases, {runs} runs", cases.len());
}

#[track_caller]
fn replay(case: &Value, flavor: Flavor, used: &mut BTreeSet<(&'static str, &'static str)>) {
    let id = case["id"].as_str().expect("an id");
    let input = cases::file(flavor, case["input"].as_str().expect("an input"));
    let read = read(&input, flavor);
    assert_eq!(
        read.accepted(),
        case["ok"] == true,
        "{id} for {flavor}: {:#?}",
        read.diagnostics
    );

    let mut lock = read.document.lock.clone();
    let carried = !lock.carry_over(flavor, |_| true).is_empty();
    let mut wanted = BTreeSet::new();
    let mut wants_carried = false;
    for diagnostic in case["diagnostics"].as_array().expect("a list") {
        let title = diagnostic["summary"].as_str().expect("a title");
        if title == CARRIED_OVER {
            wants_carried = true;
            continue;
        }
        let exception = FOLLOW_UPS.iter().find(|known| **known == (id, title));
        if let Some(known) = exception {
            used.insert(*known);
            continue;
        }
        let severity = diagnostic["severity"].as_str().expect("a severity");
        let line = diagnostic["line"].as_u64().expect("a line");
        wanted.insert((severity.to_owned(), title.to_owned(), line));
    }
    assert_eq!(read.said(), wanted, "{id} for {flavor}");
    assert_eq!(carried, wants_carried, "{id} for {flavor}");

    if let Some(form) = case["required_form"]
        .as_str()
        .filter(|form| !is_demanded_of_garbage(form))
    {
        assert!(
            read.notes().contains(&format!("{form:?}")),
            "{id} for {flavor}: {}",
            read.notes()
        );
    }
    if let Some(output) = case["output"].as_str() {
        let wanted = cases::file(flavor, output);
        let written = lockfile::write(&lock, flavor);
        assert_eq!(
            written,
            String::from_utf8(wanted).expect("text"),
            "{id} for {flavor}"
        );
    }
}

/// What a program demands in its second message about a text that it could not read at all.
fn is_demanded_of_garbage(form: &str) -> bool {
    form == "0.0.0" || form.is_empty()
}

#[test]
fn labels_are_judged_as_recorded() {
    let cases = cases::load("addresses");
    let mut runs = 0;
    for case in &cases {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let Some(wanted) = case.get("lock_label") else {
                continue;
            };
            let (id, input) = (&case["id"], case["input"].as_str().expect("an input"));
            let text = format!("provider \"{input}\" {{\n  version = \"1.0.0\"\n}}\n");
            let read = read(text.as_bytes(), flavor);
            assert_eq!(read.accepted(), wanted["ok"] == true, "{id} for {flavor}");
            let mut titles: BTreeSet<String> =
                read.diagnostics.iter().map(|d| d.title.clone()).collect();
            if !read
                .document
                .lock
                .clone()
                .carry_over(flavor, |_| true)
                .is_empty()
            {
                titles.insert(CARRIED_OVER.to_owned());
            }
            assert_eq!(titles, strings(&wanted["errors"]), "{id} for {flavor}");
            if let Some(form) = wanted.get("required_form").and_then(Value::as_str) {
                assert!(
                    read.notes().contains(&format!("{form:?}")),
                    "{id}: {}",
                    read.notes()
                );
            }
            runs += 1;
        }
    }
    assert!(runs > 0);
    println!("addresses as labels: {runs} runs");
}

fn strings(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

/// A lock file of the corpus.
struct Row {
    name: String,
    canonical: bool,
    verdict: String,
}

fn corpus() -> Vec<(Row, Vec<u8>)> {
    let parts = corpus::parts("locks", "index.tsv");
    let rows = parts.iter().flat_map(|part| {
        part.rows.iter().map(|row| {
            let name = row.get("file").to_owned();
            let bytes = std::fs::read(part.dir.join(&name)).expect("the file is there");
            let row = Row {
                name,
                canonical: row.get("canonical") == "yes",
                verdict: row.get("terraform_1_11_4").to_owned(),
            };
            (row, bytes)
        })
    });
    rows.collect()
}

#[test]
fn real_lock_files_get_the_verdict_of_terraform() {
    let corpus = corpus();
    let mut accepted = 0;
    for (row, bytes) in &corpus {
        let read = read(bytes, Flavor::Terraform1_11);
        accepted += usize::from(read.accepted());
        let warned = !read.diagnostics.is_empty();
        match row.verdict.strip_prefix("rejected: ") {
            None => {
                assert!(read.accepted(), "{}: {:#?}", row.name, read.diagnostics);
                assert_eq!(
                    warned,
                    row.verdict == "accepted with warning",
                    "{}",
                    row.name
                );
            }
            Some(titles) => {
                assert!(!read.accepted(), "{} must be rejected: {titles}", row.name);
                let said: BTreeSet<&str> =
                    read.diagnostics.iter().map(|d| d.title.as_str()).collect();
                let follows =
                    |title: &&str| CORPUS_FOLLOW_UPS.contains(&(row.name.as_str(), title));
                let wanted: BTreeSet<&str> =
                    titles.split("; ").filter(|title| !follows(title)).collect();
                assert_eq!(said, wanted, "{}", row.name);
            }
        }
    }
    println!("corpus: {} lock files, {accepted} accepted", corpus.len());
}

#[test]
fn canonical_real_lock_files_stay_as_they_are() {
    let corpus = corpus();
    let mut same = 0;
    for (row, bytes) in &corpus {
        // Each file is judged by the rules of the program that wrote it.
        let flavor = header_of(bytes).map_or(Flavor::Terraform1_11, Flavor::newest);
        let read = read(bytes, flavor);
        if !row.canonical || row.verdict.starts_with("rejected") {
            continue;
        }
        let written = lockfile::write(&read.document.lock, flavor);
        assert_eq!(written.as_bytes(), bytes, "{}", row.name);
        same += 1;
    }
    assert!(same > 0);
    println!("corpus: {same} canonical lock files stay as they are");
}

/// Our own lock files: `good` stay as they are, `loose` have a twin that is wanted, `bad` carry
/// `# ERROR: title` on each line where one is expected.
#[test]
fn our_own_lock_files_do_as_their_folder_says() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/locks");
    let mut seen = BTreeSet::new();
    for (folder, path) in ["good", "loose", "bad"].iter().flat_map(|folder| {
        let files = std::fs::read_dir(dir.join(folder)).unwrap();
        files.map(move |file| (*folder, file.unwrap().path()))
    }) {
        if path.extension().is_none_or(|extension| extension != "hcl") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let flavor = header_of(&bytes).map_or(Flavor::Terraform1_11, Flavor::newest);
        let read = read(&bytes, flavor);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let name = path.display();
        let wanted: BTreeSet<(String, String, u64)> = text
            .lines()
            .zip(1..)
            .filter_map(|(line, number)| Some((line.split_once("# ERROR: ")?.1, number)))
            .map(|(title, number)| ("error".to_owned(), title.to_owned(), number))
            .collect();
        assert_eq!(read.said(), wanted, "{name}");
        let written = lockfile::write(&read.document.lock, flavor);
        match folder {
            "good" => assert_eq!(written, text, "{name}"),
            "loose" => {
                let twin = std::fs::read_to_string(path.with_extension("hcl.want")).unwrap();
                assert_eq!(written, twin, "{name}");
            }
            _ => assert!(!wanted.is_empty(), "{name} expects nothing"),
        }
        seen.insert(folder);
    }
    assert_eq!(seen, BTreeSet::from(["bad", "good", "loose"]));
}
