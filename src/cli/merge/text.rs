//! What merging lock files comes to, in words.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::cli::output::{RootOutput, counted};
use crate::diag::{self, FileId, Texts, has_errors};
use crate::flavor::Flavor;
use crate::hcl;
use crate::lockfile::{self, LockFile, ProviderLock};
use crate::report::json::Status;
use crate::report::{Block, Tone};
use crate::review::{Conflict, Merged, Unfinished, part};

/// Three lock files, of which the first may be unknown.
pub(in crate::cli) struct Three {
    pub(in crate::cli) base: LockFile,
    pub(in crate::cli) ours: LockFile,
    pub(in crate::cli) theirs: LockFile,
}

/// Reads a side; `None` if it has faults, which are told.
///
/// What is told already is not told again: two sides of a text have much in common.
pub(in crate::cli) fn side(
    (file, bytes): (FileId, &[u8]),
    flavor: Flavor,
    texts: &Texts,
    output: &mut RootOutput,
) -> Option<LockFile> {
    let (document, diagnostics) = lockfile::parse(file, bytes, flavor);
    let told = &output.report.notes;
    let news: Vec<_> = diagnostics
        .iter()
        .filter(|one| !told.contains(&Block::Diagnostic((*one).clone())))
        .cloned()
        .collect();
    output.faults(&news, texts);
    (!has_errors(&diagnostics)).then_some(document.lock)
}

/// Reads what both sides started from, as far as it can be read.
///
/// Of a base with conflict markers, which git makes of several bases, only what is the same on
/// both sides of these is known; entries with faults are unknown, too. Returns the entries, and
/// whether they are all.
pub(in crate::cli) fn base(bytes: &[u8], flavor: Flavor) -> (LockFile, bool) {
    let file = Texts::default().add("", Vec::new());
    let read = |bytes: &[u8]| lockfile::parse(file, bytes, flavor);
    match part(bytes) {
        Ok(Some(parted)) => {
            let (mut ours, (theirs, _)) = (read(&parted.ours).0.lock, read(&parted.theirs));
            let theirs = theirs.lock.providers;
            ours.providers
                .retain(|addr, entry| theirs.get(addr) == Some(entry));
            (ours, false)
        }
        _ => {
            let (document, diagnostics) = read(bytes);
            (document.lock, !has_errors(&diagnostics))
        }
    }
}

/// Says how a merge came out.
pub(in crate::cli) fn tell(
    place: &str,
    three: &Three,
    merged: &Merged,
    lock_command: &str,
    output: &mut RootOutput,
) {
    let counts = [
        (taken(three, Taken::Ours).len(), "by us"),
        (taken(three, Taken::Theirs).len(), "by them"),
        (taken(three, Taken::Both).len(), "by both"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, by)| format!("{} changed {by}", counted(*count, "provider")))
        .collect();
    if !counts.is_empty() {
        output.remark(format!(
            "{place}: merged entry by entry: {}",
            counts.join(", ")
        ));
    }
    for (reason, addrs) in by_reason(merged) {
        let text = format!("{place}: {addrs}: {}; run `{lock_command}`", why(reason));
        let remark = Block::Remark(Tone::Warning, text);
        output.report.notes.push(remark);
    }
    for (addr, conflict) in &merged.conflicts {
        let text = format!("{place}: {addr} needs a person: {}", clash(conflict));
        output.ruled(diag::named("conflict-markers"), addr, text);
        output.json.status = Status::Findings;
    }
}

/// Says what a person does about conflicts.
pub(in crate::cli) fn advise(output: &mut RootOutput) {
    output.remark(
        "edit the blocks between the markers and delete these, or run `lockctl resolve --prefer newest`, `ours` or `theirs`",
    );
}

/// Says how many comments a canonical file does not have any more.
pub(in crate::cli) fn tell_comments(place: &str, sides: [&[u8]; 2], output: &mut RootOutput) {
    let lost = sides.map(comments);
    let [ours, theirs] = &lost;
    let more = |(text, count): (&Vec<u8>, &usize)| {
        count.saturating_sub(ours.get(text).copied().unwrap_or_default())
    };
    let count: usize = ours.values().sum::<usize>() + theirs.iter().map(more).sum::<usize>();
    if count > 0 {
        let text = format!(
            "{place}: {} not kept, as the program keeps none",
            match count {
                1 => "1 comment was".to_owned(),
                n => format!("{n} comments were"),
            }
        );
        let remark = Block::Remark(Tone::Warning, text);
        output.report.notes.push(remark);
    }
}

/// Counts the comments of a side by their texts, those of the header left out.
fn comments(side: &[u8]) -> BTreeMap<Vec<u8>, usize> {
    let headers: BTreeSet<&str> = Flavor::ALL
        .iter()
        .flat_map(|f| f.header().lines())
        .collect();
    let mut counts = BTreeMap::new();
    for span in hcl::comments(side) {
        let Some(text) = side.get(span.start..span.end) else {
            continue;
        };
        let is_header = std::str::from_utf8(text).is_ok_and(|text| headers.contains(text));
        if !is_header {
            *counts.entry(text.to_vec()).or_default() += 1;
        }
    }
    counts
}

/// Which side an entry was taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Ours,
    Theirs,
    Both,
}

/// Lists the providers that one side or both have changed, each in its own way.
fn taken(three: &Three, wanted: Taken) -> Vec<&ProviderAddr> {
    let sides = [&three.base, &three.ours, &three.theirs];
    let all: BTreeSet<&ProviderAddr> = sides.iter().flat_map(|s| s.providers.keys()).collect();
    let from = |addr: &ProviderAddr| {
        let [base, ours, theirs] = sides.map(|side| side.providers.get(addr));
        match (ours == base, theirs == base) {
            _ if ours == theirs => None,
            (false, true) => Some(Taken::Ours),
            (true, false) => Some(Taken::Theirs),
            _ => Some(Taken::Both),
        }
    };
    let own = all.into_iter().filter(|addr| from(addr) == Some(wanted));
    own.collect()
}

fn by_reason(merged: &Merged) -> BTreeMap<Unfinished, String> {
    let mut reasons: BTreeMap<Unfinished, Vec<String>> = BTreeMap::new();
    for (addr, own) in &merged.unfinished {
        for reason in own {
            reasons.entry(*reason).or_default().push(addr.to_string());
        }
    }
    let joined = reasons.into_iter();
    joined
        .map(|(reason, addrs)| (reason, addrs.join(", ")))
        .collect()
}

fn why(reason: Unfinished) -> &'static str {
    match reason {
        Unfinished::HashesLeftBehind => {
            "one side added hashes to the version that the other side left"
        }
        Unfinished::VersionsDiffered => {
            "the sides moved to different versions, and one of these was taken"
        }
        Unfinished::ConstraintsJoined => {
            "both sides changed the constraints, and the terms of both are recorded"
        }
    }
}

fn clash(conflict: &Conflict) -> String {
    let version = |entry: &Option<ProviderLock>| {
        entry
            .as_ref()
            .map_or_else(|| "nothing".to_owned(), |entry| entry.version.to_string())
    };
    let before = match &conflict.base {
        Some(base) => format!(", before {}", base.version),
        None => String::new(),
    };
    format!(
        "we have {}, they have {}{before}",
        version(&conflict.ours),
        version(&conflict.theirs)
    )
}
