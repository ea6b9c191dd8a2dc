//! Package URLs of providers and of Go modules.
//!
//! A reader of a purl does not know which program the lock file is for. So the host of a provider is left out only if
//! it is the default repository of the type, `registry.terraform.io`. Every other host is the qualifier
//! `repository_url`, even the default registry of OpenTofu, since one bill may have the same provider from both.

use crate::addr::ProviderAddr;
use crate::version::Version;

/// The repository of a purl of type `terraform` without a qualifier, as the type's proposal defines it.
const DEFAULT_HOST: &str = "registry.terraform.io";

/// Returns the purl of a provider version, in the form that pull request 889 of purl-spec proposes.
///
/// ```
/// use lockctl::addr::ProviderAddr;
/// use lockctl::flavor::Flavor;
/// use lockctl::sbom::purl::of_provider;
///
/// let named = |text| {
///     let addr = ProviderAddr::parse(text, Flavor::Terraform1_16).expect("an address");
///     of_provider(&addr, &"1.2.0-rc1+b".parse().expect("a version"))
/// };
/// assert_eq!(named("acme/tool"), "pkg:terraform/acme/tool@1.2.0-rc1%2Bb");
/// assert_eq!(
///     named("registry.opentofu.org/acme/tool"),
///     "pkg:terraform/acme/tool@1.2.0-rc1%2Bb?repository_url=registry.opentofu.org"
/// );
/// ```
#[must_use]
pub fn of_provider(provider: &ProviderAddr, version: &Version) -> String {
    let namespace = encoded(provider.namespace());
    let name = encoded(provider.type_name());
    let version = encoded(&version.to_string());
    let host = provider.hostname().ascii();
    let qualifier = if host == DEFAULT_HOST {
        String::new()
    } else {
        format!("?repository_url={}", encoded(host))
    };
    format!("pkg:terraform/{namespace}/{name}@{version}{qualifier}")
}

/// Returns the purl of a Go module version; without a version, that of the module.
///
/// The type `golang` requires paths in lower case.
///
/// ```
/// use lockctl::sbom::purl::of_module;
///
/// assert_eq!(
///     of_module("github.com/BurntSushi/toml", Some("v2.0.0+incompatible")),
///     "pkg:golang/github.com/burntsushi/toml@v2.0.0%2Bincompatible"
/// );
/// ```
#[must_use]
pub fn of_module(path: &str, version: Option<&str>) -> String {
    let parts: Vec<String> = path
        .to_lowercase()
        .split('/')
        // Readers of purls drop empty parts.
        .filter(|part| !part.is_empty())
        .map(encoded)
        .collect();
    let version = version.map_or(String::new(), |version| format!("@{}", encoded(version)));
    format!("pkg:golang/{}{version}", parts.join("/"))
}

/// Percent-encodes a part of a purl, except letters, digits, `.`, `-`, `_`, `~` and `:`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        // `+` is encoded: readers that decode it as in a form would see a space in `v2.0.0+incompatible`.
        if byte.is_ascii_alphanumeric() || b".-_~:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}
