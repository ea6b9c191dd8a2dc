//! Findings that have one cause, put together.
//!
//! A cause is a rule with what fixes it: findings of one rule, as severe, that the same help repairs.
//! Formats for people show a [`Fold`] as one; programs get every finding of every root.

use std::collections::{BTreeMap, BTreeSet};

use super::Root;
use super::rows::{Finding, Provider};
use crate::diag::{self, Severity, counted};

/// Findings that have one cause, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The name of the rule.
    pub rule: &'static str,
    /// How severe they are.
    pub severity: Severity,
    /// The findings, in the order in which they were found.
    pub members: Vec<Member>,
    /// What is wrong, of all of them.
    pub title: String,
    /// What to do, for all of them.
    pub help: Option<String>,
}

/// A finding, by its place among those of all roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Which root it is in.
    pub root: usize,
    /// Which of the findings of that root it is.
    pub finding: usize,
}

/// What makes findings one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    rule: &'static str,
    severity: Severity,
    help: Option<String>,
    /// What it is of findings that concern no provider and whose rule has no title for several:
    /// they are one only where roots share the file.
    fault: Option<(&'a str, Option<String>)>,
}

/// Puts the findings together that are wanted, in the order of the first of each cause.
#[must_use]
pub fn folds(roots: &[Root<'_>], is_wanted: &dyn Fn(&Member) -> bool) -> Vec<Fold> {
    let mut order: Vec<(Key<'_>, Vec<Member>)> = Vec::new();
    let mut known: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for (root, own) in roots.iter().enumerate() {
        for (at, finding) in own.findings.iter().enumerate() {
            let member = Member { root, finding: at };
            if !is_wanted(&member) {
                continue;
            }
            let at = *known.entry(key(own, finding)).or_insert(order.len());
            if at == order.len() {
                order.push((key(own, finding), Vec::new()));
            }
            order[at].1.push(member);
        }
    }
    let folds = order.into_iter().map(|(key, members)| Fold {
        rule: key.rule,
        severity: key.severity,
        title: title(roots, &members),
        help: match are_in_one_root(&members) {
            true => finding(roots, members[0]).help.clone(),
            false => key.help,
        },
        members,
    });
    folds.collect()
}

fn key<'a>(root: &Root<'_>, finding: &'a Finding) -> Key<'a> {
    let is_alone = finding.provider.is_none() && diag::named(finding.rule).together.is_none();
    let help = finding.help.as_deref();
    Key {
        rule: finding.rule,
        severity: finding.severity,
        help: help.map(|help| for_all(root, help)),
        fault: is_alone.then(|| (&*finding.title, finding.place())),
    }
}

/// Returns help for one root as help for all roots of the run: with the commands for these.
fn for_all(root: &Root<'_>, help: &str) -> String {
    let mut text = help.to_owned();
    for (own, all) in root.commands {
        for end in ['`', ' '] {
            let (own, all) = (format!("`{own}{end}"), format!("`{all}{end}"));
            if text.contains(&own) {
                text = text.replace(&own, &all);
                break;
            }
        }
    }
    text
}

fn finding<'a>(roots: &'a [Root<'_>], member: Member) -> &'a Finding {
    &roots[member.root].findings[member.finding]
}

fn are_in_one_root(members: &[Member]) -> bool {
    members.iter().all(|member| member.root == members[0].root)
}

fn title(roots: &[Root<'_>], members: &[Member]) -> String {
    let findings = || members.iter().map(|member| finding(roots, *member));
    let first = finding(roots, members[0]);
    let are_equal = findings().all(|one| one.title == first.title && one.place() == first.place());
    if are_equal {
        return first.title.clone();
    }
    let rule = diag::named(first.rule);
    let who = who(roots, members);
    let together = rule.together.and_then(|title| {
        let shares: Option<Vec<diag::Share>> = findings().map(|one| one.share).collect();
        match shares {
            Some(shares) => Some(with_shares(title, &shares)),
            None => (!title.contains("{share}")).then(|| title.to_owned()),
        }
    });
    match together {
        Some(title) => title.replace("{who}", &who),
        None => format!("{}: {who}", capitalized(rule.meaning)),
    }
}

/// Returns a sentence as a title begins.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// Says of how many things findings are, as in `1 to 4 of 5 wanted platforms are missing`.
fn with_shares(title: &str, shares: &[diag::Share]) -> String {
    let range = |number: fn(&diag::Share) -> usize| {
        let numbers = shares.iter().map(number);
        let least = numbers.clone().min().unwrap_or_default();
        let most = numbers.max().unwrap_or_default();
        let text = match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        };
        (text, most)
    };
    let (part, most) = range(|share| share.part);
    let (of, _) = range(|share| share.of);
    let verb = if most == 1 { "is" } else { "are" };
    title
        .replace("{share}", &format!("{part} of {of}"))
        .replace("{are}", verb)
}

/// Says what findings concern, as in `2 of 7 providers` and `9 providers in 3 of 4 roots`.
fn who(roots: &[Root<'_>], members: &[Member]) -> String {
    let concerned = members.iter().map(|member| finding(roots, *member));
    let providers: BTreeSet<&str> = concerned
        .filter_map(|one| one.provider.as_deref())
        .collect();
    let affected: BTreeSet<usize> = members.iter().map(|member| member.root).collect();
    let in_roots = format!("{} of {}", affected.len(), counted(roots.len(), "root"));
    let is_one = affected.len() == 1;
    let several = |providers: &BTreeSet<&str>| match providers.first() {
        Some(only) if providers.len() == 1 => (*only).to_owned(),
        _ => counted(providers.len(), "provider"),
    };
    match (providers.len(), is_one) {
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
fn locked<'a>(root: &Root<'a>) -> BTreeSet<&'a str> {
    let rows = root.providers.iter();
    let locked = rows.filter_map(|row| match row {
        Provider::Checked(row) => Some(&*row.provider),
        _ => None,
    });
    locked.collect()
}

impl Fold {
    /// Returns how many roots it concerns.
    #[must_use]
    pub fn root_count(&self) -> usize {
        self.by_root().len()
    }

    /// Returns the members root by root.
    #[must_use]
    pub fn by_root(&self) -> Vec<&[Member]> {
        let same = |a: &Member, b: &Member| a.root == b.root;
        self.members.chunk_by(same).collect()
    }

    /// Returns the command that fixes all of it, if a command alone does: help begins with it then.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        let rest = self.help.as_deref()?.strip_prefix("run `")?;
        rest.split_once('`').map(|(command, _)| command)
    }
}
