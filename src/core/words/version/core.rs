//! Constraints on the program itself and on modules (rules 6).
//!
//! This is the older grammar, and its `~>` and its pre-releases mean something else than those of
//! providers. It also is the first of the two that a provider's constraint must pass.

use std::cmp::Ordering;
use std::fmt;

use super::error::VersionFault;
use super::{ConstraintError, Version, VersionError, scan};

/// The largest number of this grammar; the programs hold it in a signed 64-bit integer.
const MAX_NUMBER: u64 = i64::MAX as u64;

/// The operators, each before those that it starts with.
const OPERATORS: [(&str, Operator); 8] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("!=", Operator::NotEqual),
    ("~>", Operator::Pessimistic),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
    ("", Operator::Equal),
];

/// A set of constraints on the version of a program or a module, which must all hold.
///
/// Two sets are equal if their conditions are, however they are spaced.
#[derive(Clone, Debug)]
pub struct CoreConstraints {
    terms: Vec<Term>,
    /// The text behind `=` or behind nothing, if that and no blank is all there is.
    exact: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    operator: Operator,
    /// As many as were written, but padded with zeros to three.
    numbers: Vec<u64>,
    /// The number of parts that were written.
    written: usize,
    /// Without its sign; empty if there is none.
    prerelease: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Pessimistic,
}

impl PartialEq for CoreConstraints {
    fn eq(&self, other: &Self) -> bool {
        self.terms == other.terms
    }
}

impl Eq for CoreConstraints {}

impl CoreConstraints {
    /// Reads the `version` of a module call.
    ///
    /// Any count of numbers, a prefix `v` and any white space are fine, and `1.0.0beta` is a
    /// pre-release; an empty item is not.
    ///
    /// ```
    /// use lockctl_core::version::{CoreConstraints, Version};
    ///
    /// let constraints = CoreConstraints::parse(">=  v1.2, != 1.3.0.0")?;
    /// assert!(constraints.allows(&Version::release(1, 4, 0)));
    /// assert!(!constraints.allows(&Version::release(1, 3, 0)));
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    ///
    /// # Errors
    /// If the text does not follow rules 6.1, or a number is above 9223372036854775807.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        let error = |reason| ConstraintError::new(text, reason);
        if trim(text).is_empty() {
            return Err(error(VersionFault::Empty));
        }
        let mut terms = Vec::new();
        for item in text.split(',') {
            let item = trim(item);
            if item.is_empty() {
                return Err(error(VersionFault::EmptyItem));
            }
            // Unlike the grammar of lock files, any white space may follow the operator, and `v` the white space.
            let (operator, version) = OPERATORS
                .iter()
                .find_map(|(sign, operator)| Some((*operator, item.strip_prefix(sign)?)))
                .expect("the last sign is empty");
            let version = trim(version);
            let (mut numbers, suffixes) =
                parse_numbers(version.strip_prefix('v').unwrap_or(version))
                    .map_err(|fault| match fault {
                        // `=> 1.0` is `=` before something that is no number.
                        VersionFault::NoNumber => VersionFault::of_operator(item).unwrap_or(fault),
                        _ => fault,
                    })
                    .map_err(error)?;
            let written = numbers.len();
            // Any count of numbers is fine: `1.11.4.0` equals `1.11.4` (rules 6.1).
            numbers.resize(written.max(3), 0);
            terms.push(Term {
                operator,
                numbers,
                written,
                prerelease: parse_suffixes(suffixes).map_err(error)?.into(),
            });
        }
        let exact = match &*terms {
            [only] if only.operator == Operator::Equal => {
                let text = text.strip_prefix('=').unwrap_or(text);
                // With a blank no pre-release of a module is taken (rules 6.4).
                (trim(text) == text).then(|| text.into())
            }
            _ => None,
        };
        Ok(Self { terms, exact })
    }

    /// Returns the version that is the only condition, as it is written, if it is an exact one without
    /// a blank: only such a text selects a pre-release of a module (rules 6.4).
    ///
    /// ```
    /// use lockctl_core::version::CoreConstraints;
    ///
    /// assert_eq!(CoreConstraints::parse("=2.0.0-rc1")?.exact(), Some("2.0.0-rc1"));
    /// assert_eq!(CoreConstraints::parse("= 2.0.0-rc1")?.exact(), None);
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        self.exact.as_deref()
    }

    /// Returns the release that is the only one which meets all constraints, if the text says so itself:
    /// one condition with `=` or nothing, however it is written. Metadata is left out.
    #[must_use]
    pub fn only_release(&self) -> Option<Version> {
        match &*self.terms {
            [only] if only.operator == Operator::Equal && only.prerelease.is_empty() => {
                let [major, minor, patch] = *<&[u64; 3]>::try_from(&*only.numbers).ok()?;
                Some(Version::release(major, minor, patch))
            }
            _ => None,
        }
    }

    /// Reads a `required_version`, where no pre-release is permitted.
    ///
    /// ```
    /// use lockctl_core::version::CoreConstraints;
    ///
    /// assert!(CoreConstraints::parse_required("~> 1.5").is_ok());
    /// let error = CoreConstraints::parse_required("> 1.5.0-rc1").unwrap_err();
    /// assert!(error.is_forbidden_prerelease());
    /// ```
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse), and then any pre-release.
    pub fn parse_required(text: &str) -> Result<Self, ConstraintError> {
        let constraints = Self::parse(text)?;
        if constraints
            .terms
            .iter()
            .any(|term| !term.prerelease.is_empty())
        {
            let reason = VersionFault::Prerelease;
            return Err(ConstraintError::new(text, reason));
        }
        Ok(constraints)
    }

    /// Returns whether a version that is there, running or installed, meets all constraints.
    ///
    /// Metadata does not count. The programs check themselves
    /// [without suffixes](Version::without_suffixes). Which pre-release of a module is *chosen* from a
    /// list is decided otherwise (rules 6.4).
    #[must_use]
    pub fn allows(&self, version: &Version) -> bool {
        self.terms.iter().all(|term| term.is_met_by(version))
    }
}

impl CoreConstraints {
    /// Returns whether some release with these first two numbers meets all constraints.
    ///
    /// ```
    /// use lockctl_core::version::CoreConstraints;
    ///
    /// let constraints = CoreConstraints::parse_required("> 1.11.3, != 1.11.4")?;
    /// assert!(constraints.allows_some(1, 11));
    /// assert!(!constraints.allows_some(1, 10));
    /// # Ok::<(), lockctl_core::version::ConstraintError>(())
    /// ```
    #[must_use]
    pub fn allows_some(&self, major: u64, minor: u64) -> bool {
        // Behind the greatest patch that a term names the answer does not change any more, so it is enough to
        // try the neighbours of each named patch.
        let allows = |patch| self.allows(&Version::release(major, minor, patch));
        allows(0)
            || self.terms.iter().any(|term| {
                let patch = term.numbers[2];
                [patch.saturating_sub(1), patch, patch.saturating_add(1)]
                    .into_iter()
                    .any(allows)
            })
    }
}

impl Version {
    /// Reads a version by the older grammar, which registries use for modules: a prefix `v` and leading zeros
    /// are valid, and missing numbers are zero (rules 6.7).
    ///
    /// ```
    /// use lockctl_core::version::Version;
    ///
    /// assert_eq!(Version::parse_listed("v1.02")?.to_string(), "1.2.0");
    /// assert!(Version::parse_listed("1.0.0 ").is_err());
    /// # Ok::<(), lockctl_core::version::VersionError>(())
    /// ```
    ///
    /// # Errors
    /// If it is no such version, or has more than three numbers.
    pub fn parse_listed(text: &str) -> Result<Self, VersionError> {
        let error = |reason| VersionError::new(text, reason);
        let (mut numbers, suffixes) =
            parse_numbers(text.strip_prefix('v').unwrap_or(text)).map_err(error)?;
        if numbers.len() > 3 {
            return Err(error(VersionFault::TooManyNumbers));
        }
        numbers.resize(3, 0);
        let prerelease = parse_suffixes(suffixes).map_err(error)?;
        let metadata = suffixes.split_once('+').map(|(_, metadata)| metadata);
        let mut canonical = numbers
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(".");
        for (sign, suffix) in [('-', Some(prerelease)), ('+', metadata)] {
            let suffix = suffix.filter(|suffix| !suffix.is_empty());
            canonical.extend(suffix.map(|suffix| format!("{sign}{suffix}")));
        }
        canonical
            .parse()
            .map_err(|_| error(VersionFault::Malformed))
    }
}

impl Term {
    fn is_met_by(&self, version: &Version) -> bool {
        let order = self.order_of(version);
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            // `=` and `!=` compare pre-releases as well. Ranges consider one only if the constraint has a
            // pre-release of the same numbers; unlike the rule for providers, the two may differ.
            _ if version.is_prerelease()
                && (self.prerelease.is_empty() || self.numbers != numbers(version)) =>
            {
                false
            }
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Pessimistic => {
                // All written numbers but the last agree, so that `~> 1` has no upper bound.
                let numbers = numbers(version);
                let has_prerelease = !self.prerelease.is_empty();
                // A release never meets a constraint with a pre-release, or with more numbers than it has.
                order.is_ge()
                    && has_prerelease == version.is_prerelease()
                    && self.numbers.len() <= numbers.len()
                    && self.numbers[..self.written - 1] == numbers[..self.written - 1]
            }
        }
    }

    /// Returns how a version compares to the one of this constraint.
    ///
    /// Pre-releases count only if the numbers are the same and as many: `1.0.0` equals
    /// `1.0.0.0-beta`. Odd, but seen in Terraform 1.11.4 with an installed module.
    fn order_of(&self, version: &Version) -> Ordering {
        let numbers = numbers(version);
        // A fourth number makes the slices differ, and then the pre-release takes no part.
        if self.numbers != numbers {
            let padding = std::iter::repeat(&0);
            return numbers
                .iter()
                .chain(padding)
                .take(self.numbers.len())
                .cmp(&self.numbers);
        }
        // Part by part; a release is above.
        let (left, right) = (version.prerelease(), &*self.prerelease);
        if left.is_empty() || right.is_empty() || left == right {
            return left.is_empty().cmp(&right.is_empty());
        }
        let (mut left, mut right) = (left.split('.'), right.split('.'));
        loop {
            let order = match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                (left, right) => by_part(left.unwrap_or_default(), right.unwrap_or_default()),
            };
            if order.is_ne() {
                return order;
            }
        }
    }
}

fn numbers(version: &Version) -> [u64; 3] {
    [version.major, version.minor, version.patch]
}

/// Compares two parts; a missing one counts as empty.
fn by_part(left: &str, right: &str) -> Ordering {
    let number = |part: &str| part.parse::<i64>().ok();
    // Numbers are below words. An empty part is below a number but above a word, so `rc` is above `rc.a`, and
    // of two spellings of one number the left is below (rules 6.6). Digits beyond 64 bits are compared as
    // words; this is a choice of lockctl.
    match (number(left), number(right)) {
        _ if left == right => Ordering::Equal,
        (_, other) if left.is_empty() => match other {
            Some(_) => Ordering::Less,
            None => Ordering::Greater,
        },
        (other, _) if right.is_empty() => match other {
            Some(_) => Ordering::Greater,
            None => Ordering::Less,
        },
        (Some(left), Some(right)) if left > right => Ordering::Greater,
        (Some(_), Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Removes the white space of this grammar, which is ASCII only.
fn trim(text: &str) -> &str {
    text.trim_matches(['\t', '\n', '\x0c', '\r', ' '])
}

/// Prints the conditions with single spaces, each number as it was written.
impl fmt::Display for CoreConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            let symbol = OPERATORS
                .iter()
                .find(|(_, operator)| *operator == term.operator);
            if let (Some((symbol, _)), false) = (symbol, term.operator == Operator::Equal) {
                write!(f, "{symbol} ")?;
            }
            let numbers: Vec<String> = term
                .numbers
                .iter()
                .take(term.written)
                .map(u64::to_string)
                .collect();
            f.write_str(&numbers.join("."))?;
            if !term.prerelease.is_empty() {
                write!(f, "-{}", term.prerelease)?;
            }
        }
        Ok(())
    }
}

/// Reads numbers with dots between them; returns what follows.
fn parse_numbers(text: &str) -> Result<(Vec<u64>, &str), VersionFault> {
    let mut numbers = Vec::new();
    let mut rest = text;
    loop {
        let (digits, behind) = scan::split_while(rest, |byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(VersionFault::NoNumber);
        }
        let number: u64 = digits.parse().map_err(|_| VersionFault::TooLarge)?;
        if number > MAX_NUMBER {
            return Err(VersionFault::TooLarge);
        }
        numbers.push(number);
        rest = match behind.strip_prefix('.') {
            Some(behind) => behind,
            None => return Ok((numbers, behind)),
        };
    }
}

/// Reads pre-release and metadata; returns the pre-release without its sign.
fn parse_suffixes(text: &str) -> Result<&str, VersionFault> {
    let (prerelease, metadata) = match text.split_once('+') {
        Some((prerelease, metadata)) => (prerelease, Some(metadata)),
        None => (text, None),
    };
    let is_fine =
        (prerelease.is_empty() || is_dotted(prerelease)) && metadata.is_none_or(is_dotted);
    if !is_fine {
        return Err(VersionFault::Malformed);
    }
    // A letter or a `~` may start the pre-release without any sign, as in `1.0.0beta`, and `-` alone is a
    // pre-release as well.
    Ok(match prerelease.strip_prefix('-') {
        Some("") | None => prerelease,
        Some(rest) if rest.starts_with('.') => prerelease,
        Some(rest) => rest,
    })
}

/// Returns whether a text is parts of letters, digits, `-` and `~` with dots between them.
fn is_dotted(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'~';
    text.split('.')
        .all(|part| !part.is_empty() && part.bytes().all(is_word))
}
