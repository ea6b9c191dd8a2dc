//! Search for names that one typing error turns into each other, among many names.
//!
//! A lock file may hold 28,000 names, and to compare each with each takes minutes. Two names that are one
//! error apart are equal once the letter in question is taken out of one or of both, or once two letters
//! have changed places. So for each letter the hashes of the rest are sorted and looked up: the work grows
//! with the letters of all names.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

/// A name that may be mistaken for another, or the other one.
pub(super) struct NearName {
    pub(super) letters: Vec<char>,
    /// The letters that an error may be in.
    pub(super) part: Range<usize>,
    /// A name may be mistaken only for names of a smaller rank.
    pub(super) rank: usize,
}

/// Returns for each of `asking` the first of `known` that it is one error away from.
///
/// `fits` has the last word on a pair; most pairs that are further apart never get there. No name is twice
/// in `asking`, nor in `known`.
pub(super) fn first_near(
    asking: &[NearName],
    known: &[NearName],
    mut fits: impl FnMut(&NearName, &NearName) -> bool,
) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; asking.len()];
    let mut pair = |asks: usize, other: usize| {
        let is_first = found[asks].is_none_or(|first| other < first);
        if is_first && known[other].rank < asking[asks].rank && fits(&asking[asks], &known[other]) {
            found[asks] = Some(other);
        }
    };
    // A lock file is hostile input, and of two names with equal hashes one would not be compared: the hashes
    // are random.
    let hasher = RandomState::new();
    let hash = |letters: Vec<char>| hasher.hash_one(String::from_iter(letters));
    let by_whole = |names: &[NearName]| -> BTreeMap<u64, usize> {
        names
            .iter()
            .map(|name| hash(name.letters.clone()))
            .zip(0..)
            .collect()
    };
    let (whole_asking, whole_known) = (by_whole(asking), by_whole(known));
    let longest = asking
        .iter()
        .chain(known)
        .map(|name| name.part.end)
        .max()
        .unwrap_or(0);
    for at in 0..longest {
        // Hashes without the letter serve both for a letter that is missing and for one that was replaced.
        let mut shorter = Vec::new();
        for (asks, name) in open(asking, at) {
            let without = hash(name.without(at));
            shorter.push((without, name.rank, false, asks));
            let swapped = (at + 1 < name.letters.len()).then(|| {
                let mut letters = name.letters.clone();
                letters.swap(at, at + 1);
                hash(letters)
            });
            for key in [Some(without), swapped].into_iter().flatten() {
                if let Some(other) = whole_known.get(&key) {
                    pair(asks, *other);
                }
            }
        }
        for (other, name) in open(known, at) {
            let without = hash(name.without(at));
            shorter.push((without, name.rank, true, other));
            if let Some(asks) = whole_asking.get(&without) {
                pair(*asks, other);
            }
        }
        replaced(asking, known, at, shorter, &mut pair);
    }
    found
}

/// Returns the names that may have an error in a letter.
fn open(names: &[NearName], at: usize) -> impl Iterator<Item = (usize, &NearName)> {
    names
        .iter()
        .enumerate()
        .filter(move |(_, name)| name.part.contains(&at))
}

impl NearName {
    /// Returns the letters but for one.
    fn without(&self, at: usize) -> Vec<char> {
        [&self.letters[..at], &self.letters[at + 1..]].concat()
    }
}

/// A name without a letter: the hash, the rank, whether the name is known rather than asking, and its index.
type ShorterName = (u64, usize, bool, usize);

/// Finds pairs that differ in one letter.
fn replaced(
    asking: &[NearName],
    known: &[NearName],
    at: usize,
    mut names: Vec<ShorterName>,
    pair: &mut impl FnMut(usize, usize),
) {
    // Of one rank those that ask come first, so that they do not see each other.
    names.sort_unstable();
    for alike in names.chunk_by(|a, b| a.0 == b.0) {
        // Behind the last that asks, no name is looked for: most are alone with themselves.
        let asking_end = alike
            .iter()
            .rposition(|(_, _, is_known, _)| !is_known)
            .map_or(0, |last| last + 1);
        let mut firsts = FirstLetters::default();
        for &(_, _, is_known, index) in &alike[..asking_end] {
            if is_known {
                firsts.add(known[index].letters[at], index);
            } else {
                let letter = asking[index].letters[at];
                firsts
                    .0
                    .iter()
                    .flatten()
                    .filter(|(_, known)| *known != letter)
                    .for_each(|(other, _)| pair(index, *other));
            }
        }
    }
}

/// The first names by the letter that differs: two with a number there, two with another letter. For any
/// letter, one of them has a different letter there, and no number if the given letter is a number.
#[derive(Default)]
struct FirstLetters([Vec<(usize, char)>; 2]);

impl FirstLetters {
    fn add(&mut self, letter: char, index: usize) {
        let firsts = &mut self.0[usize::from(letter.is_ascii_digit())];
        match firsts.iter_mut().find(|(_, known)| *known == letter) {
            Some((first, _)) => *first = index.min(*first),
            None => firsts.push((index, letter)),
        }
        firsts.sort_unstable();
        firsts.truncate(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as a lock file may hold them: many, of few letters, so that many are near each other.
    fn names(count: usize, letters: &[char]) -> Vec<NearName> {
        let name = |number: usize| {
            let text = (0..6)
                .map(|digit| letters[number / letters.len().pow(digit) % letters.len()])
                .collect();
            NearName {
                letters: text,
                part: 0..6,
                rank: number,
            }
        };
        (0..count).map(name).collect()
    }

    #[test]
    fn pairs_are_looked_at_no_more_often_than_there_are_letters() {
        let letters: Vec<char> = "0123456789".chars().collect();
        for count in [500, 1000, 2000] {
            let names = names(count, &letters);
            let mut looked_at = 0;
            first_near(&names, &names, |_, _| {
                looked_at += 1;
                false
            });
            assert!(looked_at <= 12 * 6 * count, "{looked_at} for {count}");
        }
    }
}
