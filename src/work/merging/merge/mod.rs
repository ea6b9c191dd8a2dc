//! `lockctl merge`: a merge driver of git.

pub(super) mod text;

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Args;

use crate::diag::Texts;
use crate::flavor::{Flavor, FlavorChoice};
use crate::git::{self, Marking};
use crate::lockfile;
use crate::pins;
use crate::report::{CLEAN, FINDINGS};
use crate::report::{CommandResult, Failure, RootResult};
use crate::review::{
    MARKER_SIZE, Markers, MergeBase, MergePreference, MergeSides, UnknownEntries, merge_pins,
    merged_program,
};
use crate::run::World;
use crate::run::command::Command;
use crate::run::commands::{self, quoted};
use crate::run::options::{Options, examples, one_of};
use crate::run::session::Session;
use crate::workspace::flavor_of;
use crate::world::{Replaced, relative};

/// The exit code that git takes for "nothing was written" (`gitattributes(5)`).
pub(crate) const UNWRITTEN: u8 = 129;

/// Maximum number of lines of base, ours and theirs together that git merges line by line, which takes 0.5 s for as many
/// lines of noise. Three files of 2 MB with lines of one letter, all in another order, took git more than a minute.
const MAX_TEXTUAL_MERGE_LINES: usize = 100_000;

/// Maximum size of git's markers of all conflicts, in bytes.
const MAX_MARKERS_BYTES: u64 = 4 * 1024 * 1024;

/// Merge three versions of a lock file, as a merge driver of git
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl merge base.hcl ours.hcl theirs.hcl", "write the result to ours.hcl"),
    ("lockctl git install", "let git do this in every merge"),
]))]
pub(crate) struct MergeArgs {
    /// The lock file that both sides started from (%O of git)
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// Our lock file (%A); the result replaces it
    #[arg(value_name = "OURS")]
    pub(crate) ours: PathBuf,
    /// Their lock file (%B)
    #[arg(value_name = "THEIRS")]
    pub(crate) theirs: PathBuf,
    #[command(flatten)]
    pub(crate) policy: MergePolicy,
    /// The path of the lock file, for messages (%P) [default: OURS]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// How conflicts are marked; all but `merge` show the base [default: as configured in git]
    #[arg(
        long,
        value_name = "STYLE",
        value_parser = one_of([
            ("merge", BaseShown::No),
            ("diff3", BaseShown::Yes),
            ("zdiff3", BaseShown::Yes),
        ])
    )]
    conflict_style: Option<BaseShown>,
    /// How many characters a conflict marker has, at least 7 (%L)
    #[arg(long, value_name = "N", default_value_t = MARKER_SIZE)]
    pub(crate) marker_size: usize,
    /// The text after the marker of our side (%X)
    #[arg(long, value_name = "TEXT", default_value = "ours", value_parser = label)]
    pub(crate) label_ours: SideLabel,
    /// The text after the marker of the base (%S)
    #[arg(long, value_name = "TEXT", default_value = "base", value_parser = label)]
    pub(crate) label_base: SideLabel,
    /// The text after the marker of their side (%Y)
    #[arg(long, value_name = "TEXT", default_value = "theirs", value_parser = label)]
    pub(crate) label_theirs: SideLabel,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MergePolicy {
    /// Which version is taken if both sides moved a provider
    ///
    /// `newest` takes the newer version if both moved up; `fail` leaves a conflict.
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "newest",
        value_parser = one_of([
            ("newest", MergePreference::Newest),
            ("ours", MergePreference::Ours),
            ("theirs", MergePreference::Theirs),
            ("fail", MergePreference::Fail),
        ])
    )]
    pub(crate) prefer: MergePreference,
}

/// The value of `--conflict-style`: blocks stay whole, so the styles that show the base are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BaseShown {
    Yes,
    No,
}

/// The text after a marker; `None` if a version of git does not replace the placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SideLabel(Option<String>);

fn label(text: &str) -> Result<SideLabel, String> {
    // Older versions of git know no %S, %X and %Y, and hand them over as they are.
    let is_unknown = text.len() == 2 && text.starts_with('%');
    // A line feed would end the line of the marker.
    let line = text.replace(|c: char| c.is_control(), " ");
    Ok(SideLabel((!is_unknown).then_some(line)))
}

impl SideLabel {
    pub(crate) fn or(&self, other: &str) -> String {
        self.0.clone().unwrap_or_else(|| other.to_owned())
    }
}

impl Command for MergeArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        run(session, self)
    }
}

fn run(session: &Session<'_>, args: &MergeArgs) -> CommandResult {
    let world = session.world;
    let driver = Driver {
        options: session.options,
        args,
        world,
        place: args.path.as_ref().unwrap_or(&args.ours),
    };
    let mut texts = Texts::default();
    let mut result = RootResult::new(driver.place.display().to_string());
    let exit = driver
        .read()
        .and_then(|sides| {
            let [_, ours, _] = &sides;
            let (text, code) = driver.merge(&sides, &mut texts, &mut result)?;
            // git reads the file itself, and an untouched one keeps its time.
            if text != ours.bytes {
                let replaced = world.disk.replace(&ours.path, Some(&ours.bytes), &text);
                let replaced = replaced.map_err(|error| {
                    Failure::new(format!("{} cannot be written", ours.path.display()))
                        .because(error.to_string())
                        .help("nothing was written")
                })?;
                if replaced == Replaced::Changed {
                    return Err(Failure::new(format!(
                        "{} was changed by another program",
                        ours.path.display()
                    ))
                    .help("nothing was written; merge again"));
                }
            }
            Ok(code)
        })
        .unwrap_or_else(|failure| {
            result.fail(failure);
            UNWRITTEN
        });
    CommandResult {
        exit,
        ..CommandResult::of_roots("merge", vec![result], texts)
    }
}

/// The lock file and the options of one merge.
struct Driver<'a> {
    options: &'a Options,
    args: &'a MergeArgs,
    world: World<'a>,
    /// The path of the lock file.
    place: &'a Path,
}

/// A lock file as it was read.
struct SideFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl SideFile {
    /// Returns the number of lines.
    fn lines(&self) -> usize {
        self.bytes.split(|byte| *byte == b'\n').count()
    }
}

impl Driver<'_> {
    /// Reads base, ours and theirs.
    fn read(&self) -> Result<[SideFile; 3], Failure> {
        let read = |path: &Path| {
            let path = self.options.below(path);
            match self.world.disk.read(&path, lockfile::MAX_BYTES) {
                Ok(bytes) => Ok(SideFile { path, bytes }),
                Err(error) => Err(Failure::new(format!("{} cannot be read", path.display()))
                    .because(match error.kind() {
                        io::ErrorKind::FileTooLarge => {
                            format!("it has more than {} bytes", lockfile::MAX_BYTES)
                        }
                        _ => error.to_string(),
                    })
                    .help("name three versions of a lock file")),
            }
        };
        let args = self.args;
        Ok([read(&args.base)?, read(&args.ours)?, read(&args.theirs)?])
    }

    /// Returns the text to write, and the exit code.
    fn merge(
        &self,
        [base, ours, theirs]: &[SideFile; 3],
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<(Vec<u8>, u8), Failure> {
        let place = self.place.display().to_string();
        if self.place.ends_with(pins::FILE_NAME) {
            return Ok(self.merge_pins([base, ours, theirs], &place, result));
        }
        let flavor = self.flavor([base, ours, theirs].map(|side| &*side.bytes));
        result.flavor = Some(flavor);
        let typed = self.typed();
        let dir = typed.parent().unwrap_or(Path::new(""));
        let advice = commands::of_root(self.options, dir);
        let added = format!("run `git add {}`", quoted(&typed.display().to_string()));
        let mut side = |side: &SideFile, whose: &str| {
            let file = texts.add(format!("{place} ({whose})"), side.bytes.clone());
            text::side(file, &side.bytes, flavor, &advice, result)
        };
        let sides = (side(ours, "ours"), side(theirs, "theirs"));
        let (Some(our_lock), Some(their_lock)) = sides else {
            let next = format!("run `{}`, then {added}", advice.resolve);
            return self.textual([ours, base, theirs], [&next, &added], result);
        };
        // A base with faults is no reason to give up: what it lacks counts as unknown on both sides, not as
        // absent (`review` rules 1.5).
        let base = MergeBase::read(&base.bytes, flavor);
        if base.unknown != UnknownEntries::None {
            result.remark(format!(
                "{place}: the common base of both sides has faults or conflicts: entries that could not be read count as unknown"
            ));
        }
        let sides = MergeSides {
            base,
            ours: our_lock,
            theirs: their_lock,
        };
        let texts = [&*ours.bytes, &*theirs.bytes];
        let prefer = self.args.policy.prefer;
        let file = sides.merge(texts, prefer, flavor, &self.markers());
        text::outcome(&format!("{place}: "), &file, &advice, result);
        result.changed = Some(file.text.as_bytes() != ours.bytes);
        if file.merged.conflicts.is_empty() {
            return Ok((file.text.into_bytes(), CLEAN));
        }
        // `resolve` takes directories: it does not find a file of another name.
        if typed.ends_with(lockfile::FILE_NAME) {
            text::advise(&file, &advice.resolve.for_root, &added, result);
        } else {
            result.remark(text::EDIT);
        }
        Ok((file.text.into_bytes(), FINDINGS))
    }

    /// Returns the path of the lock file as it would be typed.
    fn typed(&self) -> PathBuf {
        // git runs a driver at the top of the repository, and names the directory below it where git was run.
        match self.world.env.var("GIT_PREFIX") {
            Some(prefix) if !prefix.is_empty() => relative(Path::new(&prefix), self.place).into(),
            _ => self.options.below(self.place),
        }
    }

    /// Merges files of pinned modules; a side with faults is put beside the other as a whole.
    fn merge_pins(
        &self,
        [base, ours, theirs]: [&SideFile; 3],
        place: &str,
        result: &mut RootResult,
    ) -> (Vec<u8>, u8) {
        let [Some(our_pins), Some(their_pins)] = [ours, theirs].map(|side| pins::read(&side.bytes))
        else {
            result.warn(format!("{place}: not merged, because a side has errors"));
            let sides = [ours, base, theirs].map(|side| &*side.bytes);
            return (self.markers().around(sides), FINDINGS);
        };
        // What a base with faults holds is unknown: what only one side has is kept, and other differences conflict.
        let base = pins::read(&base.bytes).unwrap_or_default();
        let merged = merge_pins([&base, &our_pins, &their_pins], self.args.policy.prefer);
        let text = merged.write(&self.markers()).into_bytes();
        result.changed = Some(text != ours.bytes);
        (text, text::pins(place, &merged, result))
    }

    /// Merges line by line, because a side is no sound lock file.
    fn textual(
        &self,
        files: [&SideFile; 3],
        [next, added]: [&str; 2],
        result: &mut RootResult,
    ) -> Result<(Vec<u8>, u8), Failure> {
        let markers = self.markers();
        let lines: usize = files.iter().map(|file| file.lines()).sum();
        if lines > MAX_TEXTUAL_MERGE_LINES {
            result.warn(format!(
                "{place}: not merged, because a side has errors and there are more than {MAX_TEXTUAL_MERGE_LINES} lines: both sides are in one conflict; \
                 fix it, then {added}",
                place = self.place.display()
            ));
            let sides = files.map(|file| &*file.bytes);
            return Ok((markers.around(sides), FINDINGS));
        }
        let marking = Marking {
            size: markers.size,
            labels: [
                &markers.ours,
                markers.base.as_deref().unwrap_or("base"),
                &markers.theirs,
            ],
            shows_base: markers.base.is_some(),
        };
        // In the order of `git merge-file`: current, base, other.
        let paths = files.map(|file| file.path.as_path());
        // No side lacks what both have; all three may have different lines.
        let limit = 3 * lockfile::MAX_BYTES + MAX_MARKERS_BYTES;
        // git can merge lines of anything; it marks what it cannot, and the user sees both sides (`review`
        // rules 1.4).
        let text = git::merge_file(self.world.run, paths, &marking, limit).map_err(|error| {
            Failure::from_error(&error).help("nothing was written; fix the side, and merge again")
        })?;
        result.warn(format!(
            "{place}: merged line by line, because a side has errors: fix them, {next}",
            place = self.place.display()
        ));
        Ok((text, FINDINGS))
    }

    /// Decides about the flavor: what was stated, else what the headers of base, ours and theirs come to.
    fn flavor(&self, sides: [&[u8]; 3]) -> Flavor {
        let [_, ours, _] = sides;
        // The header merges as an entry does (`review` rules 1.6): a side that was converted to the other
        // program decides.
        let program = merged_program(sides.map(lockfile::header_of));
        match (self.options.flavor, program) {
            (FlavorChoice::Auto, Some(program)) => Flavor::newest(program),
            (choice, _) => {
                let dir = self.place.parent().unwrap_or(Path::new(""));
                flavor_of(choice, self.world.disk, dir, Some(ours))
            }
        }
    }

    /// Returns true if conflicts show the base.
    fn shows_base(&self) -> bool {
        match self.args.conflict_style {
            Some(shown) => shown == BaseShown::Yes,
            None => git::wants_base(self.world.run, Path::new(".")),
        }
    }

    fn markers(&self) -> Markers {
        let args = self.args;
        Markers {
            size: args.marker_size.max(MARKER_SIZE),
            ours: args.label_ours.or("ours"),
            base: self.shows_base().then(|| args.label_base.or("base")),
            theirs: args.label_theirs.or("theirs"),
        }
    }
}
