//! The page of a provider at its registry.

use crate::addr::ProviderAddr;
use crate::version::Version;

/// Returns the page of a provider at its registry, of a version or of the latest; `None` where a
/// registry has no pages that are known.
///
/// The page may not exist: nothing is fetched.
///
/// ```
/// use lockctl_core::addr::ProviderAddr;
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::review::registry_page;
///
/// let addr = ProviderAddr::parse("hashicorp/aws", Flavor::Terraform1_16).expect("an address");
/// assert_eq!(
///     registry_page(&addr, None).as_deref(),
///     Some("https://registry.terraform.io/providers/hashicorp/aws/latest")
/// );
/// ```
#[must_use]
pub fn registry_page(addr: &ProviderAddr, version: Option<&Version>) -> Option<String> {
    let (namespace, name) = (addr.namespace(), addr.type_name());
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    if !is_plain(namespace) || !is_plain(name) {
        return None;
    }
    // Metadata would need escapes; neither registry lists such a version.
    let version = version
        .map(Version::to_string)
        .filter(|text| is_plain(text));
    let latest = || "latest".to_owned();
    match addr.hostname().unicode() {
        "registry.terraform.io" => {
            let version = version.unwrap_or_else(latest);
            Some(format!(
                "https://registry.terraform.io/providers/{namespace}/{name}/{version}"
            ))
        }
        // The pages have a host of their own, beside the registry.
        "registry.opentofu.org" => {
            let version = version.map_or_else(latest, |version| format!("v{version}"));
            Some(format!(
                "https://search.opentofu.org/provider/{namespace}/{name}/{version}"
            ))
        }
        _ => None,
    }
}
