//! `lockctl explain -`: the output of `terraform` or `tofu` from standard input.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;

use crate::addr::ProviderAddr;
use crate::cliconfig::MethodKind;
use crate::diag::{Finding, Severity, rules};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::guide::known::KnownError;
use crate::guide::output::{MAX_MESSAGES, MAX_OUTPUT_BYTES, decoded, messages};
use crate::guide::recognised::{self, ExplainedMessage};
use crate::guide::subject::Subject;
use crate::lockfile;
use crate::report::FINDINGS;
use crate::report::json::{FindingRow, Provider, SymptomEntry, SymptomRow};
use crate::report::{
    CommandResult, Failure, FindingDisplay, ResultEntry, ResultSubject, RootResult, Sentence,
};
use crate::run::commands::quoted;
use crate::run::options::Options;
use crate::run::session::Session;
use crate::verifying;
use crate::world::FileKind;

/// Explains the errors of an output; the answer is bad if one of them is not recognised.
pub(super) fn explain(session: &Rc<Session<'_>>) -> CommandResult {
    let bytes = match session.world.env.input(MAX_OUTPUT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return CommandResult::failed("explain", [unreadable_input(&error)]),
    };
    let output = decoded(&bytes);
    let mut messages = messages(&output);
    if messages.is_empty() {
        messages = recognised::untitled(&output);
    }
    let mut options = session.options.clone();
    let mut here = VerifiedHere::verified(session);
    let seen = here.as_ref().and_then(|here| here.root()?.flavor);
    let seen = seen.unwrap_or(Flavor::newest(Program::Terraform));
    let flavor = match (options.flavor, recognised::printed_by(&output)) {
        (FlavorChoice::Stated(stated), _) => stated.flavor,
        // The words of the output are surer than the header of a lock file that both programs write.
        (FlavorChoice::Auto, Some(program)) if program != seen.program() => {
            let flavor = Flavor::newest(program);
            options.flavor = FlavorChoice::rules_of(flavor);
            here = VerifiedHere::verified(&session.with_options(&options));
            flavor
        }
        (FlavorChoice::Auto, _) => seen,
    };
    let explainer = Explainer {
        session,
        options: &options,
        flavor,
        here: here.as_ref(),
    };
    let rows: Vec<SymptomRow> = recognised::explain(&messages, flavor)
        .iter()
        .map(|explained| explainer.row(explained))
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

fn unreadable_input(error: &io::Error) -> Failure {
    let help = match error.kind() {
        ErrorKind::FileTooLarge => format!("give no more than {MAX_OUTPUT_BYTES} bytes"),
        _ => "give the output of terraform or tofu on standard input".to_owned(),
    };
    Failure::new("standard input could not be read")
        .because(error.to_string())
        .help(help)
}

/// The lock file of the working directory, verified.
struct VerifiedHere(CommandResult);

impl VerifiedHere {
    /// Verifies the working directory; `None` if it has no lock file.
    fn verified(session: &Rc<Session<'_>>) -> Option<Self> {
        let path = session.options.below(Path::new(lockfile::FILE_NAME));
        let is_there = session
            .world
            .disk
            .kind(&path)
            .is_ok_and(|kind| kind == FileKind::File);
        is_there.then(|| Self(verifying::here(session)))
    }

    fn root(&self) -> Option<&RootResult> {
        self.0.roots().first()
    }

    /// Returns true if the lock file has faults behind which entries may be.
    fn is_unread(&self) -> bool {
        let is_in_lock = |finding: &Finding| {
            let place = finding.diagnostic.primary.as_ref();
            finding.diagnostic.severity == Severity::Error
                && place.is_some_and(|label| {
                    let name = Path::new(self.0.texts.name(label.file));
                    name.ends_with(lockfile::FILE_NAME)
                })
        };
        self.root()
            .is_some_and(|root| root.providers.is_empty() && root.findings().any(is_in_lock))
    }

    /// Returns the address of the lock entry for a provider: its own, else one of the same name on another
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
        let is_cause = |finding: &Finding| known.shows(finding.diagnostic.code);
        shown
            .filter(|finding| match (&finding.provider, entry) {
                (Some(provider), Some(entry)) => provider == entry,
                _ => is_cause(finding),
            })
            .collect()
    }
}

/// The program that printed the output, and what may explain its errors here.
struct Explainer<'s, 'a> {
    session: &'s Session<'a>,
    options: &'s Options,
    flavor: Flavor,
    here: Option<&'s VerifiedHere>,
}

impl Explainer<'_, '_> {
    fn row(&self, explained: &ExplainedMessage) -> SymptomRow {
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
            is_question: false,
            entry: None,
            notes: Vec::new(),
            findings: Vec::new(),
        };
        let Some(known) = explained.known else {
            return row;
        };
        row.symptom = Some(&*known.name);
        row.meaning = Some(&*known.meaning);
        row.page = Some(&*known.page);
        let command = explained.command(known, self.flavor);
        row.command = command.map(|command| self.as_typed(&command));
        row.is_question = known.is_question();
        let entry = subject
            .provider
            .as_ref()
            .and_then(|provider| self.here?.entry(provider));
        // The program names no mirror, and several may lack the package.
        if known.shows(rules::MIRROR_LACKS_VERSION) {
            self.add_mirrors(&mut row, subject, entry.is_some());
        }
        let Some(here) = self.here else { return row };
        row.entry = subject.provider.as_ref().and_then(|_| match &entry {
            Some(_) => Some(SymptomEntry::Locked),
            None if here.is_unread() => None,
            None => Some(SymptomEntry::Missing),
        });
        // A provider that is not locked has findings of its own, as that it is required.
        let about = entry.as_ref().or(subject.provider.as_ref());
        let findings = here.findings(about, known);
        point_to_cause(&mut row, known, &findings);
        let texts = &here.0.texts;
        row.findings = findings
            .into_iter()
            .map(|finding| FindingRow::of(finding, texts, &str::to_owned))
            .collect();
        row
    }

    /// Returns a command of the table as it is typed here: for the directory of `-C`, and with the flavor if that is
    /// stated.
    fn as_typed(&self, command: &str) -> String {
        let dir = self.options.chdir.as_ref();
        let dir = dir.map(|dir| quoted(&dir.display().to_string()));
        let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
        let (mut before, mut options) = (String::new(), String::new());
        match (program, &dir) {
            ("lockctl", Some(dir)) => options += &format!(" -C {dir}"),
            ("terraform" | "tofu", Some(dir)) => options += &format!(" -chdir={dir}"),
            (_, Some(dir)) => before += &format!("cd {dir} && "),
            (_, None) => {}
        }
        if let ("lockctl", FlavorChoice::Stated(stated)) = (program, self.options.flavor) {
            options += &format!(" --flavor {}", stated.flavor);
        }
        format!("{before}{program}{options} {arguments}")
    }

    /// Adds the mirrors, if the CLI configuration installs a provider only from them, and the kept records of
    /// its release.
    fn add_mirrors(&self, row: &mut SymptomRow, subject: &Subject, is_locked: bool) {
        let Some(provider) = &subject.provider else {
            return;
        };
        let user = self.session.of(self.flavor);
        let methods: Vec<&MethodKind> = user
            .cli
            .installations
            .iter()
            .flat_map(|block| &block.methods)
            .filter(|method| method.providers.allows(provider))
            .map(|method| &method.kind)
            .collect();
        let mirrors: Vec<String> = methods
            .iter()
            .filter_map(|kind| match kind {
                MethodKind::FilesystemMirror(dir) => Some(dir.display().to_string()),
                MethodKind::NetworkMirror { url, .. } => Some(url.to_string()),
                MethodKind::OciMirror { template } => Some(template.to_string()),
                MethodKind::Direct | MethodKind::DevOverrides(_) => None,
            })
            .collect();
        let is_mirrored = !mirrors.is_empty() && !methods.contains(&&MethodKind::Direct);
        if is_mirrored {
            row.notes.push(format!(
                "the CLI configuration installs it from {} alone",
                mirrors.join(" and ")
            ));
        }
        let release = subject
            .version
            .as_ref()
            .and_then(|version| self.session.facts.get().release(provider, version))
            .filter(|stored| stored.release.lists_release);
        let mut is_released = true;
        if let (Some(platform), Some(stored)) = (&subject.platform, release) {
            is_released = stored
                .release
                .packages
                .values()
                .any(|package| package.platform == *platform);
            let has = if is_released { "has" } else { "has no" };
            row.notes.push(format!(
                "the signed list of the release, kept on this machine, {has} package for {platform}"
            ));
        }
        if let ([MethodKind::FilesystemMirror(dir)], true, true) =
            (&*methods, is_locked, is_released)
        {
            let dir = quoted(&dir.display().to_string());
            let platform = subject.platform.as_ref();
            let platform =
                platform.map_or_else(String::new, |platform| format!(" --platform {platform}"));
            row.command = Some(self.as_typed(&format!("lockctl mirror {dir}{platform}")));
            row.is_question = false;
        }
    }
}

/// Takes the page and the command of the finding that is the likeliest cause of an error.
fn point_to_cause(row: &mut SymptomRow, known: &KnownError, findings: &[&Finding]) {
    // A note is about what works: it is no cause of an error. But an entry without signed hashes works on the
    // recorded platforms alone.
    let likeliest = known.causes.iter().find_map(|cause| {
        findings.iter().find(|finding| {
            let is_note = finding.diagnostic.severity == Severity::Note;
            finding.diagnostic.code == *cause && (!is_note || *cause == rules::ZH_MISSING)
        })
    });
    let Some(Finding { diagnostic, .. }) = likeliest else {
        return;
    };
    row.page = Some(diagnostic.code);
    match &diagnostic.help {
        // The finding says what to edit, so nothing is to be found out.
        Some(help) if help.by_hand || help.command.is_none() && row.is_question => {
            row.command = None;
            row.is_question = false;
        }
        Some(help) => {
            if let Some(fix) = &help.command {
                row.command = Some(fix.for_root.clone());
                row.is_question = false;
            }
        }
        None => {}
    }
}
