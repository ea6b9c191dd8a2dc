//! Output that is safe in the log of a CI system.

use std::io::{self, Write};

use super::style::{harmless, steers};

/// The language of a text, which decides how a character of it is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapedIn {
    /// Text for people: a replacement character replaces the other.
    Text,
    /// JSON: every character of a string has an escape.
    Json,
    /// XML: references represent characters.
    Xml,
    /// Commands of GitHub Actions: lines may begin with `::`.
    Commands,
}

/// A writer that keeps foreign text from becoming a command of GitHub's runner, which reads each line of a log.
///
/// The runner obeys a line that begins with `::` after any space, and one that holds `##[` anywhere. In JSON,
/// characters that steer a terminal or hide text are escaped as well. In all other formats the renderer
/// replaces them, because colours are such characters, too.
pub struct LogWriter<'w> {
    out: &'w mut (dyn Write + Send),
    language: EscapedIn,
    /// Nothing but space was written since the line began.
    is_start: bool,
    /// A colon is the first character of the line.
    has_colon: bool,
    /// A second colon was not written yet: before a third one, as in snippets, it begins no command.
    is_held: bool,
    /// The number of `#` before the next character.
    hashes: usize,
}

impl<'w> LogWriter<'w> {
    /// Writes text in a language to another writer.
    pub fn new(out: &'w mut (dyn Write + Send), language: EscapedIn) -> Self {
        Self {
            out,
            language,
            is_start: true,
            has_colon: false,
            is_held: false,
            hashes: 0,
        }
    }

    /// Returns true if a character must not be written as it is, or not yet, and moves on.
    fn is_special(&mut self, c: char) -> bool {
        self.is_held = self.has_colon && c == ':' && self.language != EscapedIn::Commands;
        let is_old_command = self.hashes >= 2 && c == '[';
        self.has_colon = self.is_start && c == ':';
        // A carriage return ends a line for the runner, too.
        self.is_start = matches!(c, '\n' | '\r') || self.is_start && c.is_whitespace();
        self.hashes = if c == '#' { self.hashes + 1 } else { 0 };
        let is_steering = self.language == EscapedIn::Json && c != '\n' && steers(c);
        self.is_held || is_old_command || is_steering
    }

    /// Writes the colon that was held, before another character.
    fn write_held(&mut self, next: char) -> io::Result<()> {
        self.is_held = false;
        if next == ':' {
            self.out.write_all(b":")
        } else {
            self.write_escaped(':')
        }
    }

    fn write_escaped(&mut self, c: char) -> io::Result<()> {
        match self.language {
            EscapedIn::Text | EscapedIn::Commands => write!(self.out, "\u{fffd}"),
            EscapedIn::Xml => write!(self.out, "&#{};", u32::from(c)),
            EscapedIn::Json => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .try_for_each(|unit| write!(self.out, "\\u{unit:04x}")),
        }
    }
}

/// Returns foreign bytes as lines that a terminal may show and a log may hold.
///
/// Each character that could steer the terminal or hide text is replaced, and so is each byte that is no UTF-8 and what
/// would make a line a command. Lines end in LF or CRLF as before.
///
/// ```
/// use lockctl::report::harmless_text;
///
/// assert_eq!(harmless_text(b"a\x1b[31m\r\nb\xff"), "a\u{fffd}[31m\r\nb\u{fffd}");
/// assert_eq!(harmless_text(b"::error::a"), ":\u{fffd}error::a");
/// ```
#[must_use]
pub fn harmless_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Vec::with_capacity(text.len());
    let mut writer = LogWriter::new(&mut out, EscapedIn::Text);
    for line in text.split_inclusive('\n') {
        let end = line.strip_suffix("\r\n").or(line.strip_suffix('\n'));
        let content = end.unwrap_or(line);
        write!(writer, "{}{}", harmless(content), &line[content.len()..]).expect("memory");
    }
    writer.flush().expect("memory");
    String::from_utf8(out).expect("whole characters are written")
}

impl Write for LogWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            let mut written = 0;
            for (at, c) in valid.char_indices() {
                if self.is_held {
                    self.write_held(c)?;
                }
                if self.is_special(c) {
                    self.out.write_all(&valid.as_bytes()[written..at])?;
                    if !self.is_held {
                        self.write_escaped(c)?;
                    }
                    written = at + c.len_utf8();
                }
            }
            self.out.write_all(&valid.as_bytes()[written..])?;
            // A character whose bytes come one by one.
            self.out.write_all(chunk.invalid())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_held {
            self.write_held(' ')?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: EscapedIn, parts: &[&str], wanted: &str) {
        let mut out = Vec::new();
        let mut writer = LogWriter::new(&mut out, language);
        for part in parts {
            writer.write_all(part.as_bytes()).expect("memory");
        }
        writer.flush().expect("memory");
        assert_eq!(String::from_utf8(out).expect("text"), wanted, "{parts:?}");
    }

    #[test]
    fn no_line_is_a_command() {
        let text = EscapedIn::Text;
        check(
            text,
            &["::error::x\na::b ::c"],
            ":\u{fffd}error::x\na::b ::c",
        );
        check(text, &["\u{3000} ", ":", ":a"], "\u{3000} :\u{fffd}a");
        check(
            text,
            &["  ::: a\n", ":", ":", ":b\n::"],
            "  ::: a\n:::b\n:\u{fffd}",
        );
        check(text, &["a\r::b"], "a\r:\u{fffd}b");
        check(
            text,
            &["a ##", "[error]#[ ###["],
            "a ##\u{fffd}error]#[ ###\u{fffd}",
        );
        check(
            EscapedIn::Commands,
            &["::error::##[x"],
            "::error::##\u{fffd}x",
        );
        check(EscapedIn::Xml, &["\n ::a ##[b"], "\n :&#58;a ##&#91;b");
    }

    #[test]
    fn strings_of_json_keep_their_meaning() {
        let given = "::##[\u{1b}\u{9b}\u{202e}\u{ad}\u{e0041}\u{7f}\n";
        let mut out = Vec::new();
        let mut writer = LogWriter::new(&mut out, EscapedIn::Json);
        serde_json::to_writer_pretty(&mut writer, &[given]).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "[\n  \"::##\\u005b\\u001b\\u009b\\u202e\\u00ad\\udb40\\udc41\\u007f\\n\"\n]"
        );
        let read: Vec<String> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, [given]);
    }
}
