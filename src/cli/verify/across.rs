//! What `lockctl verify` says of all roots of a run together.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::cli::root::Root;
use crate::cli::roots::Ran;
use crate::cli::verify::fix::Fixed;
use crate::cli::verify::text::{Judged, say};
use crate::diag::{Severity, Span};
use crate::report::json;
use crate::verify::{levels, policy};

/// A root with what it came to.
pub(in crate::cli) struct JudgedRoot {
    /// The directory, as the output names it.
    pub(in crate::cli) path: String,
    /// The root, with its lock file as it is now.
    pub(in crate::cli) root: Rc<Root>,
    /// What was mended, if that was wanted.
    pub(in crate::cli) fixed: Option<Fixed>,
    pub(in crate::cli) judged: Judged,
}

/// Adds what the comparison of all roots finds, in each root as bad as its project file says.
pub(in crate::cli) fn one_version(all: &mut [JudgedRoot]) {
    let entries = all.iter().enumerate().flat_map(|(at, judged)| {
        let lock = judged.root.lock.iter();
        lock.flat_map(move |lock| {
            lock.document
                .lock
                .providers
                .iter()
                .map(move |(provider, entry)| policy::RootEntry {
                    root: at,
                    provider,
                    version: &entry.version,
                    file: lock.file,
                    span: lock
                        .document
                        .places
                        .get(provider)
                        .map_or_else(Span::default, |places| places.version),
                })
        })
    });
    let found = policy::one_version(&entries.collect::<Vec<_>>());
    for (at, finding) in found {
        let JudgedRoot { root, judged, .. } = &mut all[at];
        let (kept, off) = levels::apply(vec![finding], &[], root.project(), root.flavor);
        judged.findings.extend(kept);
        judged.off.extend(off);
    }
}

/// Fills the output of each root that could be judged.
pub(in crate::cli) fn say_all(ran: &mut Ran, all: Vec<JudgedRoot>) {
    let mut outputs = ran.outputs.iter_mut();
    for JudgedRoot {
        path,
        root,
        fixed,
        judged,
    } in all
    {
        // Roots that could not be judged have an output, too.
        let output = outputs.find(|output| output.json.path == path);
        let output = output.expect("outputs stand in the order of the roots");
        if let Some(fixed) = fixed {
            fixed.say(output);
        }
        say(output, &root, judged, &ran.texts);
    }
}

/// How many rules the command that explains them names.
const MAX_EXPLAINED: usize = 3;

/// Names the command that says more about what is wrong, if anything is; the worst first.
pub(in crate::cli) fn explained(roots: &[json::Root]) -> Option<String> {
    let findings = roots.iter().flat_map(|root| &root.findings);
    let mut worst: BTreeMap<&str, Severity> = BTreeMap::new();
    for finding in findings.filter(|finding| finding.severity > Severity::Note) {
        let severity = worst.entry(finding.rule).or_insert(finding.severity);
        *severity = finding.severity.max(*severity);
    }
    let mut names: Vec<&str> = worst.keys().copied().collect();
    names.sort_by_key(|name| Reverse(worst[name]));
    match names.as_slice() {
        [] => None,
        several if several.len() > MAX_EXPLAINED => Some(
            "`lockctl explain RULE` says what a finding means and how to mend it; RULE is the name \
             in brackets"
                .to_owned(),
        ),
        names => Some(format!(
            "`lockctl explain {}` says what this means and how to mend it",
            names.join(" ")
        )),
    }
}
