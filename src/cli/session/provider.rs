//! The provider that was typed.

use crate::addr::ProviderAddr;
use crate::cli::session::root::Root;
use crate::diag::nearest;
use crate::report::Failure;
use crate::requirement::Requirements;

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
/// almost alike; else names everything that is required.
pub(in crate::cli) fn did_you_mean(
    provider: &ProviderAddr,
    root: &Root,
    requirements: &Requirements,
) -> Option<String> {
    let required = || requirements.providers.keys();
    let short = |addr: &ProviderAddr| addr.short(root.flavor);
    let types = required().map(ProviderAddr::type_name);
    if let Some(near) = nearest(provider.type_name(), types) {
        let meant = required().filter(|addr| addr.type_name() == near);
        let meant: Vec<String> = meant.map(short).collect();
        return Some(format!("did you mean {}?", meant.join(" or ")));
    }
    let known: Vec<String> = required().map(short).collect();
    (!known.is_empty()).then(|| format!("it requires {}", known.join(", ")))
}
