//! The changes of many lock files, equal ones together.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::causes::Risk;
use super::diff::ProviderSide;
use super::explain::ExplainedChange;
use super::file::{FileCause, FileReview};

/// The name for the place of a requirement where several are meant.
const ANYWHERE: &str = "the configuration";

/// The changes of several lock files: equal ones once, with the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedChanges<'a> {
    /// The changes of files as a whole, the highest risk first.
    pub causes: Vec<FoldedCause<'a>>,
    /// The changes of entries, the highest risk first, then by address.
    pub changes: Vec<FoldedChange<'a>>,
}

/// A change of files as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedCause<'a> {
    /// The kind of the change.
    pub cause: FileCause,
    /// The changes of the first file.
    pub review: &'a FileReview,
    /// The files that it happened to, in their order.
    pub files: Vec<&'a str>,
}

/// A change of one provider in several files: from the same version to the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedChange<'a> {
    /// The first of the equal changes.
    pub first: &'a ExplainedChange,
    /// The remark that applies to all of them, with the files that have no other.
    pub remark: FoldedRemark<'a>,
    /// The further remarks on some of them, the most frequent first; never empty texts.
    pub deviations: Vec<FoldedRemark<'a>>,
}

/// A remark on a change, with the files that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedRemark<'a> {
    /// The remark, of clauses as of [`ExplainedChange::remarks`]; may be empty.
    pub text: String,
    /// The files with the changes, in their order.
    pub files: Vec<(&'a str, &'a ExplainedChange)>,
}

impl FoldedCause<'_> {
    /// Returns the change in words that hold for all of the files.
    #[must_use]
    pub fn text(&self) -> String {
        match self.cause {
            FileCause::Renamed if self.files.len() > 1 => "the file was moved".to_owned(),
            FileCause::CommentsLost if self.files.len() > 1 => {
                "comments of an author were removed: the programs keep none".to_owned()
            }
            cause => self.review.clause(cause),
        }
    }
}

impl<'a> FoldedChange<'a> {
    /// Lists the files with this change of the provider: first those without deviations.
    pub fn files(&self) -> impl Iterator<Item = (&'a str, &'a ExplainedChange)> {
        std::iter::once(&self.remark)
            .chain(&self.deviations)
            .flat_map(|remark| remark.files.iter().copied())
    }

    fn risk(&self) -> Risk {
        self.first.explained.risk
    }
}

/// Puts equal changes of files together, each file with its name.
///
/// Changes are equal if they are of one provider, from the same version to the same version, as risky as
/// each other and of the same kinds.
#[must_use]
pub fn fold<'a>(files: &[(&'a str, &'a FileReview)]) -> FoldedChanges<'a> {
    let mut folded = FoldedChanges::default();
    for (file, review) in files {
        for &cause in &review.causes {
            // The text of a fold leaves out the old path and the number of comments, because files differ
            // there; a header of the other program is another change.
            let is_equal = |folded: &&mut FoldedCause<'_>| {
                folded.cause == cause
                    && (cause != FileCause::HeaderSwitched || folded.review.header == review.header)
            };
            match folded.causes.iter_mut().find(is_equal) {
                Some(equal) => equal.files.push(file),
                None => folded.causes.push(FoldedCause {
                    cause,
                    review,
                    files: vec![file],
                }),
            }
        }
    }
    // Groups are in the order of their first changes.
    let mut groups: Vec<Vec<(&str, &ExplainedChange)>> = Vec::new();
    let mut indices = BTreeMap::new();
    for (file, review) in files {
        for explained in &review.providers {
            let version = |side: Option<&ProviderSide>| {
                side.map(|side| (side.addr.clone(), side.lock.version.to_string()))
            };
            let change = &explained.change;
            let sides = (version(change.before()), version(change.now()));
            let key = (explained.explained.risk, sides, &change.kinds);
            let index = *indices.entry(key).or_insert(groups.len());
            if index == groups.len() {
                groups.push(Vec::new());
            }
            groups[index].push((*file, explained));
        }
    }
    folded.changes = groups.into_iter().map(folded_change).collect();
    folded
        .causes
        .sort_by_key(|folded| Reverse((folded.cause.risk(), folded.files.len())));
    folded.changes.sort_by(|a, b| {
        let risk = Reverse(a.risk()).cmp(&Reverse(b.risk()));
        let addr = || a.first.change.addr().cmp(b.first.change.addr());
        let count = || Reverse(a.files().count()).cmp(&Reverse(b.files().count()));
        risk.then_with(addr).then_with(count)
    });
    folded
}

fn folded_change<'a>(group: Vec<(&'a str, &'a ExplainedChange)>) -> FoldedChange<'a> {
    let first = group[0].1;
    let is_alone = group.len() == 1;
    let remarks: Vec<Vec<String>> = group
        .iter()
        .map(|(file, change)| {
            let mut change = ExplainedChange::clone(change);
            // Each file has its own configuration, so the places differ where all else is the same.
            change.configuration = change.configuration.map(|cause| {
                if is_alone {
                    cause.seen_from(file)
                } else {
                    cause.at(ANYWHERE)
                }
            });
            change.remarks()
        })
        .collect();
    let common: Vec<&str> = remarks[0]
        .iter()
        .filter(|text| remarks.iter().all(|of_file| of_file.contains(text)))
        .map(|text| &**text)
        .collect();
    let mut files = Vec::new();
    let mut deviations: Vec<FoldedRemark<'a>> = Vec::new();
    for ((file, change), of_file) in group.iter().zip(&remarks) {
        let rest: Vec<&str> = of_file
            .iter()
            .map(|text| &**text)
            .filter(|text| !common.contains(text))
            .collect();
        let text = rest.join("; ");
        match deviations.iter_mut().find(|remark| remark.text == text) {
            _ if text.is_empty() => files.push((*file, *change)),
            Some(remark) => remark.files.push((file, change)),
            None => deviations.push(FoldedRemark {
                text,
                files: vec![(file, change)],
            }),
        }
    }
    deviations.sort_by_key(|remark| Reverse(remark.files.len()));
    FoldedChange {
        first,
        remark: FoldedRemark {
            text: common.join("; "),
            files,
        },
        deviations,
    }
}
