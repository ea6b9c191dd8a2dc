//! A provider as typed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::addr::ProviderAddr;
use crate::flavor::{Flavor, Program};
use crate::report::Failure;

/// A provider address as typed, which is one by the rules of some flavor.
///
/// Roots decide by whose rules it is read: a host or namespace that is left out differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedAddr(String);

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
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address by the rules of a flavor.
    ///
    /// # Errors
    /// If it is an address only by the rules of others.
    pub(crate) fn by_rules_of(&self, flavor: Flavor) -> Result<ProviderAddr, Failure> {
        ProviderAddr::parse(&self.0, flavor)
            .map_err(|error| Failure::from_error(&error).help(WRITE_ADDRESS))
    }

    /// Returns the provider that is meant in a root: by its address, or by a type that only one of its
    /// providers has.
    ///
    /// # Errors
    /// If it is no address by the rules of the root.
    pub(crate) fn among<'p>(
        &self,
        providers: impl Iterator<Item = &'p ProviderAddr>,
        flavor: Flavor,
    ) -> Result<ProviderAddr, Failure> {
        let addr = self.by_rules_of(flavor)?;
        // A type alone is an address, too: its namespace is hashicorp (`addr` rules 1.2). So the type of
        // another publisher's provider is taken only where that one is not there.
        let same_type: BTreeSet<&ProviderAddr> = providers
            .filter(|provider| provider.type_name() == addr.type_name())
            .collect();
        match same_type.first() {
            Some(only) if same_type.len() == 1 && !self.0.contains('/') => Ok((*only).clone()),
            _ => Ok(addr),
        }
    }
}

/// The providers that are named for all roots of a run, as far as some root has them.
pub(crate) struct NamedForRun {
    typed: Vec<TypedAddr>,
    /// The numbers of those that some root has.
    matched: BTreeSet<usize>,
}

impl NamedForRun {
    pub(crate) fn new(typed: Vec<TypedAddr>) -> Self {
        Self {
            typed,
            matched: BTreeSet::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.typed.is_empty()
    }

    /// Returns those of the providers of a root that are named.
    ///
    /// # Errors
    /// If a named provider is no address by the rules of the root.
    pub(crate) fn of_root<'p>(
        &mut self,
        providers: impl Iterator<Item = &'p ProviderAddr> + Clone,
        flavor: Flavor,
    ) -> Result<BTreeSet<ProviderAddr>, Failure> {
        let mut named = BTreeSet::new();
        for (number, typed) in self.typed.iter().enumerate() {
            let addr = typed.among(providers.clone(), flavor)?;
            if providers.clone().any(|provider| *provider == addr) {
                self.matched.insert(number);
                named.insert(addr);
            }
        }
        Ok(named)
    }

    /// Lists the named providers that no root has.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &TypedAddr> {
        self.typed
            .iter()
            .enumerate()
            .filter(|(number, _)| !self.matched.contains(number))
            .map(|(_, typed)| typed)
    }
}
