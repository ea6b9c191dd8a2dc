//! What was typed, turned into what the program needs.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::cli::args::{Common, PlatformArg};
use crate::cli::root::Root;
use crate::flavor::FlavorChoice;
use crate::locker::{Wanted, WantedPlatforms};
use crate::parallel;
use crate::platform::Platform;
use crate::project::PlatformName;
use crate::report::Failure;
use crate::verify::{self, Advice};
use crate::world::Env;

/// Returns a path as seen from where `--chdir` leads.
pub(super) fn below(common: &Common, path: &Path) -> PathBuf {
    match &common.chdir {
        Some(dir) if path == Path::new(".") => dir.clone(),
        Some(dir) => dir.join(path),
        None => path.to_owned(),
    }
}

pub(super) use crate::workspace::flavor_of as flavor;

/// Returns a remark on a stated version that no rule set was recorded for.
pub(super) fn flavor_remark(choice: FlavorChoice) -> Option<String> {
    match choice {
        FlavorChoice::Stated(stated) if stated.older_than_known => Some(format!(
            "the oldest known rules, {}, stand in for the stated version",
            stated.flavor
        )),
        _ => None,
    }
}

/// What was typed for `--platform`; `None` if nothing was.
pub(super) struct Typed(Option<Wanted>);

/// Reads `--platform`.
///
/// # Errors
/// If nothing proves which platforms are locked.
pub(super) fn typed(args: &[PlatformArg]) -> Result<Typed, Failure> {
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
    Ok(Typed((!args.is_empty()).then_some(wanted)))
}

/// Reads `--platform` for `verify`.
///
/// # Errors
/// As [`typed`]; `all` has no meaning here, because nobody is asked what a release offers.
pub(super) fn checkable(args: &[PlatformArg]) -> Result<Typed, Failure> {
    if args.contains(&PlatformArg::All) {
        return Err(Failure {
            title: "--platform all cannot be verified offline".to_owned(),
            causes: vec!["nothing here tells which platforms a release offers".to_owned()],
            help: Some("name the platforms, or use common".to_owned()),
        });
    }
    typed(args)
}

impl Typed {
    /// Returns the platforms that are wanted for the providers of a root: those that were typed,
    /// else those of its project file, else the preset `common`.
    pub(super) fn of_root(&self, root: &Root, providers: &[&ProviderAddr]) -> WantedPlatforms {
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
    pub(super) fn of_providers(&self, root: &Root, providers: &[&ProviderAddr]) -> verify::Wanted {
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
fn platform_remark(platform: &Platform) -> String {
    format!("providers are rarely released for {platform}: is it spelled right?")
}

/// Returns a remark on each typed platform that no provider is commonly released for.
pub(super) fn platform_remarks(args: &[PlatformArg]) -> Vec<String> {
    let named = args.iter().filter_map(|arg| match arg {
        PlatformArg::Named(platform) if !platform.is_common() => Some(platform),
        _ => None,
    });
    named.map(platform_remark).collect()
}

/// Returns the commands for a root, as they would be typed from here.
pub(super) fn advice(common: &Common, dir: &Path) -> Advice {
    // A directory named with a dot at its end, or by `-C .`, is the working directory too.
    let here = dir
        .components()
        .all(|part| part == std::path::Component::CurDir);
    let root = if here {
        String::new()
    } else {
        format!(" {}", quoted(&dir.display().to_string()))
    };
    let flavor = match common.flavor {
        FlavorChoice::Auto => String::new(),
        FlavorChoice::Stated(stated) => format!(" --flavor {}", stated.flavor),
    };
    let config = match &common.config {
        None => String::new(),
        Some(path) => {
            let path = below(common, path).display().to_string();
            format!(" --config {}", quoted(&path))
        }
    };
    Advice {
        lock: format!("lockctl lock{root}{flavor}{config}"),
        verify: format!("lockctl verify{root}{flavor}{config}"),
        fmt: format!("lockctl fmt{root}{flavor}{config}"),
    }
}

/// Quotes a word for a shell, where it needs that.
fn quoted(word: &str) -> String {
    // Both shells of Windows take the separator as it is, and know these quotes around spaces.
    let is_separator = |c| cfg!(windows) && c == '\\';
    let plain = |c: char| c.is_alphanumeric() || "_./-:@%+,=".contains(c) || is_separator(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if cfg!(windows) && word.chars().all(|c| plain(c) || c == ' ') {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Tells whether a variable is set to exactly `true`, as OpenTofu reads it.
pub(super) fn is_true(env: &dyn Env, name: &str) -> bool {
    env.var(name).is_some_and(|value| value == "true")
}

/// Returns how many packages may be hashed at once.
pub(super) fn jobs(typed: Option<NonZeroUsize>) -> NonZeroUsize {
    typed.unwrap_or_else(parallel::cores)
}
