//! The files of a directory that make up a module (rules 1.1 to 1.5, 3.1).
//!
//! Names are bytes here, as they are for the programs: no case folding, no decoding.

use crate::module_config::file::Syntax;
use std::collections::BTreeSet;

use crate::flavor::{Flavor, Program};
use crate::world::{DirEntry, FileKind};

/// The files of one module, each list in byte order of the names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::texts::config) struct ModuleFiles {
    pub primary: Vec<SourceFile>,
    /// Files that change what the primary files declare.
    pub overrides: Vec<SourceFile>,
    /// Test files; only those of a root count.
    pub tests: Vec<SourceFile>,
}

impl ModuleFiles {
    /// Returns whether a root with these files is a configuration.
    pub(in crate::texts::config) fn are_configuration(&self, flavor: Flavor) -> bool {
        // To Terraform from 1.15 on test files alone are a configuration (rules 1.6).
        let by_tests = flavor.counts_tests_as_configuration() && !self.tests.is_empty();
        by_tests || !self.primary.is_empty() || !self.overrides.is_empty()
    }
}

/// One file of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::texts::config) struct SourceFile {
    /// The name without its directory.
    pub name: std::ffi::OsString,
    pub syntax: Syntax,
    /// The only program that reads it, if not both do.
    pub only: Option<Program>,
}

/// The treatment of names that only editors and backups use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::texts::config) enum Backups {
    LeftOut,
    Read,
}

/// One ending that makes a name a file of a module.
struct FileEnding {
    text: &'static str,
    syntax: Syntax,
    test: bool,
    /// The ending of the file that OpenTofu reads instead, where there is one.
    hidden_by: Option<&'static str>,
    /// The only program that reads it, if not both do.
    only: Option<Program>,
}

const fn both(text: &'static str, syntax: Syntax, twin: &'static str) -> FileEnding {
    FileEnding {
        text,
        syntax,
        test: false,
        hidden_by: Some(twin),
        only: None,
    }
}

const fn opentofu(text: &'static str, syntax: Syntax) -> FileEnding {
    FileEnding {
        text,
        syntax,
        test: false,
        hidden_by: None,
        only: Some(Program::OpenTofu),
    }
}

const fn test(ending: FileEnding) -> FileEnding {
    FileEnding {
        test: true,
        ..ending
    }
}

const ENDINGS: [FileEnding; 8] = [
    both(".tf", Syntax::Native, ".tofu"),
    both(".tf.json", Syntax::Json, ".tofu.json"),
    opentofu(".tofu", Syntax::Native),
    opentofu(".tofu.json", Syntax::Json),
    test(both(".tftest.hcl", Syntax::Native, ".tofutest.hcl")),
    test(both(".tftest.json", Syntax::Json, ".tofutest.json")),
    test(opentofu(".tofutest.hcl", Syntax::Native)),
    test(opentofu(".tofutest.json", Syntax::Json)),
];

/// Picks the files of a module out of a directory listing.
///
/// Real directories are skipped, even if their name ends in `.tf`; a link counts as a file, even if it points
/// to a directory.
pub(in crate::texts::config) fn choose(
    entries: &[DirEntry],
    backups: Backups,
    flavor: Flavor,
) -> ModuleFiles {
    let names = || {
        entries
            .iter()
            // A link to a directory stays, and fails when it is read, as in the programs (rules 1.3).
            .filter(|entry| entry.kind != FileKind::Directory)
            .map(|entry| (entry, entry.name.as_encoded_bytes()))
            // The names that editors give to backups and swap files (rules 1.2).
            .filter(|(_, name)| {
                let is_backup = name.starts_with(b".")
                    || name.ends_with(b"~")
                    || name.starts_with(b"#") && name.ends_with(b"#");
                backups == Backups::Read || !is_backup
            })
    };
    let all: BTreeSet<&[u8]> = names().map(|(_, name)| name).collect();
    let mut chosen = ModuleFiles::default();
    for (entry, name) in names() {
        let Some((stem, ending)) = ENDINGS
            .iter()
            .filter(|ending| ending.only.is_none_or(|only| only == flavor.program()))
            .find_map(|ending| Some((name.strip_suffix(ending.text.as_bytes())?, ending)))
        else {
            continue;
        };
        // OpenTofu drops `x.tf` beside `x.tofu`, even an empty one; an ignored name hides nothing (rules 1.4).
        if let Some(twin) = ending.hidden_by
            && flavor.is_opentofu()
            && all.contains(&*[stem, twin.as_bytes()].concat())
        {
            continue;
        }
        // `override.tf` and `x_override.tf` are override files, `xoverride.tf` is none (rules 3.1).
        let list = if ending.test {
            &mut chosen.tests
        } else if stem == b"override" || stem.ends_with(b"_override") {
            &mut chosen.overrides
        } else {
            &mut chosen.primary
        };
        list.push(SourceFile {
            name: entry.name.clone(),
            syntax: ending.syntax,
            only: ending.only,
        });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERRAFORM: Flavor = Flavor::Terraform1_11;
    const OPENTOFU: Flavor = Flavor::OpenTofu1_12;

    /// Writes the chosen names as `primary | overrides | tests`.
    fn chosen(names: &str, flavor: Flavor) -> String {
        let mut entries: Vec<DirEntry> = names
            .split_whitespace()
            .map(|name| DirEntry {
                name: name.trim_end_matches('/').into(),
                kind: if name.ends_with('/') {
                    FileKind::Directory
                } else {
                    FileKind::File
                },
            })
            .collect();
        entries.sort();
        let files = choose(&entries, Backups::LeftOut, flavor);
        let list = |files: &[SourceFile]| {
            let names: Vec<_> = files
                .iter()
                .map(|file| file.name.to_string_lossy())
                .collect();
            names.join(" ")
        };
        let all = [
            list(&files.primary),
            list(&files.overrides),
            list(&files.tests),
        ];
        all.join(" | ")
    }

    #[track_caller]
    fn check(names: &str, flavor: Flavor, expected: &str) {
        assert_eq!(chosen(names, flavor), expected, "of {names}");
    }

    #[test]
    fn only_plain_names_with_the_exact_ending_count() {
        let names =
            "a.tf b.tf.json MAIN.TF c.tf.bak d.hcl .tf .e.tf f.tf~ #g.tf# #h.tf ~i.tf j.tf/ k.tofu";
        check(names, TERRAFORM, "#h.tf a.tf b.tf.json ~i.tf |  | ");
    }

    #[test]
    fn override_files_have_a_stem_that_is_or_ends_in_the_word() {
        let names = "override.tf _override.tf x_override.tf.json xoverride.tf overrides.tf override_x.tf \
                     OVERRIDE.tf x-override.tf override.x.tf a_override.x_override.tf";
        check(
            names,
            TERRAFORM,
            "OVERRIDE.tf override.x.tf override_x.tf overrides.tf x-override.tf xoverride.tf | \
             _override.tf a_override.x_override.tf override.tf x_override.tf.json | ",
        );
    }

    #[test]
    fn a_tofu_file_hides_its_twin_from_opentofu_only() {
        let names = "x.tf x.tofu y.tf y.tofu.json z.tf.json z.tofu.json w.tofu/ w.tf";
        check(
            names,
            OPENTOFU,
            "w.tf x.tofu y.tf y.tofu.json z.tofu.json |  | ",
        );
        check(names, TERRAFORM, "w.tf x.tf y.tf z.tf.json |  | ");
        check("override.tf override.tofu", OPENTOFU, " | override.tofu | ");
    }

    #[test]
    fn test_files_have_twins_of_their_own() {
        let names = "a.tftest.hcl a.tofutest.hcl b.tftest.json c.tofutest.json";
        check(names, TERRAFORM, " |  | a.tftest.hcl b.tftest.json");
        check(
            names,
            OPENTOFU,
            " |  | a.tofutest.hcl b.tftest.json c.tofutest.json",
        );
    }
}
