//! Checks a root in a CI tool of one's own: which rules does it break?

use std::error::Error;

use lockctl_core::Verifier;

fn broken_rules(root: &str, platforms: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let platforms: Result<Vec<_>, _> = platforms.iter().map(|name| name.parse()).collect();
    let verified = Verifier::new(root).platforms(platforms?).run()?;
    let lines = verified
        .findings
        .iter()
        .map(|finding| verified.describe(finding));
    Ok(lines.collect())
}

#[test]
fn a_root_is_verified_from_its_path() {
    for path in ["fixtures/gaps", "fixtures/gaps/.terraform.lock.hcl"] {
        let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
        let lines = broken_rules(&path, &["linux_amd64", "darwin_arm64"]).unwrap();
        assert_eq!(lines.len(), 2, "{lines:#?}");
        for line in lines {
            let place = line.split(": ").next().unwrap();
            assert!(place.contains(".terraform.lock.hcl:"), "{line}");
            assert!(line.contains("warning[platforms-incomplete]: "), "{line}");
        }
    }
}

#[test]
fn a_directory_that_is_missing_is_an_error() {
    let error = broken_rules("no/such/directory", &[]).unwrap_err();
    assert_eq!(error.to_string(), "no/such/directory cannot be read");
}

#[test]
fn a_platform_that_is_none_is_an_error() {
    assert!(broken_rules(".", &["linux"]).is_err());
}
