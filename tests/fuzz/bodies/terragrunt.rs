//! Units of Terragrunt: evaluation ends within its budget, and says the same with shared files.

use std::path::Path;

use lockctl::diag::Texts;
use lockctl::terragrunt::{Documents, UnitSurroundings, evaluate, render};

use super::{Budget, diagnostics, tree};

const BUDGET: Budget = Budget {
    base_bytes: 32 << 20,
    bytes: 2_000,
    base_allocations: 400_000,
    allocations: 2_000,
};

/// What stands before the first name is the unit.
pub fn run(data: &[u8]) {
    let files = tree::files("/r", "app/terragrunt.hcl", data);
    let documents = Documents::default();
    let around = UnitSurroundings::new(&documents);
    let unit = Path::new("/r/app");
    let mut texts = Texts::default();
    let (first, problems) = BUDGET.spend(data, || evaluate(&files, &mut texts, unit, &around));
    for label in problems
        .iter()
        .flat_map(|problem| problem.primary.iter().chain(&problem.related))
    {
        diagnostics::check_span(texts.bytes(label.file), label.span);
    }
    let titles = |problems: &[lockctl::diag::Diagnostic]| -> Vec<String> {
        problems
            .iter()
            .map(|problem| problem.title.clone())
            .collect()
    };
    // The documents are known by now.
    let (again, later) = evaluate(&files, &mut Texts::default(), unit, &around);
    assert_eq!(again.source.is_ok(), first.source.is_ok());
    assert_eq!(titles(&later), titles(&problems));
    let _ = render(&files, &mut Texts::default(), unit, &around);
}
