//! Lock files made of an input: few addresses, versions and hashes, so that sides have much in common.

use arbitrary::{Result, Unstructured};
use lockctl::addr::ProviderAddr;
use lockctl::flavor::Flavor;
use lockctl::hash::Hash;
use lockctl::lockfile::{LockFile, ProviderLock};
use lockctl::version::{Constraints, Version};

const ADDRESSES: &[&str] = &[
    "registry.terraform.io/hashicorp/aws",
    "registry.terraform.io/hashicorp/null",
    "registry.opentofu.org/hashicorp/aws",
    "registry.opentofu.org/opentofu/aws",
    "registry.terraform.io/hashicorq/aws",
    "example.com/acme/tool",
    "example.com/acme/null",
];

const VERSIONS: &[&str] = &[
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "2.0.0",
    "2.0.0-beta1",
    "2.0.0+a",
    "2.0.0+b",
    "0.0.0",
];

const CONSTRAINTS: &[&str] = &[
    "",
    "1.0.0",
    ">= 1.0.0",
    "~> 1.0",
    "~> 1.0.0",
    "< 2.0.0, >= 1.0.0",
    "!= 1.0.1, >= 1.0.0",
    "2.0.0-beta1",
];

/// The first byte makes every hash another one; both schemes and one that nobody knows.
const SCHEMES: &[&str] = &["zh:", "h1:", "h2:"];

pub(super) fn lock_file(input: &mut Unstructured<'_>) -> Result<LockFile> {
    let mut lock = LockFile::default();
    for _ in 0..input.int_in_range(0..=5)? {
        let addr = ProviderAddr::parse(input.choose(ADDRESSES)?, Flavor::Terraform1_16);
        let version: Version = input.choose(VERSIONS)?.parse().expect("a version");
        let constraints = Constraints::parse_lock(input.choose(CONSTRAINTS)?).expect("constraints");
        let mut hashes = Vec::new();
        for _ in 0..input.int_in_range(0..=6)? {
            hashes.push(hash(input)?);
        }
        let entry = ProviderLock {
            version,
            constraints,
            hashes: hashes.into_iter().collect(),
        };
        lock.providers.insert(addr.expect("an address"), entry);
    }
    Ok(lock)
}

fn hash(input: &mut Unstructured<'_>) -> Result<Hash> {
    let scheme = input.choose(SCHEMES)?;
    let number = input.int_in_range(0..=15)?;
    let text = match *scheme {
        "zh:" => format!("zh:{}", format!("{number:x}").repeat(64)),
        "h1:" => format!("h1:{}=", char::from(b'A' + number).to_string().repeat(43)),
        scheme => format!("{scheme}{number}"),
    };
    Ok(text.parse().expect("a hash"))
}
