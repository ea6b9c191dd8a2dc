//! Directories of this machine that hold packages (rules 5 and 6).

use std::path::{Path, PathBuf};

use super::locate::{ConfigPlace, Habits};
use super::{CliConfig, MethodKind};
use crate::addr::ProviderFilter;
use crate::diag::{FileId, Span};
use crate::flavor::Flavor;

/// A filesystem mirror that the program looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalMirror {
    /// The directory, relative to the working directory.
    pub dir: PathBuf,
    /// The providers that it serves.
    pub providers: ProviderFilter,
    /// The place that names it; then it has to exist. `None` for one that the program looks for by
    /// itself.
    pub named: Option<(FileId, Span)>,
}

impl CliConfig {
    /// Lists the filesystem mirrors in query order: those of the `provider_installation` blocks, or the implied
    /// ones if there is no block.
    #[must_use]
    pub fn local_mirrors(&self) -> Vec<LocalMirror> {
        // A block replaces the implied mirrors, even if it is empty (rules 5.1).
        if self.installations.is_empty() {
            return self
                .implied_mirrors
                .iter()
                .map(|dir| LocalMirror {
                    dir: dir.clone(),
                    providers: ProviderFilter::default(),
                    named: None,
                })
                .collect();
        }
        self.installations
            .iter()
            .flat_map(|block| block.methods.iter().map(|method| (block.file, method)))
            .filter_map(|(file, method)| match &method.kind {
                MethodKind::FilesystemMirror(dir) => Some(LocalMirror {
                    dir: dir.clone(),
                    providers: method.providers.clone(),
                    named: Some((file, method.span)),
                }),
                _ => None,
            })
            .collect()
    }
}

/// Below each data directory of the system. OpenTofu kept the name.
const PLUGINS: &str = "terraform/plugins";

impl ConfigPlace<'_> {
    /// Lists the directories that the program looks into by itself (rules 5.1), in its order.
    /// Those that other systems than Unix have beside the first two are not known.
    pub(super) fn implied_mirrors(self, flavor: Flavor) -> Vec<PathBuf> {
        // The first one is relative: the program looks into the working directory of the run.
        let mut dirs = vec![Path::new("terraform.d").join("plugins")];
        dirs.extend(
            self.default_directory(flavor)
                .map(|dir| dir.join("plugins")),
        );
        if self.habits == Habits::Unix {
            // Defaults of the XDG Base Directory Specification.
            let data_home = self
                .path("XDG_DATA_HOME")
                .or_else(|| Some(self.path("HOME")?.join(".local/share")));
            let data_dirs = self
                .env
                .var("XDG_DATA_DIRS")
                .filter(|dirs| !dirs.is_empty())
                .unwrap_or_else(|| "/usr/local/share:/usr/share".into());
            let data_dirs = data_dirs.to_string_lossy();
            let shared = data_dirs
                .split(':')
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from);
            dirs.extend(
                data_home
                    .into_iter()
                    .chain(shared)
                    .map(|dir| dir.join(PLUGINS)),
            );
        }
        dirs
    }

    /// Lists the directories that are searched for a credentials helper (rules 4.3).
    pub(super) fn helper_directories(self, flavor: Flavor) -> Vec<PathBuf> {
        let dir = self.default_directory(flavor);
        dir.into_iter().map(|dir| dir.join("plugins")).collect()
    }

    /// Puts the values of variables in the place of `$NAME` and `${NAME}`, nothing for those that
    /// are not set (rules 2.1); `None` if nothing is left.
    pub(super) fn expanded(self, text: &str) -> Option<PathBuf> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            out += before;
            let braced = behind
                .strip_prefix('{')
                .and_then(|inside| inside.split_once('}'));
            let (name, after) = braced.unwrap_or_else(|| {
                let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
                behind.split_at(behind.find(ends).unwrap_or(behind.len()))
            });
            if braced.is_none() && name.is_empty() {
                // A dollar sign without a name is plain text.
                out.push('$');
            } else {
                out += &self.env.var(name).unwrap_or_default().to_string_lossy();
            }
            rest = after;
        }
        out += rest;
        (!out.is_empty()).then(|| out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemEnv, MemFiles};

    fn with<T>(vars: &[(&str, &str)], work: impl FnOnce(ConfigPlace<'_>) -> T) -> T {
        let vars = vars.iter();
        let env = MemEnv {
            vars: vars
                .map(|(name, value)| ((*name).to_owned(), value.into()))
                .collect(),
            ..MemEnv::default()
        };
        work(ConfigPlace {
            files: &MemFiles::default(),
            env: &env,
            habits: Habits::Unix,
        })
    }

    #[track_caller]
    fn check_implied(flavor: Flavor, vars: &[(&str, &str)], want: &[&str]) {
        let found = with(vars, |place| place.implied_mirrors(flavor));
        let want: Vec<PathBuf> = want.iter().map(PathBuf::from).collect();
        assert_eq!(found, want);
    }

    /// The first row is what Terraform 1.11.4 says in its log.
    #[test]
    fn implied_mirrors_are_those_of_the_program() {
        let home = ("HOME", "/h");
        for flavor in [Flavor::Terraform1_11, Flavor::OpenTofu1_12] {
            check_implied(
                flavor,
                &[home],
                &[
                    "terraform.d/plugins",
                    "/h/.terraform.d/plugins",
                    "/h/.local/share/terraform/plugins",
                    "/usr/local/share/terraform/plugins",
                    "/usr/share/terraform/plugins",
                ],
            );
        }
        check_implied(
            Flavor::OpenTofu1_12,
            &[
                ("XDG_CONFIG_HOME", "/x"),
                ("XDG_DATA_HOME", "/d"),
                ("XDG_DATA_DIRS", "/a::/b"),
            ],
            &[
                "terraform.d/plugins",
                "/d/terraform/plugins",
                "/a/terraform/plugins",
                "/b/terraform/plugins",
            ],
        );
    }

    #[test]
    fn variables_are_expanded() {
        let rows = [
            ("/a/b", "/a/b"),
            ("$HOME/c", "/h/c"),
            ("${HOME}/c", "/h/c"),
            ("/x$NOT_SET/c", "/x/c"),
            ("$HOMEX$HOME", "/h"),
            ("/a$/b$", "/a$/b$"),
        ];
        for (given, want) in rows {
            let found = with(&[("HOME", "/h")], |place| place.expanded(given));
            assert_eq!(found, Some(want.into()), "of {given}");
        }
        assert_eq!(with(&[], |place| place.expanded("$HOME")), None);
    }
}
