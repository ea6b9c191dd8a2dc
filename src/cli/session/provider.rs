//! The provider that was typed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::addr::ProviderAddr;
use crate::diag::nearest;
use crate::flavor::{Flavor, Program};
use crate::report::{Failure, RootResult};
use crate::requirement::Requirements;

/// A provider address as typed, which is one by the rules of some flavor.
///
/// Roots decide by whose rules it is read: a host or namespace that is left out differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct TypedAddr(String);

/// The help on an address that is none.
const WRITE_ADDRESS: &str = "write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE";

impl FromStr for TypedAddr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Namespaces and types are not the same in both programs, and the roots are not known yet.
        for flavor in Flavor::ALL {
            if ProviderAddr::parse(text, flavor).is_ok() {
                return Ok(Self(text.to_owned()));
            }
        }
        match ProviderAddr::parse(text, Flavor::newest(Program::Terraform)) {
            Err(error) => Err(format!("{error}; {WRITE_ADDRESS}")),
            Ok(_) => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for TypedAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TypedAddr {
    pub(in crate::cli) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address by the rules of a flavor.
    ///
    /// # Errors
    /// If it is an address only by the rules of others.
    pub(in crate::cli) fn by_rules_of(&self, flavor: Flavor) -> Result<ProviderAddr, Failure> {
        ProviderAddr::parse(&self.0, flavor)
            .map_err(|error| Failure::from_error(&error).help(WRITE_ADDRESS))
    }

    /// Returns the provider that is meant in a root: by its address, or by a type that only one required
    /// provider has.
    ///
    /// # Errors
    /// If it is no address by the rules of the root.
    pub(in crate::cli) fn in_root(
        &self,
        flavor: Flavor,
        requirements: &Requirements,
    ) -> Result<ProviderAddr, Failure> {
        let addr = self.by_rules_of(flavor)?;
        // A type alone is an address, too: its namespace is hashicorp (`addr` rules 1.2). So the type of
        // another publisher's provider is looked for only where that one is not required.
        if !requirements.providers.contains_key(&addr) && !self.0.contains('/') {
            let mut same_type = requirements
                .providers
                .keys()
                .filter(|required| required.type_name() == addr.type_name());
            if let (Some(only), None) = (same_type.next(), same_type.next()) {
                return Ok(only.clone());
            }
        }
        Ok(addr)
    }
}

/// Returns how the providers of several roots are named beside each other.
pub(in crate::cli) fn naming(roots: &[RootResult]) -> impl Fn(&ProviderAddr) -> String {
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

/// Suggests required providers of the same type, or of one that is spelled almost alike.
pub(in crate::cli) fn did_you_mean(
    provider: &ProviderAddr,
    required: &BTreeSet<ProviderAddr>,
    flavor: Flavor,
) -> Option<String> {
    let types = required.iter().map(ProviderAddr::type_name);
    let near = nearest(provider.type_name(), types)?;
    let meant: Vec<String> = required
        .iter()
        .filter(|addr| addr.type_name() == near)
        .map(|addr| addr.short(flavor))
        .collect();
    Some(format!("did you mean {}?", meant.join(" or ")))
}

/// Lists providers; `None` if there are none.
pub(in crate::cli) fn names(required: &BTreeSet<ProviderAddr>, flavor: Flavor) -> Option<String> {
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

/// Returns the text of a cell, in which nothing is a dash.
pub(in crate::cli) fn or_dash(text: String) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}
