//! Patterns that match several provider addresses.

use crate::flavor::Flavor;

use super::{AddrError, ProviderAddr};

/// Matches any part, or any text within one.
const ANY: &str = "*";

/// A pattern of provider addresses: `[HOST/]NAMESPACE/TYPE`, where `*` stands for any text within a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPattern {
    /// Host, namespace and type, in canonical form.
    parts: [String; 3],
}

impl ProviderPattern {
    /// Reads a pattern as in `include` and `exclude`, where `*` may replace the type, namespace and type, or all
    /// three parts (rules 3); one of two parts means the default host of the flavor.
    ///
    /// ```
    /// use lockctl_core::addr::{ProviderAddr, ProviderPattern};
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let flavor = Flavor::Terraform1_11;
    /// let pattern = ProviderPattern::parse("hashicorp/*", flavor)?;
    /// assert!(pattern.allows(&ProviderAddr::parse("hashicorp/aws", flavor)?));
    /// assert!(!pattern.allows(&ProviderAddr::parse("acme/aws", flavor)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the text is no pattern to the given flavor.
    pub fn parse(text: &str, flavor: Flavor) -> Result<Self, PatternError> {
        let pattern = Self::parse_policy(text, flavor)?;
        let free = pattern
            .parts
            .iter()
            .rev()
            .take_while(|part| *part == ANY)
            .count();
        let fixed = &pattern.parts[..pattern.parts.len() - free];
        if fixed.iter().any(|part| part.contains(ANY)) {
            let text = text.to_owned();
            return Err(PatternError::Star { text });
        }
        Ok(pattern)
    }

    /// Reads a pattern of a policy; one of two parts means the default host of the flavor.
    ///
    /// ```
    /// use lockctl_core::addr::{ProviderAddr, ProviderPattern};
    /// use lockctl_core::flavor::Flavor;
    ///
    /// let flavor = Flavor::Terraform1_11;
    /// let pattern = ProviderPattern::parse_policy("*/*-alpha", flavor)?;
    /// assert!(pattern.allows(&ProviderAddr::parse("acme/tool-alpha", flavor)?));
    /// assert!(!pattern.allows(&ProviderAddr::parse("acme/alpha-tool", flavor)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the text would be no address with letters in the place of its stars.
    pub fn parse_policy(text: &str, flavor: Flavor) -> Result<Self, PatternError> {
        let parts: Vec<&str> = text.split('/').collect();
        let parts = match *parts {
            [namespace, type_name] => [flavor.default_host(), namespace, type_name],
            [host, namespace, type_name] => [host, namespace, type_name],
            _ => {
                let text = text.to_owned();
                return Err(PatternError::Parts { text });
            }
        };
        let model = |part: &str, free: &str| match part {
            ANY => free.to_owned(),
            part => part.replace(ANY, "a"),
        };
        let [host, namespace, type_name] = parts;
        let model = [
            model(host, "a.example"),
            model(namespace, "a"),
            model(type_name, "a"),
        ];
        // A pattern is checked as an address that has letters in place of its stars.
        let addr = ProviderAddr::parse(&model.join("/"), flavor).map_err(|error| AddrError {
            text: text.to_owned(),
            ..error
        })?;
        let canonical = |part: &str, of_addr: &str| {
            // A star has no canonical form; the other letters of such a part are compared in lower case.
            if part.contains(ANY) {
                part.to_lowercase()
            } else {
                of_addr.to_owned()
            }
        };
        Ok(Self {
            parts: [
                canonical(host, &addr.hostname().to_string()),
                canonical(namespace, addr.namespace()),
                canonical(type_name, addr.type_name()),
            ],
        })
    }

    /// Returns host, namespace and type, each if all addresses that are meant have it in common.
    #[must_use]
    pub fn fixed_parts(&self) -> [Option<&str>; 3] {
        self.parts
            .each_ref()
            .map(|part| (!part.contains(ANY)).then_some(&**part))
    }

    /// Returns true if an address is one of those that are meant.
    #[must_use]
    pub fn allows(&self, addr: &ProviderAddr) -> bool {
        let [host, namespace, type_name] = &self.parts;
        is_like(type_name, addr.type_name())
            && is_like(namespace, addr.namespace())
            && is_like(host, addr.hostname().unicode())
    }
}

impl From<ProviderAddr> for ProviderPattern {
    /// Makes the pattern of one provider.
    fn from(addr: ProviderAddr) -> Self {
        let parts = [
            addr.hostname().unicode(),
            addr.namespace(),
            addr.type_name(),
        ];
        Self {
            parts: parts.map(str::to_owned),
        }
    }
}

/// Returns true if a text is a pattern with some texts in the place of its stars.
fn is_like(pattern: &str, text: &str) -> bool {
    // Most parts are one star or have none, and a search begins slowly.
    if pattern == ANY || pattern == text {
        return true;
    }
    let Some((start, rest)) = pattern.split_once(ANY) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once(ANY).unwrap_or(("", rest));
    let between = text
        .strip_prefix(start)
        .and_then(|text| text.strip_suffix(end));
    // The first place of each piece leaves most for those behind it, so nothing is tried twice.
    // Two stars side by side have nothing between them.
    let mut pieces = middle.split(ANY).filter(|piece| !piece.is_empty());
    between
        .and_then(|text| {
            pieces.try_fold(text, |text, piece| {
                let at = text.find(piece)?;
                Some(&text[at + piece.len()..])
            })
        })
        .is_some()
}

/// The providers that `include` and `exclude` select (rules 3).
///
/// ```
/// use lockctl_core::addr::{ProviderAddr, ProviderFilter, ProviderPattern};
/// use lockctl_core::flavor::Flavor;
///
/// let flavor = Flavor::Terraform1_11;
/// let filter = ProviderFilter {
///     include: vec![],
///     exclude: vec![ProviderPattern::parse("acme/*", flavor)?],
/// };
/// assert!(filter.allows(&ProviderAddr::parse("hashicorp/aws", flavor)?));
/// assert!(!filter.allows(&ProviderAddr::parse("acme/aws", flavor)?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderFilter {
    /// Those that are meant; every provider if there is none.
    pub include: Vec<ProviderPattern>,
    /// Excluded providers; they win over `include`.
    pub exclude: Vec<ProviderPattern>,
}

impl ProviderFilter {
    /// Returns whether a provider is meant.
    #[must_use]
    pub fn allows(&self, addr: &ProviderAddr) -> bool {
        let any = |patterns: &[ProviderPattern]| patterns.iter().any(|p| p.allows(addr));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

/// A text that is no pattern of provider addresses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The text has not two or three parts.
    #[error("{text:?} is no pattern: write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE")]
    Parts {
        /// The pattern as it was given.
        text: String,
    },
    /// A part is `*` before one that is not.
    #[error(
        "{text:?} is no pattern: `*` may replace the type, namespace and type, or all \
         three parts"
    )]
    Star {
        /// The pattern as it was given.
        text: String,
    },
    /// Without its stars it would be no address.
    #[error(transparent)]
    Address(#[from] AddrError),
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAVOR: Flavor = Flavor::Terraform1_11;

    #[test]
    fn stars_stand_for_the_last_parts() {
        let addr = |text| ProviderAddr::parse(text, FLAVOR).expect("an address");
        let aws = addr("hashicorp/aws");
        let other = addr("example.com/hashicorp/aws");
        for (pattern, first, second) in [
            ("hashicorp/aws", true, false),
            ("HashiCorp/*", true, false),
            ("*/*", true, false),
            ("example.com/*/*", false, true),
            ("*/*/*", true, true),
            ("acme/*", false, false),
        ] {
            let parsed = ProviderPattern::parse(pattern, FLAVOR).expect("a pattern");
            let found = (parsed.allows(&aws), parsed.allows(&other));
            assert_eq!(found, (first, second), "of {pattern}");
        }
    }

    #[test]
    fn a_star_of_a_policy_stands_for_any_text_within_a_part() {
        let flavor = Flavor::Terraform1_16;
        for (glob, wanted) in [
            ("hashicorp/aws", "hashicorp/aws"),
            ("HashiCorp/*", "hashicorp/aws hashicorp/aws-alpha"),
            ("*/aws", "hashicorp/aws"),
            ("*/*-alpha", "hashicorp/aws-alpha"),
            ("*/a*s*a", "hashicorp/aws-alpha"),
            ("*/a*alpha*alpha", ""),
            ("*.example/*/*", "a.example/hashicorp/aws"),
            ("A.Example/*/*", "a.example/hashicorp/aws"),
            ("*/*/aws", "hashicorp/aws a.example/hashicorp/aws"),
        ] {
            let parsed = ProviderPattern::parse_policy(glob, flavor).expect("a pattern");
            let matched = [
                "hashicorp/aws",
                "hashicorp/aws-alpha",
                "a.example/hashicorp/aws",
            ]
            .into_iter()
            .filter(|addr| parsed.allows(&ProviderAddr::parse(addr, flavor).expect("an address")));
            assert_eq!(matched.collect::<Vec<_>>().join(" "), wanted, "of {glob}");
        }
        for text in ["", "*", "aws", "a/b/c/d", "a b/*", "/aws", "hashicorp/"] {
            assert!(
                ProviderPattern::parse_policy(text, flavor).is_err(),
                "of {text:?}"
            );
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "*",
            "aws",
            "*/aws",
            "*/hashicorp/aws",
            "example.com/*/aws",
            "*/hashicorp/*",
            "a/b/c/d",
            "hashicorp/a*",
            "/aws",
        ] {
            assert!(ProviderPattern::parse(text, FLAVOR).is_err(), "of {text:?}");
        }
    }
}
