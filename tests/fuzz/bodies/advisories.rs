//! Advisories and versions: whatever a database says, a verdict is found, and it depends on no order.

use lockctl::addr::ProviderAddr;
use lockctl::audit::{
    Advisory, AdvisoryDatabase, AuditedRelease, GoVersion, ModuleIndex, ModuleSelection, audit,
};
use lockctl::contents::BuildInfo;
use lockctl::flavor::{Flavor, Program};
use lockctl::version::Version;

use super::Budget;

const BUDGET: Budget = Budget {
    base_bytes: 64 * 1024,
    bytes: 400,
    base_allocations: 500,
    allocations: 20,
};

/// An input is an advisory, an index, or lines of versions.
pub fn run(data: &[u8]) {
    let _ = BUDGET.spend(data, || ModuleIndex::parse(data));
    if let Ok(advisory) = BUDGET.spend(data, || Advisory::parse(data)) {
        check_verdicts(&advisory);
    }
    if let Ok(text) = std::str::from_utf8(data) {
        check_order(text);
    }
}

fn check_verdicts(advisory: &Advisory) {
    let build = "path\tx.example/p\nmod\tgithub.com/acme/terraform-provider-x/v2\tv2.0.0\t\n\
                 dep\tgolang.org/x/net\tv0.30.0\t\n";
    let build = BuildInfo::parse("go1.22.3", build).expect("sound");
    let provider =
        ProviderAddr::parse("acme/x", Flavor::newest(Program::Terraform)).expect("valid");
    let once = AdvisoryDatabase::new([advisory.clone()]);
    let twice = AdvisoryDatabase::new([advisory.clone(), advisory.clone()]);
    for (major, builds) in [
        (0, vec![]),
        (1, vec![&build]),
        (7, vec![]),
        (7, vec![&build]),
    ] {
        let release = AuditedRelease {
            provider: &provider,
            version: &Version::release(major, 2, 3),
            builds: &builds,
        };
        let matches = audit(release, &once);
        assert_eq!(matches, audit(release, &twice));
        assert!(matches.len() <= 1, "one advisory is listed once");
        let mut selection = ModuleSelection::default();
        release.select(&mut selection);
        assert!(matches.is_empty() || selection.has_any_of(advisory));
        assert!(matches.is_empty() || !advisory.is_withdrawn);
    }
}

fn check_order(text: &str) {
    let versions: Vec<GoVersion> = text.lines().take(8).filter_map(GoVersion::parse).collect();
    for version in &versions {
        let again = GoVersion::parse(&version.to_string()).expect("what is displayed is read");
        assert_eq!(&again, version);
    }
    for left in &versions {
        for right in &versions {
            assert_eq!(left.cmp(right), right.cmp(left).reverse());
            for third in &versions {
                assert!(
                    left > right || right > third || left <= third,
                    "the order is transitive"
                );
            }
        }
    }
}
