//! The known word that is meant by an unknown one.

use strsim::levenshtein;

use crate::platform::Platform;

/// Maximum distance between a word and the known one that is meant, in letters: two letters that changed
/// places are two replaced ones.
const MAX_DISTANCE: usize = 2;

/// Minimum number of letters that are right for each that is wrong: short words are always close.
const MIN_LETTERS: usize = 2;

/// Maximum length of words that are compared, in bytes: the work grows with the square of it.
const MAX_COMPARED: usize = 64;

/// Suggests the known word that is closest, if one is close.
///
/// ```
/// use lockctl_core::diag::did_you_mean;
///
/// let help = did_you_mean("platfroms", &["platforms", "roots"]);
/// assert_eq!(help.as_deref(), Some("did you mean platforms?"));
/// assert_eq!(did_you_mean("colour", &["platforms", "roots"]), None);
/// ```
#[must_use]
pub fn did_you_mean(text: &str, known: &[&str]) -> Option<String> {
    let word = nearest(text, known.iter().copied())?;
    Some(format!("did you mean {word}?"))
}

/// Returns the known word that is closest, if one is close; of several the first by the alphabet.
pub fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > MAX_COMPARED {
        return None;
    }
    let letters = text.chars().count();
    known
        .filter(|word| word.len() <= MAX_COMPARED)
        .map(|word| (levenshtein(text, word), word))
        .filter(|(wrong, _)| *wrong <= MAX_DISTANCE && wrong * (MIN_LETTERS + 1) <= letters)
        .min()
        .map(|(_, word)| word)
}

/// Asks about the spelling of a platform that providers are rarely released for.
#[must_use]
pub fn spelling_of(platform: &Platform) -> String {
    let released: Vec<String> = Platform::released()
        .iter()
        .map(ToString::to_string)
        .collect();
    nearest(&platform.to_string(), released.iter().map(String::as_str)).map_or_else(
        || "is it spelled right?".to_owned(),
        |meant| format!("did you mean {meant}?"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_that_resemble_a_released_one_are_slips() {
        let spelling = |text: &str| spelling_of(&text.parse().expect("a platform"));
        assert_eq!(spelling("linux_amd46"), "did you mean linux_amd64?");
        assert_eq!(spelling("Darwin_arm64"), "did you mean darwin_arm64?");
        assert_eq!(spelling("plan9_mips"), "is it spelled right?");
    }

    #[test]
    fn words_are_meant_if_they_are_close() {
        let known = ["aws", "awx", "random", "tls"];
        let near = |text: &str| nearest(text, known.into_iter());
        assert_eq!(near("awz"), Some("aws"));
        assert_eq!(near("radnom"), Some("random"));
        assert_eq!(near("ramndon"), Some("random"));
        assert_eq!(near("tfe"), None);
        assert_eq!(near("t"), None);
        assert_eq!(near(&"x".repeat(MAX_COMPARED + 1)), None);
    }
}
