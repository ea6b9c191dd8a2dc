//! The findings about packages.

use std::io;
use std::path::{Path, PathBuf};

use super::InstallSource;
use super::differences::named;
use super::facts::{Doubt, MismatchEvidence};
use super::memo;
use super::places::{AbsentMirror, PackageCandidate};
use crate::acquire::PackageHashes;
use crate::addr::ProviderAddr;
use crate::archive::ArchiveError;
use crate::diag::{self, Diagnostic, Finding, Help, RootCommand, Severity, Span, rules};
use crate::hash::{Hashes, Match, Scheme};
use crate::package::Local;
use crate::verify::CheckedLock;
use crate::verify::{AlteredPackage, PackageOrigin};
use crate::version::Version;
use crate::world::is_outside;

/// A package that was hashed, with the context of its findings.
pub(super) struct PackageReport<'a> {
    pub(super) subject: CheckedLock<'a>,
    pub(super) candidate: &'a PackageCandidate,
    pub(super) hashed: &'a PackageHashes,
    /// The target of the place, if that is a link.
    pub(super) link: Option<PathBuf>,
}

impl PackageReport<'_> {
    /// Reports a package whose hash is not recorded.
    pub(super) fn mismatch(&self, fact: &MismatchEvidence) -> Finding {
        let (rule, what) = match fact.added_files() {
            0 => (rules::PACKAGE_MISMATCH, "does not match the lock file"),
            1 => (rules::PACKAGE_STRAY_FILE, "has a stray file"),
            _ => (rules::PACKAGE_STRAY_FILE, "has stray files"),
        };
        let place = self.candidate.place.path().display();
        let schemes = match self.candidate.place {
            Local::Archive(_) => "zh: or h1:",
            Local::Directory(_) => "h1:",
        };
        let note = format!("no recorded {schemes} matches {place}");
        let diagnostic = Diagnostic::error(rule, title(self.candidate, what));
        self.finding(diagnostic, note, self.what_to_do(fact))
    }

    /// Reports a package with a recorded hash, although facts give another one for its platform.
    pub(super) fn altered(&self, altered: &AlteredPackage, fact: &MismatchEvidence) -> Finding {
        let place = self.candidate.place.path().display();
        let note = format!(
            "{place} has a recorded hash, but the signed package has {}",
            altered.expected
        );
        let title = title(self.candidate, "is not that of the signed release");
        let mut diagnostic = Diagnostic::error(rules::PACKAGE_MISMATCH, title);
        let listed = self
            .subject
            .places(&self.candidate.id.provider)
            .map(|places| &*places.listed);
        for (_, span) in listed
            .into_iter()
            .flatten()
            .filter(|(hash, _)| altered.h1.contains(hash))
        {
            diagnostic = diagnostic.see(self.subject.file, *span, "its h1:");
        }
        let help = match fact {
            // Without a copy to compare with, the steps to get one help most.
            MismatchEvidence::None => self.advice(fact).into(),
            fact => self.what_to_do(fact),
        };
        self.finding(diagnostic, note, help)
    }

    /// Says what is known about the fault, and what to do.
    fn what_to_do(&self, fact: &MismatchEvidence) -> Help {
        let place = self.candidate.place.path().display();
        let advice = self.advice(fact);
        match fact {
            MismatchEvidence::Differs(twin, differences) if !differences.is_empty() => format!(
                "it differs from {twin}, which is recorded:\n{differences}\n{advice}"
            )
            .into(),
            MismatchEvidence::Stray(names) => format!(
                "without these files it is recorded:\n  stray: {}\n{advice}",
                named(names)
            )
            .into(),
            MismatchEvidence::Same(twin) => self.subject.advice.lock.named_in(|lock| {
                format!(
                    "it has the content of {twin}, which is recorded, but was zipped again; use that \
                     one, or run `{lock} --platform {}` to record its h1:",
                    self.candidate.id.platform
                )
            }),
            MismatchEvidence::Differs(twin, _) => {
                format!("it differs from {twin}, which is recorded; {advice}").into()
            }
            // Hashes are counted, which is no proof: the command decides.
            MismatchEvidence::None if self.candidate.origin == PackageOrigin::Installed => {
                self.subject.advice.lock.named_in(|lock| {
                    format!(
                        "its hash is {}; run `{lock} --platform {}`: if that adds this hash, the \
                         lock file lacked it\notherwise the package was changed: {}",
                        self.hashed.h1,
                        self.candidate.id.platform,
                        self.removal()
                    )
                })
            }
            MismatchEvidence::None => format!("{place} hashes to {}; {advice}", self.hashed.h1).into(),
        }
    }

    /// Returns the help to remove a package that is wrong.
    fn advice(&self, fact: &MismatchEvidence) -> String {
        let program = self.subject.flavor.command();
        let removal = self.removal();
        let is_opentofu = self.subject.flavor.is_opentofu();
        match self.candidate.origin {
            // Terraform unpacks over the package (`coverage` rules 5.6).
            PackageOrigin::Installed if fact.added_files() > 0 && !is_opentofu => format!(
                "{removal}; `{program} init` alone may keep what was added and record the h1: of the package \
                 with it"
            ),
            PackageOrigin::Installed | PackageOrigin::Named => {
                format!("unless you know why, {removal}")
            }
            // Terraform unpacks over a cached package that does not match, and OpenTofu fails where the two
            // differ (`coverage` rules 5.4).
            PackageOrigin::Cache if is_opentofu => format!(
                "{removal}: `{program} init` stops at it where it has to fetch the package again"
            ),
            PackageOrigin::Cache => format!(
                "{removal}: `{program} init` would unpack over it, and lock what it is then"
            ),
            PackageOrigin::Mirror => format!(
                "`{program} init` from this mirror refuses it; unless you know why, {removal}"
            ),
        }
    }

    /// Returns the help to remove a package that may be wrong.
    fn removal(&self) -> String {
        let program = self.subject.flavor.command();
        let what = self.what();
        match self.candidate.origin {
            PackageOrigin::Installed => format!("delete {what} and run `{program} init` again"),
            PackageOrigin::Cache => format!("delete {what}"),
            PackageOrigin::Mirror => format!("replace {what}"),
            PackageOrigin::Named => "do not use it".to_owned(),
        }
    }

    /// Names the package in a sentence that named it before.
    fn what(&self) -> String {
        match (&self.link, &self.candidate.place) {
            (Some(target), _) => format!("{}, to which it is a link,", target.display()),
            (None, Local::Directory(_)) => "that directory".to_owned(),
            (None, Local::Archive(_)) => "that file".to_owned(),
        }
    }

    /// Reports a package that no recorded hash can verify.
    pub(super) fn unverifiable(
        &self,
        matched: &Match,
        fact: &MismatchEvidence,
        doubt: Doubt,
    ) -> Finding {
        let id = &self.candidate.id;
        let origin = self.candidate.origin;
        let kind = kind(origin);
        let title = format!("The lock file has no hash that can verify the {kind} package of {id}");
        let mut diagnostic = Diagnostic::warning(rules::PACKAGE_UNVERIFIABLE, title);
        let platform = &id.platform;
        let recorded = self.subject.recorded(id).matchable();
        let count = recorded.of(Scheme::H1).count();
        let note = match doubt {
            _ if *matched != Match::Mismatch || count == 0 => "no h1: is recorded here".to_owned(),
            Doubt::Uncovered => format!(
                "{count} h1: recorded, all of other platforms: the lock file lacks that of {platform}"
            ),
            Doubt::None | Doubt::Unwanted | Doubt::Incomplete => format!(
                "{count} h1: recorded, none known to be for {platform}: the lock file may lack it"
            ),
        };
        let left_over = self.subject.left_over(&id.provider);
        // A cache only saves downloads, and the lock file need not cover every platform.
        let is_harmless =
            left_over.is_some() || origin == PackageOrigin::Cache || doubt == Doubt::Unwanted;
        // The program refuses it for certain, or the user asked about it.
        let is_refused = matches!(origin, PackageOrigin::Installed | PackageOrigin::Named)
            && matches!(doubt, Doubt::Incomplete | Doubt::Uncovered);
        if is_harmless {
            diagnostic.severity = Severity::Note;
        } else if is_refused {
            diagnostic.severity = Severity::Error;
        }
        let help = match left_over {
            Some(left_over) => left_over,
            None => self.how_to_verify(matched, fact, doubt),
        };
        self.finding(diagnostic, note, help)
    }

    fn how_to_verify(&self, matched: &Match, fact: &MismatchEvidence, doubt: Doubt) -> Help {
        let platform = &self.candidate.id.platform;
        let command = self
            .subject
            .advice
            .lock
            .with(format_args!("--platform {platform}"));
        let program = self.subject.flavor.command();
        // `plan` needs an `h1:` that matches, while a mirror is trusted where there is nothing to compare
        // (`hash` rules 3.4, 3.5).
        let refused = matches!(matched, Match::Mismatch | Match::NotComparable);
        let consequence = match self.candidate.origin {
            PackageOrigin::Installed if refused => {
                format!("; until then `{program} plan` refuses it")
            }
            PackageOrigin::Cache => format!("; until then `{program} init` fetches it again"),
            PackageOrigin::Mirror if refused => {
                format!("; until then `{program} init` from this mirror refuses it")
            }
            _ => String::new(),
        };
        match (doubt, fact) {
            (Doubt::Unwanted, _) => command.named_in(|command| {
                format!("nothing to do, unless {platform} is wanted: then run `{command}`")
            }),
            (Doubt::None, MismatchEvidence::Same(twin)) => command.named_in(|command| {
                format!(
                    "its content is that of {twin}, whose zh: is recorded: run `{command}` to add \
                     its h1:{consequence}"
                )
            }),
            (Doubt::None, _) => command.run(&format!(" to add its h1:{consequence}")),
            (Doubt::Incomplete | Doubt::Uncovered, _) => command.run(&format!(
                " to add its h1:{consequence}\nif it still does not match then, it is not the \
                 locked package: {}",
                self.removal()
            )),
        }
    }

    /// Reports oddities of a package that is accepted.
    pub(super) fn remarks(&self, recorded: &Hashes) -> Vec<Finding> {
        let place = self.candidate.place.path().display();
        let mut findings = Vec::new();
        // A match of either scheme suffices (`hash` rules 3.2), so these are remarks.
        if memo::is_repacked(self.hashed, recorded) {
            let title = title(self.candidate, "was zipped again");
            let note = format!("an h1: matches {place}, no zh: does");
            let help = "nothing to do: its content is what was locked, and the program accepts it";
            let diagnostic = Diagnostic::note(rules::PACKAGE_REPACKED, title);
            findings.push(self.finding(diagnostic, note, help));
        }
        if memo::is_odd(self.hashed) {
            let title = title(self.candidate, "has two different h1: hashes");
            let note = format!("{place} hashes differently as a zip than when it is unpacked");
            let help = "nothing to do here: the lock file accepts it; a lock file without its zh: \
                        would refuse it, once it was installed";
            let diagnostic = Diagnostic::note(rules::PACKAGE_ODD, title);
            findings.push(self.finding(diagnostic, note, help));
        }
        findings
    }

    /// Reports a zip whose `h1:` when unpacked is recorded, and not that of its members.
    pub(super) fn refused_odd(&self, doubt: Doubt) -> Finding {
        let id = &self.candidate.id;
        let place = self.candidate.place.path().display();
        let kind = kind(self.candidate.origin);
        let program = self.subject.flavor.command();
        let title = format!("`{program} init` refuses the {kind} package of {id}");
        let note =
            format!("the h1: of {place} when unpacked is recorded, that of its zip members is not");
        let help = "the zip is built in an unusual way, so the two differ; unpack it in its place, or zip \
                    it again without directory entries and repeated or unclean names";
        let mut diagnostic = Diagnostic::error(rules::PACKAGE_ODD, title);
        // No program installs a package for a platform that is not wanted.
        if doubt == Doubt::Unwanted {
            diagnostic.severity = Severity::Note;
        }
        self.finding(diagnostic, note, help)
    }

    fn finding(&self, diagnostic: Diagnostic, note: String, help: impl Into<Help>) -> Finding {
        finding(self.subject, self.candidate, diagnostic, note, help)
    }
}

/// Reports a package that cannot be hashed.
pub(super) fn unreadable(
    subject: CheckedLock<'_>,
    candidate: &PackageCandidate,
    error: &ArchiveError,
    doubt: Doubt,
) -> Finding {
    let place = candidate.place.path().display();
    let program = subject.flavor.command();
    let help = match candidate.origin {
        PackageOrigin::Installed | PackageOrigin::Cache => {
            format!("delete {place} and run `{program} init` again")
        }
        PackageOrigin::Mirror => format!("replace {place}: `{program} init` cannot use it either"),
        PackageOrigin::Named => "name a package that the program could use".to_owned(),
    };
    let what = "cannot be hashed";
    let mut finding = unusable(subject, candidate, what, causes(error), help);
    // No program reads a package for a platform that is not wanted.
    if doubt == Doubt::Unwanted {
        finding.diagnostic.severity = Severity::Note;
    }
    finding
}

/// Reports a file in the place of an unpacked package.
pub(super) fn no_directory(subject: CheckedLock<'_>, candidate: &PackageCandidate) -> Finding {
    let place = candidate.place.path().display();
    let program = subject.flavor.command();
    let what = "is a file, not a directory";
    let note = format!("{place} is a file");
    let help = format!(
        "delete it and run `{program} init` again; until then `{program} plan` finds no package"
    );
    unusable(subject, candidate, what, note, help)
}

/// Reports a package that is a link which cannot be followed.
pub(super) fn unreachable(
    subject: CheckedLock<'_>,
    candidate: &PackageCandidate,
    error: &io::Error,
) -> Finding {
    let place = candidate.place.path().display();
    let program = subject.flavor.command();
    let what = "is a link that cannot be followed";
    let note = format!("{place} cannot be followed: {error}");
    let help = if is_outside(error) {
        "name what it leads to with --package, or leave out --confine".into()
    } else {
        RootCommand::new(format!("{program} init")).run(&format!(
            " again; until then `{program} plan` finds no package"
        ))
    };
    unusable(subject, candidate, what, note, help)
}

fn unusable(
    subject: CheckedLock<'_>,
    candidate: &PackageCandidate,
    what: &str,
    note: String,
    help: impl Into<Help>,
) -> Finding {
    let diagnostic = Diagnostic::error(rules::PACKAGE_UNREADABLE, title(candidate, what));
    finding(subject, candidate, diagnostic, note, help)
}

/// Reports a single package that cannot be hashed.
pub(super) fn unreadable_single(
    subject: CheckedLock<'_>,
    path: &Path,
    error: &ArchiveError,
) -> Finding {
    let title = format!("{} cannot be hashed", path.display());
    Diagnostic::error(rules::PACKAGE_UNREADABLE, title)
        .at(subject.file, Span::default(), causes(error))
        .help("name a zip file or an unpacked directory of a provider")
        .into()
}

/// Reports a single package of a provider or version that is not locked.
pub(super) fn not_locked(subject: CheckedLock<'_>, path: &Path, what: &str) -> Finding {
    let title = format!("No entry is about {}", path.display());
    let note = format!("no entry here locks {what}");
    Diagnostic::error(rules::PACKAGE_NOT_LOCKED, title)
        .at(subject.file, Span::default(), note)
        .help("name a package of a locked version, or lock that version")
        .into()
}

/// Reports a single package that not even its hash identifies.
pub(super) fn not_recorded(
    subject: CheckedLock<'_>,
    path: &Path,
    hashed: &PackageHashes,
) -> Finding {
    let title = format!("No entry records the package {}", path.display());
    let hashes = hashed
        .zip
        .iter()
        .map(|zip| zip.zh.to_string())
        .chain([hashed.h1.to_string()])
        .collect::<Vec<String>>()
        .join(", ");
    let note = format!("none of its hashes is recorded: {hashes}");
    Diagnostic::error(rules::PACKAGE_MISMATCH, title)
        .at(subject.file, Span::default(), note)
        .help(
            "unless you know why, do not use it; its path does not show which package it is: put \
             it into the layout of a mirror to have it compared by name",
        )
        .into()
}

/// Reports a mirror that a file names and that is not there.
pub(super) fn absent(subject: CheckedLock<'_>, mirror: &AbsentMirror) -> Finding {
    let consequence = if mirror.is_ours {
        "`lockctl lock` takes packages from here".to_owned()
    } else {
        // `sources` rules 7.6.
        format!(
            "`{} init` fails for every provider",
            subject.flavor.command()
        )
    };
    let title = format!("There is no mirror in {}", mirror.dir.display());
    Diagnostic::error(rules::MIRROR_MISSING, title)
        .at(mirror.file, mirror.span, consequence)
        .help("create the directory, or correct the path")
        .into()
}

/// Reports a locked version that no mirror has; the program installs the provider from these mirrors.
pub(super) fn no_mirror(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    version: &Version,
    sources: &[InstallSource],
) -> Finding {
    let is_implied = sources.contains(&InstallSource::RegistryUnlessHeld);
    let mut dirs = sources.iter().filter_map(|source| match source {
        InstallSource::Directory { dir, .. } => Some(dir),
        _ => None,
    });
    let program = subject.flavor.command();
    let kind = if is_implied { "local" } else { "configured" };
    let title = format!("No {kind} mirror has {provider} {version}");
    let note = format!(
        "`{program} init` fails: {}",
        subject.flavor.no_version_title()
    );
    let help = match (is_implied, dirs.next(), dirs.next()) {
        (true, ..) => Help::from(format!(
            "add its packages to the local mirror, or delete the other versions there: while it holds the \
             provider, `{program} init` does not ask the registry"
        )),
        // With several mirrors only the reader knows which of them should have it.
        (false, Some(dir), None) => subject.advice.mirror(dir).run(
            " where its registry can be reached, or allow another installation method for it in the CLI configuration",
        ),
        (false, ..) => Help::from(
            "add its packages to a mirror, or allow another installation method for it in the CLI configuration",
        ),
    };
    let diagnostic = Diagnostic::error(rules::MIRROR_LACKS_VERSION, title)
        .at(subject.file, subject.version(provider), note)
        .help(help);
    Finding::about(provider, diagnostic)
}

/// Returns the adjective of a package, by its origin.
fn kind(origin: PackageOrigin) -> &'static str {
    match origin {
        PackageOrigin::Installed => "installed",
        PackageOrigin::Cache => "cached",
        PackageOrigin::Mirror => "mirrored",
        PackageOrigin::Named => "named",
    }
}

fn causes(error: &ArchiveError) -> String {
    let mut texts = vec![error.to_string()];
    texts.extend(diag::causes(error));
    texts.join(": ")
}

/// Names a package, and says what is wrong with it.
fn title(candidate: &PackageCandidate, what: &str) -> String {
    let kind = kind(candidate.origin);
    format!("The {kind} package of {} {what}", candidate.id)
}

/// Makes the finding of a package, at the entry of its provider.
fn finding(
    subject: CheckedLock<'_>,
    candidate: &PackageCandidate,
    diagnostic: Diagnostic,
    note: String,
    help: impl Into<Help>,
) -> Finding {
    let id = &candidate.id;
    let header = subject.header(&id.provider);
    Finding {
        platform: Some(id.platform.clone()),
        ..Finding::about(
            &id.provider,
            diagnostic.at(subject.file, header, note).help(help),
        )
    }
}
