//! Provider addresses: `[hostname/][namespace/]type`, in canonical form.
//!
//! Invariant: a [`ProviderAddr`] is always whole and normal; two spellings of one address are
//! equal. Which addresses exist depends on the flavor, so every parser takes one.

mod host;
mod look_alike;
mod mirror_url;
pub mod module;
mod moves;
mod pattern;
mod repository;
mod store_url;
mod url;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::fmt;

use idna::uts46::Hyphens;

use crate::flavor::Flavor;
pub use host::{Hostname, HostnameError};
pub use look_alike::{LookAlike, is_known_publisher, look_alike};
pub use mirror_url::{MirrorUrl, MirrorUrlError};
pub use pattern::{PatternError, ProviderFilter, ProviderPattern};
pub use repository::{RepositoryAddr, RepositoryAddrError};
pub use store_url::{StorePlace, StoreService, StoreUrl, StoreUrlError};
pub use url::{Origin, Url, UrlError};

/// The address of a provider, as in `registry.terraform.io/hashicorp/aws`.
///
/// Ordered as lock files are: hostname (by its ASCII form), then namespace, then type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderAddr {
    hostname: Hostname,
    namespace: Box<str>,
    type_name: Box<str>,
}

/// A text that is no provider address, with what is wrong about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no provider address: {kind}")]
pub struct AddrError {
    text: String,
    kind: AddrErrorKind,
}

/// The fault in the text of a provider address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddrErrorKind {
    /// Not one, two or three non-empty parts.
    Parts,
    /// The hostname is none.
    Hostname,
    /// The namespace is none.
    Namespace,
    /// The type is none, or starts with a refused word.
    Type,
}

/// The namespace of an address that states none.
const DEFAULT_NAMESPACE: &str = "hashicorp";
/// The namespace that only addresses of Terraform 0.12 have.
const LEGACY_NAMESPACE: &str = "-";
/// The local name that means the provider inside the program.
const BUILTIN_NAME: &str = "terraform";

impl ProviderAddr {
    /// Reads an address of one, two or three parts and brings it to canonical form
    /// (rules 1).
    ///
    /// Built-in and legacy addresses are accepted, as in configuration; see
    /// [`ProviderAddr::is_builtin`] and [`ProviderAddr::is_legacy`].
    ///
    /// # Errors
    /// If the text is no address to the given flavor.
    ///
    /// ```
    /// use lockctl_core::addr::ProviderAddr;
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let addr = ProviderAddr::parse("HashiCorp/AWS", Flavor::Terraform1_11)?;
    /// assert_eq!(addr.to_string(), "registry.terraform.io/hashicorp/aws");
    /// # Ok::<(), lockctl_core::addr::AddrError>(())
    /// ```
    pub fn parse(text: &str, flavor: Flavor) -> Result<Self, AddrError> {
        let error = |kind| AddrError {
            text: text.to_owned(),
            kind,
        };
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|part| part.is_empty()) {
            return Err(error(AddrErrorKind::Parts));
        }
        let type_text = parts[parts.len() - 1];
        let type_name =
            part(type_text, Underscore::Refused).ok_or_else(|| error(AddrErrorKind::Type))?;
        // The one-part form escapes the check of prefixes below (rules 1.5).
        if parts.len() == 1 {
            return Ok(Self::on_default_host(
                DEFAULT_NAMESPACE.into(),
                type_name,
                flavor,
            ));
        }
        let namespace_text = parts[parts.len() - 2];
        let namespace = if namespace_text == LEGACY_NAMESPACE {
            LEGACY_NAMESPACE.into()
        } else {
            let underscore = if flavor.allows_underscore_in_namespace() {
                Underscore::Inside
            } else {
                Underscore::Refused
            };
            part(namespace_text, underscore).ok_or_else(|| error(AddrErrorKind::Namespace))?
        };
        let hostname = match parts.len() {
            3 => parts[0]
                .parse()
                .map_err(|_| error(AddrErrorKind::Hostname))?,
            _ => default_hostname(flavor.default_host()),
        };
        // Only the default registry ever knew providers without a namespace.
        if &*namespace == LEGACY_NAMESPACE && hostname.unicode() != flavor.default_host() {
            return Err(error(AddrErrorKind::Namespace));
        }
        if has_refused_prefix(&type_name, flavor) {
            return Err(error(AddrErrorKind::Type));
        }
        Ok(Self {
            hostname,
            namespace,
            type_name,
        })
    }

    /// Returns the address that a local name means when nothing else is said about it.
    ///
    /// # Errors
    /// If the name could not be a provider type.
    pub fn implied(local_name: &str, flavor: Flavor) -> Result<Self, AddrError> {
        // Unless it is declared, this name means the provider inside the program (`config` rules 4.6).
        if local_name == BUILTIN_NAME {
            let hostname = default_hostname(flavor.builtin_hosts()[0]);
            return Ok(Self {
                hostname,
                namespace: "builtin".into(),
                type_name: BUILTIN_NAME.into(),
            });
        }
        let type_name = part(local_name, Underscore::Refused).ok_or_else(|| AddrError {
            text: local_name.to_owned(),
            kind: AddrErrorKind::Type,
        })?;
        Ok(Self::on_default_host(
            DEFAULT_NAMESPACE.into(),
            type_name,
            flavor,
        ))
    }

    /// Returns the host that is asked about the provider.
    #[must_use]
    pub fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// Returns the namespace, as in `hashicorp`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the type, as in `aws`.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Returns whether the provider is part of the program itself, so that it is never locked.
    #[must_use]
    pub fn is_builtin(&self, flavor: Flavor) -> bool {
        &*self.namespace == "builtin" && flavor.builtin_hosts().contains(&self.hostname.unicode())
    }

    /// Returns whether a source address of one part means a provider like this.
    #[must_use]
    pub fn is_default(&self, flavor: Flavor) -> bool {
        self.hostname.unicode() == flavor.default_host() && &*self.namespace == DEFAULT_NAMESPACE
    }

    /// Returns whether this is an address of Terraform 0.12, which nothing can be locked for.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        &*self.namespace == LEGACY_NAMESPACE
    }

    /// Returns the part that makes a lock file with this address unreadable, if there is one (rules 1.5, 1.7).
    ///
    /// Configuration can name more than a lock file: the one-part form escapes the check of refused
    /// type prefixes, and dots of other scripts become full stops only after those were looked for.
    #[must_use]
    pub fn unlockable_part(&self, flavor: Flavor) -> Option<AddrErrorKind> {
        if self.is_legacy() || self.namespace.contains('.') {
            Some(AddrErrorKind::Namespace)
        } else if self.type_name.contains('.') || has_refused_prefix(&self.type_name, flavor) {
            Some(AddrErrorKind::Type)
        } else {
            None
        }
    }

    /// Returns the address for messages: without the default host of the flavor.
    #[must_use]
    pub fn short(&self, flavor: Flavor) -> String {
        if self.hostname.unicode() == flavor.default_host() {
            format!("{}/{}", self.namespace, self.type_name)
        } else {
            self.to_string()
        }
    }

    /// Returns the address that OpenTofu reads an entry of Terraform's registry as, if it does
    /// (rules 1.9): namespace `hashicorp` on that registry only.
    #[must_use]
    pub fn carried_over(&self, flavor: Flavor) -> Option<Self> {
        let theirs = Flavor::Terraform1_11.default_host();
        let applies = flavor.is_opentofu()
            && self.hostname.unicode() == theirs
            && &*self.namespace == DEFAULT_NAMESPACE;
        applies
            .then(|| Self::on_default_host(self.namespace.clone(), self.type_name.clone(), flavor))
    }

    /// Returns the address that OpenTofu's `init` reads one of Terraform's registry in the state as
    /// (`config` rules 7.5); `None` where it is left as it is.
    #[must_use]
    pub fn on_own_registry(&self, flavor: Flavor) -> Option<Self> {
        self.on_registry_of(flavor).filter(|_| flavor.is_opentofu())
    }

    /// Returns the address of the same namespace and type on the default registry of a flavor; `None`
    /// unless this one is on that of the other program.
    ///
    /// ```
    /// use lockctl_core::addr::ProviderAddr;
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let addr = ProviderAddr::parse("registry.terraform.io/acme/demo", Flavor::OpenTofu1_12)?;
    /// let other = addr.on_registry_of(Flavor::OpenTofu1_12).expect("it is Terraform's");
    /// assert_eq!(other.to_string(), "registry.opentofu.org/acme/demo");
    /// assert_eq!(other.on_registry_of(Flavor::Terraform1_16), Some(addr));
    /// assert_eq!(other.on_registry_of(Flavor::OpenTofu1_12), None);
    /// # Ok::<(), lockctl_core::addr::AddrError>(())
    /// ```
    #[must_use]
    pub fn on_registry_of(&self, flavor: Flavor) -> Option<Self> {
        self.at_other_registry(&default_hostname(flavor.default_host()))
    }

    /// Returns the address of the same name on another public registry, if both hosts are public ones:
    /// most providers are published on both.
    #[must_use]
    pub fn at_other_registry(&self, host: &Hostname) -> Option<Self> {
        let is_public = |host: &Hostname| {
            Flavor::ALL
                .iter()
                .any(|flavor| flavor.default_host() == host.unicode())
        };
        let applies = self.hostname != *host && is_public(&self.hostname) && is_public(host);
        applies.then(|| Self {
            hostname: host.clone(),
            ..self.clone()
        })
    }

    fn on_default_host(namespace: Box<str>, type_name: Box<str>, flavor: Flavor) -> Self {
        Self {
            hostname: default_hostname(flavor.default_host()),
            namespace,
            type_name,
        }
    }
}

impl AddrError {
    /// Returns what is wrong.
    #[must_use]
    pub fn kind(&self) -> AddrErrorKind {
        self.kind
    }
}

impl AddrErrorKind {
    /// Returns the title that the programs give to it in configuration.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Parts => "Invalid provider source string",
            Self::Hostname => "Invalid provider source hostname",
            Self::Namespace => "Invalid provider namespace",
            Self::Type => "Invalid provider type",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Underscore {
    Refused,
    Inside,
}

fn default_hostname(text: &str) -> Hostname {
    text.parse().expect("the table of flavors holds hostnames")
}

fn has_refused_prefix(type_name: &str, flavor: Flavor) -> bool {
    flavor
        .refused_type_prefixes()
        .iter()
        .any(|prefix| type_name.starts_with(prefix))
}

/// Brings a namespace or type to normal form: like one DNS label, kept in Unicode.
fn part(text: &str, underscore: Underscore) -> Option<Box<str>> {
    // The programs look for dots and for two dashes before mapping: that keeps punycode out, but
    // lets a dot of another script through (see `unlockable_part`).
    if text.is_empty() || text.contains("--") || text.contains('.') {
        return None;
    }
    let mapped = host::map(text, Hyphens::CheckFirstLast)?;
    let allowed = |c: char| {
        !c.is_ascii()
            || host::is_label_char(c)
            || c == '.'
            || (underscore == Underscore::Inside && c == '_')
    };
    // Terraform 1.16 takes `_` inside a namespace, neither first nor last (rules 1.4).
    let at_the_ends = mapped.starts_with('_') || mapped.ends_with('_');
    let good =
        !mapped.is_empty() && !at_the_ends && !mapped.contains("--") && mapped.chars().all(allowed);
    good.then(|| mapped.into())
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.hostname, self.namespace, self.type_name)
    }
}

impl fmt::Display for AddrErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parts => "write one, two or three parts, as in hostname/namespace/type",
            Self::Hostname => "the hostname is not valid",
            Self::Namespace => "the namespace is not valid",
            Self::Type => "the type is not valid",
        })
    }
}
