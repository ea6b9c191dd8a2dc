//! The line of attributes by which git finds the drivers of lockctl.

/// The line of attributes that names the drivers.
pub const ATTRIBUTES: &str = ".terraform.lock.hcl merge=lockctl diff=lockctl";

/// Adds the line of attributes; `None` if it is there.
pub(super) fn with_line(text: &[u8]) -> Option<Vec<u8>> {
    if lines(text).any(is_ours) {
        return None;
    }
    let mut out = text.to_vec();
    // A file that ended without a line end ends so again when the line goes.
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

/// Takes the line of attributes away; `None` if it is not there.
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
    fn the_line_comes_once_and_goes_without_a_trace() {
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
