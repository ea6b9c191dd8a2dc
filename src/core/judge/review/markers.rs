//! Lock files with conflict markers: written block by block, and taken apart into their sides.

use std::collections::BTreeMap;

use super::merge::Merged;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, FileId, Span, rules};
use crate::flavor::Flavor;
use crate::lockfile::{self, ProviderLock};

/// Number of characters of git's markers, unless an attribute says otherwise.
pub const MARKER_SIZE: usize = 7;

/// The size and labels of the markers of conflicts in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markers {
    /// Number of characters of a marker.
    pub size: usize,
    /// The label of the first marker.
    pub ours: String,
    /// The label of the marker of the base; without one the base is not shown.
    pub base: Option<String>,
    /// The label of the last marker.
    pub theirs: String,
}

/// The help where the markers do not fit together, so that no command knows the sides.
pub const MARKERS_HELP: &str =
    "fix or delete the markers, or let git write them anew with `git checkout --merge -- FILE`";

/// A text with conflicts, taken apart.
///
/// The sides are as long as the text and have its line ends: lines of the other side are blank. So a
/// place in a side is a place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The text of our side.
    pub ours: Vec<u8>,
    /// The common base, if every conflict shows it.
    pub base: Option<Vec<u8>>,
    /// The text of their side.
    pub theirs: Vec<u8>,
    /// The markers; the labels are those of the first conflict.
    pub markers: Markers,
    /// The number of conflicts.
    pub conflicts: usize,
}

/// Markers that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct MarkerError {
    /// The marker at fault.
    pub span: Span,
    /// The marker before it that is open, if there is one.
    pub open: Option<Span>,
    /// The fault of the marker: a clause.
    pub fault: &'static str,
}

impl MarkerError {
    /// Returns the fault as one of the file that the text was read from.
    #[must_use]
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        let title = "Conflict markers do not fit together";
        let diagnostic = Diagnostic::error(rules::CONFLICT_MARKERS, title)
            .at(file, self.span, self.to_string())
            .help(format!("nothing was written; {MARKERS_HELP}"));
        match self.open {
            Some(open) => diagnostic.see(file, open, "the conflict that is open begins"),
            None => diagnostic,
        }
    }
}

/// Prints a merge in canonical form, with markers around each block that needs manual resolution.
///
/// Without conflicts this is what [`lockfile::write`] prints.
#[must_use]
pub fn write_merged(merged: &Merged, flavor: Flavor, markers: &Markers) -> String {
    let mut blocks: BTreeMap<&ProviderAddr, String> = BTreeMap::new();
    for (addr, entry) in &merged.lock.providers {
        blocks.insert(addr, lockfile::write_entry(addr, entry));
    }
    for (addr, conflict) in &merged.conflicts {
        let side = |entry: &Option<ProviderLock>| {
            entry
                .as_ref()
                .map_or_else(String::new, |entry| lockfile::write_entry(addr, entry))
        };
        let sides = [&conflict.ours, &conflict.base, &conflict.theirs];
        blocks.insert(addr, markers.around_blocks(&sides.map(side)));
    }
    let mut out = flavor.header().to_owned();
    for block in blocks.values() {
        out.push('\n');
        out.push_str(block);
    }
    out
}

impl Markers {
    /// Puts markers around the texts of our side, of the base if they show it, and of their side.
    #[must_use]
    pub fn around(&self, [ours, base, theirs]: [&[u8]; 3]) -> Vec<u8> {
        let mut out = Vec::with_capacity(ours.len() + theirs.len());
        let mut section = |sign: &str, label: &str, text: &[u8]| {
            let line = format!("{} {label}", sign.repeat(self.size));
            out.extend_from_slice(line.trim_end().as_bytes());
            out.push(b'\n');
            out.extend_from_slice(text);
            // A marker is one only at the beginning of a line.
            if text.last().is_some_and(|byte| *byte != b'\n') {
                out.push(b'\n');
            }
        };
        section("<", &self.ours, ours);
        if let Some(label) = &self.base {
            section("|", label, base);
        }
        section("=", "", theirs);
        section(">", &self.theirs, b"");
        out
    }

    /// Does the same for blocks of a lock file.
    pub(super) fn around_blocks(&self, sides: &[String; 3]) -> String {
        let bytes = self.around(sides.each_ref().map(|side| side.as_bytes()));
        String::from_utf8(bytes).expect("markers and blocks are text")
    }
}

/// Takes a text with conflict markers apart; `None` if it has none.
///
/// The first marker says how long all are; longer and shorter ones are text.
///
/// # Errors
/// If the markers do not fit together.
pub fn part(text: &[u8]) -> Result<Option<Parted>, MarkerError> {
    // A marker may be longer than usual: where a base has conflicts of its own, git makes the markers of these
    // longer, and an attribute may ask for any length.
    let opening_size = |line: &[u8]| {
        let size = line.iter().take_while(|byte| **byte == b'<').count();
        (size >= MARKER_SIZE && sign(line, size).is_some()).then_some(size)
    };
    let Some(size) = text.split(|byte| *byte == b'\n').find_map(opening_size) else {
        return Ok(None);
    };
    let mut reader = MarkerReader::new(text.len(), size);
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match sign(line, size) {
            Some(sign) => reader.marker(sign, start, line)?,
            None => reader.push(line, Some(reader.section)),
        }
        start += line.len();
    }
    // A conflict that does not end would give its rest to one side only.
    match reader.open {
        Some(span) => Err(MarkerError {
            span,
            open: None,
            fault: "the conflict that begins here does not end",
        }),
        None => Ok(Some(reader.parted())),
    }
}

/// Returns the character of the marker that a line is, if it is one.
fn sign(line: &[u8], size: usize) -> Option<u8> {
    let sign = *line.first().filter(|byte| b"<|=>".contains(byte))?;
    let same = line.iter().take_while(|byte| **byte == sign).count();
    // Behind a marker git writes a blank and a label, or nothing; with CRLF the line ends in CR.
    let ends = matches!(line.get(size), None | Some(b' ' | b'\r' | b'\n'));
    (same == size && ends).then_some(sign)
}

/// The side that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    All,
    Ours,
    Base,
    Theirs,
}

struct MarkerReader {
    parted: Parted,
    base: Vec<u8>,
    section: Section,
    /// The marker that began the conflict at hand.
    open: Option<Span>,
    /// Each conflict so far shows the base.
    shows_base: bool,
    /// The conflict at hand shows the base.
    has_base: bool,
}

impl MarkerReader {
    fn new(len: usize, size: usize) -> Self {
        Self {
            parted: Parted {
                ours: Vec::with_capacity(len),
                base: None,
                theirs: Vec::with_capacity(len),
                markers: Markers {
                    size,
                    ours: String::new(),
                    base: None,
                    theirs: String::new(),
                },
                conflicts: 0,
            },
            base: Vec::with_capacity(len),
            section: Section::All,
            open: None,
            shows_base: true,
            has_base: false,
        }
    }

    fn marker(&mut self, sign: u8, start: usize, line: &[u8]) -> Result<(), MarkerError> {
        let span = Span::new(start, start + line.trim_ascii_end().len());
        let size = self.parted.markers.size;
        let label = String::from_utf8_lossy(line[size..].trim_ascii()).into_owned();
        // All conflicts of a text have the same labels, unless an author changed some: those of the first count.
        let is_first = self.parted.conflicts == 0;
        let fault = match (sign, self.section) {
            (b'<', Section::All) => {
                self.section = Section::Ours;
                self.open = Some(span);
                self.has_base = false;
                if is_first {
                    self.parted.markers.ours = label;
                }
                None
            }
            (b'|', Section::Ours) => {
                self.section = Section::Base;
                self.has_base = true;
                if is_first {
                    self.parted.markers.base = Some(label);
                }
                None
            }
            (b'=', Section::Ours | Section::Base) => {
                self.section = Section::Theirs;
                None
            }
            (b'>', Section::Theirs) => {
                self.section = Section::All;
                self.open = None;
                // One conflict without its base is enough: the base of the file as a whole is unknown then.
                self.shows_base &= self.has_base;
                if is_first {
                    self.parted.markers.theirs = label;
                }
                self.parted.conflicts += 1;
                None
            }
            (b'<', _) => Some("a conflict begins inside of another"),
            (_, Section::All) => Some("no conflict is open here"),
            _ => Some("this marker cannot follow the one before it"),
        };
        if let Some(fault) = fault {
            let open = self.open;
            return Err(MarkerError { span, open, fault });
        }
        self.push(line, None);
        Ok(())
    }

    /// Adds a line to the sides that have it; to the others a blank one.
    fn push(&mut self, line: &[u8], section: Option<Section>) {
        let sides = [
            (Section::Ours, &mut self.parted.ours),
            (Section::Base, &mut self.base),
            (Section::Theirs, &mut self.parted.theirs),
        ];
        for (own, side) in sides {
            if section == Some(Section::All) || section == Some(own) {
                side.extend_from_slice(line);
            } else {
                // Blanks of the same length keep the places of faults in a side those of the text.
                let blank = line.iter().map(|byte| match byte {
                    b'\r' | b'\n' => *byte,
                    _ => b' ',
                });
                side.extend(blank);
            }
        }
    }

    fn parted(mut self) -> Parted {
        // A base that one conflict hides has a hole there, which would look like an entry that was absent (rules 1.5).
        if self.shows_base {
            self.parted.base = Some(self.base);
        } else {
            self.parted.markers.base = None;
        }
        self.parted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows how a text is taken apart: its sides without blanks, or what is wrong and in which line.
    fn sides_of(text: &str) -> String {
        let line = |span: Span| text[..span.start].lines().count() + 1;
        let side = |bytes: &[u8]| {
            assert_eq!(bytes.len(), text.len());
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        match part(text.as_bytes()) {
            Ok(None) => "no conflict".to_owned(),
            Ok(Some(parted)) => format!(
                "{} x {}: {} / {} / {}",
                parted.conflicts,
                parted.markers.size,
                side(&parted.ours),
                parted.base.as_deref().map_or("?".to_owned(), side),
                side(&parted.theirs)
            ),
            Err(error) => format!("{}: {error}", line(error.span)),
        }
    }

    #[track_caller]
    fn check(text: &str, wanted: &str) {
        assert_eq!(sides_of(text), wanted, "{text}");
        // Line ends of Windows change nothing.
        assert_eq!(sides_of(&text.replace('\n', "\r\n")), wanted, "{text}");
    }

    #[test]
    fn texts_are_taken_apart() {
        check("a\n", "no conflict");
        check("=======\na\n", "no conflict");
        check(
            "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n",
            "1 x 7: a b d / ? / a c d",
        );
        check(
            "<<<<<<<\na\n||||||| 123\nb\n=======\n>>>>>>>\n<<<<<<< x\n|||||||\n=======\nc\n>>>>>>>",
            "2 x 7: a / b / c",
        );
        check(
            "<<<<<<<\na\n|||||||\nb\n=======\n>>>>>>>\n<<<<<<<\nc\n=======\n>>>>>>>\n",
            "2 x 7: a c / ? / ",
        );
        check(
            "<<<<<<<<<< x\n=======\n==========\nb\n>>>>>>>>>> y\n",
            "1 x 10: ======= / ? / b",
        );
        // The base of a merge with several bases may have conflicts of its own.
        check(
            "<<<<<<<\na\n|||||||\n<<<<<<<<<\nb\n=========\nc\n>>>>>>>>>\n=======\nd\n>>>>>>>\n",
            "1 x 7: a / <<<<<<<<< b ========= c >>>>>>>>> / d",
        );
    }

    #[test]
    fn broken_markers_have_a_place() {
        let cases = [
            (
                "<<<<<<<\n<<<<<<<\n",
                "2: a conflict begins inside of another",
            ),
            (
                "<<<<<<<\n=======\n<<<<<<<\n",
                "3: a conflict begins inside of another",
            ),
            (
                ">>>>>>> x\n<<<<<<<\n=======\n>>>>>>>\n",
                "1: no conflict is open here",
            ),
            (
                "<<<<<<<\n=======\n=======\n>>>>>>>\n",
                "3: this marker cannot follow the one before it",
            ),
            (
                "<<<<<<<\n>>>>>>>\n",
                "2: this marker cannot follow the one before it",
            ),
            (
                "a\n<<<<<<<\na\n=======\n",
                "2: the conflict that begins here does not end",
            ),
        ];
        for (text, wanted) in cases {
            check(text, wanted);
        }
    }
}
