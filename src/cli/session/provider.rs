//! The provider that was typed.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::report::Failure;
use crate::requirement::Requirements;
use crate::run::root::Root;

/// Finds the provider that is meant: by its address, or by a type that only one required provider has.
///
/// # Errors
/// If what was typed is no address.
pub(in crate::cli) fn find(
    typed: &str,
    root: &Root,
    requirements: &Requirements,
) -> Result<ProviderAddr, Failure> {
    let addr = ProviderAddr::parse(typed, root.flavor).map_err(|error| {
        Failure::from_error(&error).help("write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")
    })?;
    if !requirements.providers.contains_key(&addr) && !typed.contains('/') {
        let required = requirements.providers.keys();
        let mut same_type = required.filter(|other| other.type_name() == addr.type_name());
        if let (Some(only), None) = (same_type.next(), same_type.next()) {
            return Ok(only.clone());
        }
    }
    Ok(addr)
}

/// Asks whether something else is meant that is required, of the same type or one that is written
/// almost alike.
pub(in crate::cli) fn did_you_mean(
    provider: &ProviderAddr,
    required: &BTreeSet<ProviderAddr>,
    flavor: Flavor,
) -> Option<String> {
    let types = required.iter().map(ProviderAddr::type_name);
    let near = nearest(provider.type_name(), types)?;
    let meant = required.iter().filter(|addr| addr.type_name() == near);
    let meant: Vec<String> = meant.map(|addr| addr.short(flavor)).collect();
    Some(format!("did you mean {}?", meant.join(" or ")))
}

/// Lists providers; `None` if there are none.
pub(in crate::cli) fn names(required: &BTreeSet<ProviderAddr>, flavor: Flavor) -> Option<String> {
    let names: Vec<String> = required.iter().map(|addr| addr.short(flavor)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
