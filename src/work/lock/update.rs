//! `lockctl update`: move versions, and complete the lock file as `lock` does.

use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;

use crate::lock::{self, LockCommand, LockOptions, LockRequest, Moves, NamedProvider};
use crate::package::MinAge;
use crate::report::CommandResult;
use crate::resolve::{Goal, Reach};
use crate::run::options::{Options, RootArgs, examples, is_path, one_of};
use crate::run::session::Session;
use crate::version::{ConstraintForm, Version};
use crate::workspace::PinUse;
use crate::world::FileKind;

/// Move locked versions to the newest that the constraints allow
///
/// It does everything that `lock` does, and moves versions first. The hashes of a version that is left
/// are removed with it.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl update --dry-run", "show which versions would move, and write nothing"),
    ("lockctl update --patch", "take patch releases only"),
    ("lockctl update hashicorp/aws", "move one provider, keep all others"),
    ("lockctl update hashicorp/aws@5.31.0", "move it to this version"),
    ("lockctl update --pins=network", "move the pinned module of one call"),
    ("lockctl update hashicorp/aws@6.2.0 -r --edit", "change constraints that exclude it, too"),
]))]
pub(crate) struct UpdateArgs {
    /// Providers to move, and root directories [default: all providers of the working directory]
    ///
    /// A provider is written as in hashicorp/aws, or as its type if only one required provider has it; all
    /// others keep their versions. With a version, as in hashicorp/aws@5.31.0, it moves there, also down. An
    /// argument that begins with a dot or a slash, or ends with a slash, is a root directory, and so is one with
    /// a slash inside if there is such a directory.
    #[arg(value_name = "ADDR[@VERSION]|ROOT", value_parser = target)]
    targets: Vec<UpdateTarget>,
    /// Find the roots in each ROOT and below
    ///
    /// A root is a directory with a lock file or a backend, or one that the project file names; see
    /// `lockctl explain roots`.
    #[arg(short, long)]
    recursive: bool,
    /// Stay within the locked minor version, as from 1.2.0 to 1.2.9
    #[arg(long, conflicts_with = "minor")]
    patch: bool,
    /// Stay within the locked major version, as from 1.2.0 to 1.9.0
    #[arg(long)]
    minor: bool,
    /// Pass over releases that are younger, as in 12h, 7d or 2w [default: that of the project file]
    ///
    /// A release is as old as the latest date that is known of it; see `lockctl explain
    /// release-too-young`. A version that is locked already stays, whatever its age. 0d accepts any age.
    #[arg(long, value_name = "AGE")]
    min_age: Option<MinAge>,
    /// Move the pins of modules, all or those of these calls, as in network.subnets; providers stay
    ///
    /// For roots whose project file says `modules { lock = true }`. The modules that a named one calls move with it.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "",
        conflicts_with_all = ["patch", "minor", "min_age"]
    )]
    pins: Option<Vec<String>>,
    /// Rewrite the constraints in configuration that exclude the version [possible forms: keep, pin, pessimistic]
    ///
    /// Each constraint keeps its form: `~> 5.31` becomes `~> 6.2`. With --edit=pin every constraint on the providers
    /// that move becomes the version, with --edit=pessimistic `~> MAJOR.MINOR`. Only modules of this repository are
    /// edited. Configuration and lock files of all roots are written together or not at all; --dry-run shows a
    /// unified diff.
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "keep",
        conflicts_with = "pins",
        hide_possible_values = true,
        value_parser = one_of([
            ("keep", ConstraintForm::Kept),
            ("pin", ConstraintForm::Pin),
            ("pessimistic", ConstraintForm::Pessimistic),
        ])
    )]
    edit: Option<ConstraintForm>,
    #[command(flatten)]
    pub(crate) options: LockOptions,
}

/// One thing to update.
#[derive(Clone, Debug)]
enum UpdateTarget {
    Provider(NamedProvider),
    Root(PathBuf),
}

fn target(text: &str) -> Result<UpdateTarget, String> {
    // An address has at most two slashes.
    if is_path(text) || text.matches('/').count() > 2 {
        return Ok(UpdateTarget::Root(PathBuf::from(text)));
    }
    let (addr, version) = match text.split_once('@') {
        Some((addr, version)) => (addr, Some(exact(version)?)),
        None => (text, None),
    };
    Ok(UpdateTarget::Provider(NamedProvider {
        addr: addr.parse()?,
        version,
    }))
}

/// Reads a version that is written in full.
fn exact(text: &str) -> Result<Version, String> {
    let version: Result<Version, _> = text.parse();
    // `5` would mean 5.0.0, which is rarely wanted.
    let version = version.ok().filter(|version| version.to_string() == text);
    version.ok_or_else(|| format!("{text:?} is no exact version, as 1.2.3 is"))
}

impl UpdateArgs {
    fn roots(&self) -> RootArgs {
        let mut dirs = Vec::new();
        for target in &self.targets {
            if let UpdateTarget::Root(dir) = target {
                dirs.push(dir.clone());
            }
        }
        RootArgs {
            roots: dirs,
            recursive: self.recursive,
            ..RootArgs::default()
        }
    }

    /// Returns the pins of modules that move.
    fn pins(&self) -> PinUse {
        let Some(names) = &self.pins else {
            return PinUse::Kept;
        };
        let mut names = names.clone();
        names.retain(|name| !name.is_empty());
        PinUse::Moved(names)
    }

    fn moves(&self) -> Moves {
        let reach = match (self.patch, self.minor) {
            (true, _) => Reach::SameMinor,
            (false, true) => Reach::SameMajor,
            (false, false) => Reach::Any,
        };
        Moves {
            goal: if self.pins.is_some() {
                Goal::Keep
            } else {
                Goal::Newest(reach)
            },
            others: Some(Goal::Keep),
            named: self.providers().cloned().collect(),
            min_age: self.min_age,
        }
    }

    fn providers(&self) -> impl Iterator<Item = &NamedProvider> {
        self.targets.iter().filter_map(|target| match target {
            UpdateTarget::Provider(named) => Some(named),
            UpdateTarget::Root(_) => None,
        })
    }
}

impl LockCommand for UpdateArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let mut args = self.clone();
        for target in &mut args.targets {
            // A single name stays a provider: many repositories have a directory `aws`.
            if let UpdateTarget::Provider(NamedProvider {
                addr,
                version: None,
            }) = target
                && addr.as_str().contains('/')
            {
                let path = PathBuf::from(addr.as_str());
                let kind = session.world.disk.kind(&session.options.below(&path));
                if kind.is_ok_and(|kind| kind == FileKind::Directory) {
                    *target = UpdateTarget::Root(path);
                }
            }
        }
        let (roots, moves, pins) = (args.roots(), args.moves(), self.pins());
        let request = LockRequest {
            moves: Some(&moves),
            pins: &pins,
            ..LockRequest::new("update", &roots, &self.options)
        };
        match self.edit {
            Some(form) => lock::edit::run(session, request, &moves, form),
            None => lock::run(session, request),
        }
    }

    fn check_arguments(&self, _: &Options) -> Result<(), String> {
        // A version that is named states how far to go; a limit beside it could only contradict it.
        let limit = match (self.patch, self.minor) {
            (true, _) => "--patch",
            (false, true) => "--minor",
            (false, false) => return Ok(()),
        };
        let exact = self.providers().find_map(|named| {
            let version = named.version.as_ref()?;
            Some(format!("{}@{version}", named.addr))
        });
        exact.map_or(Ok(()), |exact| {
            Err(format!(
                "the argument '{limit}' cannot be used with '{exact}', which states the version"
            ))
        })
    }
}
