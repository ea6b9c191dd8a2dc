//! What merging lock files comes to, in words.

use crate::cli::output::{RootOutput, counted};
use crate::diag::{self, Diagnostic, FileId, Texts, has_errors};
use crate::flavor::Flavor;
use crate::lockfile::{self, LockFile};
use crate::report::json::Status;
use crate::report::{Block, Tone};
use crate::review::{ChangedBy, MergedFile};

/// Reads a side; `None` if it has faults, which are reported.
///
/// A fault is reported once: two sides of a text have much in common.
pub(in crate::cli) fn side(
    file: FileId,
    bytes: &[u8],
    flavor: Flavor,
    texts: &Texts,
    output: &mut RootOutput,
) -> Option<LockFile> {
    let (document, diagnostics) = lockfile::parse(file, bytes, flavor);
    let reported = output.report.notes.clone();
    let is_new = |one: &&Diagnostic| !reported.contains(&Block::Diagnostic((*one).clone()));
    output.faults(diagnostics.iter().filter(is_new), texts);
    (!has_errors(&diagnostics)).then_some(document.lock)
}

/// Reports how a merge ended.
pub(in crate::cli) fn outcome(
    place: &str,
    file: &MergedFile,
    lock_command: &str,
    output: &mut RootOutput,
) {
    let counts = file.changed.iter().map(|(by, addrs)| {
        let by = match by {
            ChangedBy::Us => "by us",
            ChangedBy::Them => "by them",
            ChangedBy::Both => "by both",
        };
        format!("{} changed {by}", counted(addrs.len(), "provider"))
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        output.remark(format!(
            "{place}: merged entry by entry: {}",
            counts.join(", ")
        ));
    }
    let mut warn = |text: String| {
        let remark = Block::Remark(Tone::Warning, format!("{place}: {text}"));
        output.report.notes.push(remark);
    };
    for (reason, addrs) in file.merged.unfinished_by_reason() {
        let addrs: Vec<String> = addrs.iter().map(ToString::to_string).collect();
        let addrs = addrs.join(", ");
        warn(format!("{addrs}: {reason}; run `{lock_command}`"));
    }
    for (addr, conflict) in &file.merged.conflicts {
        let text = format!("{place}: {addr} needs a person: {conflict}");
        output.ruled(diag::named("conflict-markers"), addr, text);
        output.json.status = Status::Findings;
    }
    let lost = match file.lost_comments {
        0 => return,
        1 => "1 comment was".to_owned(),
        n => format!("{n} comments were"),
    };
    let text = format!("{place}: {lost} not kept, as the program keeps none");
    output.report.notes.push(Block::Remark(Tone::Warning, text));
}

/// Reports how conflicts are resolved.
pub(in crate::cli) fn advise(output: &mut RootOutput) {
    output.remark(
        "edit the blocks between the markers and delete these, or run `lockctl resolve --prefer newest`, `ours` or `theirs`",
    );
}
