//! The files that hold the CLI configuration (rules 1).

use std::path::{Path, PathBuf};

use super::ABSENT;
use crate::flavor::Flavor;
use crate::world::{Env, Files, is_outside};

/// The meaning of a missing main file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFile {
    /// The user named it on our command line.
    Fault,
    /// A variable names it; the programs warn and go on.
    Remark,
    /// The path is a default, and the file may be missing.
    Fine,
}

/// The files to read; later ones win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfigPaths {
    pub(super) main: Option<(PathBuf, MissingFile)>,
    /// The configuration directory, where it counts.
    pub(super) directory: Option<PathBuf>,
}

/// Whose habits of naming files apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habits {
    Unix,
    Windows,
}

impl Habits {
    /// Those of the machine that this was built for.
    pub(super) const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Unix
    };
}

/// The outside as far as it decides where files are.
#[derive(Clone, Copy)]
pub(super) struct ConfigPlace<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) env: &'a dyn Env,
    pub(super) habits: Habits,
}

/// Finds the files: the one that the caller names, else the one that a variable names, else the
/// default ones with the configuration directory.
pub(super) fn locate(place: ConfigPlace<'_>, flavor: Flavor, named: Option<&Path>) -> ConfigPaths {
    // Only where no file is named, the configuration directory is read as well (rules 1.2).
    let only = |path: PathBuf, missing| ConfigPaths {
        main: Some((path, missing)),
        directory: None,
    };
    // A file that the user names on the command line has to exist; one that a variable names is only a
    // warning of the programs (rules 1.1).
    if let Some(path) = named {
        return only(path.to_owned(), MissingFile::Fault);
    }
    // An empty variable counts as none; `TERRAFORM_CONFIG` is the older name (rules 1.1).
    let variables = ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"];
    if let Some(path) = variables.iter().find_map(|name| place.path(name)) {
        return only(path, MissingFile::Remark);
    }
    // The names on Windows were read in the sources, not observed (rules 1.3).
    let (base, ours, legacy) = match place.habits {
        Habits::Unix => ("HOME", ".tofurc", ".terraformrc"),
        Habits::Windows => ("APPDATA", "tofu.rc", "terraform.rc"),
    };
    let defaults = match place.path(base) {
        None => [None, None, None],
        Some(base) if !flavor.is_opentofu() => [Some(base.join(legacy)), None, None],
        // OpenTofu reads one file only: the one of Terraform hides the one below XDG_CONFIG_HOME (rules 1.3).
        Some(base) => [
            Some(base.join(ours)),
            Some(base.join(legacy)),
            place.xdg("tofurc"),
        ],
    };
    ConfigPaths {
        main: defaults
            .into_iter()
            .flatten()
            .find(|path| place.exists(path))
            .map(|path| (path, MissingFile::Fine)),
        directory: place.default_directory(flavor),
    }
}

/// Lists the files of the configuration directory that are read, by name.
pub(super) fn is_read(name: &str) -> bool {
    name.ends_with(".tfrc") || name.ends_with(".tfrc.json")
}

impl ConfigPlace<'_> {
    /// Returns a variable that holds a path; an empty one holds none.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.env.var(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    }

    pub(super) fn default_directory(&self, flavor: Flavor) -> Option<PathBuf> {
        let usual = match self.habits {
            Habits::Unix => self.path("HOME")?.join(".terraform.d"),
            Habits::Windows => self.path("APPDATA")?.join("terraform.d"),
        };
        // OpenTofu goes by whether Terraform's directory exists (rules 1.2): an empty one hides its own
        // as well.
        if flavor.is_opentofu() && !self.exists(&usual) {
            self.xdg("").or(Some(usual))
        } else {
            Some(usual)
        }
    }

    /// Returns a path in the directory of OpenTofu below `XDG_CONFIG_HOME`.
    fn xdg(&self, name: &str) -> Option<PathBuf> {
        // There everything is in the directory of application data (rules 1.3).
        if self.habits == Habits::Windows {
            return None;
        }
        let directory = self.path("XDG_CONFIG_HOME")?.join("opentofu");
        Some(match name {
            "" => directory,
            name => directory.join(name),
        })
    }

    /// Returns true if a path exists.
    fn exists(&self, path: &Path) -> bool {
        match self.files.kind(path) {
            Ok(_) => true,
            // A path that cannot be looked up counts as existing, so that reading it shows the reason.
            Err(error) => !ABSENT.contains(&error.kind()) && !is_outside(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemEnv, MemFiles, slashed};

    const TERRAFORM: Flavor = Flavor::Terraform1_11;
    const TOFU: Flavor = Flavor::OpenTofu1_12;

    fn located(
        flavor: Flavor,
        habits: Habits,
        vars: &[(&str, &str)],
        files: &[&str],
    ) -> ConfigPaths {
        let files: Vec<(&str, &str)> = files.iter().map(|name| (*name, "")).collect();
        let env = MemEnv {
            vars: vars
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.into()))
                .collect(),
            ..MemEnv::default()
        };
        let place = ConfigPlace {
            files: &MemFiles::with(&files),
            env: &env,
            habits,
        };
        locate(place, flavor, None)
    }

    #[track_caller]
    fn check(flavor: Flavor, vars: &[(&str, &str)], files: &[&str], want: (&str, &str)) {
        let found = located(flavor, Habits::Unix, vars, files);
        let main = found.main.map_or(String::new(), |(path, missing)| {
            format!(
                "{}{}",
                slashed(path),
                if missing == MissingFile::Remark {
                    "?"
                } else {
                    ""
                }
            )
        });
        let directory = slashed(found.directory.unwrap_or_default());
        assert_eq!((&*main, &*directory), want);
    }

    #[test]
    fn the_main_file_and_the_directory_are_those_of_the_program() {
        let home = ("HOME", "/h");
        let xdg = ("XDG_CONFIG_HOME", "/x");
        let both: &[&str] = &["/h/.tofurc", "/h/.terraformrc"];
        let usual = "/h/.terraform.d";
        check(TERRAFORM, &[home], both, ("/h/.terraformrc", usual));
        check(TOFU, &[home], both, ("/h/.tofurc", usual));
        check(
            TOFU,
            &[home],
            &["/h/.terraformrc"],
            ("/h/.terraformrc", usual),
        );
        check(TERRAFORM, &[home], &["/h/.tofurc"], ("", usual));
        check(TERRAFORM, &[], both, ("", ""));
        check(TOFU, &[xdg], &["/x/opentofu/tofurc"], ("", ""));
        let new: &[&str] = &["/x/opentofu/tofurc"];
        check(
            TOFU,
            &[home, xdg],
            new,
            ("/x/opentofu/tofurc", "/x/opentofu"),
        );
        check(TERRAFORM, &[home, xdg], new, ("", usual));
        let hidden: &[&str] = &["/x/opentofu/tofurc", "/h/.terraformrc", "/h/.terraform.d/x"];
        check(TOFU, &[home, xdg], hidden, ("/h/.terraformrc", usual));
    }

    #[test]
    fn a_variable_names_the_only_file() {
        let new = ("TF_CLI_CONFIG_FILE", "new");
        let old = ("TERRAFORM_CONFIG", "old");
        let home = ("HOME", "/h");
        check(
            TERRAFORM,
            &[home, new, old],
            &["/h/.terraformrc"],
            ("new?", ""),
        );
        check(TOFU, &[home, old], &["/h/.terraformrc"], ("old?", ""));
        let empty = ("TF_CLI_CONFIG_FILE", "");
        check(TOFU, &[empty, old], &[], ("old?", ""));
    }

    #[test]
    fn the_caller_names_a_file_that_must_be_there() {
        let env = MemEnv::default();
        let place = ConfigPlace {
            files: &MemFiles::default(),
            env: &env,
            habits: Habits::HERE,
        };
        let found = locate(place, TOFU, Some(Path::new("mine")));
        assert_eq!(found.main, Some(("mine".into(), MissingFile::Fault)));
        assert_eq!(found.directory, None);
    }

    #[test]
    fn windows_has_its_own_names() {
        let vars = [("APPDATA", "/a"), ("XDG_CONFIG_HOME", "/x")];
        let found = located(TOFU, Habits::Windows, &vars, &["/a/tofu.rc"]);
        assert_eq!(found.main, Some(("/a/tofu.rc".into(), MissingFile::Fine)));
        assert_eq!(found.directory, Some("/a/terraform.d".into()));
        let found = located(TERRAFORM, Habits::Windows, &vars, &["/a/terraform.rc"]);
        assert_eq!(
            found.main,
            Some(("/a/terraform.rc".into(), MissingFile::Fine))
        );
    }
}
