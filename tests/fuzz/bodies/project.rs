//! Project files.

use lockctl::addr::ProviderAddr;
use lockctl::diag::{FileId, RULES};
use lockctl::flavor::Flavor;
use lockctl::project::parse;

use super::{Budget, diagnostics};

const BUDGET: Budget = Budget {
    base_bytes: 1 << 20,
    bytes: 1_000,
    base_allocations: 5_000,
    allocations: 200,
};

pub fn run(data: &[u8]) {
    let (project, problems) = BUDGET.spend(data, || parse(FileId::ALONE, data));
    diagnostics::check(data, &problems);
    let (again, _) = parse(FileId::ALONE, data);
    assert_eq!(format!("{again:?}"), format!("{project:?}"));
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let addr = ProviderAddr::parse("hashicorp/null", flavor).expect("an address");
        let _ = project.platforms_of(&addr, flavor);
        let _ = project.wanted_platforms(&[&addr], flavor);
        for rule in RULES {
            let _ = project.rule(rule.name, Some(&addr), flavor);
        }
    }
}
