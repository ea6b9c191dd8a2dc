//! Wanted platforms: what was typed, what project files state, and the preset.

use crate::addr::ProviderAddr;
use crate::cli::args::PlatformArg;
use crate::cli::session::root::Root;
use crate::package::{WantedPlatforms, WantedSet};
use crate::platform::Platform;
use crate::project::PlatformName;
use crate::report::Failure;

/// What was typed for `--platform`; `None` if nothing was.
pub(in crate::cli) struct PlatformChoice(Option<WantedSet>);

/// Reads `--platform`.
///
/// # Errors
/// If nothing proves which platforms are locked.
pub(in crate::cli) fn typed(args: &[PlatformArg]) -> Result<PlatformChoice, Failure> {
    let mut wanted = WantedSet::default();
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
/// As [`typed`]; `all` has no meaning here, because no source is asked what a release offers.
pub(in crate::cli) fn checkable(args: &[PlatformArg]) -> Result<PlatformChoice, Failure> {
    if args.contains(&PlatformArg::All) {
        return Err(Failure {
            title: "--platform all cannot be verified offline".to_owned(),
            causes: vec![
                "only a registry or a mirror knows which platforms a release offers".to_owned(),
            ],
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
        let wanted = WantedPlatforms {
            own: own.collect(),
            every,
            are_usual: true,
        };
        WantedPlatforms {
            are_usual: self.0.is_none() || wanted.is_like(&Self(None).of_root(root, providers)),
            ..wanted
        }
    }
}

/// Turns a list of the project file into what is wanted.
fn stated(names: &[PlatformName]) -> WantedSet {
    let mut wanted = WantedSet::default();
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
fn narrowed(typed: &WantedSet, own: WantedSet) -> WantedSet {
    let keep = |platforms: &[Platform]| -> Vec<Platform> {
        let kept = platforms.iter().filter(|p| own.has(p));
        kept.cloned().collect()
    };
    let left = WantedSet {
        named: keep(&typed.named),
        preset: keep(&typed.preset),
        all: false,
    };
    let nothing = left.named.is_empty() && left.preset.is_empty();
    if typed.all || nothing { own } else { left }
}

fn nothing_proves() -> Failure {
    Failure {
        title: "the platforms of --platform locked could not be determined".to_owned(),
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
