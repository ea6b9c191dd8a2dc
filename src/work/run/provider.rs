//! Names of providers in texts.

use std::collections::BTreeSet;

use crate::addr::{ProviderAddr, look_alike};
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::report::RootResult;

/// Returns how the providers of several roots are named beside each other.
pub(crate) fn naming(roots: &[RootResult]) -> impl Fn(&ProviderAddr) -> String {
    let mut flavors = roots.iter().filter_map(|root| root.flavor);
    let first = flavors.next();
    // A short name has the registry of the program, so beside roots of the other one it would mean two
    // providers (`addr` rules 1.2).
    let common = first.filter(|first| {
        let host = first.default_host();
        flavors.all(|flavor| flavor.default_host() == host)
    });
    move |provider| match common {
        Some(flavor) => provider.short(flavor),
        None => provider.to_string(),
    }
}

/// Returns the flavor by whose rules providers are named in short beside each other; `None` if they are of two hosts.
pub(crate) fn short_by<'a>(
    providers: impl IntoIterator<Item = &'a ProviderAddr>,
    flavor: Option<Flavor>,
) -> Option<Flavor> {
    let hosts = BTreeSet::from_iter(providers.into_iter().map(ProviderAddr::hostname));
    flavor.filter(|_| hosts.len() < 2)
}

/// Suggests required providers of the same type, or of one that is spelled almost alike.
pub(crate) fn did_you_mean(
    provider: &ProviderAddr,
    required: &BTreeSet<ProviderAddr>,
    flavor: Flavor,
) -> Option<String> {
    let types = required.iter().map(ProviderAddr::type_name);
    let near = nearest(provider.type_name(), types)?;
    let meant: Vec<&ProviderAddr> = required
        .iter()
        .filter(|addr| addr.type_name() == near)
        .collect();
    // A name that may have been taken to deceive is no suggestion.
    if let Some((addr, suspect)) = meant
        .iter()
        .find_map(|addr| Some((addr, look_alike(addr, [provider])?)))
    {
        let addr = addr.short(flavor);
        return Some(format!(
            "{addr} is required instead, and {suspect}: compare its `source` with the documentation"
        ));
    }
    let meant = meant
        .iter()
        .map(|addr| addr.short(flavor))
        .collect::<Vec<_>>()
        .join(" or ");
    Some(format!("did you mean {meant}?"))
}

/// Lists providers; `None` if there are none.
pub(crate) fn names(required: &BTreeSet<ProviderAddr>, flavor: Flavor) -> Option<String> {
    if required.is_empty() {
        return None;
    }
    Some(
        required
            .iter()
            .map(|addr| addr.short(flavor))
            .collect::<Vec<String>>()
            .join(", "),
    )
}

/// Returns the text of a cell: a dash if it is empty.
pub(crate) fn or_dash(text: String) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}
