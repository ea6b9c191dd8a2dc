//! The output of `terraform` and `tofu`, read for the errors and warnings in it.
//!
//! Either program prints a message in a box of lines (`╷`, `│`, `╵`), without the box under
//! `-no-color`, and as one JSON object per line under `-json`. Text is wrapped at the width of the
//! terminal, lists and quoted lines are not.

use serde::Deserialize;

use crate::diag::Severity;

/// Maximum size of the output that is read, in bytes: a plan of a large root in `-json` form has a few
/// megabytes.
pub(crate) const MAX_OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum number of messages that are read: every new one is compared with those before it.
pub(crate) const MAX_MESSAGES: usize = 1000;

/// An error or a warning as a program printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramMessage {
    /// An error or a warning; the programs print nothing else.
    pub(crate) severity: Severity,
    /// The first line, without the word before it.
    pub(crate) title: String,
    /// The lines below, with wrapped lines joined and blank ones left out.
    pub(crate) body: Vec<String>,
}

/// The words with which a message begins.
const OPENINGS: [(&str, Severity); 2] = [
    ("Error: ", Severity::Error),
    ("Warning: ", Severity::Warning),
];

/// The beginnings of lines that `init` and `providers lock` print between messages
/// (rules 1.3): a message without a box ends there.
const PROGRESS: &[&str] = &[
    "Initializing ",
    "- Reusing previous version of ",
    "- Finding ",
    "- Using ",
    "- Installing ",
    "- Installed ",
    "- Detected ",
    "- Fetching ",
    "- Retrieved ",
    "- Obtained ",
    "Terraform has ",
    "OpenTofu has ",
    "Terraform will perform",
    "OpenTofu will perform",
    "Success!",
    "Plan: ",
];

/// The parts of a JSON line that matter.
#[derive(Deserialize)]
struct JsonLine {
    diagnostic: Option<JsonDiagnostic>,
    /// The form of `validate -json`, an object that spans many lines.
    #[serde(default)]
    diagnostics: Vec<JsonDiagnostic>,
}

#[derive(Deserialize)]
struct JsonDiagnostic {
    severity: String,
    summary: String,
    #[serde(default)]
    detail: String,
    range: Option<JsonRange>,
}

#[derive(Deserialize)]
struct JsonRange {
    filename: String,
    start: JsonPosition,
}

#[derive(Deserialize)]
struct JsonPosition {
    line: u64,
}

/// Reads the messages of an output, in their order; equal ones once.
pub(crate) fn messages(output: &str) -> Vec<ProgramMessage> {
    let mut reader = OutputReader::default();
    // `validate -json` prints one object over many lines, the other commands one for each line (rules 1.4).
    if let Ok(document) = serde_json::from_str::<JsonLine>(output) {
        reader.json(document);
    } else {
        let plain = without_colors(output);
        plain
            .replace("\r\n", "\n")
            .split(['\n', '\r'])
            .for_each(|line| reader.line(line));
        reader.end();
    }
    reader.messages
}

/// The messages so far, and the one that is being read.
#[derive(Default)]
struct OutputReader {
    messages: Vec<ProgramMessage>,
    open: Option<OpenMessage>,
}

struct OpenMessage {
    severity: Severity,
    title: String,
    lines: Vec<String>,
    is_boxed: bool,
}

impl OutputReader {
    fn line(&mut self, line: &str) {
        // Text may hold an object as well, such as the line of configuration that a message quotes.
        if let Some(start) = line.find("{\"@level\"")
            && let Ok(object) = serde_json::from_str::<JsonLine>(&line[start..])
        {
            return self.json(object);
        }
        if line.contains(['╷', '╵']) {
            return self.end();
        }
        // What stands before the line of the box was put there by something that keeps logs.
        let (text, is_boxed) = match line.split_once('│') {
            Some((_, text)) => (text.strip_prefix(' ').unwrap_or(text), true),
            None => (without_log_prefix(line), false),
        };
        for (word, severity) in OPENINGS {
            if let Some(title) = text.strip_prefix(word) {
                self.end();
                self.open = Some(OpenMessage {
                    severity,
                    title: title.trim().to_owned(),
                    lines: Vec::new(),
                    is_boxed,
                });
                return;
            }
        }
        // A log may have lost the mark of a line that is empty; other text outside of the box is of another step.
        let is_over = |open: &OpenMessage| {
            (open.is_boxed != is_boxed && !text.trim().is_empty())
                || PROGRESS.iter().any(|line| text.starts_with(line))
        };
        if self.open.as_ref().is_some_and(is_over) {
            self.end();
        }
        if let Some(open) = &mut self.open {
            open.lines.push(text.trim_end().to_owned());
        }
    }

    fn json(&mut self, line: JsonLine) {
        self.end();
        for found in line.diagnostic.into_iter().chain(line.diagnostics) {
            // Boxes have the place above the text, so that the table can ask for the name of the file.
            let place = found
                .range
                .map(|range| format!("  on {} line {}:", range.filename, range.start.line));
            let severity = match found.severity.as_str() {
                "warning" => Severity::Warning,
                _ => Severity::Error,
            };
            let lines = place
                .into_iter()
                .chain(found.detail.lines().map(str::to_owned));
            self.add(severity, found.summary, lines.collect());
        }
    }

    fn end(&mut self) {
        if let Some(open) = self.open.take() {
            self.add(open.severity, open.title, open.lines);
        }
    }

    fn add(&mut self, severity: Severity, title: String, lines: Vec<String>) {
        // Both programs put a line break into some titles; the rest of it is text as any other.
        let (title, rest) = match title.split_once('\n') {
            Some((title, rest)) => (title.to_owned(), rest.lines().map(str::to_owned).collect()),
            None => (title, Vec::new()),
        };
        let mut body: Vec<String> = Vec::new();
        let mut goes_on = false;
        for line in rest.into_iter().chain(lines) {
            if line.trim().is_empty() {
                goes_on = false;
                continue;
            }
            // Neither program wraps a line that is set in, and an item begins a line of its own (rules 1.2).
            let is_indented = line.starts_with([' ', '\t']);
            match body.last_mut() {
                Some(before) if goes_on && !is_indented && !line.starts_with("- ") => {
                    before.push(' ');
                    before.push_str(&line);
                }
                _ => body.push(line),
            }
            goes_on = !is_indented;
        }
        let message = ProgramMessage {
            severity,
            title,
            body,
        };
        // Terraform 1.11 prints some faults of options twice (`lifecycle/readonly_upgrade`).
        if self.messages.len() < MAX_MESSAGES && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }
}

/// Removes escape sequences, and what is left of those for colours where a log has lost the escape
/// character itself.
fn without_colors(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '[']) {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at..];
        let body = sequence.strip_prefix('\u{1b}').unwrap_or(sequence);
        let is_escaped = body.len() < sequence.len();
        let length = body.strip_prefix('[').and_then(|parameters| {
            let end = parameters.find(|c: char| !matches!(c, '0'..='?'))?;
            // Some services drop the escape character and keep `[31m`, which no sentence has.
            let is_color = parameters[end..].starts_with('m') && end > 0;
            // Any sequence ends with a character of ASCII between these two.
            let ends = parameters[end..].starts_with(|c| matches!(c, '@'..='~'));
            (is_color || is_escaped && ends).then_some(1 + end + 1)
        });
        rest = match length {
            Some(length) => &body[length..],
            None if is_escaped => body,
            // A bracket of the text itself, as in a list of a constraint.
            None => {
                plain.push('[');
                &sequence[1..]
            }
        };
    }
    plain.push_str(rest);
    plain
}

/// Removes the time that a CI service writes before each line, and what Terragrunt writes before the
/// lines of the program that it runs.
fn without_log_prefix(line: &str) -> &str {
    // Hours, minutes and seconds: an address with a port has one colon, and may begin a wrapped line.
    let is_time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.matches(':').count() >= 2
    };
    let mut text = line;
    if let Some((first, rest)) = line.split_once(' ')
        && is_time(first)
    {
        text = rest;
        for program in [" terraform: ", " tofu: "] {
            if let Some((_, printed)) = rest.split_once(program) {
                text = printed;
            }
        }
    }
    text
}
