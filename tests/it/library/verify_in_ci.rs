//! Checks a lock file in a CI tool of one's own: which rules does it break?

use lockctl::coverage::Attributions;
use lockctl::diag::FileId;
use lockctl::flavor::FlavorChoice;
use lockctl::package::WantedPlatforms;
use lockctl::project::Project;
use lockctl::verify::{self, Advice, Checks, Groups, LockInput, RootInputs, Upstream};
use lockctl::{Flavor, lockfile};

fn broken_rules(text: &str, platforms: &[&str]) -> Vec<&'static str> {
    let flavor = Flavor::Terraform1_16;
    let (document, diagnostics) = lockfile::parse(FileId::ALONE, text.as_bytes(), flavor);
    let root = RootInputs {
        flavor,
        choice: FlavorChoice::Auto,
        lock_path: lockfile::FILE_NAME.as_ref(),
        lock: Some(LockInput {
            file: FileId::ALONE,
            bytes: text.as_bytes(),
            document: &document,
            diagnostics: &diagnostics,
        }),
        configuration: None,
        project: &Project::default(),
        project_file: lockctl::project::FILE_NAME,
        advice: &Advice::here(),
    };
    let mut checks = Checks {
        groups: &Groups::offline(),
        platforms: &|_| {
            WantedPlatforms::every(platforms.iter().map(|p| p.parse().unwrap()).collect())
        },
        installation_faults: &[],
        facts: &|_| Attributions::new(),
        packages: None,
        upstream: Upstream::NotAsked,
        matrix: false,
    };
    let verdict = verify::run(&root, &mut checks);
    verdict
        .findings
        .iter()
        .map(|one| one.diagnostic.code)
        .collect()
}

#[test]
fn an_entry_without_hashes_is_incomplete() {
    let text = "provider \"example.com/acme/tool\" {\n  version = \"1.0.0\"\n}\n";
    let rules = broken_rules(text, &["linux_amd64"]);
    assert_eq!(rules, ["file-not-canonical", "platforms-incomplete"]);
}
