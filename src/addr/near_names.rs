//! Search for names that one typing error turns into each other, among many names.
//!
//! A lock file may hold 28,000 names, and to compare each with each takes minutes. Two names that are one
//! error apart are equal once the letter in question is taken out of one or of both, or once two letters
//! have changed places. So for each letter the hashes of the rest are sorted and looked up: the work grows
//! with the letters of all names.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    let (whole_asking, whole_known) = (whole(asking), whole(known));
    let longest = asking
        .iter()
        .chain(known)
        .map(|name| name.part.end)
        .max()
        .unwrap_or(0);
    for at in 0..longest {
        for (asks, name) in open(asking, at) {
            let (before, behind) = name.around(at);
            let swapped = behind.split_first().map(|(second, behind)| {
                let letters = [*second, name.letters[at]];
                hash([before, letters.as_slice(), behind])
            });
            let shorter = hash([before, behind]);
            for key in [Some(shorter), swapped].into_iter().flatten() {
                if let Some(other) = whole_known.get(&key) {
                    pair(asks, *other);
                }
            }
        }
        for (other, name) in open(known, at) {
            let (before, behind) = name.around(at);
            if let Some(asks) = whole_asking.get(&hash([before, behind])) {
                pair(*asks, other);
            }
        }
        replaced(asking, known, at, &mut pair);
    }
    found
}

impl NearName {
    /// Returns the letters before and behind a letter.
    fn around(&self, at: usize) -> (&[char], &[char]) {
        (&self.letters[..at], &self.letters[at + 1..])
    }
}

/// Returns the names that may have an error in a letter.
fn open(names: &[NearName], at: usize) -> impl Iterator<Item = (usize, &NearName)> {
    names
        .iter()
        .enumerate()
        .filter(move |(_, name)| name.part.contains(&at))
}

fn whole(names: &[NearName]) -> BTreeMap<u64, usize> {
    let whole = |(index, name): (usize, &NearName)| (hash([name.letters.as_slice()]), index);
    names.iter().enumerate().map(whole).collect()
}

fn hash<const N: usize>(parts: [&[char]; N]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // One by one: the hash of a slice depends on its length, and so on where the parts meet.
    for letter in parts.into_iter().flatten() {
        letter.hash(&mut hasher);
    }
    hasher.finish()
}

/// Finds pairs that differ in one letter.
fn replaced(
    asking: &[NearName],
    known: &[NearName],
    at: usize,
    pair: &mut impl FnMut(usize, usize),
) {
    let key = |name: &NearName| {
        let (before, behind) = name.around(at);
        hash([before, behind])
    };
    // Of one rank those that ask come first, so that they do not see each other.
    let mut names: Vec<(u64, usize, bool, usize)> = open(asking, at)
        .map(|(index, name)| (key(name), name.rank, false, index))
        .chain(open(known, at).map(|(index, name)| (key(name), name.rank, true, index)))
        .collect();
    names.sort_unstable();
    for alike in names.chunk_by(|a, b| a.0 == b.0) {
        let mut firsts = FirstLetters::default();
        for &(_, _, is_known, index) in alike {
            if is_known {
                firsts.add(known[index].letters[at], index);
            } else {
                let letter = asking[index].letters[at];
                firsts
                    .other_than(letter)
                    .for_each(|other| pair(index, other));
            }
        }
    }
}

/// The first names by the letter in which they differ: two numbers, two others. For any letter there is
/// one among them that is neither this letter nor, beside a number, another number.
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

    fn other_than(&self, letter: char) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .flatten()
            .filter(move |(_, known)| *known != letter)
            .map(|(index, _)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as a lock file may hold them: many, of few letters, so that many are near each other.
    fn names(count: usize, letters: &[char]) -> Vec<NearName> {
        let name = |number: usize| NearName {
            letters: (0..6)
                .map(|digit| letters[number / letters.len().pow(digit) % letters.len()])
                .collect(),
            part: 0..6,
            rank: number,
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
