//! A constraint rewritten so that it allows another version, in the form that its author chose.
//!
//! | given | for 6.2.3 | |
//! | --- | --- | --- |
//! | `5.31.0`, `= 5.31.0` | `6.2.3`, `= 6.2.3` | an exact pin moves |
//! | `~> 5`, `~> 5.31`, `~> 5.31.1` | `~> 6`, `~> 6.2`, `~> 6.2.3` | as many numbers as before |
//! | `~> 5.0`, `~> 5.31.0` | `~> 6.0`, `~> 6.2.0` | a last zero stays zero |
//! | `>= 5, < 6` | `>= 6.2, < 7` | both bounds move |
//! | `< 5.32`, `< 5.31.4` | `< 6.3`, `< 6.2.4` | the next bound of the same level |
//! | `<= 5.31` | `<= 6.2.3` | |
//! | `>= 7.0` (the version goes down) | `>= 6.2` | |
//! | `!= 6.2.3` | refused | its author excludes this version |
//!
//! Only terms that exclude the version change, white space between terms stays, and so do other exclusions.

use super::{Constraint, Constraints, Operator, Version};

/// The form of a constraint that is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintForm {
    /// The form of its author; a constraint that allows the version stays.
    Kept,
    /// The version itself, as in `6.2.3`.
    Pin,
    /// A minimum within the major version, as in `~> 6.2`.
    Pessimistic,
}

/// A reason why a constraint is not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RaiseError {
    /// A term excludes just this version.
    #[error("`{0}` excludes this version alone")]
    Excluded(String),
    /// The text is no constraint, or no form of it allows the version.
    #[error("the constraint cannot be rewritten")]
    Unknown,
}

/// Rewrites the text of a constraint so that it allows a version; the same text if nothing has to change.
///
/// ```
/// use lockctl_core::version::{ConstraintForm, raise};
///
/// let raised = raise(">= 5, < 6", &"6.2.0".parse()?, ConstraintForm::Kept);
/// assert_eq!(raised.as_deref(), Ok(">= 6.2, < 7"));
/// # Ok::<(), lockctl_core::version::VersionError>(())
/// ```
///
/// # Errors
/// If no text in that form allows the version.
pub fn raise(text: &str, wanted: &Version, form: ConstraintForm) -> Result<String, RaiseError> {
    let stated = Constraints::parse_config(text).map_err(|_| RaiseError::Unknown)?;
    let raised = match form {
        ConstraintForm::Kept if stated.allows(wanted) => return Ok(text.to_owned()),
        // Only a pin can name a pre-release.
        ConstraintForm::Pin => wanted.to_string(),
        _ if wanted.is_prerelease() => wanted.to_string(),
        ConstraintForm::Pessimistic => format!("~> {}.{}", wanted.major, wanted.minor),
        ConstraintForm::Kept => {
            let mut terms = Vec::new();
            for text in text.split(',') {
                let read =
                    Constraints::parse_config(text.trim()).map_err(|_| RaiseError::Unknown)?;
                let term = read.iter().next().cloned().ok_or(RaiseError::Unknown)?;
                terms.push((text, term));
            }
            let is_above_bound = terms.iter().any(|(_, term)| {
                matches!(term.operator(), Operator::Less | Operator::LessOrEqual)
                    && !term.is_met_by(wanted)
            });
            let mut raised = Vec::new();
            for (text, term) in &terms {
                raised.push(raised_term(text, term, wanted, is_above_bound)?);
            }
            raised.join(",")
        }
    };
    let allows = Constraints::parse_config(&raised).is_ok_and(|raised| raised.allows(wanted));
    allows.then_some(raised).ok_or(RaiseError::Unknown)
}

/// Rewrites one term with the white space around it.
fn raised_term(
    text: &str,
    term: &Constraint,
    wanted: &Version,
    is_above_bound: bool,
) -> Result<String, RaiseError> {
    let is_lower = term.operator() == Operator::GreaterOrEqual;
    if term.is_met_by(wanted) && !(is_lower && is_above_bound) {
        return Ok(text.to_owned());
    }
    let start = text.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
    let end = text.trim_end().len();
    // A term keeps as many numbers as its author wrote.
    let written = text[start..end]
        .split(['-', '+'])
        .next()
        .unwrap_or_default()
        .split('.')
        .count()
        .min(3);
    let own = term.version();
    let last = [own.major, own.minor, own.patch][written - 1];
    let (major, minor, patch) = (wanted.major, wanted.minor, wanted.patch);
    let mut sign = &text[..start];
    let version = match term.operator() {
        Operator::NotEqual => return Err(RaiseError::Excluded(term.to_string())),
        Operator::Exact => wanted.to_string(),
        Operator::MinorOnly | Operator::PatchOnly => {
            let mut numbers = [major, minor, patch];
            if written > 1 && last == 0 {
                numbers[written - 1] = 0;
            }
            numbered(numbers, written)
        }
        Operator::GreaterOrEqual | Operator::Greater => {
            // The wanted version itself must be allowed, which `>` would exclude.
            if term.operator() == Operator::Greater {
                sign = ">= ";
            }
            let patch = if written == 3 && last != 0 { patch } else { 0 };
            with_enough_numbers([major, minor, patch], written)
        }
        Operator::LessOrEqual => with_enough_numbers([major, minor, patch], written),
        Operator::Less => {
            // The bound stays as coarse as it was: `< 2.0` becomes the next major version.
            let bound = match (own.minor, own.patch) {
                (0, 0) => [major.saturating_add(1), 0, 0],
                (_, 0) => [major, minor.saturating_add(1), 0],
                (_, _) => [major, minor, patch.saturating_add(1)],
            };
            with_enough_numbers(bound, written)
        }
    };
    Ok(format!("{sign}{version}{}", &text[end..]))
}

fn numbered(numbers: [u64; 3], count: usize) -> String {
    let texts: Vec<String> = numbers[..count].iter().map(u64::to_string).collect();
    texts.join(".")
}

/// Writes so many numbers, and those behind them up to the last that is not zero.
fn with_enough_numbers(numbers: [u64; 3], least: usize) -> String {
    let needed = numbers
        .iter()
        .rposition(|number| *number != 0)
        .map_or(0, |last| last + 1);
    numbered(numbers, least.max(needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, wanted: &str, raised: &str) {
        let wanted: Version = wanted.parse().expect("a version");
        let text = raise(given, &wanted, ConstraintForm::Kept);
        assert_eq!(text.as_deref(), Ok(raised), "{given:?} for {wanted}");
        let again = raise(raised, &wanted, ConstraintForm::Kept);
        assert_eq!(again.as_deref(), Ok(raised), "done once");
    }

    #[test]
    fn a_pin_moves() {
        check("5.31.0", "6.2.3", "6.2.3");
        check("= 5.31.0", "6.2.3", "= 6.2.3");
        check("=5.31", "6.2.3", "=6.2.3");
        check("5.31.0", "4.0.1", "4.0.1");
        check("6.0.0-beta1", "6.2.0", "6.2.0");
        check("6.0.0", "6.2.0-beta2", "6.2.0-beta2");
        check("1.0.0", "1.0.0+b", "1.0.0+b");
    }

    #[test]
    fn a_pessimistic_constraint_keeps_its_numbers() {
        check("~> 5", "6.2.3", "~> 6");
        check("~>5.31", "6.2.3", "~>6.2");
        check("~> 5.0", "6.2.3", "~> 6.0");
        check("~> 5.31.1", "6.2.3", "~> 6.2.3");
        check("~> 5.31.0", "6.2.3", "~> 6.2.0");
        check("~> 5.31", "5.20.1", "~> 5.20");
        check("~> 5.0.0-rc1", "6.2.3", "~> 6.2.0");
        check("~> 0.12", "1.0.0", "~> 1.0");
    }

    #[test]
    fn a_range_moves_as_a_whole() {
        check(">= 5, < 6", "6.2.0", ">= 6.2, < 7");
        check(" >=5.0.0 ,<6.0.0", "6.2.3", " >=6.2.0 ,<7.0.0");
        check(">= 5.31.2, < 5.32.0", "6.2.3", ">= 6.2.3, < 6.3.0");
        check("> 5.0, <= 5.31", "6.2.3", "> 5.0, <= 6.2.3");
        check("< 5.31.4", "5.40.0", "< 5.40.1");
        check("< 6.0.0-beta1", "6.0.0", "< 7.0.0");
        check(">= 7.0", "6.2.3", ">= 6.2");
        check("> 7", "6.2.3", ">= 6.2");
        check(">= 5.30, < 6", "5.20.0", ">= 5.20, < 6");
        check(">= 5", "6.2.3", ">= 5");
    }

    #[test]
    fn several_terms_change_as_far_as_they_exclude() {
        check("~> 5.31, != 5.33.0", "6.2.0", "~> 6.2, != 5.33.0");
        check("~> 5.31, >= 5.31.2", "6.2.0", "~> 6.2, >= 5.31.2");
        check(
            ">= 4, >= 5.1, < 6, < 7",
            "6.2.0",
            ">= 6.2, >= 6.2, < 7, < 7",
        );
        check(">= 5, < 6", "6.2.0-rc1", "6.2.0-rc1");
        let excluded = raise(
            "~> 5.0, != 6.2.0",
            &Version::release(6, 2, 0),
            ConstraintForm::Kept,
        );
        assert_eq!(excluded, Err(RaiseError::Excluded("!= 6.2.0".to_owned())));
    }

    #[test]
    fn a_house_form_replaces_any_other() {
        let form = |text: &str, form| raise(text, &"6.2.3".parse().expect("a version"), form);
        for text in ["5.31", ">= 5, < 6", "~> 6.2"] {
            assert_eq!(form(text, ConstraintForm::Pin).as_deref(), Ok("6.2.3"));
            assert_eq!(
                form(text, ConstraintForm::Pessimistic).as_deref(),
                Ok("~> 6.2")
            );
        }
        assert_eq!(form("x", ConstraintForm::Pin), Err(RaiseError::Unknown));
    }
}
