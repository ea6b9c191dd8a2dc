//! `lockctl explain -`: the output of `terraform` or `tofu` from standard input.

use std::io::ErrorKind;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::args::Common;
use crate::cli::{FINDINGS, Stderr, World, verify};
use crate::diag::{Finding, Severity, rules};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::lockfile;
use crate::report::json::{FindingRow, Provider, SymptomEntry, SymptomRow};
use crate::report::{
    CommandResult, Failure, FindingDisplay, ResultEntry, ResultSubject, RootResult, Sentence,
};
use crate::symptom::known::KnownError;
use crate::symptom::output::{MAX_MESSAGES, MAX_OUTPUT_BYTES, messages};
use crate::symptom::recognised::{self, ExplainedMessage};
use crate::world::FileKind;

/// Explains the errors of an output; the answer is bad if one of them is not recognised.
pub(super) fn explain(common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
    let bytes = match world.env.input(MAX_OUTPUT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            let help = match error.kind() {
                ErrorKind::FileTooLarge => format!("give no more than {MAX_OUTPUT_BYTES} bytes"),
                _ => "give the output of terraform or tofu on standard input".to_owned(),
            };
            let failure = Failure {
                title: "standard input could not be read".to_owned(),
                causes: vec![error.to_string()],
                help: Some(help),
            };
            return CommandResult::failed("explain", [failure]);
        }
    };
    // A log may hold bytes of anything; what the programs print is text.
    let messages = messages(&String::from_utf8_lossy(&bytes));
    let here = VerifiedHere::verified(common, world, stderr);
    // The words of the output are surer than the header of a lock file that both programs write.
    let flavor = match (common.flavor, recognised::printed_by(&messages)) {
        (FlavorChoice::Stated(stated), _) => stated.flavor,
        (FlavorChoice::Auto, Some(program)) => Flavor::newest(program),
        (FlavorChoice::Auto, None) => here
            .as_ref()
            .and_then(|here| here.root()?.flavor)
            .unwrap_or(Flavor::newest(Program::Terraform)),
    };
    let rows: Vec<SymptomRow> = recognised::explain(&messages, flavor)
        .iter()
        .map(|explained| row(explained, flavor, here.as_ref()))
        .collect();
    let unknown_errors = rows
        .iter()
        .any(|row| row.symptom.is_none() && row.severity == Severity::Error);
    let any_known = rows.iter().any(|row| row.symptom.is_some());
    let cut = (messages.len() == MAX_MESSAGES)
        .then(|| Sentence::warning(format!("no more than {MAX_MESSAGES} messages are read")));
    // A broken project file keeps `verify` from judging, and not the error from being explained.
    let unchecked = here
        .iter()
        .flat_map(|here| here.root())
        .flat_map(RootResult::failures)
        .map(|failure| Sentence::warning(format!("verify: {}", failure.title)));
    CommandResult {
        exit: if unknown_errors || !any_known {
            FINDINGS
        } else {
            0
        },
        remarks: unchecked.chain(cut).collect(),
        ..CommandResult::of("explain", ResultSubject::Symptoms(rows))
    }
}

/// The lock file of the working directory, verified.
struct VerifiedHere(CommandResult);

impl VerifiedHere {
    /// Verifies the working directory; `None` if it has no lock file.
    fn verified(common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> Option<Self> {
        let path = common.below(Path::new(lockfile::FILE_NAME));
        let is_there = world
            .disk
            .kind(&path)
            .is_ok_and(|kind| kind == FileKind::File);
        is_there.then(|| Self(verify::here(common, world, stderr)))
    }

    fn root(&self) -> Option<&RootResult> {
        self.0.roots().first()
    }

    /// Returns the address under which a provider is locked: its own, else one of the same name on another
    /// host, since a message leaves out the default host.
    fn entry(&self, provider: &ProviderAddr) -> Option<ProviderAddr> {
        let locked: Vec<ProviderAddr> = self
            .root()
            .iter()
            .flat_map(|root| &root.providers)
            .filter_map(|row| match row {
                Provider::Checked(checked) => Some(&checked.provider),
                _ => None,
            })
            // Its rules know most addresses: a namespace with an underscore, too.
            .filter_map(|address| ProviderAddr::parse(address, Flavor::Terraform1_16).ok())
            .collect();
        let has_name = |other: &&ProviderAddr| {
            other.at_other_registry(provider.hostname()).as_ref() == Some(provider)
        };
        locked
            .iter()
            .find(|other| *other == provider)
            .or_else(|| locked.iter().find(has_name))
            .cloned()
    }

    /// Returns the findings about an entry, and those without a provider that show the cause of an error.
    fn findings(&self, entry: Option<&ProviderAddr>, known: &KnownError) -> Vec<&Finding> {
        let shown = self
            .root()
            .into_iter()
            .flat_map(|root| &root.entries)
            .filter_map(|found| match found {
                ResultEntry::Finding(finding, display) if *display != FindingDisplay::Hidden => {
                    Some(&**finding)
                }
                _ => None,
            });
        let is_cause = |finding: &Finding| known.causes.contains(&finding.diagnostic.code);
        shown
            .filter(|finding| match (&finding.provider, entry) {
                (Some(provider), Some(entry)) => provider == entry,
                _ => is_cause(finding),
            })
            .collect()
    }
}

/// Returns the finding that shows the cause of an error.
///
/// A note is about what works: it is no cause of an error. But an entry without signed hashes works on the recorded
/// platforms alone.
fn likeliest_cause<'f>(known: &KnownError, findings: &[&'f Finding]) -> Option<&'f Finding> {
    known.causes.iter().find_map(|cause| {
        findings.iter().copied().find(|finding| {
            let is_note = finding.diagnostic.severity == Severity::Note;
            finding.diagnostic.code == *cause && (!is_note || *cause == rules::ZH_MISSING)
        })
    })
}

fn row(explained: &ExplainedMessage, flavor: Flavor, here: Option<&VerifiedHere>) -> SymptomRow {
    let subject = &explained.subject;
    let mut row = SymptomRow {
        symptom: None,
        severity: explained.severity,
        title: explained.title.clone(),
        text: explained.text.clone(),
        provider: subject.provider.as_ref().map(ToString::to_string),
        version: subject.version.as_ref().map(ToString::to_string),
        platform: subject.platform.as_ref().map(ToString::to_string),
        meaning: None,
        page: None,
        command: None,
        entry: None,
        findings: Vec::new(),
    };
    let Some(known) = explained.known else {
        return row;
    };
    row.symptom = Some(known.name);
    row.meaning = Some(known.meaning);
    row.page = Some(known.page);
    let mut command = Some(explained.command(known, flavor));
    if let Some(here) = here {
        let entry = subject
            .provider
            .as_ref()
            .and_then(|provider| here.entry(provider));
        row.entry = subject.provider.as_ref().map(|_| match &entry {
            Some(_) => SymptomEntry::Locked,
            None => SymptomEntry::Missing,
        });
        // A provider that is not locked has findings of its own, as that it is required.
        let about = entry.as_ref().or(subject.provider.as_ref());
        let findings = here.findings(about, known);
        if let Some(Finding { diagnostic, .. }) = likeliest_cause(known, &findings) {
            row.page = Some(diagnostic.code);
            match &diagnostic.help {
                Some(help) if help.by_hand => command = None,
                Some(help) => {
                    let fix = help.command.as_ref().map(|fix| fix.for_root.clone());
                    command = fix.or(command);
                }
                None => {}
            }
        }
        let texts = &here.0.texts;
        row.findings = findings
            .into_iter()
            .map(|finding| FindingRow::of(finding, texts, &str::to_owned))
            .collect();
    }
    row.command = command;
    row
}
