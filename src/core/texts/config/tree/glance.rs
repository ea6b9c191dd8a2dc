//! A look at one directory by itself: nothing is followed, and what is wrong is not reported.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::tree::packages::Packages;
use crate::config::tree::reader::Reader;
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::module_config::decode::contents::Source;
use crate::world::Files;

/// The content of one directory, without the modules that it calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// The directory has a configuration file; test files alone are none.
    pub found: bool,
    /// A `backend` or `cloud` block states where the state is kept.
    pub has_backend: bool,
    /// The sources of all calls of local modules, each a path from this directory on; test runs do
    /// not count.
    pub calls: Vec<PathBuf>,
}

/// Looks at the files of one directory.
///
/// What is wrong with them is reported when the root that the directory belongs to is loaded; here the
/// sound parts count.
///
/// # Errors
/// If the directory cannot be listed.
pub fn glance(files: &dyn Files, dir: &Path, flavor: Flavor) -> io::Result<Glance> {
    // Faults are dropped here: loading the root reports them.
    let mut texts = Texts::default();
    let files = Packages::new(files);
    let mut reader = Reader::new(&files, &mut texts, dir, flavor);
    let here = Path::new("");
    let chosen = reader.choose(here)?;
    let found = !chosen.primary.is_empty() || !chosen.overrides.is_empty();
    let directory = reader.directory(here)?;
    let contents = &directory.contents;
    Ok(Glance {
        found,
        has_backend: contents.backend.is_some(),
        calls: contents
            .calls
            .iter()
            .filter_map(|call| match &call.source {
                Some(Source::Local { module, .. }) => Some(PathBuf::from(&*module.path)),
                _ => None,
            })
            .collect(),
    })
}

/// Returns whether a directory holds configuration, as far as the names of its files show.
///
/// # Errors
/// If the directory cannot be listed.
pub fn has_files(files: &dyn Files, dir: &Path, flavor: Flavor) -> io::Result<bool> {
    let mut texts = Texts::default();
    let files = Packages::new(files);
    let chosen = Reader::new(&files, &mut texts, dir, flavor).choose(Path::new(""))?;
    Ok(chosen.are_configuration(flavor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::MemFiles;

    #[test]
    fn a_glance_sees_backends_and_calls_whatever_else_is_wrong() {
        let files = MemFiles::with(&[
            (
                "a/main.tf",
                "module \"m\" {\n  source = \"../m\"\n}\nx = \n",
            ),
            ("a/state.tf", "terraform {\n  cloud {}\n}\n"),
            ("b/x.tftest.hcl", "run \"r\" {}\n"),
            ("c/main.tofu", "module \"r\" {\n  source = \"a/b/c\"\n}\n"),
        ]);
        let look = |dir: &str, flavor| glance(&files, dir.as_ref(), flavor).unwrap();
        let own = look("a", Flavor::Terraform1_11);
        assert_eq!(
            own,
            Glance {
                found: true,
                has_backend: true,
                calls: vec!["../m".into()],
            }
        );
        assert!(!look("b", Flavor::Terraform1_11).found);
        assert!(!look("c", Flavor::Terraform1_11).found);
        let other = look("c", Flavor::OpenTofu1_12);
        assert!(other.found && !other.has_backend && other.calls.is_empty());
    }
}
