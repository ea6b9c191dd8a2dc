//! Findings that have one cause, put together.
//!
//! A cause is a rule with what fixes it: findings of one rule, as severe, that the same help repairs.
//! Formats for people show a [`Fold`] as one; programs get every finding of every root.

use std::collections::BTreeSet;

use super::RootRow;
use super::groups::grouped;
use super::rows::{FindingRow, Provider};
use super::shared::range;
use crate::diag::{self, Help, Severity, counted};

/// Findings that have one cause, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The name of the rule.
    pub rule: &'static str,
    /// The severity that all of them share.
    pub severity: Severity,
    /// The findings, in the order of their discovery.
    pub members: Vec<FindingIndex>,
    /// A title for all of them.
    pub title: String,
    /// The next step, for all of them.
    pub help: Option<String>,
    /// The command that fixes all of them, if a command alone does.
    pub command: Option<String>,
}

/// A finding, by its place among those of all roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingIndex {
    /// The index of the root in the run.
    pub root: usize,
    /// The index of the finding in its root.
    pub finding: usize,
}

/// The properties that findings of one cause share.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FoldKey<'a> {
    rule: &'static str,
    severity: Severity,
    help: Option<&'a str>,
    /// Title and place, for findings that concern no provider and whose rule has no title for several. Of one
    /// root, such findings are shown where they are; of several, equal ones are one wherever they are.
    fault: Option<(&'a str, Option<String>)>,
}

/// Puts the findings together that are wanted, in the order of the first of each cause.
#[must_use]
pub fn folds(roots: &[RootRow<'_>], is_wanted: &dyn Fn(&FindingIndex) -> bool) -> Vec<Fold> {
    let mut wanted: Vec<(FoldKey<'_>, FindingIndex)> = Vec::new();
    for (root, row) in roots.iter().enumerate() {
        for (index, finding) in row.findings.iter().enumerate() {
            let member = FindingIndex {
                root,
                finding: index,
            };
            if is_wanted(&member) {
                wanted.push((key(finding, roots.len() > 1), member));
            }
        }
    }
    grouped(wanted)
        .into_iter()
        .map(|(key, mut members)| {
            // In the order of the files: a list of lines that jumps about is hard to read.
            members.sort_by_key(|member| (member.root, &finding(roots, *member).range));
            // Members have equal help for all roots, and with it equal commands.
            let helps = members
                .iter()
                .filter_map(|member| finding(roots, *member).help.as_ref());
            let is_one_root = members.iter().all(|member| member.root == members[0].root);
            let advice = Help::of_several(helps, is_one_root);
            Fold {
                rule: key.rule,
                severity: key.severity,
                title: title(roots, &members),
                command: advice.as_ref().and_then(|advice| advice.command.clone()),
                help: advice.map(|advice| advice.text),
                members,
            }
        })
        .collect()
}

fn key(finding: &FindingRow, has_several_roots: bool) -> FoldKey<'_> {
    // `A is wrong` and `B is wrong` share a rule, but no sentence.
    let is_alone = finding.provider.is_none() && diag::named(finding.rule).together.is_none();
    FoldKey {
        rule: finding.rule,
        severity: finding.severity,
        help: finding.help.as_ref().map(Help::for_all),
        fault: is_alone.then(|| {
            let place = finding.place().filter(|_| !has_several_roots);
            (&*finding.title, place)
        }),
    }
}

fn finding<'a>(roots: &'a [RootRow<'_>], member: FindingIndex) -> &'a FindingRow {
    &roots[member.root].findings[member.finding]
}

fn title(roots: &[RootRow<'_>], members: &[FindingIndex]) -> String {
    let findings = || members.iter().map(|member| finding(roots, *member));
    // All members have the rule of the first: it is part of the key.
    let first = finding(roots, members[0]);
    let are_equal =
        findings().all(|other| other.title == first.title && other.place() == first.place());
    // Roots that share a module have the very same finding, whose own title is more precise.
    if are_equal {
        return first.title.clone();
    }
    let rule = diag::named(first.rule);
    let who = who(roots, members);
    let together = rule.together.and_then(|title| {
        let shares: Option<Vec<diag::Share>> = findings().map(|finding| finding.share).collect();
        match shares {
            // As in `1 to 4 of 5 wanted platforms are missing`.
            Some(shares) => {
                let parts: Vec<usize> = shares.iter().map(|share| share.part).collect();
                let wholes: Vec<usize> = shares.iter().map(|share| share.of).collect();
                let verb = if parts.iter().max() == Some(&1) {
                    "is"
                } else {
                    "are"
                };
                let share = format!("{} of {}", range(&parts), range(&wholes));
                Some(title.replace("{share}", &share).replace("{are}", verb))
            }
            None => (!title.contains("{share}")).then(|| title.to_owned()),
        }
    });
    match together {
        Some(title) => title.replace("{who}", &who),
        // All have the title of the first, and none concerns a provider.
        None if findings()
            .all(|finding| finding.provider.is_none() && finding.title == first.title) =>
        {
            format!("{}: {who}", first.title)
        }
        None => format!("{}: {who}", capitalized(rule.meaning)),
    }
}

/// Returns a sentence as a title begins.
pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Says what findings concern, as in `2 of 7 providers` and `9 providers in 3 of 4 roots`.
fn who(roots: &[RootRow<'_>], members: &[FindingIndex]) -> String {
    let providers: BTreeSet<&str> = members
        .iter()
        .map(|member| finding(roots, *member))
        .filter_map(|finding| finding.provider.as_deref())
        .collect();
    let affected: BTreeSet<usize> = members.iter().map(|member| member.root).collect();
    let in_roots = format!("{} of {}", affected.len(), counted(roots.len(), "root"));
    let several = |providers: &BTreeSet<&str>| match providers.first() {
        Some(only) if providers.len() == 1 => (*only).to_owned(),
        _ => counted(providers.len(), "provider"),
    };
    match (providers.len(), affected.len() == 1) {
        (0, true) => counted(members.len(), "place"),
        (0, false) if members.len() == affected.len() => in_roots,
        (0, false) => format!("{} in {in_roots}", counted(members.len(), "place")),
        (1, true) => several(&providers),
        (n, true) => match locked(&roots[members[0].root]) {
            locked if providers.is_subset(&locked) => {
                format!("{n} of {}", counted(locked.len(), "provider"))
            }
            _ => several(&providers),
        },
        (_, false) => format!("{} in {in_roots}", several(&providers)),
    }
}

/// Returns the providers that are locked in a root.
fn locked<'a>(root: &RootRow<'a>) -> BTreeSet<&'a str> {
    root.providers
        .iter()
        .filter_map(|row| match row {
            Provider::Checked(row) => Some(&*row.provider),
            _ => None,
        })
        .collect()
}

impl Fold {
    /// Returns how many roots it concerns.
    #[must_use]
    pub fn root_count(&self) -> usize {
        self.by_root().len()
    }

    /// Returns the members root by root.
    #[must_use]
    pub fn by_root(&self) -> Vec<&[FindingIndex]> {
        let same = |a: &FindingIndex, b: &FindingIndex| a.root == b.root;
        self.members.chunk_by(same).collect()
    }
}
