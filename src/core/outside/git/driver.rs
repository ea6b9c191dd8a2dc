//! Wiring lockctl into git: settings, and a line of attributes. The only part that writes.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::attributes::{with_last_lines, with_lines, without_lines};
use super::error::GitError;
use super::repository::{ConfigScope, MAX_LIST_BYTES, Repository, path_of};
use crate::world::{Disk, Env, Replaced, Run, lexical};

/// The settings that git needs, by their names.
///
/// Each works where lockctl is not installed, too. Without that `git merge` would leave our side alone as
/// if nothing had come from theirs, and `git diff` and `git log -p` would stop with an error.
pub const SETTINGS: [(&str, &str); 3] = [
    ("merge.lockctl.name", "provider lock files, entry by entry"),
    (
        "merge.lockctl.driver",
        "if command -v lockctl >/dev/null 2>&1; then \
         lockctl merge --marker-size=%L --path=%P --label-base=%S --label-ours=%X --label-theirs=%Y -- %O %A %B; \
         else git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; fi",
    ),
    // git adds the file as an argument at the end.
    (
        "diff.lockctl.textconv",
        "show() { if command -v lockctl >/dev/null 2>&1; then lockctl git-textconv -- \"$1\"; \
         else cat -- \"$1\"; fi; }; show",
    ),
];

/// The value of the attributes.
const WANTED: &str = "lockctl";

/// The files that the drivers are for.
const FILES: [&str; 2] = [".terraform.lock.hcl", ".lockctl.modules.hcl"];

/// A setting or attribute that makes git call lockctl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "GitSetting"))]
pub struct EffectiveSetting {
    /// The kind of file that git reads it from.
    pub kind: SettingKind,
    /// Its name, as in `merge.lockctl.driver`; of an attribute `merge` or `diff`.
    pub name: &'static str,
    /// The value that `lockctl git install` gives it.
    pub wanted: &'static str,
    /// The value that counts; null if it has none.
    pub found: Option<String>,
    /// True if both values are the same.
    pub in_force: bool,
}

/// The place where git reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "GitSettingKind"))]
pub enum SettingKind {
    /// A variable of git's configuration.
    Config,
    /// In the attributes of lock files.
    Attribute,
}

/// The wanted state of git's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiringGoal {
    /// git calls lockctl for lock files.
    Installed,
    /// git does not call lockctl, as if it never had.
    Removed,
}

/// The changes that lead to a goal; empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WiringPlan {
    /// The file of attributes, if it has to change.
    pub attributes: Option<AttributesChange>,
    /// The settings that have to change.
    pub settings: Vec<SettingChange>,
}

/// A change of the file of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributesChange {
    /// The current content; `None` if there is no file.
    pub old: Option<Vec<u8>>,
    /// The wanted content; empty if the file should be removed.
    pub new: Vec<u8>,
}

/// A change of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// The full name, as in `merge.lockctl.name`.
    pub name: &'static str,
    /// Its value, if it has one.
    pub old: Option<String>,
    /// The value that it should have; `None` if the setting should be removed.
    pub new: Option<&'static str>,
}

impl WiringPlan {
    /// Returns true if nothing has to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_none() && self.settings.is_empty()
    }
}

/// The configuration of git in one scope.
#[derive(Debug)]
pub struct Wiring<'a> {
    repository: Repository<'a>,
    scope: ConfigScope,
    attributes: PathBuf,
}

impl<'a> Wiring<'a> {
    /// Finds where the settings and attributes of a scope are.
    ///
    /// # Errors
    /// For the local scope, if there is no repository, or one without a work tree; for the global one,
    /// if the user has no home directory.
    pub fn find(
        run: &'a dyn Run,
        env: &dyn Env,
        dir: &Path,
        scope: ConfigScope,
    ) -> Result<Self, GitError> {
        let repository = match scope {
            ConfigScope::Local => Repository::find(run, dir)?,
            ConfigScope::Global => Repository::anywhere(run, dir),
        };
        let attributes = match scope {
            ConfigScope::Local => {
                let path = repository.top().ok_or(GitError::Bare)?;
                // Behind a link `..` leads elsewhere.
                let is_plain = dir == Path::new(".") || dir.ends_with(repository.prefix());
                let path = path.join(".gitattributes");
                if is_plain { lexical(&path) } else { path }
            }
            ConfigScope::Global => {
                // As git finds the attributes of the user (`gitattributes(5)`).
                let args = [
                    "config",
                    "--null",
                    "--type=path",
                    "--get",
                    "core.attributesFile",
                ];
                let ended = repository.git(&args, &[], MAX_LIST_BYTES)?;
                if ended.code == Some(0) {
                    let path = ended.stdout.strip_suffix(b"\0").unwrap_or(&ended.stdout);
                    path_of(path)
                } else {
                    let directory = |name: &str| {
                        let value = env.var(name).filter(|value| !value.is_empty());
                        value.map(PathBuf::from)
                    };
                    let config_home = directory("XDG_CONFIG_HOME")
                        .or_else(|| Some(directory("HOME")?.join(".config")))
                        .ok_or_else(|| GitError::failed("config", &ended))?;
                    config_home.join("git").join("attributes")
                }
            }
        };
        Ok(Self {
            repository,
            scope,
            attributes,
        })
    }

    /// Returns the file of attributes, whether it exists or not.
    #[must_use]
    pub fn attributes(&self) -> &Path {
        &self.attributes
    }

    /// Finds what has to be written to reach a goal; `attributes` is what the file of attributes
    /// holds now, if it exists.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn plan(
        &self,
        goal: WiringGoal,
        attributes: Option<Vec<u8>>,
    ) -> Result<WiringPlan, GitError> {
        let text = attributes.as_deref().unwrap_or_default();
        // Where there is no repository, nothing can override the line.
        let is_overridden = || {
            effective_attributes(&self.repository)
                .unwrap_or_default()
                .iter()
                .any(|attribute| !attribute.in_force)
        };
        let new = match goal {
            // Of several lines that match a path, the last one counts (`gitattributes(5)`).
            WiringGoal::Installed if is_overridden() => with_last_lines(text),
            WiringGoal::Installed => with_lines(text),
            WiringGoal::Removed => without_lines(text),
        };
        let mut plan = WiringPlan {
            attributes: new.map(|new| AttributesChange {
                old: attributes,
                new,
            }),
            settings: Vec::new(),
        };
        for (name, wanted) in SETTINGS {
            let old = self.repository.setting(Some(self.scope), name)?;
            let new = match goal {
                WiringGoal::Installed => Some(wanted),
                WiringGoal::Removed => None,
            };
            if old.as_deref() != new {
                plan.settings.push(SettingChange { name, old, new });
            }
        }
        Ok(plan)
    }

    /// Writes the file of attributes, unless it has been changed since it was read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_attributes(
        &self,
        change: &AttributesChange,
        disk: &dyn Disk,
    ) -> io::Result<Replaced> {
        let path = &self.attributes;
        match &change.old {
            Some(old) if change.new.is_empty() => disk.remove(path, old),
            Some(old) => disk.replace(path, Some(old), &change.new),
            None => {
                // git does not create the directory for the attributes of the user.
                if let Some(dir) = path.parent() {
                    disk.make_directory(dir)?;
                }
                disk.replace(path, None, &change.new)
            }
        }
    }

    /// Writes a setting in place of any other value of it, or removes it.
    ///
    /// # Errors
    /// If git cannot write its configuration.
    pub fn write_setting(&self, change: &SettingChange) -> Result<(), GitError> {
        let scope = self.scope.option();
        let name = change.name;
        let args = match change.new {
            // Without `--replace-all` git refuses a variable that has several values.
            Some(value) => vec!["config", scope, "--replace-all", name, value],
            None => vec!["config", scope, "--unset-all", name],
        };
        self.repository.output(&args, &[], MAX_LIST_BYTES).map(drop)
    }
}

impl EffectiveSetting {
    fn new(
        kind: SettingKind,
        name: &'static str,
        wanted: &'static str,
        found: Option<String>,
    ) -> Self {
        Self {
            kind,
            name,
            wanted,
            in_force: found.as_deref() == Some(wanted),
            found,
        }
    }
}

/// Returns the values that git uses in a directory: each setting and attribute with the value it should
/// have, and the one it has.
///
/// # Errors
/// If there is no repository, or git does not answer.
pub fn effective_settings(run: &dyn Run, dir: &Path) -> Result<Vec<EffectiveSetting>, GitError> {
    let repository = Repository::find(run, dir)?;
    let mut all = Vec::new();
    for (name, wanted) in SETTINGS {
        let found = repository.setting(None, name)?;
        let kind = SettingKind::Config;
        all.push(EffectiveSetting::new(kind, name, wanted, found));
    }
    all.extend(effective_attributes(&repository)?);
    Ok(all)
}

/// Returns the drivers that git uses for the files in the directory that the repository was found from; of two
/// values of an attribute the one that is not wanted.
fn effective_attributes(repository: &Repository<'_>) -> Result<Vec<EffectiveSetting>, GitError> {
    let args = [&["check-attr", "-z", "merge", "diff", "--"][..], &FILES].concat();
    let output = repository.output(&args, &[], MAX_LIST_BYTES)?;
    let output = String::from_utf8_lossy(&output);
    // git prints the path, the attribute and its value.
    let fields: Vec<&str> = output.split('\0').collect();
    let attribute = |name: &'static str| {
        let found = fields
            .chunks_exact(3)
            .filter(|fields| fields[1] == name)
            .map(|fields| fields[2])
            .reduce(|lock, pins| if lock == WANTED { pins } else { lock })
            .filter(|value| *value != "unspecified");
        let found = found.map(str::to_owned);
        EffectiveSetting::new(SettingKind::Attribute, name, WANTED, found)
    };
    Ok(["merge", "diff"].into_iter().map(attribute).collect())
}
