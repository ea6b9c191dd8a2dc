//! Order and limit of diagnostics: sorted, each once, cut off after a number of errors.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, FileId, MAX_PROBLEMS, Severity};

/// Maximum number of diagnostics before [`in_order`] cuts them back; more than it ever leaves.
const MAX_PILE: usize = 8 * MAX_PROBLEMS;

pub(crate) fn push(found: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
    found.push(diagnostic);
    relieve(found);
}

/// Cuts back what has piled up, so that a hostile file cannot fill the memory with its faults.
pub(crate) fn relieve(found: &mut Vec<Diagnostic>) {
    if found.len() > MAX_PILE {
        in_order(found);
    }
}

/// Sorts by place, drops what was found before, and cuts a flood off: behind [`MAX_PROBLEMS`]
/// errors comes one more, which says so.
///
/// Notes are counted on their own: many of them neither hide an error nor make one.
pub(crate) fn in_order(found: &mut Vec<Diagnostic>) {
    in_order_of(found, |file| file);
}

/// As [`in_order`], with files in the order that `key` gives them.
pub(crate) fn in_order_of<K: Ord>(found: &mut Vec<Diagnostic>, key: impl Fn(FileId) -> K) {
    // Stable: what several steps report about one place stays in the order of the steps.
    found.sort_by_key(|diagnostic| {
        let primary = diagnostic.primary.as_ref();
        primary.map(|label| (key(label.file), label.span.start))
    });
    let mut seen = BTreeSet::new();
    // Equal ones need not be neighbours: several may start at the same place.
    let mut is_new = found
        .iter()
        .map(|diagnostic| seen.insert(diagnostic))
        .collect::<Vec<bool>>()
        .into_iter();
    found.retain(|_| is_new.next() == Some(true));
    let (mut errors, mut notes) = (0, 0);
    found.retain_mut(|diagnostic| {
        let is_error = diagnostic.severity == Severity::Error;
        let count = if is_error { &mut errors } else { &mut notes };
        *count += 1;
        if *count == MAX_PROBLEMS + 1 {
            let title = if is_error {
                "Too many errors"
            } else {
                "Too many notes"
            };
            title.clone_into(&mut diagnostic.title);
        }
        *count <= MAX_PROBLEMS + 1
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Span, Texts};

    #[test]
    fn the_same_is_reported_once_even_with_others_between() {
        let file = Texts::default().add("x", Vec::new());
        let error = |title: &str, at| Diagnostic::error("x", title).at(file, Span::new(at, 9), "");
        let mut found = vec![
            error("b", 4),
            error("b", 1),
            error("a", 1),
            error("b", 1),
            error("a", 1),
        ];
        in_order(&mut found);
        assert_eq!(found, [error("b", 1), error("a", 1), error("b", 4)]);
    }

    #[test]
    fn a_flood_of_notes_hides_no_error() {
        let file = Texts::default().add("x", Vec::new());
        let at = |at| Span::new(at, at);
        let mut found: Vec<Diagnostic> = (0..5000)
            .map(|n| Diagnostic::note("x", "n").at(file, at(n), ""))
            .collect();
        found.push(Diagnostic::error("x", "e").at(file, at(9000), ""));
        in_order(&mut found);
        let titles: Vec<&str> = found.iter().map(|one| &*one.title).collect();
        assert_eq!(titles.len(), MAX_PROBLEMS + 2);
        assert_eq!(titles[MAX_PROBLEMS..], ["Too many notes", "e"]);
        let before = found.clone();
        in_order(&mut found);
        assert_eq!(found, before, "once cut, it stays");
    }
}
