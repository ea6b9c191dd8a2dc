//! What a command hands back: its report for people and for programs, and its exit code.

use std::io;

use super::args::{Common, Format, When};
use super::{CLEAN, FAILED, FINDINGS, Io};
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Rule, Severity, Texts};
use crate::report::human::{self, Colors};
use crate::report::json::{self, Status};
use crate::report::{Block, Failure, Report, Tone};
use crate::world::{Env, Stream};

/// Everything that a command says.
pub(super) struct Output {
    pub(super) command: &'static str,
    pub(super) exit: u8,
    pub(super) report: Report,
    pub(super) roots: Vec<json::Root>,
    /// Packages, where a command is about these rather than about roots.
    pub(super) packages: Vec<serde_json::Value>,
    pub(super) texts: Texts,
}

/// What a command says about one root.
pub(super) struct RootOutput {
    pub(super) report: Report,
    pub(super) json: json::Root,
}

impl Output {
    /// Puts the outputs of several roots together; the exit code is the highest.
    pub(super) fn of_roots(command: &'static str, outputs: Vec<RootOutput>, texts: Texts) -> Self {
        let mut report = Report::default();
        let mut roots = Vec::new();
        let several = outputs.len() > 1;
        // Failures that roots share are told once, in the place of the first.
        let mut failures: Vec<(Failure, usize, Vec<String>)> = Vec::new();
        for output in outputs {
            let path = output.json.path.clone();
            report.results.extend(output.report.results);
            for block in output.report.notes {
                // What stands alone on standard error says which root it is about.
                match block {
                    Block::Remark(tone, text) if several => {
                        let text = format!("{path}: {text}");
                        report.notes.push(Block::Remark(tone, text));
                    }
                    Block::Failure(failure) if several => {
                        let known = failures.iter_mut().find(|(other, ..)| *other == failure);
                        if let Some((_, _, paths)) = known {
                            paths.push(path.clone());
                        } else {
                            failures.push((
                                failure.clone(),
                                report.notes.len(),
                                vec![path.clone()],
                            ));
                            report.notes.push(Block::Failure(failure));
                        }
                    }
                    block => report.notes.push(block),
                }
            }
            roots.push(output.json);
        }
        for (failure, place, paths) in failures {
            let title = format!("{}: {}", paths.join(", "), failure.title);
            report.notes[place] = Block::Failure(Failure { title, ..failure });
        }
        let exit = roots
            .iter()
            .map(|root| exit_code(root.status))
            .max()
            .unwrap_or(CLEAN);
        Self {
            command,
            exit,
            report,
            roots,
            packages: Vec::new(),
            texts,
        }
    }

    /// Makes the output of a command that could not begin.
    pub(super) fn failed(command: &'static str, failure: Failure) -> Self {
        let mut output = RootOutput::new(".".to_owned());
        output.fail(failure);
        Self::of_roots(command, vec![output], Texts::default())
    }

    /// Says what is worth knowing whatever the root.
    pub(super) fn remarks(&mut self, texts: Vec<String>) {
        let remarks = texts
            .into_iter()
            .map(|text| Block::Remark(Tone::Warning, text));
        self.report.notes.extend(remarks);
    }

    /// Prints in the format that was asked for.
    pub(super) fn print(&self, common: &Common, env: &dyn Env, io: &mut Io<'_>) -> io::Result<()> {
        match common.format {
            Format::Human => self.print_human(common, env, io),
            Format::Json => {
                let document = json::Document {
                    format_version: json::FORMAT_VERSION,
                    command: self.command,
                    exit: self.exit,
                    summary: json::Summary::of(&self.roots, &self.packages),
                    roots: self.roots.clone(),
                    packages: self.packages.clone(),
                };
                serde_json::to_writer_pretty(&mut *io.stdout, &document)?;
                writeln!(io.stdout)?;
                io.stdout.flush()
            }
        }
    }

    fn print_human(&self, common: &Common, env: &dyn Env, io: &mut Io<'_>) -> io::Result<()> {
        let colors = |stream| colors(common.color, env, stream);
        let is_remark = |block: &Block| match block {
            Block::Remark(tone, _) => *tone == Tone::Note,
            Block::Diagnostic(diagnostic) => diagnostic.severity == Severity::Note,
            _ => false,
        };
        let notes: Vec<Block> = self
            .report
            .notes
            .iter()
            .filter(|block| !common.quiet || !is_remark(block))
            .cloned()
            .collect();
        human::render(
            io.stdout,
            &self.report.results,
            &self.texts,
            colors(Stream::Stdout),
        )?;
        io.stdout.flush()?;
        human::render(io.stderr, &notes, &self.texts, colors(Stream::Stderr))?;
        io.stderr.flush()
    }
}

impl RootOutput {
    /// Starts the output of a root that is in order so far.
    pub(super) fn new(path: String) -> Self {
        Self {
            report: Report::default(),
            json: json::Root {
                path,
                flavor: None,
                status: Status::Clean,
                findings: Vec::new(),
                failures: Vec::new(),
                providers: Vec::new(),
                changed: None,
            },
        }
    }

    /// Adds a failure: the job could not be done.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.json.failures.push((&failure).into());
        self.report.notes.push(Block::Failure(failure));
        self.json.status = Status::Failed;
    }

    /// Says something that is worth knowing, to people only.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.report
            .notes
            .push(Block::Remark(Tone::Note, text.into()));
    }

    /// Says something that has a rule but no place in a file.
    pub(super) fn ruled(&mut self, rule: &'static Rule, provider: &ProviderAddr, text: String) {
        self.json.findings.push(json::Finding {
            provider: Some(provider.to_string()),
            ..json::Finding::without_place(rule, text.clone())
        });
        self.report
            .notes
            .push(Block::Remark(tone(rule.severity), text));
    }

    /// Adds remarks that only whoever reads JSON is told, since they change nothing here.
    pub(super) fn aside<'d>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
        texts: &Texts,
    ) {
        let findings = diagnostics.into_iter();
        let findings = findings.map(|diagnostic| json::Finding::new(diagnostic, texts));
        self.json.findings.extend(findings);
    }

    /// Adds faults that keep a command from doing its job, and the remarks beside them.
    pub(super) fn faults<'d>(
        &mut self,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
        texts: &Texts,
    ) {
        for diagnostic in diagnostics {
            self.json
                .findings
                .push(json::Finding::new(diagnostic, texts));
            self.report
                .notes
                .push(Block::Diagnostic(diagnostic.clone()));
            if diagnostic.severity == Severity::Error {
                self.json.status = Status::Failed;
            }
        }
    }
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Note => Tone::Note,
        Severity::Warning => Tone::Warning,
        Severity::Error => Tone::Bad,
    }
}

/// Returns the exit code that a status stands for.
fn exit_code(status: Status) -> u8 {
    match status {
        Status::Clean => CLEAN,
        Status::Findings => FINDINGS,
        Status::Failed => FAILED,
    }
}

/// Decides about colours as <https://no-color.org> says.
fn colors(when: When, env: &dyn Env, stream: Stream) -> Colors {
    let set = |name| env.var(name).is_some_and(|value| !value.is_empty());
    let dumb = env.var("TERM").is_some_and(|term| term == "dumb");
    let on = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => env.terminal(stream) && !set("NO_COLOR") && !dumb,
    };
    if on { Colors::On } else { Colors::Off }
}
