//! `lockctl verify`: will this lock file work?

mod across;
mod fix;
mod packages;
mod registries;
mod table;
mod text;

use std::io::Write;
use std::rc::Rc;

use crate::cli::World;
use crate::cli::args::{Common, Format, Group, Verify};
use crate::cli::output::{Output, RootOutput};
use crate::cli::progress::Progress;
use crate::cli::root::{LockText, Root};
use crate::cli::roots;
use crate::cli::setup;
use crate::cli::setup::Typed;
use crate::cli::verify::across::{JudgedRoot, explained, one_version, say_all};
use crate::cli::verify::fix::{Fixed, Fixing};
use crate::cli::verify::packages::Packages;
use crate::cli::verify::registries::Upstream;
use crate::cli::verify::text::Judged;
use crate::config::Loaded;
use crate::diag::{Diagnostic, Severity, Texts, has_errors};
use crate::report::{Block, Failure, Tone};
use crate::requirement::Requirements;
use crate::sources::net::Event;
use crate::verify::matrix::{Known, Locked, Outlook};
use crate::verify::{
    Finding, Subject, configuration, file, keys, levels, matrix, platforms, policy, signed,
    upstream,
};
use crate::world::Replaced;

/// What all roots of a run share.
struct Run<'a> {
    common: &'a Common,
    args: &'a Verify,
    world: World<'a>,
    platforms: Typed,
    packages: Packages<'a>,
    /// `None` unless registries are asked.
    upstream: Option<Upstream<'a>>,
}

pub(in crate::cli) fn run(
    common: &Common,
    args: &Verify,
    world: World<'_>,
    stderr: &mut (dyn Write + Send),
) -> Output {
    let platforms = match setup::checkable(&args.platforms.platforms) {
        Ok(platforms) => platforms,
        Err(failure) => return Output::failed("verify", failure),
    };
    let packages = match Packages::new(common, args, world) {
        Ok(packages) => packages,
        Err(failure) => return Output::failed("verify", failure),
    };
    let asks = args.wants(Group::Upstream);
    let progress = asks.then(|| Progress::new(common, world.env, stderr));
    let told = |event: &Event<'_>| {
        if let Some(progress) = &progress {
            progress.tell(event);
        }
    };
    let mut run = Run {
        common,
        args,
        world,
        platforms,
        packages,
        upstream: asks.then(|| Upstream::new(world, &told)),
    };
    let mut all: Vec<JudgedRoot> = Vec::new();
    let mut ran = roots::each(
        common,
        &args.roots,
        world,
        |root, texts, output: &mut RootOutput| {
            let path = output.json.path.clone();
            let Some(judged) = run.root(root, path, texts)? else {
                return Ok(Replaced::Changed);
            };
            all.push(judged);
            Ok(Replaced::Done)
        },
    );
    if let Some(progress) = &progress {
        progress.finish();
    }
    if args.wants(Group::Policy) {
        one_version(&mut all);
    }
    say_all(&mut ran, all);
    run.packages.finish(&mut ran);
    let mut output = Output::of_roots("verify", ran);
    output.remarks(setup::platform_remarks(&args.platforms.platforms));
    // Programs are told the rule of each finding, and need no advice on how to read more.
    if common.format == Format::Human
        && let Some(text) = explained(&output.roots)
    {
        let remark = Block::Remark(Tone::Note, text);
        output.report.notes.push(remark);
    }
    output
}

/// The configuration of a root, as far as it was looked at.
struct Seen {
    /// `None` if nothing that is wanted needs it.
    loaded: Option<Loaded>,
    /// It could not be read.
    unread: bool,
}

impl Seen {
    /// Returns what is required, if that is known.
    fn requirements(&self) -> Option<&Requirements> {
        let loaded = self.loaded.as_ref().filter(|_| !self.unread);
        loaded.map(|loaded| &loaded.requirements)
    }
}

impl Run<'_> {
    /// Mends what can be mended, and judges the root; `None` if its lock file changed under that.
    fn root(
        &mut self,
        root: &Rc<Root>,
        path: String,
        texts: &mut Texts,
    ) -> Result<Option<JudgedRoot>, Failure> {
        let seen = self.configuration(root, texts)?;
        let fixing = self.args.fix.map(|how| Fixing {
            how,
            args: self.args,
            disk: self.world.disk,
        });
        let fixed = match fixing {
            None => None,
            Some(_) if seen.unread => Some(Fixed::refused("the configuration cannot be read")),
            Some(fixing) => match fixing.fix(root, seen.requirements(), texts)? {
                None => return Ok(None),
                fixed => fixed,
            },
        };
        let root = fixed.as_ref().and_then(Fixed::root).unwrap_or(root);
        Ok(Some(JudgedRoot {
            path,
            judged: self.judge(root, &seen, texts),
            root: Rc::clone(root),
            fixed,
        }))
    }

    /// Reads the configuration, if anything that is wanted needs it.
    fn configuration(&self, root: &Root, texts: &mut Texts) -> Result<Seen, Failure> {
        let is_needed = self.args.wants(Group::Configuration)
            || self.args.wants(Group::Platforms)
            || self.args.wants(Group::Packages)
            || self.args.wants(Group::Policy)
            || self.args.matrix;
        let loaded = is_needed.then(|| root.load(self.world, &self.args.configuration, texts));
        if loaded.as_ref().is_some_and(|loaded| !loaded.found) {
            return Err(root.no_configuration());
        }
        // A module that must be seen and cannot be is a finding; the rest can be judged.
        let unread = loaded.as_ref().is_some_and(|loaded| {
            let mut found = loaded.diagnostics.iter();
            found.any(|one| one.severity == Severity::Error && one.code != "module-not-visible")
        });
        Ok(Seen { loaded, unread })
    }

    fn judge(&mut self, root: &Root, seen: &Seen, texts: &mut Texts) -> Judged {
        let (loaded, unread) = (&seen.loaded, seen.unread);
        let requirements = seen.requirements();
        let needs_config = self.args.wants(Group::Packages) || self.upstream.is_some();
        let config_errors = match needs_config && root.lock.is_some() {
            true => self.packages.read_config(root.flavor, texts),
            false => Vec::new(),
        };
        let mut judged = match &root.lock {
            Some(lock) => self.lock((root, lock), requirements, texts),
            None => Judged {
                findings: missing(root, requirements, unread),
                ..Judged::default()
            },
        };
        let config_errors = config_errors.into_iter().map(Finding::from);
        judged.findings.splice(..0, config_errors);
        if let (Some(loaded), true) = (loaded, self.args.wants(Group::Configuration)) {
            let told = loaded.diagnostics.iter().cloned().map(Finding::from);
            judged.findings.splice(..0, told);
            judged.unread = unread;
        }
        if self.args.matrix {
            judged.matrix = Some(self.matrix(root, requirements, &judged.known));
        }
        let loaded = loaded.iter().flat_map(|loaded| &loaded.diagnostics);
        let lock = root.lock.iter().flat_map(|lock| &lock.diagnostics);
        let faults: Vec<&Diagnostic> = loaded.chain(lock).collect();
        (judged.findings, judged.off) =
            levels::apply(judged.findings, &faults, root.project(), root.flavor);
        judged.verbose = self.common.verbose;
        judged
    }

    /// Checks a lock file, group by group; behind a fault in the file nothing else is judged.
    fn lock(
        &mut self,
        (root, lock): (&Root, &LockText),
        requirements: Option<&Requirements>,
        texts: &Texts,
    ) -> Judged {
        let mut judged = Judged::default();
        let broken = has_errors(&lock.diagnostics);
        // A file that cannot be read is told whichever groups are wanted: nothing can be checked.
        if broken || self.args.wants(Group::File) {
            judged
                .findings
                .extend(lock.diagnostics.iter().cloned().map(Finding::from));
        }
        if broken {
            return judged;
        }
        let subject = root.subject(lock, requirements);
        if self.args.wants(Group::File) {
            judged.findings.extend(file::check(subject, &lock.bytes));
        }
        if self.args.wants(Group::Configuration) {
            judged.findings.extend(configuration::check(subject));
        }
        let answers = self.answers((root, subject), texts, &mut judged);
        let wanted = self.platforms.of_lock(root, lock);
        let known = self.packages((root, subject), &wanted, &mut judged);
        if self.args.wants(Group::Platforms) {
            let found = platforms::check(subject, &wanted, &known);
            judged.findings.extend(found);
            // Who knows the list says what is missing of it.
            let is_open = |finding: &Finding| {
                let provider = finding.provider.as_ref();
                !provider.is_some_and(|provider| answers.contains_key(provider))
            };
            let bare = signed::unlisted(subject).into_iter().filter(is_open);
            judged.findings.extend(bare);
            judged.findings.extend(signed::crowded(subject));
            judged.platforms = Some(wanted);
        }
        judged.known = known;
        let found = upstream::check(subject, &answers);
        judged.findings.extend(found);
        self.policy(root, subject, (&answers, &mut judged));
        judged
    }

    /// Asks registries about what is locked, if that is wanted.
    fn answers(
        &mut self,
        (root, subject): (&Root, Subject<'_>),
        texts: &Texts,
        judged: &mut Judged,
    ) -> upstream::Answers {
        let Some(upstream) = &mut self.upstream else {
            return upstream::Answers::new();
        };
        let config = self.packages.sound_config(root.flavor);
        let (answers, failures) = upstream.ask((root, subject), config, texts);
        judged.failures.extend(failures);
        let listed = answers.values().filter(|answer| answer.signed.is_some());
        judged.lists = Some(listed.count());
        answers
    }

    /// Checks what the project file lets a lock file hold. Pinned keys are compared with what
    /// registries say even where only that is looked at.
    fn policy(
        &self,
        root: &Root,
        subject: Subject<'_>,
        (answers, judged): (&upstream::Answers, &mut Judged),
    ) {
        let Some(policy) = &root.project().policy else {
            return;
        };
        let (name, is_wanted) = (root.project_name(), self.args.wants(Group::Policy));
        if is_wanted {
            let found = policy::allowed(subject, policy, &name);
            judged.findings.extend(found);
        }
        let found = match self.upstream {
            Some(_) if !self.args.skip.contains(&Group::Policy) => {
                keys::check(subject, policy, answers, &name)
            }
            None if is_wanted => keys::not_compared(subject, policy, &name),
            _ => Vec::new(),
        };
        judged.findings.extend(found);
    }

    /// Foretells what the programs will do with the lock file, or without it.
    fn matrix(
        &self,
        root: &Root,
        requirements: Option<&Requirements>,
        known: &platforms::KnownHashes,
    ) -> Vec<matrix::Row> {
        let document = root.document();
        let lock = root.lock.iter().flat_map(|lock| &lock.diagnostics);
        let errors = lock.filter(|one| one.severity == Severity::Error);
        let titles: Vec<&str> = errors.map(|one| &*one.title).collect();
        let locked = match titles.is_empty() {
            true => Locked::Sound(&document),
            false => Locked::Broken {
                document: &document,
                titles: &titles,
            },
        };
        let outlook = Outlook {
            locked,
            flavor: root.flavor,
            requirements,
        };
        let providers = outlook.providers();
        let wanted = self
            .platforms
            .of_providers(root, &providers.iter().collect::<Vec<_>>());
        let zh = platforms::KnownHashes::new();
        outlook.rows(&wanted, Known { h1: known, zh: &zh })
    }

    /// Checks packages, and returns what they tell about hashes.
    fn packages(
        &mut self,
        (root, subject): (&Root, Subject<'_>),
        wanted: &platforms::Wanted,
        judged: &mut Judged,
    ) -> platforms::KnownHashes {
        if !self.args.wants(Group::Packages) {
            return platforms::KnownHashes::new();
        }
        let (checked, failures) = self.packages.check(root, subject, wanted);
        judged.findings.extend(checked.findings);
        judged.failures.extend(failures);
        judged.packages = Some(checked.counts);
        checked.known
    }
}

/// How many places that require a provider are shown.
const MAX_REQUIRED: usize = 20;

/// Reports a root that requires providers, or may do so unread, and has no lock file.
fn missing(root: &Root, requirements: Option<&Requirements>, unread: bool) -> Vec<Finding> {
    let required = requirements.iter().flat_map(|all| &all.providers);
    let required = required.filter(|(provider, _)| !provider.is_builtin(root.flavor));
    let mut places = required
        .filter_map(|(provider, places)| {
            Some((places.first()?, format!("{provider} is required here")))
        })
        .take(MAX_REQUIRED);
    let title = format!("There is no {}", root.lock_path.display());
    let help = format!("run `{}` to create it", root.advice.lock);
    let diagnostic = Diagnostic::error("lock-missing", title).help(help);
    let diagnostic = match places.next() {
        Some((place, note)) => {
            let diagnostic = diagnostic.at(place.file, place.span, note);
            places.fold(diagnostic, |diagnostic, (place, note)| {
                diagnostic.see(place.file, place.span, note)
            })
        }
        None if unread => diagnostic,
        None => return Vec::new(),
    };
    vec![diagnostic.into()]
}
