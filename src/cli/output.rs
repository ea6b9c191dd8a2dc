//! What a command hands back: its report for people and for programs, and its exit code.

use std::collections::BTreeSet;
use std::io;

use crate::addr::ProviderAddr;
use crate::cli::CLEAN;
use crate::cli::FAILED;
use crate::cli::FINDINGS;
use crate::cli::Io;
use crate::cli::World;
use crate::cli::args::{Common, Format, When};
use crate::cli::checked::checked;
use crate::cli::roots::Ran;
pub(super) use crate::diag::counted;
use crate::diag::{Diagnostic, Rule, Severity, Texts};
use crate::report::graph::{self, Language};
use crate::report::human::{self, Colors};
use crate::report::json::{self, Status};
use crate::report::{Block, Failure, Report, Tone};
use crate::report::{github, junit, markdown, sarif};
use crate::world::{Env, Stream};

/// Everything that a command says.
pub(super) struct Output {
    pub(super) command: &'static str,
    pub(super) exit: u8,
    pub(super) report: Report,
    pub(super) roots: Vec<json::Root>,
    /// Packages, where a command is about these rather than about roots.
    pub(super) packages: Vec<json::Package>,
    /// Files, where a command is about these, and what to think of them.
    pub(super) files: Option<(Vec<json::File>, json::Verdict)>,
    /// Rules, where a command is about these.
    pub(super) rules: Vec<json::Rule>,
    pub(super) texts: Texts,
    /// Bytes to print as they are, before all else, to people only.
    pub(super) raw: Vec<u8>,
    /// Directories with configuration that no root covers, if roots were looked for.
    pub(super) not_locked: Option<Vec<String>>,
}

/// What a command says about one root.
pub(super) struct RootOutput {
    pub(super) report: Report,
    pub(super) json: json::Root,
}

/// A failure with the place of its first mention and the roots that share it.
struct Shared {
    failure: Failure,
    at: usize,
    paths: Vec<String>,
}

impl Output {
    /// Puts the outputs of several roots together; the exit code is the highest.
    pub(super) fn of_roots(command: &'static str, ran: Ran) -> Self {
        let mut report = Report::default();
        let mut roots = Vec::new();
        let several = ran.outputs.len() > 1;
        // Failures that roots share are told once, in the place of the first.
        let mut failures: Vec<Shared> = Vec::new();
        for output in ran.outputs {
            let path = output.json.path.clone();
            if several {
                add_named(&mut report.results, command, &path, output.report.results);
            } else {
                report.results.extend(output.report.results);
            }
            for block in output.report.notes {
                // What stands alone on standard error says which root it is about.
                match block {
                    Block::Remark(tone, text) if several => {
                        let text = format!("{path}: {text}");
                        report.notes.push(Block::Remark(tone, text));
                    }
                    Block::Failure(failure) if several => {
                        share(failure, &path, &mut failures, &mut report.notes);
                    }
                    block => report.notes.push(block),
                }
            }
            roots.push(output.json);
        }
        for Shared { failure, at, paths } in failures {
            let title = format!("{}: {}", paths.join(", "), failure.title);
            report.notes[at] = Block::Failure(Failure { title, ..failure });
        }
        let worst = roots.iter().map(|root| root.status).max();
        let not_locked = ran.not_locked.map(|dirs| {
            let shown = dirs.iter().map(|dir| dir.display().to_string());
            shown.collect()
        });
        Self {
            command,
            exit: worst.map_or(CLEAN, exit_code),
            report,
            roots,
            packages: Vec::new(),
            files: None,
            rules: Vec::new(),
            texts: ran.texts,
            raw: Vec::new(),
            not_locked,
        }
    }

    /// Says how all roots came out: as a result where these are sentences, else beside them.
    ///
    /// With `--verbose` it names the directories that no root covers.
    pub(super) fn sum_up(&mut self, common: &Common) {
        let verbose = common.verbose;
        for dir in self.not_locked.iter().flatten().filter(|_| verbose) {
            let text = format!("not locked: {dir}");
            self.report.notes.push(Block::Remark(Tone::Note, text));
        }
        let several = self.roots.len() > 1;
        let has_sentences = ["lock", "verify"].contains(&self.command);
        // What is said about a single failure says it all.
        let is_failure = !several && self.exit == FAILED;
        let is_wanted = self.not_locked.is_some() || (several && has_sentences);
        if !is_wanted || is_failure {
            return;
        }
        let count = |status| {
            let own = self.roots.iter().filter(|root| root.status == status);
            own.count()
        };
        let counts = [
            (count(Status::Clean), "clean"),
            (count(Status::Findings), "with findings"),
            (count(Status::Failed), "failed"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0);
        let counts: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).collect();
        let roots = if several { "roots" } else { "root" };
        let mut text = format!("{} {roots}: {}", self.roots.len(), counts.join(", "));
        if self.command == "verify" {
            text += &found(&self.roots);
        }
        text += &match self.not_locked.as_ref().map_or(0, Vec::len) {
            0 => String::new(),
            1 if verbose => "; 1 directory with configuration is not locked".to_owned(),
            1 => "; 1 directory with configuration is not locked (-v names it)".to_owned(),
            n if verbose => format!("; {n} directories with configuration are not locked"),
            n => format!("; {n} directories with configuration are not locked (-v names them)"),
        };
        let tone = match self.exit {
            CLEAN => Tone::Good,
            FINDINGS => Tone::Warning,
            _ => Tone::Bad,
        };
        if has_sentences {
            self.report.results.push(Block::Verdict(tone, text));
        } else {
            self.report.notes.push(Block::Remark(Tone::Note, text));
        }
    }

    /// Makes the output of a command that could not begin.
    pub(super) fn failed(command: &'static str, failure: Failure) -> Self {
        let mut output = RootOutput::new(".".to_owned());
        output.fail(failure);
        let ran = Ran {
            outputs: vec![output],
            ..Ran::default()
        };
        Self::of_roots(command, ran)
    }

    /// Says what is worth knowing whatever the root.
    pub(super) fn remarks(&mut self, texts: Vec<String>) {
        let remarks = texts
            .into_iter()
            .map(|text| Block::Remark(Tone::Warning, text));
        self.report.notes.extend(remarks);
    }

    /// Prints in the format that was asked for.
    pub(super) fn print(
        &self,
        common: &Common,
        world: World<'_>,
        io: &mut Io<'_>,
    ) -> io::Result<()> {
        let env = world.env;
        match common.format {
            Format::Human => {
                io.stdout.write_all(&self.raw)?;
                let colors = colors(common.color, env, Stream::Stdout);
                human::render(io.stdout, &self.report.results, &self.texts, colors)?;
                self.print_notes(common, env, io)
            }
            Format::Markdown => {
                match self.command {
                    "verify" => markdown::checks(io.stdout, &checked(self, world))?,
                    _ => markdown::render(io.stdout, &self.report.results)?,
                }
                self.print_notes(common, env, io)
            }
            Format::Sarif => {
                sarif::render(io.stdout, &checked(self, world))?;
                self.print_notes(common, env, io)
            }
            Format::Junit => {
                junit::render(io.stdout, &checked(self, world))?;
                self.print_notes(common, env, io)
            }
            // The runner reads commands from either stream: nothing may stand beside them.
            Format::Github => {
                github::render(io.stdout, &checked(self, world))?;
                io.stdout.flush()
            }
            Format::Mermaid => self.print_graph(Language::Mermaid, common, env, io),
            Format::Dot => self.print_graph(Language::Dot, common, env, io),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *io.stdout, &self.document())?;
                writeln!(io.stdout)?;
                io.stdout.flush()
            }
        }
    }

    /// Makes the object for programs.
    fn document(&self) -> json::Document {
        let (files, verdict) = self.files.clone().unzip();
        json::Document {
            format_version: json::FORMAT_VERSION,
            command: self.command,
            exit: self.exit,
            summary: json::Summary {
                not_locked: self.not_locked.as_ref().map(Vec::len),
                ..json::Summary::of(&self.roots, &self.packages, files.as_deref())
            },
            roots: self.roots.clone(),
            not_locked: self.not_locked.clone().unwrap_or_default(),
            packages: self.packages.clone(),
            files,
            verdict,
            rules: self.rules.clone(),
        }
    }

    fn print_graph(
        &self,
        language: Language,
        common: &Common,
        env: &dyn Env,
        io: &mut Io<'_>,
    ) -> io::Result<()> {
        graph::render(io.stdout, &self.report.graph, language)?;
        self.print_notes(common, env, io)?;
        let Some(text) = self.report.graph.too_large(language) else {
            return Ok(());
        };
        let remark = [Block::Remark(Tone::Warning, text)];
        let colors = colors(common.color, env, Stream::Stderr);
        human::render(io.stderr, &remark, &self.texts, colors)?;
        io.stderr.flush()
    }

    /// Prints what is not a result, behind the results.
    fn print_notes(&self, common: &Common, env: &dyn Env, io: &mut Io<'_>) -> io::Result<()> {
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
        io.stdout.flush()?;
        let colors = colors(common.color, env, Stream::Stderr);
        human::render(io.stderr, &notes, &self.texts, colors)?;
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
                turned_off: Vec::new(),
                fixed: None,
                failures: Vec::new(),
                providers: Vec::new(),
                matrix: None,
                modules: None,
                git_settings: None,
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

/// Adds the results of one of several roots below its name, apart from those beside it.
///
/// A verdict alone names its root by itself: most of many roots come to nothing else.
fn add_named(all: &mut Vec<Block>, command: &str, path: &str, results: Vec<Block>) {
    // `fmt` and `resolve` list files, one a line, and a tree begins with its root.
    let names_roots = ["fmt", "resolve", "tree"].contains(&command);
    let is_verified = command == "verify";
    let is_lone = is_verified && matches!(results[..], [Block::Verdict(..)]);
    if names_roots || is_lone || results.is_empty() {
        all.extend(results);
        return;
    }
    let gap = Block::Lines(vec![String::new()]);
    let is_apart = all.is_empty() || all.last() == Some(&gap);
    if is_verified && !is_apart {
        all.push(gap.clone());
    }
    all.push(Block::Heading(path.to_owned()));
    all.extend(results);
    if is_verified {
        all.push(gap);
    }
}

/// Says how much was found, as in ` (2 errors, 1 warning)`; nothing of notes.
///
/// What roots share, a module or a project file, counts once.
fn found(roots: &[json::Root]) -> String {
    let all: BTreeSet<&json::Finding> = roots.iter().flat_map(|root| &root.findings).collect();
    let count = |severity| all.iter().filter(|one| one.severity == severity).count();
    let counts = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, word)| counted(*n, word)).collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!(" ({})", counts.join(", ")),
    }
}

/// Notes a failure, once for all roots that share it.
fn share(failure: Failure, path: &str, known: &mut Vec<Shared>, notes: &mut Vec<Block>) {
    let mut same = known.iter_mut().filter(|other| other.failure == failure);
    if let Some(other) = same.next() {
        other.paths.push(path.to_owned());
        return;
    }
    known.push(Shared {
        failure: failure.clone(),
        at: notes.len(),
        paths: vec![path.to_owned()],
    });
    notes.push(Block::Failure(failure));
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Note => Tone::Note,
        Severity::Warning => Tone::Warning,
        Severity::Error => Tone::Bad,
    }
}

/// Returns the exit code that a status stands for.
pub(super) fn exit_code(status: Status) -> u8 {
    match status {
        Status::Clean => CLEAN,
        Status::Findings => FINDINGS,
        Status::Failed => FAILED,
    }
}

/// Decides about colours as <https://no-color.org> says.
pub(super) fn colors(when: When, env: &dyn Env, stream: Stream) -> Colors {
    let set = |name| env.var(name).is_some_and(|value| !value.is_empty());
    let dumb = env.var("TERM").is_some_and(|term| term == "dumb");
    let on = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => env.terminal(stream) && !set("NO_COLOR") && !dumb,
    };
    if on { Colors::On } else { Colors::Off }
}
