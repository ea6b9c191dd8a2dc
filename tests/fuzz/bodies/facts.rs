//! Facts that others exported: what is imported is exported as it was.

use lockctl::store::{export, import};

use super::Budget;

const BUDGET: Budget = Budget {
    base_bytes: 256 * 1024,
    bytes: 1_000,
    base_allocations: 1_000,
    allocations: 40,
};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let imported = BUDGET.spend(data, || import(text));
    let Ok(imported) = imported else { return };
    let exported = export(&imported.facts, &imported.releases, &imported.contents);
    let again = import(&exported).expect("an export is read");
    assert_eq!(again, imported, "{exported}");
    assert_eq!(
        export(&again.facts, &again.releases, &again.contents),
        exported
    );
    let twice = format!(
        "{exported}{}",
        exported.split_once('\n').map_or("", |(_, rest)| rest)
    );
    assert_eq!(
        import(&twice).as_ref(),
        Ok(&imported),
        "what is stated again counts once"
    );
}
