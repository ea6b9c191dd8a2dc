//! Foreign text that means nothing to Markdown, HTML or GitHub.

use crate::report::style::harmless;

/// Returns a code span; inside it only the pipe of a table would have a meaning.
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

/// Returns sentences as [`escaped`] does, but for commands between backticks, which stay code.
pub(super) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let part = |(at, part): (usize, &str)| match at % 2 {
        1 if !part.is_empty() => code(part),
        _ => escaped(part),
    };
    if is_paired {
        parts.map(part).collect()
    } else {
        escaped(text)
    }
}

/// Returns lines of an error as one paragraph, with line breaks between them.
pub(super) fn failed(lines: &str) -> String {
    let lines = lines.lines().map(prose).collect::<Vec<_>>().join("<br>");
    format!("**Error**: {lines}\n\n")
}

/// Returns a block of lines without any markup.
pub(super) fn fenced(lines: &[String], language: &str) -> String {
    let text = lines
        .iter()
        .map(|line| harmless(line))
        .collect::<Vec<_>>()
        .join("\n");
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

/// Returns text without any character that has a meaning in Markdown or HTML; a character without a meaning in
/// its place is left as it is, so that the source stays readable, too.
///
/// Addresses of the web and mentions are found without any mark, so these are taken apart too.
pub(super) fn escaped(text: &str) -> String {
    let text = harmless(text);
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let is_inside_of_word = |at: usize| {
        let is_other = |c: &&char| **c != '_';
        let before = chars[..at].iter().rev().find(is_other);
        let after = chars[at..].iter().find(is_other);
        [before, after]
            .iter()
            .all(|c| c.is_some_and(|c| c.is_alphanumeric()))
    };
    for (at, &c) in chars.iter().enumerate() {
        let after = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            // An empty comment keeps what follows from becoming a mention or an address.
            '@' => out.push_str("&#64;<!-- -->"),
            // GitHub links `#1`; at the start it begins a heading.
            '#' if after.is_ascii_digit() || at == 0 => out.push_str("&#35;<!-- -->"),
            // GitHub links what begins with `www.` (GFM 6.9), and no other name of a host.
            '.' if chars[..at]
                .last_chunk::<3>()
                .is_some_and(|last| last.iter().all(|c| matches!(c, 'w' | 'W'))) =>
            {
                out.push_str("&#46;");
            }
            // `http://`, `https://` and `ftp://` begin a link, too.
            ':' if after == '/' => out.push_str("&#58;"),
            // Inside of a word an underscore begins no emphasis (CommonMark 6.2).
            '_' if is_inside_of_word(at) => out.push(c),
            // GitHub reads what is between two of them as mathematics, and knows no backslash before them.
            '$' => out.push_str("&#36;"),
            // An ampersand means something only as the beginning of an entity (CommonMark 2.5).
            '&' if !(after.is_ascii_alphanumeric() || after == '#') => out.push(c),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '~' | '|' | '[' | ']' => out.extend(['\\', c]),
            // A quotation or a list begins with these, and nothing else does.
            '>' | '-' | '+' if at == 0 => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, wanted: &str) {
        assert_eq!(escaped(given), wanted, "from {given:?}");
    }

    #[test]
    fn nothing_is_escaped_that_means_nothing() {
        for plain in [
            "no h1: recorded for darwin_arm64, linux_amd64; registry.terraform.io/a/b-c",
            "review.tf a__b",
            "27 roots: 26 clean, 1 failed (-v names them)",
            "\"::add-mask::\" is no version: >= 1.0, != 2 & 50 % {x} #x !",
        ] {
            check(plain, plain);
        }
    }

    #[test]
    fn commands_stay_code() {
        assert_eq!(
            prose("run `lockctl lock live/__x__`, then _look_"),
            "run `lockctl lock live/__x__`, then \\_look\\_"
        );
        assert_eq!(prose("a ` b_ <c>"), "a \\` b\\_ &lt;c>");
    }

    #[test]
    fn nothing_foreign_has_a_meaning() {
        check("live/__x__/_y_ a_b", "live/\\_\\_x\\_\\_/\\_y\\_ a_b");
        check("~> 1.0 and ~> 2.0", "\\~> 1.0 and \\~> 2.0");
        check("`a` *b* [c](d) |e", "\\`a\\` \\*b\\* \\[c\\](d) \\|e");
        check("<script> &amp; \\", "&lt;script> &amp;amp; \\\\");
        check("@team a@b.c", "&#64;<!-- -->team a&#64;<!-- -->b.c");
        check("# x #12", "&#35;<!-- --> x &#35;<!-- -->12");
        check(
            "https://x WWW.x.org $a$",
            "https&#58;//x WWW&#46;x.org &#36;a&#36;",
        );
        check("> a > b", "\\> a > b");
        check("- a - b", "\\- a - b");
    }
}
