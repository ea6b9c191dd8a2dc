//! Wanted platforms: what was typed, what project files state, and the preset.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::cli::args::PlatformArg;
use crate::cli::session::root::Root;
use crate::locker::{Wanted, WantedPlatforms};
use crate::platform::Platform;
use crate::project::PlatformName;
use crate::report::Failure;
use crate::verify;

/// What was typed for `--platform`; `None` if nothing was.
pub(in crate::cli) struct PlatformChoice(Option<Wanted>);

/// Reads `--platform`.
///
/// # Errors
/// If nothing proves which platforms are locked.
pub(in crate::cli) fn typed(args: &[PlatformArg]) -> Result<PlatformChoice, Failure> {
    let mut wanted = Wanted::default();
    for arg in args {
        match arg {
            PlatformArg::Named(platform) => wanted.named.push(platform.clone()),
            PlatformArg::Current => wanted.named.push(Platform::current()),
            PlatformArg::Common => wanted.preset = Platform::common(),
            PlatformArg::All => wanted.all = true,
            PlatformArg::Locked => return Err(nothing_proves()),
        }
    }
    Ok(PlatformChoice((!args.is_empty()).then_some(wanted)))
}

/// Reads `--platform` for `verify`.
///
/// # Errors
/// As [`typed`]; `all` has no meaning here, because nobody is asked what a release offers.
pub(in crate::cli) fn checkable(args: &[PlatformArg]) -> Result<PlatformChoice, Failure> {
    if args.contains(&PlatformArg::All) {
        return Err(Failure {
            title: "--platform all cannot be verified offline".to_owned(),
            causes: vec!["nothing here tells which platforms a release offers".to_owned()],
            help: Some("name the platforms, or use common".to_owned()),
        });
    }
    typed(args)
}

impl PlatformChoice {
    /// Returns the platforms that are wanted for the providers of a root: those that were typed,
    /// else those of its project file, else the preset `common`.
    pub(in crate::cli) fn of_root(
        &self,
        root: &Root,
        providers: &[&ProviderAddr],
    ) -> WantedPlatforms {
        let project = root.project();
        let every = self.0.clone().unwrap_or_else(|| match &*project.platforms {
            [] => stated(&[PlatformName::Common]),
            names => stated(names),
        });
        let own = providers.iter().filter_map(|provider| {
            let names = project.platforms_of(provider, root.flavor);
            let own = Some(stated(names)).filter(|_| !names.is_empty())?;
            let own = match &self.0 {
                Some(typed) => narrowed(typed, own),
                None => own,
            };
            Some(((*provider).clone(), own))
        });
        WantedPlatforms {
            own: own.collect(),
            every,
        }
    }

    /// Returns the platforms that each of some providers is checked for.
    pub(in crate::cli) fn of_providers(
        &self,
        root: &Root,
        providers: &[&ProviderAddr],
    ) -> verify::Wanted {
        let wanted = known(self.of_root(root, providers));
        let usual = known(Self(None).of_root(root, providers));
        verify::Wanted {
            are_usual: wanted == usual,
            every: wanted.0,
            own: wanted.1,
        }
    }
}

/// Lists the platforms of each provider that are known without asking.
fn known(wanted: WantedPlatforms) -> (Vec<Platform>, BTreeMap<ProviderAddr, Vec<Platform>>) {
    let own = wanted.own.into_iter();
    let own = own.map(|(provider, wanted)| (provider, wanted.known()));
    (wanted.every.known(), own.collect())
}

/// Turns a list of the project file into what is wanted.
fn stated(names: &[PlatformName]) -> Wanted {
    let mut wanted = Wanted::default();
    for name in names {
        match name {
            PlatformName::Named(platform) => wanted.named.push(platform.clone()),
            PlatformName::Common => wanted.preset = Platform::common(),
        }
    }
    wanted
}

/// Returns those of the typed platforms that a provider is wanted for; all that it is wanted for
/// where nothing would be left, since an entry needs some platform.
fn narrowed(typed: &Wanted, own: Wanted) -> Wanted {
    let keep = |platforms: &[Platform]| -> Vec<Platform> {
        let kept = platforms.iter().filter(|p| own.has(p));
        kept.cloned().collect()
    };
    let left = Wanted {
        named: keep(&typed.named),
        preset: keep(&typed.preset),
        all: false,
    };
    let nothing = left.named.is_empty() && left.preset.is_empty();
    if typed.all || nothing { own } else { left }
}

fn nothing_proves() -> Failure {
    Failure {
        title: "--platform locked cannot be told".to_owned(),
        causes: vec!["nothing proves which platforms the recorded hashes belong to".to_owned()],
        help: Some("name the platforms".to_owned()),
    }
}

/// Doubts a platform that no provider is commonly released for.
fn doubt(platform: &Platform) -> String {
    format!("providers are rarely released for {platform}: is it spelled right?")
}

/// Returns a remark on each typed platform that no provider is commonly released for.
pub(in crate::cli) fn remarks(args: &[PlatformArg]) -> Vec<String> {
    let named = args.iter().filter_map(|arg| match arg {
        PlatformArg::Named(platform) if !platform.is_common() => Some(platform),
        _ => None,
    });
    named.map(doubt).collect()
}
