//! The lines of attributes that connect git to the drivers of lockctl.

/// The lines of attributes that name the drivers: for lock files, and for files of pinned modules.
pub const ATTRIBUTES: [&str; 2] = [
    ".terraform.lock.hcl merge=lockctl diff=lockctl",
    ".lockctl.modules.hcl merge=lockctl diff=lockctl",
];

/// Adds the lines of attributes that lack; `None` if all are there.
pub(super) fn with_lines(text: &[u8]) -> Option<Vec<u8>> {
    let missing: Vec<&str> = ATTRIBUTES
        .into_iter()
        .filter(|wanted| !lines(text).any(|line| line.trim_ascii() == wanted.as_bytes()))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let mut out = text.to_vec();
    // A file that ended without a line end ends so again when the lines are removed.
    let is_open = !text.is_empty() && !text.ends_with(b"\n");
    if is_open {
        out.push(b'\n');
    }
    out.extend_from_slice(missing.join("\n").as_bytes());
    if !is_open {
        out.push(b'\n');
    }
    Some(out)
}

/// Adds the lines of attributes at the end, where no other line of the file overrides them, or moves them
/// there; `None` if they are the last lines already.
pub(super) fn with_last_lines(text: &[u8]) -> Option<Vec<u8>> {
    let are_last = lines(text)
        .rev()
        .filter(|line| !line.trim_ascii().is_empty())
        .take(ATTRIBUTES.len())
        .filter(|line| is_ours(line))
        .count()
        == ATTRIBUTES.len();
    if are_last {
        return None;
    }
    let rest = without_lines(text);
    with_lines(rest.as_deref().unwrap_or(text))
}

/// Removes the lines of attributes; `None` if none is there.
pub(super) fn without_lines(text: &[u8]) -> Option<Vec<u8>> {
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
    ATTRIBUTES
        .iter()
        .any(|ours| line.trim_ascii() == ours.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_move_behind_those_that_override_it() {
        let moved = |text: &str| with_last_lines(text.as_bytes());
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let line = format!("{}\n", ATTRIBUTES.join("\n"));
        assert_eq!(moved(""), text(&line));
        assert_eq!(moved(&line), None);
        assert_eq!(moved(&format!("{line}\n")), None);
        let last = format!("*.hcl merge=union\n{line}");
        assert_eq!(moved("*.hcl merge=union\n"), text(&last));
        assert_eq!(moved(&format!("{line}*.hcl merge=union\n")), text(&last));
    }

    #[test]
    fn the_lines_are_added_once_and_removed_without_a_trace() {
        for text in ["", "* text=auto\n", "* text=auto", "\n\n", "a\r\n"] {
            let with = with_lines(text.as_bytes()).expect("it is not there");
            assert_eq!(with_lines(&with), None, "{text:?}");
            let without = without_lines(&with).expect("it is there");
            assert_eq!(without, text.as_bytes());
            assert_eq!(without_lines(&without), None);
        }
        // An earlier version wrote the first line alone.
        let first = format!("{}\n", ATTRIBUTES[0]);
        let both = format!("{first}{}\n", ATTRIBUTES[1]);
        assert_eq!(with_lines(first.as_bytes()), Some(both.into_bytes()));
        let moved = format!("{}\r\n*.tf text", ATTRIBUTES[0]);
        assert_eq!(
            without_lines(moved.as_bytes()).as_deref(),
            Some(&b"*.tf text"[..])
        );
    }
}
