//! Constraints on providers: those of lock files and of `version` (rules 3 to 5).

use std::collections::BTreeSet;
use std::fmt;
use std::slice;
use std::sync::Arc;

use super::error::VersionFault;
use super::{ConstraintError, CoreConstraints, Version, scan};

/// The comparison of a constraint; ordered as canonical text orders equal versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// Greater than, written `>`.
    Greater,
    /// Greater or equal, written `>=`.
    GreaterOrEqual,
    /// `=`, or no operator at all.
    Exact,
    /// `~>` with three numbers: only the third may grow.
    PatchOnly,
    /// `~>` with one or two numbers: all but the first may grow.
    MinorOnly,
    /// Less or equal, written `<=`.
    LessOrEqual,
    /// Less than, written `<`.
    Less,
    /// Not equal, written `!=`.
    NotEqual,
}

/// One condition on a version, e.g. `>= 1.2.0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Constraint {
    // The order of the fields is the order of canonical text.
    version: Version,
    operator: Operator,
}

/// A set of constraints that must all hold, sorted and without duplicates.
///
/// The empty set means "no constraint" and prints as the empty text. Nothing is simplified
/// or intersected: a set that no version can meet is a value like any other. Copies share the terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Constraints {
    terms: Arc<[Constraint]>, // Invariant: sorted, each once.
}

/// The reason why a version is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRefusal<'a> {
    /// The version is `0.0.0`, which means "no version".
    Unspecified,
    /// This constraint is not met; the first one in canonical order.
    Term(&'a Constraint),
    /// Every constraint is met, but none names this pre-release exactly.
    PrereleaseNotNamed,
}

impl Operator {
    /// Returns the sign as canonical text shows it; `Exact` has none.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Exact => "",
            Self::PatchOnly | Self::MinorOnly => "~>",
            Self::LessOrEqual => "<=",
            Self::Less => "<",
            Self::NotEqual => "!=",
        }
    }
}

impl Constraint {
    /// Returns how it compares.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// Returns the version that it names, padded to three numbers.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns whether a version meets this constraint alone.
    ///
    /// That a pre-release must also be named and that `0.0.0` is never allowed is a matter of
    /// the whole set: see [`Constraints::why_not`].
    #[must_use]
    pub fn is_met_by(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        // Equality covers metadata, the order does not: `= 1.0.0` refuses `1.0.0+b`, and `>= 1.0.0` allows
        // it (rules 2.4).
        match self.operator {
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Exact => *version == self.version,
            Operator::PatchOnly => {
                // Below `X.(Y+1).0`; the pre-releases of that bound are below it, and so are in.
                let bound = (self.version.minor.checked_add(1), 0);
                let is_at_bound = (Some(version.minor), version.patch) == bound;
                order.is_ge()
                    && version.major == self.version.major
                    && (version.minor == self.version.minor
                        || is_at_bound && version.is_prerelease())
            }
            Operator::MinorOnly => {
                // Below `(X+1).0.0`.
                let bound = (self.version.major.checked_add(1), 0, 0);
                let is_at_bound = (Some(version.major), version.minor, version.patch) == bound;
                let is_below =
                    version.major == self.version.major || is_at_bound && version.is_prerelease();
                order.is_ge() && is_below
            }
            Operator::LessOrEqual => order.is_le(),
            // Plain order, so that `2.0.0-beta1` meets `< 2.0.0` (rules 5.3); whether it may be chosen is for
            // the whole set.
            Operator::Less => order.is_lt(),
            Operator::NotEqual => *version != self.version,
        }
    }
}

impl fmt::Display for Constraint {
    /// Writes the canonical text of one item: operator, one space, version.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operator {
            Operator::Exact => write!(f, "{}", self.version),
            Operator::MinorOnly => {
                write!(f, "~> {}.{}", self.version.major, self.version.minor)?;
                self.version.write_suffixes(f)
            }
            operator => write!(f, "{} {}", operator.sign(), self.version),
        }
    }
}

impl Constraints {
    /// Reads the `constraints` of a lock file (dialect 1).
    ///
    /// Blank text is the empty set, and a trailing comma is allowed. Whether the text is also
    /// canonical, as a lock file requires, is for the caller to see: then it equals what the
    /// result prints. An operator without a version is refused everywhere; Terraform 1.11.4
    /// takes `< ,` for `< 0.0.0`, which a lock file may not say that way either.
    ///
    /// ```
    /// use lockctl_core::version::Constraints;
    ///
    /// assert_eq!(Constraints::parse_lock("~> 3, >=1.2")?.to_string(), ">= 1.2.0, ~> 3.0");
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    /// If the text does not follow rules 3, or a number is above 64 bits.
    pub fn parse_lock(text: &str) -> Result<Self, ConstraintError> {
        let error = |reason| ConstraintError::new(text, reason);
        let mut terms = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            // The whole run of signs is the operator, so that `>==` and `=>` are refused as such instead of being
            // read as `>=` and a broken version (rules 3.3).
            let is_sign = |byte: u8| {
                !byte.is_ascii_alphanumeric()
                    && !byte.is_ascii_whitespace()
                    && !matches!(byte, b'.' | b'*')
            };
            let (sign, version) = scan::split_while(rest, is_sign);
            let operator = match sign {
                "" | "=" => Operator::Exact,
                "!=" => Operator::NotEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterOrEqual,
                "<" => Operator::Less,
                "<=" => Operator::LessOrEqual,
                "~>" => Operator::MinorOnly,
                _ if sign.starts_with(',') => return Err(error(VersionFault::EmptyItem)),
                _ => {
                    let fault = VersionFault::of_operator(rest).unwrap_or(VersionFault::Operator);
                    return Err(error(fault));
                }
            };
            // One ASCII space is allowed, two or a tab are not (rules 3.2).
            let version = version.strip_prefix(' ').unwrap_or(version);
            if version.starts_with(char::is_whitespace) {
                return Err(error(VersionFault::Spacing));
            }
            let scanned = scan::version(version).map_err(error)?;
            // `~> 1.0` and `~> 1.0.0` allow different versions, although both are padded to `1.0.0` (rules 4.1).
            let operator = match (operator, scanned.numbers) {
                (Operator::MinorOnly, 3) => Operator::PatchOnly,
                (operator, _) => operator,
            };
            terms.push(Constraint {
                version: scanned.version,
                operator,
            });
            // White space around commas is free, within an item it is not (rules 3.2, 3.3).
            let behind = scanned.rest.trim_start();
            rest = match behind.strip_prefix(',') {
                Some(behind) => behind.trim_start(),
                None if behind.is_empty() => behind,
                None => return Err(error(VersionFault::Comma)),
            };
        }
        Ok(terms.into_iter().collect())
    }

    /// Reads a `version` of the configuration of a provider (dialect 2).
    ///
    /// The text must pass the lenient grammar of [`CoreConstraints`] and then the one of lock files.
    ///
    /// ```
    /// use lockctl_core::version::Constraints;
    ///
    /// assert!(Constraints::parse_config(">= 1.0.0").is_ok());
    /// assert!(Constraints::parse_config("").is_err());
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    /// If one of the two refuses the text. A number is limited to 9223372036854775807 here.
    pub fn parse_config(text: &str) -> Result<Self, ConstraintError> {
        // Both grammars must accept the text (rules 3.1); this one has the lower limit for numbers
        // (rules 3.6).
        CoreConstraints::parse(text)?;
        Self::parse_lock(text)
    }

    /// Returns the constraints of both sets, as those of several modules are joined.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if other.is_empty() {
            return self;
        }
        self.iter().chain(&other).cloned().collect()
    }

    /// Returns whether there is no constraint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Lists the constraints in canonical order.
    pub fn iter(&self) -> slice::Iter<'_, Constraint> {
        self.terms.iter()
    }

    /// Returns whether a version may be selected (rules 5).
    #[must_use]
    pub fn allows(&self, version: &Version) -> bool {
        self.why_not(version).is_none()
    }

    /// Returns why a version may not be selected; nothing if it may.
    #[must_use]
    pub fn why_not(&self, version: &Version) -> Option<VersionRefusal<'_>> {
        // A lock file may hold `0.0.0`, but the programs never select it (rules 1.6).
        if version.is_unspecified() {
            return Some(VersionRefusal::Unspecified);
        }
        if let Some(term) = self.terms.iter().find(|term| !term.is_met_by(version)) {
            return Some(VersionRefusal::Term(term));
        }
        // Bounds that mention a pre-release admit no other one: `>= 2.0.0-beta1` selects no `2.0.0-beta2`
        // (rules 5.2).
        let is_named = || {
            self.terms
                .iter()
                .any(|term| term.operator == Operator::Exact && term.version == *version)
        };
        (version.is_prerelease() && !is_named()).then_some(VersionRefusal::PrereleaseNotNamed)
    }

    /// Returns some version that all constraints allow; nothing if no version at all could.
    ///
    /// It is the lowest release behind one of the bounds, or a version that is named exactly; whether
    /// it was ever released is another question.
    ///
    /// ```
    /// use lockctl_core::version::Constraints;
    ///
    /// assert!(Constraints::parse_lock("~> 1.2, < 1.4")?.example().is_some());
    /// assert!(Constraints::parse_lock("~> 1.2, >= 2.0")?.example().is_none());
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    #[must_use]
    pub fn example(&self) -> Option<Version> {
        let is_exception = |term: &&Constraint| term.operator == Operator::NotEqual;
        let (exceptions, ranges): (Vec<&Constraint>, Vec<&Constraint>) =
            self.iter().partition(is_exception);
        let excepted: BTreeSet<&Version> = exceptions.iter().map(|term| &term.version).collect();
        // The term that refuses one candidate refuses most of its neighbours: it is tried first, or
        // thousands of terms would be compared with thousands of candidates.
        let mut refusing: Option<&Constraint> = None;
        let example = turning_points(self).into_iter().find(|candidate| {
            if excepted.contains(candidate) {
                return false;
            }
            let refuses = |term: &&Constraint| !term.is_met_by(candidate);
            refusing = refusing
                .filter(refuses)
                .or_else(|| ranges.iter().copied().rev().find(refuses));
            refusing.is_none() && self.allows(candidate)
        });
        // The programs take 0.0.0 for no version at all, but not with metadata.
        example.or_else(|| "0.0.0+0".parse().ok().filter(|zero| self.allows(zero)))
    }

    /// Returns the greatest of the offered versions that is allowed (rules 5.4).
    ///
    /// Of versions that differ only in metadata it is the greatest in the order of [`Version`];
    /// the programs leave that to chance.
    pub fn newest<'a>(&self, offered: impl Iterator<Item = &'a Version>) -> Option<&'a Version> {
        offered.filter(|version| self.allows(version)).max()
    }
}

impl FromIterator<Constraint> for Constraints {
    fn from_iter<I: IntoIterator<Item = Constraint>>(terms: I) -> Self {
        // Sorted by version, then by operator; the same bound with two operators stays twice, and nothing
        // is simplified: lock files show what the modules state (rules 4.2 to 4.5).
        let mut terms: Vec<Constraint> = Vec::from_iter(terms);
        terms.sort_unstable();
        terms.dedup();
        Self {
            terms: terms.into(),
        }
    }
}

impl fmt::Display for Constraints {
    /// Writes the canonical text (rules 4); nothing for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{term}")?;
        }
        Ok(())
    }
}

impl<'a> IntoIterator for &'a Constraints {
    type Item = &'a Constraint;
    type IntoIter = slice::Iter<'a, Constraint>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Returns versions among which are some of every kind that these constraints distinguish: the first two releases
/// from each bound on, and the versions that are named.
///
/// Between two neighbouring bounds every release meets the same terms.
pub(super) fn turning_points<'a>(
    terms: impl IntoIterator<Item = &'a Constraint>,
) -> BTreeSet<Version> {
    let mut points = BTreeSet::new();
    let mut add = |bound: &Version| {
        let release = bound.without_suffixes();
        let next = release.next_release();
        points.extend(next.as_ref().and_then(Version::next_release));
        points.extend(next);
        points.extend([release, bound.clone()]);
    };
    add(&Version::release(0, 0, 0));
    for Constraint { version, operator } in terms {
        add(version);
        // The upper bound of `~>` (rules 5.1).
        let (major, minor) = (version.major, version.minor);
        let bound = match operator {
            Operator::PatchOnly => minor.checked_add(1).map(|minor| (major, minor)),
            Operator::MinorOnly => major.checked_add(1).map(|major| (major, 0)),
            _ => None,
        };
        if let Some((major, minor)) = bound {
            add(&Version::release(major, minor, 0));
        }
    }
    points
}
