//! Lock files: what is read is written, and what is written is read, by the rules of all flavors.

use lockctl::diag::{FileId, has_errors};
use lockctl::flavor::Flavor;
use lockctl::lockfile::{Places, comments, parse, write};

use super::{Budget, diagnostics};

const BUDGET: Budget = Budget {
    base_bytes: 256 * 1024,
    bytes: 400,
    base_allocations: 1_000,
    allocations: 40,
};

pub fn run(data: &[u8]) {
    for flavor in Flavor::ALL {
        let (document, problems) = BUDGET.spend(data, || parse(FileId::ALONE, data, flavor));
        diagnostics::check(data, &problems);
        for places in document.places.values() {
            let Places {
                header,
                version,
                constraints,
                hashes,
                listed,
            } = places;
            let spans = [Some(*header), Some(*version), *constraints, *hashes];
            for span in spans
                .into_iter()
                .flatten()
                .chain(listed.iter().map(|(_, span)| *span))
            {
                diagnostics::check_span(data, span);
            }
        }
        let (places, entries) = (document.places.keys(), document.lock.providers.keys());
        assert!(places.eq(entries), "every entry has its place");

        // Entries without a fault survive, whatever stands beside them.
        let written = write(&document.lock, flavor);
        let (again, faults) = parse(FileId::ALONE, written.as_bytes(), flavor);
        assert!(!has_errors(&faults), "{faults:?} in {written}");
        assert_eq!(again.lock, document.lock, "{written}");
        assert_eq!(again.header, Some(flavor.program()));
        assert_eq!(again.comments, 0, "{written}");
        assert_eq!(write(&again.lock, flavor), written);
        if !has_errors(&problems) {
            // A line of a header counts as a comment of the file where the header is not whole.
            assert!(comments(data).len() <= document.comments);
        }
    }
}
