//! Names that are nearly right.

/// How far a name may be from a known one to be meant as that, in letters.
const MAX_DISTANCE: usize = 2;

/// How long a name may be to be compared with known ones, in bytes.
const MAX_COMPARED: usize = 64;

/// Asks whether the known word that is closest is meant, if one is close.
///
/// ```
/// use lockctl::diag::did_you_mean;
///
/// let help = did_you_mean("platfroms", &["platforms", "roots"]);
/// assert_eq!(help.as_deref(), Some("did you mean platforms?"));
/// assert_eq!(did_you_mean("colour", &["platforms", "roots"]), None);
/// ```
#[must_use]
pub fn did_you_mean(text: &str, known: &[&str]) -> Option<String> {
    if text.len() > MAX_COMPARED {
        return None;
    }
    let near = known.iter().map(|word| (distance(text, word), *word));
    let (_, word) = near.filter(|(far, _)| *far <= MAX_DISTANCE).min()?;
    Some(format!("did you mean {word}?"))
}

/// Counts the letters to insert, drop or replace to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[b.len()]
}
