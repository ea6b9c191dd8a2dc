//! What `lockctl verify` says.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::cli::output::{RootOutput, counted};
use crate::cli::root::LockText;
use crate::cli::roots::Ran;
use crate::cli::verify::VerifiedRoot;
use crate::cli::verify::table;
use crate::cli::verify::table::Detail;
use crate::diag::{Severity, Texts, has_errors};
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::report::json::{self, CheckedProvider, Provider, Status};
use crate::report::{Block, Tone};
use crate::verify::levels::TurnedOff;
use crate::verify::packages::Origin;
use crate::verify::{Finding, RootVerdict};

/// Fills the output of each root that could be verified.
pub(in crate::cli) fn say_all(ran: &mut Ran, verified: Vec<VerifiedRoot>, verbose: bool) {
    let mut outputs = ran.outputs.iter_mut();
    for mut root in verified {
        // Roots that could not be verified have an output, too.
        let output = outputs.find(|output| output.json.path == root.path);
        let output = output.expect("outputs stand in the order of the roots");
        if let Some(fixed) = root.fixed.take() {
            fixed.say(output);
        }
        say(output, root, &ran.texts, verbose);
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

/// Counts the findings of a rule, whether it is turned off or not.
fn count(verdict: &RootVerdict, rule: &str) -> usize {
    let off = verdict.turned_off.iter().map(|off| &off.finding);
    let all = verdict.findings.iter().chain(off);
    all.filter(|finding| finding.diagnostic.code == rule)
        .count()
}

/// Fills the output of a root.
fn say(output: &mut RootOutput, verified: VerifiedRoot, texts: &Texts, verbose: bool) {
    let VerifiedRoot {
        root,
        verdict,
        failures,
        ..
    } = verified;
    let sound = root
        .lock
        .iter()
        .filter(|lock| !has_errors(&lock.diagnostics));
    output.json.providers = sound.flat_map(locked).collect();
    let counts = Counts::of(&verdict);
    if counts.errors + counts.warnings > 0 {
        output.json.status = Status::Findings;
    }
    if verdict.is_unread {
        output.json.status = Status::Failed;
    }
    let looked_at = looked_at(root.lock.as_ref(), &verdict);
    for finding in verdict.findings {
        output.json.findings.push(for_programs(&finding, texts));
        if finding.diagnostic.severity > Severity::Note || verbose {
            output
                .report
                .results
                .push(Block::Diagnostic(finding.diagnostic));
        }
    }
    if let Some(rows) = &verdict.matrix {
        let detail = if verbose {
            Detail::Full
        } else {
            Detail::Folded
        };
        output.json.matrix = Some(table::json(rows));
        let blocks = table::blocks(rows, root.flavor, detail);
        output.report.results.extend(blocks);
    }
    let failed = verdict.is_unread || !failures.is_empty();
    for failure in failures {
        output.fail(failure);
    }
    let how = outcome(
        &counts,
        &looked_at,
        verdict.turned_off.len(),
        failed,
        verbose,
    );
    for TurnedOff { finding, reason } in verdict.turned_off {
        if verbose {
            let (code, title) = (finding.diagnostic.code, &finding.diagnostic.title);
            output.remark(format!("{code} is off, because {reason}: {title}"));
        }
        output.json.turned_off.push(json::TurnedOff {
            finding: for_programs(&finding, texts),
            reason,
        });
    }
    let text = format!("{}: {how}", root.lock_path.display());
    let tone = if failed { Tone::Bad } else { counts.tone() };
    output.report.results.push(Block::Verdict(tone, text));
}

/// Says how a root came out; `looked_at` is what a clean verdict is about.
fn outcome(
    counts: &Counts,
    looked_at: &str,
    turned_off: usize,
    failed: bool,
    verbose: bool,
) -> String {
    let mut parts: Vec<String> = counts.wrong().into_iter().collect();
    if failed {
        parts.push("not everything could be checked".to_owned());
    } else if parts.is_empty() {
        parts.push(format!("ok; {looked_at}"));
    }
    if counts.notes > 0 {
        let hint = if verbose { "" } else { " (-v shows them)" };
        parts.push(format!("{}{hint}", counted(counts.notes, "note")));
    }
    if turned_off > 0 {
        let off = counted(turned_off, "finding");
        parts.push(format!("{off} turned off"));
    }
    parts.join("; ")
}

/// Makes the finding of machine formats.
fn for_programs(finding: &Finding, texts: &Texts) -> json::Finding {
    json::Finding {
        provider: finding.provider.as_ref().map(ToString::to_string),
        platform: finding.platform.as_ref().map(ToString::to_string),
        ..json::Finding::new(&finding.diagnostic, texts)
    }
}

/// How many findings there are of each severity.
struct Counts {
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Counts {
    fn of(verdict: &RootVerdict) -> Self {
        let count = |severity| {
            let findings = verdict.findings.iter();
            findings
                .filter(|finding| finding.diagnostic.severity == severity)
                .count()
        };
        Self {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
        }
    }

    fn tone(&self) -> Tone {
        match (self.errors, self.warnings) {
            (0, 0) => Tone::Good,
            (0, _) => Tone::Warning,
            _ => Tone::Bad,
        }
    }

    /// Names what is wrong, as in `1 error, 2 warnings`; `None` if nothing is.
    fn wrong(&self) -> Option<String> {
        let counts = [(self.errors, "error"), (self.warnings, "warning")];
        let some = counts.iter().filter(|(n, _)| *n > 0);
        let texts: Vec<String> = some.map(|(n, word)| counted(*n, word)).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

/// Says what a clean verdict is about.
fn looked_at(lock: Option<&LockText>, verdict: &RootVerdict) -> String {
    let Some(lock) = lock else {
        if count(verdict, "lock-missing") > 0 {
            return "nothing is locked".to_owned();
        }
        return "no provider is required, and nothing is locked".to_owned();
    };
    let providers = lock.document.lock.providers.len();
    let mut parts = vec![counted(providers, "provider")];
    if let (Some(wanted), true) = (&verdict.platforms, providers > 0) {
        let complete = match count(verdict, "platforms-incomplete") {
            0 => String::new(),
            n => format!(" of {}", providers - n),
        };
        let how = match count(verdict, "platforms-unattributed") {
            0 => "",
            _ => ", by count",
        };
        let counts = lock.document.lock.providers.keys();
        let counts = counts.map(|provider| wanted.of(provider).len());
        let least = counts.clone().min().unwrap_or(0);
        let platforms = match counts.max().unwrap_or(0) {
            most if least == most => counted(most, "platform"),
            most => format!("{least} to {most} platforms"),
        };
        parts.push(format!("h1: hashes{complete} for {platforms}{how}"));
    }
    let packages = verdict.packages.iter();
    parts.extend(packages.map(|packages| checked_packages(&packages.counts)));
    let lists = verdict.signed_lists.filter(|_| providers > 0);
    parts.extend(lists.map(|n| format!("{} compared", counted(n, "signed list"))));
    parts.join(", ")
}

/// Says which packages were verified.
fn checked_packages(packages: &BTreeMap<Origin, usize>) -> String {
    let kinds = packages.iter().map(|(origin, n)| {
        let kind = match origin {
            Origin::Installed => "installed",
            Origin::Cache => "cached",
            Origin::Mirror => "mirrored",
            Origin::Named => "named",
        };
        format!("{n} {kind}")
    });
    let kinds: Vec<String> = kinds.collect();
    match packages.values().sum() {
        0_usize => "no package installed".to_owned(),
        1 => format!("{} package verified", kinds.join("")),
        _ => format!("{} packages verified", kinds.join(", ")),
    }
}

/// Lists what is locked, for programs.
fn locked(lock: &LockText) -> Vec<Provider> {
    let entries = lock.document.lock.providers.iter();
    let row = |(provider, entry): (&ProviderAddr, &ProviderLock)| {
        Provider::Checked(CheckedProvider {
            provider: provider.to_string(),
            version: entry.version.to_string(),
            constraints: entry.constraints.to_string(),
            h1: entry.hashes.of(Scheme::H1).count(),
            zh: entry.hashes.of(Scheme::Zh).count(),
        })
    };
    entries.map(row).collect()
}
