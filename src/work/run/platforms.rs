//! Wanted platforms: what was typed, what project files state, and the preset.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag;
use crate::package::{PlatformsOrigin, WantedPlatforms, WantedSet};
use crate::packages::{PackageMemo, PackagePlace};
use crate::platform::Platform;
use crate::project::PlatformName;
use crate::report::Failure;
use crate::run::root::Root;

/// A value of `--platform`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlatformArg {
    Named(Platform),
    Common,
    All,
    Current,
    Locked,
}

impl std::str::FromStr for PlatformArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "common" => Ok(Self::Common),
            "all" => Ok(Self::All),
            "current" => Ok(Self::Current),
            "locked" => Ok(Self::Locked),
            _ => text
                .parse()
                .map(Self::Named)
                .map_err(|error: crate::platform::PlatformError| {
                    format!("{error}, or one of common, all, current, locked")
                }),
        }
    }
}

/// The platforms that the user named.
pub(crate) struct PlatformChoice {
    /// The wanted set of every root; `None` if nothing was typed.
    typed: Option<WantedSet>,
    /// The platforms that a root is locked for are wanted, too.
    locked: bool,
}

/// Turns the values of `--platform` into a choice.
pub(crate) fn typed(args: &[PlatformArg]) -> PlatformChoice {
    let mut wanted = WantedSet::default();
    for arg in args {
        match arg {
            PlatformArg::Named(platform) => wanted.named.push(platform.clone()),
            PlatformArg::Current => wanted.named.push(Platform::current()),
            PlatformArg::Common => wanted.preset = Platform::common(),
            PlatformArg::All => wanted.all = true,
            // Each root has its own.
            PlatformArg::Locked => {}
        }
    }
    PlatformChoice {
        typed: (!args.is_empty()).then_some(wanted),
        locked: args.contains(&PlatformArg::Locked),
    }
}

/// Reads `--platform` for `verify`.
///
/// # Errors
/// For `all`, which has no meaning here, because no source is asked what a release offers.
pub(crate) fn checkable(args: &[PlatformArg]) -> Result<PlatformChoice, Failure> {
    if args.contains(&PlatformArg::All) {
        return Err(Failure::new("--platform all cannot be verified offline")
            .because("only a registry or a mirror states which platforms a release offers")
            .help("name the platforms, or use common"));
    }
    Ok(typed(args))
}

/// Selects the platforms that an entry is known to cover, if neither options nor the project file state any.
pub(crate) fn prefer_covered(wanted: &mut WantedPlatforms, known: &Attributions) {
    for (provider, attribution) in known {
        let covered = attribution.covered();
        // An entry for other than the usual platforms is used on those.
        if !covered.is_empty() && wanted.origin_of(provider) == PlatformsOrigin::Default {
            let of_entry = WantedSet {
                preset: covered,
                ..WantedSet::default()
            };
            wanted.own.insert(provider.clone(), of_entry);
        }
    }
}

/// Finds the platforms that a lock file is known to cover, sorted: those of packages at hand, or known from
/// facts, whose hash some entry records.
///
/// # Errors
/// If nothing proves any, or packages cannot be read.
pub(crate) fn locked(
    root: &Root,
    memo: &mut PackageMemo<'_>,
    places: &[PackagePlace],
    facts: &Attributions,
) -> Result<Vec<Platform>, Failure> {
    let Some(lock) = &root.lock else {
        return Err(nothing_proves("there is no lock file"));
    };
    let checked = root.packages(lock, memo, places, facts)?;
    let platforms = checked
        .facts
        .known
        .into_values()
        .flat_map(BTreeMap::into_keys);
    let stated = facts.values().flat_map(Attribution::covered);
    let platforms: BTreeSet<Platform> = platforms.chain(stated).collect();
    if platforms.is_empty() {
        return Err(nothing_proves(
            "no package that is installed, cached or in a mirror has a recorded hash, and none is known \
             from an earlier run",
        ));
    }
    Ok(platforms.into_iter().collect())
}

impl PlatformChoice {
    /// Returns whether [`locked`] is needed to know what is wanted.
    pub(crate) fn needs_locked(&self) -> bool {
        self.locked
    }

    /// Returns the platforms that are wanted for the providers of a root: those that were typed,
    /// else those of its project file, else the preset `common`.
    ///
    /// `locked` are those that its lock file is known to cover; a provider may lack some of them.
    pub(crate) fn of_root(
        &self,
        root: &Root,
        providers: &[&ProviderAddr],
        locked: &[Platform],
    ) -> WantedPlatforms {
        let project = root.project();
        let chosen = self.typed.clone().map(|mut chosen| {
            // As a preset, since a provider need not have a package for each of them (`locker` rules 1.1).
            chosen.preset.extend_from_slice(locked);
            chosen
        });
        let every = chosen.clone().unwrap_or_else(|| match &*project.platforms {
            [] => PlatformName::wanted(&[PlatformName::Common]),
            names => PlatformName::wanted(names),
        });
        let own = providers.iter().filter_map(|provider| {
            let names = project.platforms_of(provider, root.flavor);
            let own = Some(PlatformName::wanted(names)).filter(|_| !names.is_empty())?;
            let own = match &chosen {
                Some(chosen) => narrowed(chosen, own),
                None => own,
            };
            Some(((*provider).clone(), own))
        });
        let mut wanted = WantedPlatforms {
            own: own.collect(),
            every,
            are_usual: true,
            origin: match (&chosen, &*project.platforms) {
                (Some(_), _) => PlatformsOrigin::Typed,
                (None, []) => PlatformsOrigin::Default,
                (None, _) => PlatformsOrigin::ProjectFile,
            },
        };
        project.require_platforms(&mut wanted);
        WantedPlatforms {
            are_usual: chosen.is_none() || {
                let usual = typed(&[]).of_root(root, providers, &[]);
                wanted.is_like(&usual)
            },
            ..wanted
        }
    }
}

/// Returns those of the typed platforms that a provider is wanted for; all that it is wanted for
/// where nothing would be left, since an entry needs some platform.
fn narrowed(typed: &WantedSet, own: WantedSet) -> WantedSet {
    let keep = |platforms: &[Platform]| -> Vec<Platform> {
        platforms
            .iter()
            .filter(|platform| own.has(platform))
            .cloned()
            .collect()
    };
    let left = WantedSet {
        named: keep(&typed.named),
        preset: keep(&typed.preset),
        all: false,
    };
    // An entry without any wanted platform could not be completed at all.
    let nothing = left.named.is_empty() && left.preset.is_empty();
    if typed.all || nothing { own } else { left }
}

fn nothing_proves(cause: &str) -> Failure {
    Failure::new("the platforms of --platform locked could not be determined")
        .because(cause.to_owned())
        .help("name the platforms")
}

/// Returns a remark on each typed platform that no provider is commonly released for.
pub(crate) fn remarks(args: &[PlatformArg]) -> Vec<String> {
    let mut remarks = Vec::new();
    for arg in args {
        if let PlatformArg::Named(platform) = arg
            && !platform.is_common()
        {
            remarks.push(format!(
                "providers are rarely released for {platform}: {}",
                diag::spelling_of(platform)
            ));
        }
    }
    remarks
}
