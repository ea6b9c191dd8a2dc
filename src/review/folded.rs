//! The changes of many lock files, equal ones together.

use std::cmp::Reverse;

use super::causes::Risk;
use super::explain::ExplainedChange;
use super::file::{FileCause, FileReview};

/// What the place of a requirement is called where several are meant.
const ANYWHERE: &str = "the configuration";

/// The changes of several lock files: equal ones once, with the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded<'a> {
    /// What changed about files as a whole, what matters most first.
    pub causes: Vec<FoldedCause<'a>>,
    /// What changed in entries, what matters most first, then by address.
    pub changes: Vec<FoldedChange<'a>>,
}

/// A change of files as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedCause<'a> {
    /// What happened.
    pub cause: &'a FileCause,
    /// To which files, in their order.
    pub files: Vec<&'a str>,
}

/// A change of one provider in several files: from the same version to the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedChange<'a> {
    /// The first of them.
    pub first: &'a ExplainedChange,
    /// What holds for all of them beside kinds and versions, with the files for which that is all.
    pub remark: FoldedRemark<'a>,
    /// What also holds for some of them, the most frequent first; never empty texts.
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
    /// Returns what happened, in words that hold for all of the files.
    #[must_use]
    pub fn text(&self) -> String {
        match self.cause {
            FileCause::Renamed { .. } if self.files.len() > 1 => "the file was moved".to_owned(),
            FileCause::CommentsLost(_) if self.files.len() > 1 => {
                "comments of an author were removed: the programs keep none".to_owned()
            }
            cause => cause.to_string(),
        }
    }

    /// Returns whether a change of another file is folded with it.
    fn covers(&self, other: &FileCause) -> bool {
        match self.cause {
            FileCause::Renamed { .. } | FileCause::CommentsLost(_) => {
                self.cause.kind() == other.kind()
            }
            cause => cause == other,
        }
    }
}

impl<'a> FoldedChange<'a> {
    /// Lists the files in which the provider changed so, with the change: first those without deviations.
    pub fn files(&self) -> impl Iterator<Item = (&'a str, &'a ExplainedChange)> {
        let remarks = std::iter::once(&self.remark).chain(&self.deviations);
        remarks.flat_map(|remark| remark.files.iter().copied())
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
pub fn fold<'a>(files: &[(&'a str, &'a FileReview)]) -> Folded<'a> {
    let mut folded = Folded::default();
    for (file, review) in files {
        for cause in &review.causes {
            match folded.causes.iter_mut().find(|one| one.covers(cause)) {
                Some(known) => known.files.push(file),
                None => folded.causes.push(FoldedCause {
                    cause,
                    files: vec![file],
                }),
            }
        }
    }
    let all = files.iter().flat_map(|(file, review)| {
        let changes = review.providers.iter();
        changes.map(move |one| (*file, one))
    });
    let mut groups: Vec<Vec<(&str, &ExplainedChange)>> = Vec::new();
    let mut at = std::collections::BTreeMap::new();
    for (file, one) in all {
        let version = |side: Option<&super::ProviderSide>| {
            side.map(|side| (side.addr.clone(), side.lock.version.to_string()))
        };
        let change = &one.change;
        let sides = (version(change.before()), version(change.now()));
        let kinds: Vec<_> = change.kinds.iter().copied().collect();
        let key = (one.explained.risk, sides, kinds);
        let group = *at.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push((file, one));
    }
    folded.changes = groups.into_iter().map(folded_change).collect();
    folded
        .causes
        .sort_by_key(|one| Reverse((one.cause.risk(), one.files.len())));
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
    let of_each = group.iter().map(|(file, one)| {
        // Each file has its own configuration, so the places differ where all else is the same.
        let configuration = one.configuration.as_ref().map(|cause| match is_alone {
            true => cause.seen_from(file),
            false => cause.at(ANYWHERE),
        });
        let one = ExplainedChange {
            configuration,
            ..(*one).clone()
        };
        one.remarks()
    });
    let of_each: Vec<Vec<String>> = of_each.collect();
    let is_common = |text: &String| of_each.iter().all(|own| own.contains(text));
    let common = of_each[0].iter().filter(|text| is_common(text));
    let common = common.cloned().collect::<Vec<_>>().join("; ");
    let mut files = Vec::new();
    let mut deviations: Vec<FoldedRemark<'a>> = Vec::new();
    for ((file, one), own) in group.iter().zip(&of_each) {
        let rest = own.iter().filter(|text| !is_common(text)).cloned();
        let text = rest.collect::<Vec<_>>().join("; ");
        match deviations.iter_mut().find(|known| known.text == text) {
            _ if text.is_empty() => files.push((*file, *one)),
            Some(known) => known.files.push((file, one)),
            None => deviations.push(FoldedRemark {
                text,
                files: vec![(file, one)],
            }),
        }
    }
    deviations.sort_by_key(|one| Reverse(one.files.len()));
    FoldedChange {
        first,
        remark: FoldedRemark {
            text: common,
            files,
        },
        deviations,
    }
}
