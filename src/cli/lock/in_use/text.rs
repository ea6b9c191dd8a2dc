//! The text about the versions that several roots lock.

use crate::cli::Look;
use crate::cli::session::holding;
use crate::diag::{counted, counted_as};
use crate::flavor::Flavor;
use crate::report::json::{HeldBackRoot, ProviderInUse, VersionsInUse};
use crate::report::{CommandResult, TextBlock, Tone};
use crate::run::unseen::some_of;

/// Maximum number of roots with which each provider has a line; with more there is a table.
const MAX_IN_LINES: usize = 10;

/// Maximum number of roots of a provider that are shown with what holds them back; more are counted.
const MAX_HELD: usize = 3;

/// Maximum number of roots in a command that is shown without `-v`: one with more is longer than a screen.
const MAX_IN_COMMAND: usize = 20;

/// Maximum number of commands, and of lines on what holds roots back; more are counted.
const MAX_LINES: usize = 40;

/// Returns true if there are too many roots to show each at length.
pub(in crate::cli::lock) fn are_many(roots: usize) -> bool {
    roots > MAX_IN_LINES
}

/// Shows which versions the roots lock, the commands that move those that are behind, and what holds
/// others back. Where all agree there is one line.
pub(in crate::cli::lock) fn blocks(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let Some(all) = &result.versions_in_use else {
        return Vec::new();
    };
    if all.agreed == 0 && all.differing.is_empty() {
        return Vec::new();
    }
    let text = InUseText {
        all,
        names: names(result, all),
        verbose: look.verbose,
    };
    let mut blocks = Vec::new();
    if !all.differing.is_empty() {
        let are_many = are_many(all.roots);
        if are_many && !look.markdown {
            blocks.push(TextBlock::Lines(vec![String::new()]));
        }
        if are_many || look.markdown {
            blocks.push(TextBlock::Table(text.table()));
        } else {
            blocks.push(TextBlock::Lines(text.lines()));
        }
        for (title, lines) in [
            ("to update the older roots:", text.commands()),
            ("held back by constraints:", text.held_back()),
        ] {
            if lines.is_empty() {
                continue;
            }
            blocks.push(TextBlock::Verdict(Tone::Note, title.to_owned()));
            let mut lines = text.shortened(lines);
            if !look.markdown {
                for line in &mut lines {
                    line.insert_str(0, "  ");
                }
            }
            blocks.push(TextBlock::Lines(lines));
        }
    }
    blocks.push(TextBlock::Verdict(Tone::Good, text.count()));
    blocks
}

/// Names each provider, in their order: with the program, if there are roots of both.
fn names(result: &CommandResult, all: &VersionsInUse) -> Vec<String> {
    let flavors: Vec<Flavor> = result
        .roots()
        .iter()
        .filter_map(|root| root.flavor)
        .collect();
    let is_mixed = flavors
        .iter()
        .any(|flavor| flavor.program() != flavors[0].program());
    all.differing
        .iter()
        .map(|in_use| match flavors.first() {
            Some(flavor) if !is_mixed => in_use.provider.short(*flavor),
            _ => format!("{} ({})", in_use.provider, in_use.program),
        })
        .collect()
}

/// The versions in use, as they are shown.
struct InUseText<'a> {
    all: &'a VersionsInUse,
    /// The names of the providers, in their order.
    names: Vec<String>,
    /// Every root is named.
    verbose: bool,
}

impl InUseText<'_> {
    fn providers(&self) -> impl Iterator<Item = (&str, &ProviderInUse)> {
        self.names
            .iter()
            .map(String::as_str)
            .zip(&self.all.differing)
    }

    /// Names some roots, or all of them.
    fn roots(&self, roots: &[String]) -> String {
        if self.verbose {
            roots.join(", ")
        } else {
            some_of(roots.iter().cloned()).join(", ")
        }
    }

    /// Returns a line for each provider.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, in_use) in self.providers() {
            let versions: Vec<String> = in_use
                .versions
                .iter()
                .map(|version| format!("{} in {}", version.version, self.roots(&version.roots)))
                .collect();
            lines.push(format!("{name}: {}", versions.join("; ")));
        }
        lines
    }

    /// Returns a row for each version, below a head; the provider is named in its first row.
    fn table(&self) -> Vec<Vec<String>> {
        let head = ["provider", "version", "roots", "where"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        for (name, in_use) in self.providers() {
            let mut name = name.to_owned();
            for version in &in_use.versions {
                rows.push(vec![
                    std::mem::take(&mut name),
                    version.version.to_string(),
                    version.roots.len().to_string(),
                    self.roots(&version.roots),
                ]);
            }
        }
        rows
    }

    /// Returns a line for each command.
    fn commands(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, in_use) in self.providers() {
            for version_move in &in_use.moves {
                lines.push(if version_move.places > MAX_IN_COMMAND && !self.verbose {
                    format!(
                        "{name} to {} in {} (-v shows the command, which names each)",
                        version_move.to,
                        counted(version_move.roots.len(), "root"),
                    )
                } else {
                    version_move.command.clone()
                });
            }
        }
        lines
    }

    /// Returns the first of some lines, and the number of those that follow.
    fn shortened(&self, mut lines: Vec<String>) -> Vec<String> {
        let more = lines.len().saturating_sub(MAX_LINES);
        if more > 0 && !self.verbose {
            lines.truncate(MAX_LINES);
            lines.push(format!("and {more} more (-v shows them)"));
        }
        lines
    }

    fn held_back(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, in_use) in self.providers() {
            let held_back = &in_use.held_back;
            let shown = if self.verbose {
                held_back.len()
            } else {
                MAX_HELD.min(held_back.len())
            };
            for held in &held_back[..shown] {
                lines.push(held_line(name, held));
            }
            let more = held_back.len() - shown;
            if more > 0 {
                lines.push(format!(
                    "{name} in {} (-v shows them)",
                    counted_as(more, "more root", "more roots")
                ));
            }
        }
        lines
    }

    /// Counts providers with one version, and roots that are left out.
    fn count(&self) -> String {
        let VersionsInUse {
            roots,
            left_out,
            agreed,
            differing,
        } = self.all;
        let are_locked = counted_as(
            differing.len(),
            "provider is locked",
            "providers are locked",
        );
        let mut text = match (differing.len(), agreed) {
            (0, 1) => format!("{roots} roots lock 1 provider, at one version"),
            (0, n) => format!("{roots} roots lock {n} providers, each at one version"),
            (_, 0) => format!("{are_locked} at different versions"),
            (_, same) => {
                format!("{are_locked} at different versions, {same} at one version each")
            }
        };
        if *left_out > 0 {
            let roots = counted(*left_out, "root");
            let is = if *left_out == 1 { "is" } else { "are" };
            text += &format!("; {roots} that could not be locked {is} left out");
        }
        text
    }
}

/// Names a root with the requirements that hold it back.
fn held_line(name: &str, held: &HeldBackRoot) -> String {
    let HeldBackRoot {
        root,
        version,
        newest,
        held_by,
    } = held;
    let places = some_of(held_by.iter().map(holding::in_words)).join(", ");
    let verb = if held_by.len() == 1 { "does" } else { "do" };
    format!("{name} {version} in {root}: {places} {verb} not allow {newest}")
}
