//! Help with a `source` of a provider that is refused.

use std::iter;

use crate::addr::ProviderAddr;
use crate::flavor::Flavor;

/// The prefix of repositories and programs of providers.
const REPOSITORY: &str = "terraform-provider-";

/// Asks whether another type is meant, if the address can be locked then: without the prefix of a repository, or
/// with dashes for underscores.
pub(crate) fn meant(source: &str, flavor: Flavor) -> Option<String> {
    let (before, type_name) = source.split_at(source.rfind('/').map_or(0, |slash| slash + 1));
    // Addresses are in lower case, so that the prefix counts in any case (`addr` rules 1.3, 1.5).
    let type_name = type_name.to_lowercase().replace('_', "-");
    let bare = iter::once(REPOSITORY)
        .chain(flavor.refused_type_prefixes().iter().copied())
        .find_map(|prefix| type_name.strip_prefix(prefix));
    let text = format!("{before}{}", bare.unwrap_or(&type_name));
    let addr = ProviderAddr::parse(&text, flavor).ok()?;
    let is_good = addr.unlockable_part(flavor).is_none();
    is_good.then(|| format!("did you mean {:?}?", addr.short(flavor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_source_is_suggested_where_one_is_likely() {
        for (source, wanted) in [
            ("terraform-provider-null", Some("hashicorp/null")),
            ("hashicorp/Terraform-Provider-null", Some("hashicorp/null")),
            (
                "example.com/a/terraform-provider-b",
                Some("example.com/a/b"),
            ),
            ("terraform-null", Some("hashicorp/null")),
            ("terraform-provider-", None),
            ("a/b_c", Some("a/b-c")),
            ("a/b c", None),
            ("a_b/c", None),
            ("a/b--c", None),
            ("a/x\u{3002}y", None),
        ] {
            let wanted = wanted.map(|addr| format!("did you mean {addr:?}?"));
            assert_eq!(meant(source, Flavor::Terraform1_11), wanted, "{source}");
        }
    }
}
