//! The CLI configuration that makes `init` use a mirror.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::MirrorOutcome;
use crate::addr::ProviderAddr;

/// The way that `init` reaches a mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorUse {
    /// By its path, which is absolute.
    Directory(PathBuf),
    /// By the URL of the server in front of it.
    Network(String),
}

/// Writes a CLI configuration with exactly the mirrored providers in `include`, and without them in `direct`: a
/// newer version of a registry, or an equal one, would win otherwise (`sources` rules 10). With `falls_back`
/// registries stay in play for them.
#[must_use]
pub fn cli_config(used: &MirrorUse, outcome: &MirrorOutcome, falls_back: bool) -> String {
    let mirrored: BTreeSet<&ProviderAddr> = outcome
        .releases
        .iter()
        .filter(|release| {
            release
                .packages
                .iter()
                .any(|package| package.state.is_right())
        })
        .map(|release| &release.release.provider)
        .collect();
    let list = |name: &str| {
        let lines: String = mirrored
            .iter()
            .map(|provider| format!("      {},\n", quoted(&provider.to_string())))
            .collect();
        format!("    {name} = [\n{lines}    ]\n")
    };
    let (method, place) = match used {
        MirrorUse::Directory(path) => {
            let path = quoted(&path.display().to_string());
            ("filesystem_mirror", format!("    path    = {path}\n"))
        }
        MirrorUse::Network(url) => ("network_mirror", format!("    url     = {}\n", quoted(url))),
    };
    // Without the exclusion the program would query the registry for a mirrored provider, too.
    let direct = if falls_back {
        "  direct {}\n".to_owned()
    } else {
        format!("  direct {{\n{}  }}\n", list("exclude"))
    };
    let include = list("include");
    format!("provider_installation {{\n  {method} {{\n{place}{include}  }}\n{direct}}}\n")
}

/// Quotes a text for HCL, and escapes `${` and `%{`, which begin templates.
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace("${", "$${")
        .replace("%{", "%%{");
    format!("\"{escaped}\"")
}
