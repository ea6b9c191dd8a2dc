//! Files of pinned modules: what is read is written as it was, and two files differ only where they do.

use lockctl::diag::{FileId, Severity};
use lockctl::pins::{parse, write};
use lockctl::review::pin_changes;

use super::{Budget, diagnostics};

const BUDGET: Budget = Budget {
    base_bytes: 256 * 1024,
    bytes: 1_000,
    base_allocations: 1_000,
    allocations: 60,
};

pub fn run(data: &[u8]) {
    let (document, problems) = BUDGET.spend(data, || parse(FileId::ALONE, data));
    diagnostics::check(data, &problems);
    assert!(document.pins.keys().eq(document.places.keys()));
    let written = write(&document.pins);
    let (again, problems) = parse(FileId::ALONE, written.as_bytes());
    assert!(
        problems
            .iter()
            .all(|problem| problem.severity < Severity::Error),
        "{problems:?} in {written:?}"
    );
    assert_eq!(again.pins, document.pins);
    assert_eq!(write(&again.pins), written);
    assert!(pin_changes(&document.pins, &again.pins).is_empty());
    let mut fewer = document.pins.clone();
    if fewer.pop_first().is_some() {
        assert_eq!(pin_changes(&document.pins, &fewer).len(), 1);
        assert_eq!(pin_changes(&fewer, &document.pins).len(), 1);
    }
}
