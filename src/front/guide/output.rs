//! The output of `terraform` and `tofu`, read for the errors and warnings in it.
//!
//! Either program prints a message in a box of lines (`╷`, `│`, `╵`), without the box under
//! `-no-color`, and as one JSON object per line under `-json`. Text is wrapped at the width of the
//! terminal, lists and quoted lines are not. On its way to a file the box may become `|`, `???` or
//! characters of another code page, and a service may write the time or the name of a job before each line.

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

/// Characters before `Error: ` that make it a part of a sentence, a list or a quotation.
const IN_TEXT: &[char] = &['"', '\'', '`', '(', '-', '*'];

/// The first words of a message.
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

/// Number of bytes that show whether a text without a byte order mark is UTF-16.
const SAMPLE_BYTES: usize = 4096;

/// Decodes an output. PowerShell writes UTF-16, and a log may hold bytes of anything.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| unit([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    // Most characters of a message are ASCII, and in UTF-16 one of their two bytes is zero.
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let most_are_zero = |first: usize| {
        let every_second = sample.iter().skip(first).step_by(2);
        every_second.filter(|byte| **byte == 0).count() * 4 > sample.len()
    };
    match bytes {
        [0xFF, 0xFE, text @ ..] => wide(text, u16::from_le_bytes),
        [0xFE, 0xFF, text @ ..] => wide(text, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        _ if most_are_zero(1) => wide(bytes, u16::from_le_bytes),
        _ if most_are_zero(0) => wide(bytes, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
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
    /// The text before the title: the line of the box, or anything that took its place.
    before: String,
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
        // The text before the line of the box was put there by something that keeps logs.
        let line = match line.find('│') {
            Some(at) => &line[at..],
            None => without_time(line),
        };
        let open = self.open.as_ref().map(|open| &*open.before);
        if let Some((before, severity, title)) = opening(line, open) {
            self.end();
            self.open = Some(OpenMessage {
                severity,
                title: title.trim().to_owned(),
                lines: Vec::new(),
                before: before.to_owned(),
            });
            return;
        }
        let Some(open) = &mut self.open else { return };
        let is_blank = |text: &str| !text.contains(|c: char| c.is_ascii_alphanumeric());
        let text = match behind(&open.before, line) {
            // Another message is in a box, and this one is not.
            Some(text) if open.before.is_empty() && text.starts_with('│') && !is_blank(text) => {
                None
            }
            Some(text) => Some(text),
            // A log may have lost the mark of a line that is empty, and the corners of a box are other marks.
            None if is_blank(line) => Some(""),
            // The name of a job may come before the first line alone.
            None if !is_blank(&open.before) => Some(line),
            // Other text outside of the box is of another step.
            None => None,
        };
        match text {
            Some(text) if !PROGRESS.iter().any(|line| text.starts_with(line)) => {
                let text = text.trim_end();
                open.lines.push(if is_blank(text) {
                    String::new()
                } else {
                    text.to_owned()
                });
            }
            _ => self.end(),
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

/// Removes the time that a CI service writes before each line: its length may differ from line to line.
fn without_time(line: &str) -> &str {
    match line.split_once(' ') {
        // An address with a port has one colon, and may begin a wrapped line.
        Some((first, rest))
            if first
                .trim_start_matches('[')
                .starts_with(|c: char| c.is_ascii_digit())
                && first.matches(':').count() >= 2 =>
        {
            rest
        }
        _ => line,
    }
}

/// Finds the beginning of a message in a line: the text before it, its severity and its title.
///
/// `open` is the text before the title of the message that is being read.
fn opening<'l>(line: &'l str, open: Option<&str>) -> Option<(&'l str, Severity, &'l str)> {
    OPENINGS.iter().find_map(|(word, severity)| {
        let at = line.find(word)?;
        let before = &line[..at];
        let mark = before.trim();
        let is_word = |c: char| c.is_ascii_alphanumeric();
        let begins = match open {
            Some(open) if same_shape(open.trim(), mark) => true,
            // The text of a message may quote another message.
            Some(open) if !open.trim().is_empty() && behind(open, line).is_some() => false,
            // Without a box, any text of a line may be that of the message.
            Some(_) => !mark.contains(is_word) && !mark.contains(IN_TEXT),
            None => !mark.ends_with(is_word) && !mark.ends_with(IN_TEXT),
        };
        begins.then(|| (before, *severity, &line[at + word.len()..]))
    })
}

/// Returns the rest of a line that begins as the first line of its message does.
fn behind<'l>(before: &str, line: &'l str) -> Option<&'l str> {
    [before, before.trim_end()].into_iter().find_map(|before| {
        let (head, rest) = line.split_at_checked(before.len())?;
        same_shape(head, before).then_some(rest)
    })
}

/// Returns true for two texts that differ in digits alone, as times and numbers of processes do.
fn same_shape(a: &str, b: &str) -> bool {
    let is_same = |(a, b): (u8, u8)| a == b || a.is_ascii_digit() && b.is_ascii_digit();
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(is_same)
}
