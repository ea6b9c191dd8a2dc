//! Lists what a lock file records.

use std::error::Error;

use lockctl_core::{Flavor, LockFile};

fn list(text: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
    let flavor = Flavor::Terraform1_16;
    let lock = LockFile::parse(text, flavor)?;
    let entries = lock.providers.iter().map(|(addr, entry)| {
        let hashes = entry.hashes.iter().count();
        format!("{} {}: {hashes} hashes", addr.short(flavor), entry.version)
    });
    Ok(entries.collect())
}

#[test]
fn a_lock_file_is_listed() {
    let text = br#"
provider "registry.terraform.io/hashicorp/null" {
  version = "3.2.4"
  hashes = [
    "h1:L5V05xwp/Gto1leRryuesxjMfgZwjb7oool4WS1UEFQ=",
  ]
}
"#;
    assert_eq!(list(text).unwrap(), ["hashicorp/null 3.2.4: 1 hashes"]);
    let error = list(b"provider {").unwrap_err().to_string();
    assert!(error.contains(": Unclosed configuration block"), "{error}");
}
