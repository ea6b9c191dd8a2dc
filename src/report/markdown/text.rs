//! Foreign text that means nothing to Markdown, HTML or GitHub.

use crate::report::style::harmless;

/// Returns a code span, in which nothing but a pipe of a table would mean anything.
pub(super) fn code(text: &str) -> String {
    // A pipe ends a cell even inside of a code span, unless it is escaped (GFM 4.10).
    let text = harmless(text).replace('|', "\\|");
    // A code span ends at a run of backticks of the length that began it (CommonMark 6.1).
    let marks = "`".repeat(longest_run(&text) + 1);
    // A reader strips one space from both ends of a span, unless it is nothing but spaces (6.1, too).
    let space = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() {
        " "
    } else {
        ""
    };
    format!("{marks}{space}{text}{space}{marks}")
}

/// Returns a block of lines in which nothing means anything.
pub(super) fn fenced(lines: &[String], language: &str) -> String {
    let lines: Vec<String> = lines.iter().map(|line| harmless(line)).collect();
    let text = lines.join("\n");
    // A fence is closed by one that is at least as long (CommonMark 4.5).
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

/// Returns text in which no character means anything to Markdown or HTML.
///
/// Addresses of the web and mentions are found without any mark, so these are taken apart too.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in harmless(text).chars() {
        match c {
            // An empty comment keeps what follows from becoming a mention or a reference.
            '@' => out.push_str("&#64;<!-- -->"),
            '#' => out.push_str("&#35;<!-- -->"),
            // GitHub links `www.` and names of hosts that stand in the text.
            '.' if before.is_ascii_alphabetic() => out.push_str("&#46;"),
            '.' | ',' | ';' | '(' | ')' | '\'' | '-' | '/' | '+' | '=' | '?' => out.push(c),
            // `http:`, `https:` and `ftp:` begin a link, too; any other colon is harmless.
            c if c.is_ascii_punctuation() && (c != ':' || before == 's' || before == 'p') => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}
