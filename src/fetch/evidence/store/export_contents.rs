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
    /// Takes a line; returns false if it is about something else.
    ///
    /// # Errors
    /// The problem with the line, in words.
    pub(super) fn take(&mut self, line: &str) -> Result<bool, &'static str> {
        if line.starts_with('\t') {
            let block = match &self.block {
                None => return Err("it belongs to no contents"),
                Some(ExportBlock::Modules) => self.modules.last_mut(),
                Some(ExportBlock::Package(zh)) => self
                    .packages
                    .get_mut(zh)
                    .map(|package| &mut package.settings),
            };
            let block = block.ok_or("it belongs to no contents")?;
            block.push_str(line);
            block.push('\n');
            return Ok(true);
        }
        self.block = None;
        if let Some(number) = line.strip_prefix(MODULES) {
            let number = parsed(number).ok_or("it has no number")?;
            self.numbers.insert(number, self.modules.len());
            self.modules.push(String::new());
            self.block = Some(ExportBlock::Modules);
            return Ok(true);
        }
        let Some(rest) = line.strip_prefix(CONTENTS) else {
            return Ok(false);
        };
        let [zh, modules, go_version] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            return Err("it does not have four words");
        };
        let zh = hash(zh, Scheme::Zh).ok_or("the second word is no zh: hash")?;
        let modules = parsed(modules)
            .and_then(|number: usize| self.numbers.get(&number).copied())
            .ok_or("the third word is not the number of modules above")?;
        let package = PackageLines {
            modules,
            go_version: (*go_version).to_owned(),
            settings: String::new(),
        };
        // The last of repeated contents is used, as for facts.
        self.packages.insert(zh.clone(), package);
        self.block = Some(ExportBlock::Package(zh));
        Ok(true)
    }

    /// Returns the contents that were read, by the `zh:` of their packages.
    ///
    /// # Errors
    /// If the lines of some package are no build information.
    pub(super) fn finish(self) -> Result<BTreeMap<Hash, BuildInfo>, &'static str> {
        let Self {
            modules, packages, ..
        } = self;
        let mut length = 0_usize;
        packages
            .into_iter()
            .map(|(zh, package)| {
                let PackageLines {
                    modules: index,
                    go_version,
                    settings,
                } = package;
                let lines = format!("{}{settings}", modules[index]);
                length = length.saturating_add(lines.len());
                if length > MAX_EXPANDED_BYTES {
                    return Err("there are too many contents");
                }
                let info = BuildInfo::parse_printed(&go_version, &lines);
                Ok((zh, info.ok_or("some contents are no build information")?))
            })
            .collect()
    }
}
