//! Wiring lockctl into git: settings, and a line of attributes. The only part that writes.

use std::path::{Path, PathBuf};

use super::error::GitError;
use super::repository::{MAX_LIST_BYTES, Repository, Scope, path_of};
use crate::world::{Env, Run};

/// The settings that git needs, by their names.
///
/// Where lockctl is not installed, git merges line by line: without that, it would leave our side
/// alone as if nothing had come from theirs.
pub const SETTINGS: [(&str, &str); 3] = [
    ("merge.lockctl.name", "provider lock files, entry by entry"),
    (
        "merge.lockctl.driver",
        "if command -v lockctl >/dev/null 2>&1; then \
         lockctl merge --marker-size=%L --path=%P --label-base=%S --label-ours=%X --label-theirs=%Y -- %O %A %B; \
         else git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B; fi",
    ),
    ("diff.lockctl.textconv", "lockctl git-textconv"),
];

/// The line of attributes that names the drivers.
pub const ATTRIBUTES: &str = ".terraform.lock.hcl merge=lockctl diff=lockctl";

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// A setting or attribute as git sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// Where git reads it.
    pub kind: SettingKind,
    /// Its name.
    pub name: &'static str,
    /// The value that lockctl would give it.
    pub wanted: &'static str,
    /// Its value, if it has one.
    pub found: Option<String>,
}

/// Where git reads what it is told.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GitSettingKind")]
pub enum SettingKind {
    /// In its configuration.
    Config,
    /// In the attributes of lock files.
    Attribute,
}

/// The configuration of git in one scope.
#[derive(Debug)]
pub struct Wiring<'a> {
    repository: Repository<'a>,
    scope: Scope,
    attributes: PathBuf,
}

impl<'a> Wiring<'a> {
    /// Finds where the settings and attributes of a scope are.
    ///
    /// # Errors
    /// If there is no repository, or one without a work tree, for the local scope; if nobody knows
    /// where the attributes of the person are, for the global one.
    pub fn find(
        run: &'a dyn Run,
        env: &dyn Env,
        dir: &Path,
        scope: Scope,
    ) -> Result<Self, GitError> {
        let (repository, attributes) = match scope {
            Scope::Local => {
                let repository = Repository::find(run, dir)?;
                let top = repository.top().ok_or(GitError::Bare)?;
                let path = top.join(".gitattributes");
                (repository, path)
            }
            Scope::Global => {
                let repository = Repository::anywhere(run, dir);
                let path = global_attributes(&repository, env)?;
                (repository, path)
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

    /// Returns the value of a setting in this scope.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn setting(&self, name: &str) -> Result<Option<String>, GitError> {
        self.repository.setting(Some(self.scope), name)
    }

    /// Gives a setting its value, in place of any other.
    ///
    /// # Errors
    /// If git cannot write its configuration.
    pub fn set(&self, name: &str, value: &str) -> Result<(), GitError> {
        let scope = self.scope.option();
        let args = ["config", scope, "--replace-all", name, value];
        self.repository.output(&args, &[], MAX_LIST_BYTES).map(drop)
    }

    /// Removes a setting.
    ///
    /// # Errors
    /// If git cannot write its configuration.
    pub fn unset(&self, name: &str) -> Result<(), GitError> {
        let args = ["config", self.scope.option(), "--unset-all", name];
        self.repository.output(&args, &[], MAX_LIST_BYTES).map(drop)
    }
}

impl InForce {
    /// Tells whether it is as lockctl would set it.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.found.as_deref() == Some(self.wanted)
    }
}

/// Returns what counts where a directory is: each setting and attribute with the value it should
/// have, and the one it has.
///
/// # Errors
/// If there is no repository, or git does not answer.
pub fn in_force(run: &dyn Run, dir: &Path) -> Result<Vec<InForce>, GitError> {
    let repository = Repository::find(run, dir)?;
    let mut all = Vec::new();
    for (name, wanted) in SETTINGS {
        let found = repository.setting(None, name)?;
        all.push(InForce {
            kind: SettingKind::Config,
            name,
            wanted,
            found,
        });
    }
    let args = ["check-attr", "-z", "merge", "diff", "--", LOCK_FILE];
    let said = repository.output(&args, &[], MAX_LIST_BYTES)?;
    let said = String::from_utf8_lossy(&said);
    let fields: Vec<&str> = said.split('\0').collect();
    for (name, fields) in ["merge", "diff"].into_iter().zip(fields.chunks(3)) {
        let value = fields.get(2).filter(|value| **value != "unspecified");
        all.push(InForce {
            kind: SettingKind::Attribute,
            name,
            wanted: "lockctl",
            found: value.map(|value| (*value).to_owned()),
        });
    }
    Ok(all)
}

/// Finds the attributes of a person, as git does (`gitattributes(5)`).
fn global_attributes(repository: &Repository<'_>, env: &dyn Env) -> Result<PathBuf, GitError> {
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
        return Ok(path_of(path));
    }
    let set = |name: &str| env.var(name).filter(|value| !value.is_empty());
    let home = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    let home = home.ok_or_else(|| GitError::failed("config", &ended))?;
    Ok(home.join("git").join("attributes"))
}

/// Adds the line of attributes; `None` if it is there.
#[must_use]
pub fn with_line(text: &[u8]) -> Option<Vec<u8>> {
    if lines(text).any(is_ours) {
        return None;
    }
    let mut out = text.to_vec();
    // A file that ended without a line end ends so again when the line goes.
    let is_open = !text.is_empty() && !text.ends_with(b"\n");
    if is_open {
        out.push(b'\n');
    }
    out.extend_from_slice(ATTRIBUTES.as_bytes());
    if !is_open {
        out.push(b'\n');
    }
    Some(out)
}

/// Takes the line of attributes away; `None` if it is not there.
#[must_use]
pub fn without_line(text: &[u8]) -> Option<Vec<u8>> {
    if !lines(text).any(is_ours) {
        return None;
    }
    let mut out: Vec<u8> = lines(text)
        .filter(|line| !is_ours(line))
        .flatten()
        .copied()
        .collect();
    if !text.ends_with(b"\n") && lines(text).next_back().is_some_and(is_ours) {
        let end = out.strip_suffix(b"\n").map_or(out.len(), <[u8]>::len);
        out.truncate(end);
    }
    Some(out)
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

fn is_ours(line: &[u8]) -> bool {
    line.trim_ascii() == ATTRIBUTES.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_comes_once_and_goes_without_a_trace() {
        for text in ["", "* text=auto\n", "* text=auto", "\n\n", "a\r\n"] {
            let with = with_line(text.as_bytes()).expect("it is not there");
            assert_eq!(with_line(&with), None, "{text:?}");
            let without = without_line(&with).expect("it is there");
            assert_eq!(without, text.as_bytes());
            assert_eq!(without_line(&without), None);
        }
        let moved = format!("{ATTRIBUTES}\r\n*.tf text");
        assert_eq!(
            without_line(moved.as_bytes()).as_deref(),
            Some(&b"*.tf text"[..])
        );
    }
}
