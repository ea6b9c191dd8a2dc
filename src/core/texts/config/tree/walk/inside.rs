//! Local calls into the packages of other calls (rules 5.15).

use std::path::Path;

use super::{TreeWalk, join};
use crate::module_config::decode::contents::{Call, Source};
use crate::requirement::{ModulePath, PathStep, UnseenReason};

impl TreeWalk<'_> {
    /// Returns the name of the directory of an installed package that holds a directory, which is given from the
    /// root on.
    fn package_dir<'d>(&self, dir: &'d Path) -> Option<&'d str> {
        // By text alone: the package need not be there.
        self.package_dirs
            .iter()
            .find_map(|packages| dir.strip_prefix(packages).ok())
            .and_then(|inside| inside.iter().next()?.to_str())
    }

    /// Returns true if a call names a directory in an installed package.
    pub(super) fn is_in_package(&self, node: usize, call: &Call) -> bool {
        let Some(Source::Local { module, .. }) = &call.source else {
            return false;
        };
        let here = self.nodes[node].dir.as_deref().unwrap_or(Path::new(""));
        self.package_dir(&join(here, &module.path)).is_some()
    }

    /// Returns the call that a package is installed for, and why that is not visible; nothing if it is visible,
    /// or if the directory is in no package.
    pub(super) fn unseen_package(&self, dir: &Path) -> Option<(ModulePath, UnseenReason)> {
        let key = self.package_dir(dir)?;
        let path: ModulePath = key
            .split('.')
            .map(|name| PathStep::Call(name.to_owned()))
            .collect();
        let Some(number) = self.package_nodes.get(key) else {
            // The call may come later, in another module.
            let root = self.root_module.as_ref()?;
            let first = key.split('.').next()?;
            let is_called = root.contents.calls.iter().any(|call| {
                call.name == first && !matches!(call.source, Some(Source::Local { .. }))
            });
            let is_here = self.reader.is_directory(dir);
            return (is_called && !is_here).then_some((path, UnseenReason::NotHere));
        };
        let node = self.nodes.get(*number).filter(|node| node.path == path);
        if node.is_some_and(|node| node.unseen.is_none()) {
            return None;
        }
        let reason = self
            .unseen
            .calls
            .iter()
            .find(|call| call.module == path)
            .map_or(UnseenReason::NotHere, |call| call.reason);
        Some((path, reason))
    }
}
