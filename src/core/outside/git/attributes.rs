//! The line of attributes that connects git to the drivers of lockctl.

/// The line of attributes that names the drivers.
pub const ATTRIBUTES: &str = ".terraform.lock.hcl merge=lockctl diff=lockctl";

/// Adds the line of attributes; `None` if it is there.
pub(super) fn with_line(text: &[u8]) -> Option<Vec<u8>> {
    if lines(text).any(is_ours) {
        return None;
    }
    let mut out = text.to_vec();
    // A file that ended without a line end ends so again when the line is removed.
    let is_open = !text.is_empty() && !text.ends_with(b"\n");
    if is_open {
        out.push(b'\n');
    }
    out.extend_from_slice(ATTRIBUTES.as_bytes());
    if !is_open {
        out.push(b'\n');
    }
    Some(out)
}

/// Adds the line of attributes at the end, where no other line of the file overrides it, or moves it
/// there; `None` if it is the last line already.
pub(super) fn with_last_line(text: &[u8]) -> Option<Vec<u8>> {
    let has_text = |line: &&[u8]| !line.trim_ascii().is_empty();
    if lines(text).rev().find(has_text).is_some_and(is_ours) {
        return None;
    }
    let rest = without_line(text);
    with_line(rest.as_deref().unwrap_or(text))
}

/// Removes the line of attributes; `None` if it is not there.
pub(super) fn without_line(text: &[u8]) -> Option<Vec<u8>> {
    if !lines(text).any(is_ours) {
        return None;
    }
    let mut out: Vec<u8> = lines(text)
        .filter(|line| !is_ours(line))
        .flatten()
        .copied()
        .collect();
    if !text.ends_with(b"\n") && lines(text).next_back().is_some_and(is_ours) {
        let end = out.strip_suffix(b"\n").map_or(out.len(), <[u8]>::len);
        out.truncate(end);
    }
    Some(out)
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is_ours(line: &[u8]) -> bool {
    line.trim_ascii() == ATTRIBUTES.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_moves_behind_those_that_override_it() {
        let moved = |text: &str| with_last_line(text.as_bytes());
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let line = format!("{ATTRIBUTES}\n");
        assert_eq!(moved(""), text(&line));
        assert_eq!(moved(&line), None);
        assert_eq!(moved(&format!("{line}\n")), None);
        let last = format!("*.hcl merge=union\n{line}");
        assert_eq!(moved("*.hcl merge=union\n"), text(&last));
        assert_eq!(moved(&format!("{line}*.hcl merge=union\n")), text(&last));
    }

    #[test]
    fn the_line_is_added_once_and_removed_without_a_trace() {
        for text in ["", "* text=auto\n", "* text=auto", "\n\n", "a\r\n"] {
            let with = with_line(text.as_bytes()).expect("it is not there");
            assert_eq!(with_line(&with), None, "{text:?}");
            let without = without_line(&with).expect("it is there");
            assert_eq!(without, text.as_bytes());
            assert_eq!(without_line(&without), None);
        }
        let moved = format!("{ATTRIBUTES}\r\n*.tf text");
        assert_eq!(
            without_line(moved.as_bytes()).as_deref(),
            Some(&b"*.tf text"[..])
        );
    }
}
