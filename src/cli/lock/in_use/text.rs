//! How the versions that several roots lock read.

use crate::cli::Look;
use crate::cli::session::holding;
use crate::diag::{counted, counted_as};
use crate::flavor::Flavor;
use crate::report::json::{HeldBackRoot, ProviderInUse, VersionsInUse};
use crate::report::{CommandResult, TextBlock, Tone};
use crate::run::unseen::some_of;

/// With how many roots each provider has a line; with more there is a table.
const MAX_IN_LINES: usize = 10;

/// How many roots of a provider are shown with what holds them back; more are counted.
const MAX_HELD: usize = 3;

/// How many roots a command names before it is shown with `-v` only.
const MAX_IN_COMMAND: usize = 20;

/// How many commands there are, and how many lines on what holds roots back; more are counted.
const MAX_LINES: usize = 40;

/// Returns whether there are too many roots to show each at length.
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
            if !lines.is_empty() {
                blocks.push(TextBlock::Verdict(Tone::Note, title.to_owned()));
                let lines = text.some(lines);
                let lines = lines.into_iter().map(|line| match look.markdown {
                    true => line,
                    false => format!("  {line}"),
                });
                blocks.push(TextBlock::Lines(lines.collect()));
            }
        }
    }
    blocks.push(TextBlock::Verdict(Tone::Good, text.count()));
    blocks
}

/// Returns how each provider is named: the program beside those that roots of both programs have.
fn names(result: &CommandResult, all: &VersionsInUse) -> Vec<String> {
    let flavors = result.roots().iter().filter_map(|root| root.flavor);
    let flavors: Vec<Flavor> = flavors.collect();
    let is_mixed = flavors
        .iter()
        .any(|flavor| flavor.program() != flavors[0].program());
    let names = all.differing.iter().map(|one| match flavors.first() {
        Some(flavor) if !is_mixed => one.provider.short(*flavor),
        _ => format!("{} ({})", one.provider, one.program),
    });
    names.collect()
}

/// What is shown.
struct InUseText<'a> {
    all: &'a VersionsInUse,
    /// The names of the providers, in their order.
    names: Vec<String>,
    /// Whether every root is named.
    verbose: bool,
}

impl InUseText<'_> {
    fn each(&self) -> impl Iterator<Item = (&str, &ProviderInUse)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(&self.all.differing)
    }

    /// Names some roots, or all of them.
    fn roots(&self, roots: &[String]) -> String {
        let names = roots.iter().cloned();
        match self.verbose {
            true => roots.join(", "),
            false => some_of(names).join(", "),
        }
    }

    /// Returns a line for each provider.
    fn lines(&self) -> Vec<String> {
        let lines = self.each().map(|(name, one)| {
            let versions = one.versions.iter();
            let versions =
                versions.map(|one| format!("{} in {}", one.version, self.roots(&one.roots)));
            format!("{name}: {}", versions.collect::<Vec<_>>().join("; "))
        });
        lines.collect()
    }

    /// Returns a row for each version, below a head.
    fn table(&self) -> Vec<Vec<String>> {
        let head = ["provider", "version", "roots", "where"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        for (name, one) in self.each() {
            rows.extend(one.versions.iter().enumerate().map(|(at, version)| {
                vec![
                    if at == 0 {
                        name.to_owned()
                    } else {
                        String::new()
                    },
                    version.version.to_string(),
                    version.roots.len().to_string(),
                    self.roots(&version.roots),
                ]
            }));
        }
        rows
    }

    /// Returns a line for each command. One that names many roots is longer than a screen.
    fn commands(&self) -> Vec<String> {
        let moves = self.each().flat_map(|(name, one)| {
            let moves = one.moves.iter();
            moves.map(move |one| match one.places {
                places if places > MAX_IN_COMMAND && !self.verbose => format!(
                    "{name} to {} in {} (-v shows the command, which names each)",
                    one.to,
                    counted(one.roots.len(), "root"),
                ),
                _ => one.command.clone(),
            })
        });
        moves.collect()
    }

    /// Returns the first of some lines, and how many follow.
    fn some(&self, mut lines: Vec<String>) -> Vec<String> {
        let more = lines.len().saturating_sub(MAX_LINES);
        if more > 0 && !self.verbose {
            lines.truncate(MAX_LINES);
            lines.push(format!("and {more} more (-v shows them)"));
        }
        lines
    }

    fn held_back(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, one) in self.each() {
            let shown = match self.verbose {
                true => one.held_back.len(),
                false => MAX_HELD,
            };
            let held = one.held_back.iter().take(shown);
            lines.extend(held.map(|held| held_line(name, held)));
            let more = one.held_back.len().saturating_sub(shown);
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
        let mut text = match (differing.len(), agreed) {
            (0, 1) => format!("{roots} roots lock 1 provider, at one version"),
            (0, n) => format!("{roots} roots lock {n} providers, each at one version"),
            (n, 0) => format!(
                "{} at different versions",
                counted_as(n, "provider is locked", "providers are locked")
            ),
            (n, same) => format!(
                "{} at different versions, {same} at one version each",
                counted_as(n, "provider is locked", "providers are locked")
            ),
        };
        if *left_out > 0 {
            let roots = counted(*left_out, "root");
            let is = if *left_out == 1 { "is" } else { "are" };
            text += &format!("; {roots} that could not be locked {is} left out");
        }
        text
    }
}

/// Says what holds a root back.
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
