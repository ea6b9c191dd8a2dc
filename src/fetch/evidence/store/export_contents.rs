//! Contents in an export: the modules that several packages share, then the other lines of each package.
//!
//! ```text
//! modules 1
//! …                          lines of `go version -m` about modules
//! contents zh:… 1 go1.22.3
//! …                          those about settings
//! ```

use std::collections::BTreeMap;

use super::MAX_EXPORT_BYTES;
use super::text::{hash, parsed};
use crate::contents::BuildInfo;
use crate::hash::{Hash, Scheme};

/// The first words of the lines that begin a block.
const MODULES: &str = "modules ";
const CONTENTS: &str = "contents ";

/// Adds contents to the text of an export, in their order, as long as it can be imported again.
pub(super) fn write<'c>(
    text: &mut String,
    contents: impl IntoIterator<Item = (&'c Hash, &'c BuildInfo)>,
) {
    // Builds of one release for several platforms mostly have the same modules.
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (zh, info) in contents {
        // The lines about modules, and those about settings.
        let mut modules = info.clone();
        let settings = BuildInfo {
            settings: std::mem::take(&mut modules.settings),
            ..BuildInfo::default()
        };
        let (modules, settings) = (modules.to_string(), settings.to_string());
        let next = numbers.len() + 1;
        let number = numbers.get(&modules).copied();
        let mut block = String::new();
        if number.is_none() {
            block += &format!("{MODULES}{next}\n{modules}");
        }
        let number = number.unwrap_or(next);
        block += &format!("{CONTENTS}{zh} {number} {}\n{settings}", info.go_version);
        if (text.len() + block.len()) as u64 > MAX_EXPORT_BYTES {
            return;
        }
        numbers.entry(modules).or_insert(number);
        *text += &block;
    }
}

/// Maximum length of all contents of an export together, in bytes: many packages may share the lines of their modules.
const MAX_EXPANDED_BYTES: usize = 64 * 1024 * 1024;

/// Reads the lines of an export that are about contents.
#[derive(Default)]
pub(super) struct ContentsReader {
    modules: Vec<String>,
    /// The modules by their numbers; a repeated number replaces the earlier one.
    numbers: BTreeMap<usize, usize>,
    packages: BTreeMap<Hash, PackageLines>,
    /// The block that lines with a tab belong to.
    block: Option<ExportBlock>,
}

/// The lines of a package.
struct PackageLines {
    /// The place of its modules in the list.
    modules: usize,
    go_version: String,
    settings: String,
}

enum ExportBlock {
    Modules,
    Package(Hash),
}

impl ContentsReader {
    /// Takes a line; returns false if it is about something else, and `None` if it is faulty.
    pub(super) fn take(&mut self, line: &str) -> Option<bool> {
        if line.starts_with('\t') {
            let block = match self.block.as_ref()? {
                ExportBlock::Modules => self.modules.last_mut()?,
                ExportBlock::Package(zh) => &mut self.packages.get_mut(zh)?.settings,
            };
            block.push_str(line);
            block.push('\n');
            return Some(true);
        }
        self.block = None;
        if let Some(number) = line.strip_prefix(MODULES) {
            self.numbers.insert(parsed(number)?, self.modules.len());
            self.modules.push(String::new());
            self.block = Some(ExportBlock::Modules);
            return Some(true);
        }
        let Some(rest) = line.strip_prefix(CONTENTS) else {
            return Some(false);
        };
        let [zh, modules, go_version] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let zh = hash(zh, Scheme::Zh)?;
        let package = PackageLines {
            modules: *self.numbers.get(&parsed(modules)?)?,
            go_version: (*go_version).to_owned(),
            settings: String::new(),
        };
        // The last of repeated contents is used, as for facts.
        self.packages.insert(zh.clone(), package);
        self.block = Some(ExportBlock::Package(zh));
        Some(true)
    }

    /// Returns the contents that were read, by the `zh:` of their packages; `None` if the lines of some package are no
    /// build information.
    pub(super) fn finish(self) -> Option<BTreeMap<Hash, BuildInfo>> {
        let Self {
            modules, packages, ..
        } = self;
        let mut length = 0_usize;
        packages
            .into_iter()
            .map(|(zh, package)| {
                let lines = format!("{}{}", modules[package.modules], package.settings);
                length = length.saturating_add(lines.len());
                if length > MAX_EXPANDED_BYTES {
                    return None;
                }
                Some((zh, BuildInfo::parse_printed(&package.go_version, &lines)?))
            })
            .collect()
    }
}
