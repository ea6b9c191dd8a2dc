//! Which packages `lockctl verify` checks: what a root's program would use, and what is named.

use std::path::{Path, PathBuf};

use crate::addr::ProviderFilter;
use crate::archive::has_any_executable;
use crate::cli::World;
use crate::cli::args::{Common, Verify};
use crate::cli::network;
use crate::cli::root::{self, Root};
use crate::cli::roots::Ran;
use crate::cli::setup;
use crate::cliconfig::CliConfig;
use crate::diag::{Diagnostic, Severity, Texts};
use crate::flavor::{Flavor, Program};
use crate::package::Local;
use crate::platform::Platform;
use crate::report::Failure;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::verify::packages::{self, Absence, Checked, Memo, Origin, Place, Search, Single};
use crate::verify::platforms::Wanted;
use crate::verify::{Finding, Subject};
use crate::version::Version;
use crate::world::{FileKind, clean};

/// What all roots of a run share.
pub(in crate::cli) struct Packages<'a> {
    common: &'a Common,
    args: &'a Verify,
    world: World<'a>,
    memo: Memo<'a>,
    /// The packages that `--package` names: directories full of them, and single ones.
    named: (Vec<Place>, Vec<Single>),
    /// The CLI configuration by the rules of each flavor that came up.
    configs: Vec<Configured>,
    /// What each lock file left over of the packages that were named.
    unplaced: Vec<Vec<(PathBuf, Finding)>>,
}

/// The CLI configuration by the rules of a flavor.
struct Configured {
    flavor: Flavor,
    config: CliConfig,
    is_sound: bool,
}

impl<'a> Packages<'a> {
    /// Looks at what `--package` names.
    ///
    /// # Errors
    /// If that is no package, and holds none.
    pub(in crate::cli) fn new(
        common: &'a Common,
        args: &'a Verify,
        world: World<'a>,
    ) -> Result<Self, Failure> {
        let mut named = (Vec::new(), Vec::new());
        for typed in &args.packages {
            sort_out(world, &setup::below(common, typed), &mut named)?;
        }
        Ok(Self {
            common,
            args,
            world,
            memo: Memo::new(world.disk, setup::jobs(args.jobs)),
            named,
            configs: Vec::new(),
            unplaced: Vec::new(),
        })
    }

    /// Reads the CLI configuration of a flavor, unless that was done; returns its errors.
    ///
    /// What else could be said about it is said by `lock`, which follows it further.
    pub(in crate::cli) fn read_config(
        &mut self,
        flavor: Flavor,
        texts: &mut Texts,
    ) -> Vec<Diagnostic> {
        if self.configured(flavor).is_some() {
            return Vec::new();
        }
        let (config, mut found) = network::configuration(self.common, self.world, flavor, texts);
        found.retain(|diagnostic| diagnostic.severity == Severity::Error);
        self.configs.push(Configured {
            flavor,
            config,
            is_sound: found.is_empty(),
        });
        found
    }

    /// Returns the CLI configuration of a flavor if it was read and has no error.
    pub(in crate::cli) fn sound_config(&self, flavor: Flavor) -> Option<&CliConfig> {
        let configured = self.configured(flavor)?;
        configured.is_sound.then_some(&configured.config)
    }

    fn configured(&self, flavor: Flavor) -> Option<&Configured> {
        self.configs.iter().find(|one| one.flavor == flavor)
    }

    /// Checks the packages of a root, and says what cannot be looked at.
    pub(in crate::cli) fn check(
        &mut self,
        root: &Root,
        subject: Subject<'_>,
        wanted: &Wanted,
    ) -> (Checked, Vec<Failure>) {
        let places = self.places(root);
        let search = Search {
            places: &places,
            singles: &self.named.1,
            wanted: Some(wanted),
        };
        let mut checked = packages::check(&mut self.memo, subject, search);
        let unplaced = std::mem::take(&mut checked.unplaced);
        let mut findings: Vec<Finding> = unplaced.iter().map(|(_, one)| one.clone()).collect();
        if self.has_several_roots() {
            // It may belong to another root; if not, that is told in the end.
            for finding in &mut findings {
                finding.diagnostic.severity = Severity::Note;
            }
        }
        checked.findings.append(&mut findings);
        self.unplaced.push(unplaced);
        let failures = checked.failures.iter();
        let failures = failures.map(root::unreadable_packages).collect();
        (checked, failures)
    }

    /// Says of several roots which packages belong to none of them.
    pub(in crate::cli) fn finish(self, ran: &mut Ran) {
        if !self.has_several_roots() {
            return;
        }
        let left: Vec<&[(PathBuf, Finding)]> = self.unplaced.iter().map(|left| &**left).collect();
        let Some(output) = ran.outputs.first_mut() else {
            return;
        };
        for path in packages::unplaced_everywhere(&left) {
            output.fail(Failure {
                title: format!("no lock file records what lies in {}", path.display()),
                causes: vec!["it was named with --package".to_owned()],
                help: Some("-v shows what each lock file was looked through for".to_owned()),
            });
        }
    }

    fn has_several_roots(&self) -> bool {
        self.args.roots.recursive || self.args.roots.paths().len() > 1
    }

    /// Lists the directories in which packages lie for a root, in the order of the program.
    fn places(&self, root: &Root) -> Vec<Place> {
        let place = |origin, dir: PathBuf, absence| Place {
            origin,
            dir,
            providers: ProviderFilter::default(),
            absence,
        };
        let installed = root.providers_dir(self.world.env);
        let mut places = vec![place(Origin::Installed, installed, Absence::Fine)];
        if let Some(Configured { config, .. }) = self.configured(root.flavor) {
            let cache = config.cache_dir.iter();
            let cache = cache.map(|dir| place(Origin::Cache, root.dir.join(dir), Absence::Fine));
            places.extend(cache);
            places.extend(config.local_mirrors().into_iter().filter_map(|mirror| {
                let dir = root.dir.join(&mirror.dir);
                let absence = match mirror.named {
                    Some((file, span)) => Absence::Fault(file, span),
                    None => Absence::Fine,
                };
                // The program passes over what it looks for by itself and is no directory.
                let is_directory = self.world.disk.kind(&dir).ok() == Some(FileKind::Directory);
                (absence != Absence::Fine || is_directory).then_some(Place {
                    origin: Origin::Mirror,
                    dir,
                    providers: mirror.providers,
                    absence,
                })
            }));
        }
        places.extend(self.args.fs_mirrors.iter().map(|dir| {
            let dir = setup::below(self.common, dir);
            place(Origin::Mirror, dir, Absence::Failure)
        }));
        places.extend(self.named.0.iter().cloned());
        places
    }
}

/// Tells what a path is: a zip, an unpacked package, a directory laid out as a mirror, or one full
/// of zips.
fn sort_out(
    world: World<'_>,
    path: &Path,
    (trees, singles): &mut (Vec<Place>, Vec<Single>),
) -> Result<(), Failure> {
    let unreadable = |cause: String| Failure {
        title: format!("{} cannot be read", path.display()),
        causes: vec![cause],
        help: Some(HELP.to_owned()),
    };
    let single = |place: Local| {
        let current = world.env.current_dir().unwrap_or_default();
        let absolute = clean(&current.join(place.path()));
        Single { place, absolute }
    };
    let kind = world.disk.kind(path);
    if kind.map_err(|error| unreadable(error.to_string()))? != FileKind::Directory {
        singles.push(single(Local::Archive(path.to_owned())));
        return Ok(());
    }
    let entries = world.disk.list(path);
    let entries = entries.map_err(|error| unreadable(error.to_string()))?;
    let names: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.name.to_str())
        .collect();
    let is_zip = |name: &&&str| name.starts_with("terraform-provider-") && name.ends_with(".zip");
    let zips: Vec<&&str> = names.iter().filter(is_zip).collect();
    let directory = single(Local::Directory(path.to_owned()));
    if !zips.is_empty() {
        let zips = zips.into_iter().map(|name| path.join(name));
        singles.extend(zips.map(|zip| single(Local::Archive(zip))));
    } else if has_any_executable(names.iter().map(|name| name.as_bytes()))
        || lies_as_in_mirror(&directory.absolute)
    {
        singles.push(directory);
    } else {
        let flavor = Flavor::newest(Program::Terraform);
        let mirror = FilesystemMirror::scan(world.disk, path, flavor);
        let mirror = mirror.map_err(|error| Failure::from_error(&error).help(HELP))?;
        if mirror.packages().next().is_none() && mirror.unreachable().is_empty() {
            return Err(Failure {
                title: format!("there is no package in {}", path.display()),
                causes: vec![
                    "it holds no file terraform-provider-…, and is not laid out as a mirror"
                        .to_owned(),
                ],
                help: Some(HELP.to_owned()),
            });
        }
        trees.push(Place {
            origin: Origin::Named,
            dir: path.to_owned(),
            providers: ProviderFilter::default(),
            absence: Absence::Failure,
        });
    }
    Ok(())
}

/// What `--package` takes.
const HELP: &str = "name a zip, an unpacked package, a directory of zips, or the top of a directory \
                    laid out as a mirror";

/// Tells whether a directory has a version and a platform for its last two names.
fn lies_as_in_mirror(path: &Path) -> bool {
    let mut last = path
        .iter()
        .rev()
        .map(|part| part.to_str().unwrap_or_default());
    let (platform, version) = (last.next(), last.next());
    platform.is_some_and(|text| text.parse::<Platform>().is_ok())
        && version.is_some_and(|text| text.parse::<Version>().is_ok())
}
