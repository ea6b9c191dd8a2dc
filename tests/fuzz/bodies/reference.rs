//! Versions and constraints as `src/core/words/version/rules.md` describes them, slow and literal: an oracle.

use std::cmp::Ordering;

/// A version by its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The numbers as they are written, one to three.
    pub(super) numbers: Vec<u64>,
    pub(super) prerelease: String,
    pub(super) metadata: String,
}

impl Parts {
    /// Reads a version by `version` rules 1.1 to 1.4; `None` is no version.
    pub(super) fn read(text: &str) -> Option<Self> {
        // White space at the start is overlooked, but none of ASCII (`version` rules 1.3).
        let text = text.trim_start_matches(|c: char| c.is_whitespace() && !c.is_ascii());
        // One dot at the very end of the text is dropped.
        let text = text
            .strip_suffix('.')
            .filter(|rest| is_numbers(rest))
            .unwrap_or(text);
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (numbers, suffixes) = text.split_at(end);
        if !is_numbers(numbers) {
            return None;
        }
        let numbers: Option<Vec<u64>> = numbers
            .split('.')
            .map(|number| number.parse().ok())
            .collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= 3)?;
        let (prerelease, metadata) = match suffixes.split_once('+') {
            Some((prerelease, metadata)) => (prerelease, metadata),
            None => (suffixes, ""),
        };
        // A `+` behind an empty pre-release is left over.
        if prerelease == "-" && suffixes.contains('+') {
            return None;
        }
        let prerelease = prerelease.strip_prefix('-').unwrap_or_default();
        let is_suffix = |text: &str| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        };
        (is_suffix(prerelease) && is_suffix(metadata)).then(|| Self {
            numbers,
            prerelease: prerelease.to_owned(),
            metadata: metadata.to_owned(),
        })
    }

    fn padded(&self) -> [u64; 3] {
        let number = |at| self.numbers.get(at).copied().unwrap_or(0);
        [number(0), number(1), number(2)]
    }

    /// The canonical text (`version` rules 1.5).
    pub(super) fn canonical(&self) -> String {
        let [major, minor, patch] = self.padded();
        let sign = |sign: &str, text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!("{sign}{text}")
            }
        };
        format!(
            "{major}.{minor}.{patch}{}{}",
            sign("-", &self.prerelease),
            sign("+", &self.metadata)
        )
    }

    /// Compares without metadata (`version` rules 2.1).
    pub(super) fn precedence(&self, other: &Self) -> Ordering {
        let prerelease = match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => by_parts(&self.prerelease, &other.prerelease),
        };
        self.padded().cmp(&other.padded()).then(prerelease)
    }
}

fn is_numbers(text: &str) -> bool {
    text.split('.')
        .all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Compares pre-releases part by part (`version` rules 2.2).
fn by_parts(left: &str, right: &str) -> Ordering {
    match (left.split_once('.'), right.split_once('.')) {
        (None, None) => by_part(left, right),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some((left, lefts)), Some((right, rights))) => {
            by_part(left, right).then_with(|| by_parts(lefts, rights))
        }
    }
}

/// Compares two parts (`version` rules 2.3).
fn by_part(left: &str, right: &str) -> Ordering {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    match (is_number(left), is_number(right)) {
        (true, true) => (left.len(), left).cmp(&(right.len(), right)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.cmp(right),
    }
}

/// An item of a constraint set.
#[derive(Clone, Debug)]
pub(super) struct Term {
    sign: &'static str,
    pub(super) version: Parts,
}

/// Reads a set by `version` rules 3.2 to 3.5; `None` is no set.
pub(super) fn terms(text: &str) -> Option<Vec<Term>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    // A comma at the end passes (`version` rules 3.4).
    text.strip_suffix(',')
        .unwrap_or(text)
        .split(',')
        .map(|item| term(item.trim()))
        .collect()
}

fn term(item: &str) -> Option<Term> {
    // The longer sign first.
    for sign in ["!=", ">=", "<=", "~>", "=", ">", "<"] {
        if let Some(rest) = item.strip_prefix(sign) {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            if rest.starts_with(char::is_whitespace) {
                return None;
            }
            return Some(Term {
                sign,
                version: Parts::read(rest)?,
            });
        }
    }
    Some(Term {
        sign: "=",
        version: Parts::read(item)?,
    })
}

/// Returns whether a version may be selected (`version` rules 5).
pub(super) fn allows(terms: &[Term], version: &Parts) -> bool {
    let is_named = terms
        .iter()
        .any(|term| term.sign == "=" && is_equal(&term.version, version));
    let is_nothing = version.canonical() == "0.0.0";
    let is_selectable = version.prerelease.is_empty() || is_named;
    !is_nothing && is_selectable && terms.iter().all(|term| is_met(term, version))
}

/// Equality covers metadata (`version` rules 2.4).
fn is_equal(left: &Parts, right: &Parts) -> bool {
    left.canonical() == right.canonical()
}

fn is_met(term: &Term, version: &Parts) -> bool {
    let order = version.precedence(&term.version);
    let [major, minor, _] = term.version.padded();
    // Bounds are compared in 128 bits: behind the greatest number there is none.
    let numbers = version.padded().map(u128::from);
    match term.sign {
        "=" => is_equal(&term.version, version),
        "!=" => !is_equal(&term.version, version),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        "~>" if term.version.numbers.len() == 3 => {
            let end = [u128::from(major), u128::from(minor) + 1, 0];
            order.is_ge() && is_below(numbers, &version.prerelease, end)
        }
        _ => {
            let end = [u128::from(major) + 1, 0, 0];
            order.is_ge() && is_below(numbers, &version.prerelease, end)
        }
    }
}

/// Upper bounds are plain order, so a pre-release of the bound is below it (`version` rules 5.3).
fn is_below(numbers: [u128; 3], prerelease: &str, end: [u128; 3]) -> bool {
    numbers < end || (numbers == end && !prerelease.is_empty())
}
