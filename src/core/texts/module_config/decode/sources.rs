//! Messages about a `source` of a provider that is refused.

use crate::addr::{AddrErrorKind, ProviderAddr};
use crate::flavor::Flavor;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceRefusal {
    pub note: String,
    pub help: Option<String>,
}

/// The prefix of repositories and programs of providers.
const REPOSITORY: &str = "terraform-provider-";

/// Says what is wrong with a part of a source, where that can be determined.
pub(crate) fn reason(source: &str, part: AddrErrorKind, flavor: Flavor) -> Option<SourceRefusal> {
    let parts: Vec<&str> = source.split('/').collect();
    let (what, text) = match part {
        AddrErrorKind::Type => ("type", *parts.last()?),
        AddrErrorKind::Namespace => ("namespace", *parts.iter().rev().nth(1)?),
        AddrErrorKind::Parts | AddrErrorKind::Hostname => return None,
    };
    // Addresses are in lower case, so that the prefix counts in any case (`addr` rules 1.3, 1.5).
    let lower = text.to_lowercase();
    let prefix = std::iter::once(REPOSITORY)
        .chain(flavor.refused_type_prefixes().iter().copied())
        .find(|prefix| lower.starts_with(prefix));
    if let (AddrErrorKind::Type, Some(prefix)) = (part, prefix) {
        return Some(SourceRefusal {
            note: format!("{prefix:?} does not belong in a source address"),
            help: meant(&parts, &lower[prefix.len()..], flavor),
        });
    }
    let underscore = part == AddrErrorKind::Namespace && flavor.allows_underscore_in_namespace();
    // Letters of other scripts depend on the normal form, which only the parser knows; their full stops
    // are dots to it.
    let is_good = |c: char| match c {
        '-' => true,
        '_' => underscore,
        _ if c.is_ascii() => c.is_ascii_alphanumeric(),
        _ => !"。．｡".contains(c),
    };
    let note = match text.chars().find(|c| !is_good(*c)) {
        Some(c) => format!("{:?} is not allowed in a {what}", c.to_string()),
        None if text.contains("--") => format!("\"--\" is not allowed in a {what}"),
        None if text.starts_with('-') || text.ends_with('-') => {
            format!("a {what} must not start or end with \"-\"")
        }
        None => return None,
    };
    let fixed = lower.replace('_', "-");
    let help = (part == AddrErrorKind::Type && text.contains('_'))
        .then(|| meant(&parts, &fixed, flavor))
        .flatten();
    Some(SourceRefusal { note, help })
}

/// Asks whether another type is meant, if the address can be locked then.
fn meant(parts: &[&str], type_name: &str, flavor: Flavor) -> Option<String> {
    let before = &parts[..parts.len() - 1];
    let parts = [before, &[type_name]].concat();
    let addr = ProviderAddr::parse(&parts.join("/"), flavor).ok()?;
    let good = addr.unlockable_part(flavor).is_none();
    good.then(|| format!("did you mean {:?}?", addr.short(flavor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, note: &str, help: Option<&str>) {
        let flavor = Flavor::Terraform1_11;
        let part = match ProviderAddr::parse(source, flavor) {
            Ok(addr) => addr.unlockable_part(flavor).expect("refused"),
            Err(error) => error.kind(),
        };
        let found = reason(source, part, flavor).expect("a reason");
        assert_eq!(
            (&*found.note, found.help.as_deref()),
            (note, help),
            "{source}"
        );
    }

    #[test]
    fn a_refused_source_is_explained() {
        let repository = "\"terraform-provider-\" does not belong in a source address";
        let null = Some("did you mean \"hashicorp/null\"?");
        check("terraform-provider-null", repository, null);
        check("hashicorp/Terraform-Provider-null", repository, null);
        check(
            "example.com/a/terraform-provider-b",
            repository,
            Some("did you mean \"example.com/a/b\"?"),
        );
        let short = "\"terraform-\" does not belong in a source address";
        check("terraform-null", short, null);
        check("terraform-provider-", repository, None);
        check(
            "a/b_c",
            "\"_\" is not allowed in a type",
            Some("did you mean \"a/b-c\"?"),
        );
        check("a/b c", "\" \" is not allowed in a type", None);
        check("a_b/c", "\"_\" is not allowed in a namespace", None);
        check("a/b--c", "\"--\" is not allowed in a type", None);
        check("a/-b", "a type must not start or end with \"-\"", None);
        check("a/x\u{3002}y", "\"。\" is not allowed in a type", None);
    }
}
