//! What `lockctl verify` says.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::cli::output::{RootOutput, counted};
use crate::cli::root::{LockText, Root};
use crate::cli::verify::table;
use crate::cli::verify::table::Detail;
use crate::diag::{Severity, Texts, has_errors};
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::report::json::{self, CheckedProvider, Provider, Status};
use crate::report::{Block, Failure, Tone};
use crate::verify::Finding;
use crate::verify::levels::TurnedOff;
use crate::verify::matrix::Row;
use crate::verify::packages::Origin;
use crate::verify::platforms::{KnownHashes, Wanted};

/// What a root came to.
#[derive(Default)]
pub(in crate::cli) struct Judged {
    pub(in crate::cli) findings: Vec<Finding>,
    pub(in crate::cli) failures: Vec<Failure>,
    /// The configuration could not be read.
    pub(in crate::cli) unread: bool,
    /// How many packages were looked at, by what they are to the program; `None` if nobody looked.
    pub(in crate::cli) packages: Option<BTreeMap<Origin, usize>>,
    /// How many signed lists the entries were compared with; `None` if nobody asked for any.
    pub(in crate::cli) lists: Option<usize>,
    /// Findings that the project file turned off.
    pub(in crate::cli) off: Vec<TurnedOff>,
    /// Which platforms were wanted, if that was checked.
    pub(in crate::cli) platforms: Option<Wanted>,
    /// What installed packages tell of hashes.
    pub(in crate::cli) known: KnownHashes,
    /// What each provider comes to on each platform, if that was asked.
    pub(in crate::cli) matrix: Option<Vec<Row>>,
    /// Notes are shown one by one rather than counted.
    pub(in crate::cli) verbose: bool,
}

impl Judged {
    /// Counts the findings of a rule, whether it is turned off or not.
    fn count(&self, rule: &str) -> usize {
        let off = self.off.iter().map(|off| &off.finding);
        let all = self.findings.iter().chain(off);
        all.filter(|finding| finding.diagnostic.code == rule)
            .count()
    }
}

/// Fills the output of a root.
pub(in crate::cli) fn say(output: &mut RootOutput, root: &Root, judged: Judged, texts: &Texts) {
    let sound = root
        .lock
        .iter()
        .filter(|lock| !has_errors(&lock.diagnostics));
    output.json.providers = sound.flat_map(locked).collect();
    let verdict = Verdict::of(&judged);
    if verdict.errors + verdict.warnings > 0 {
        output.json.status = Status::Findings;
    }
    if judged.unread {
        output.json.status = Status::Failed;
    }
    let looked_at = looked_at(root.lock.as_ref(), &judged);
    let foretold = foretell(output, root, &judged);
    for finding in judged.findings {
        output.json.findings.push(for_programs(&finding, texts));
        if finding.diagnostic.severity > Severity::Note || judged.verbose {
            output
                .report
                .results
                .push(Block::Diagnostic(finding.diagnostic));
        }
    }
    output.report.results.extend(foretold);
    let failed = judged.unread || !judged.failures.is_empty();
    for failure in judged.failures {
        output.fail(failure);
    }
    let mut parts = verdict.counts();
    if parts.is_empty() && !failed {
        parts.push(format!("ok; {looked_at}"));
    } else if failed {
        parts.push("not everything could be checked".to_owned());
    }
    if verdict.notes > 0 {
        let hint = match judged.verbose {
            true => "",
            false => " (-v shows them)",
        };
        parts.push(format!("{}{hint}", counted(verdict.notes, "note")));
    }
    if !judged.off.is_empty() {
        let off = counted(judged.off.len(), "finding");
        parts.push(format!("{off} turned off"));
    }
    for TurnedOff { finding, reason } in judged.off {
        if judged.verbose {
            let (code, title) = (finding.diagnostic.code, &finding.diagnostic.title);
            output.remark(format!("{code} is off, because {reason}: {title}"));
        }
        output.json.turned_off.push(json::TurnedOff {
            finding: for_programs(&finding, texts),
            reason,
        });
    }
    let text = format!("{}: {}", root.lock_path.display(), parts.join("; "));
    let tone = if failed { Tone::Bad } else { verdict.tone() };
    output.report.results.push(Block::Verdict(tone, text));
}

/// Makes the finding that programs are told.
fn for_programs(finding: &Finding, texts: &Texts) -> json::Finding {
    json::Finding {
        provider: finding.provider.as_ref().map(ToString::to_string),
        platform: finding.platform.as_ref().map(ToString::to_string),
        ..json::Finding::new(&finding.diagnostic, texts)
    }
}

/// Returns the table of what happens by each route, if it was asked for, and adds its rows for
/// programs.
fn foretell(output: &mut RootOutput, root: &Root, judged: &Judged) -> Vec<Block> {
    let Some(rows) = &judged.matrix else {
        return Vec::new();
    };
    let detail = match judged.verbose {
        true => Detail::Full,
        false => Detail::Folded,
    };
    output.json.matrix = Some(table::json(rows));
    table::blocks(rows, root.flavor, detail)
}

/// How many findings there are of each severity.
struct Verdict {
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Verdict {
    fn of(judged: &Judged) -> Self {
        let count = |severity| {
            judged
                .findings
                .iter()
                .filter(|f| f.diagnostic.severity == severity)
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

    /// Names what is wrong, as in `1 error, 2 warnings`; nothing if nothing is.
    fn counts(&self) -> Vec<String> {
        let counts = [(self.errors, "error"), (self.warnings, "warning")];
        let some = counts.iter().filter(|(n, _)| *n > 0);
        let texts: Vec<String> = some.map(|(n, word)| counted(*n, word)).collect();
        if texts.is_empty() {
            Vec::new()
        } else {
            vec![texts.join(", ")]
        }
    }
}

/// Says what a clean verdict is about.
fn looked_at(lock: Option<&LockText>, judged: &Judged) -> String {
    let Some(lock) = lock else {
        if judged.count("lock-missing") > 0 {
            return "nothing is locked".to_owned();
        }
        return "no provider is required, and nothing is locked".to_owned();
    };
    let providers = lock.document.lock.providers.len();
    let mut parts = vec![counted(providers, "provider")];
    if let (Some(wanted), true) = (&judged.platforms, providers > 0) {
        let complete = match judged.count("platforms-incomplete") {
            0 => String::new(),
            n => format!(" of {}", providers - n),
        };
        let how = match judged.count("platforms-unattributed") {
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
    parts.extend(judged.packages.as_ref().map(verified));
    let lists = judged.lists.filter(|_| providers > 0);
    parts.extend(lists.map(|n| format!("{} compared", counted(n, "signed list"))));
    parts.join(", ")
}

/// Says which packages were verified.
fn verified(packages: &BTreeMap<Origin, usize>) -> String {
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
